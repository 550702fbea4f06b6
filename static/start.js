// Starts the page: asks for the module at once, sets the theme (so that nothing flashes), and opens the page when the module and the
// document are there. No framework. A release has it within the page (scripts/minify.mjs).
(function () {
  'use strict';
  var root = document.documentElement;
  // A page that was saved as one file has its files within (scripts/single.mjs).
  var inside = window.loopscopeFile;
  var query = new URLSearchParams(location.search || (inside && inside.query) || '');
  // A frame that was written into its page (srcdoc) has no address, and that of a blob is no base.
  var base = inside ? '' : new URL('.', document.currentScript.src || location.href).href;

  // What is said before the page can speak for itself, or after it has stopped, by the language of the document. The catalogues of all
  // else are in crates/i18n.
  var catalogues = { zh: {
    what: 'Loopscope 在浏览器里运行 Kubernetes 的控制循环：粘贴清单，改动一处，看每个控制循环如何调谐。',
    starting: '正在启动模拟器…',
    noWebAssembly: '此浏览器没有 WebAssembly，或已将其关闭',
    noFile: function (file) { return '无法加载 ' + file; },
    tooLarge: '文件太大',
    status: '服务器返回 ',
    cannotStart: 'Loopscope 无法启动',
    needs: function (reason) { return reason + '。它需要支持 WebAssembly 的浏览器，以及与页面在同一站点的文件。'; },
    stopped: function (at) { return '模拟器在 ' + at + ' 停止'; },
    kept: function (reason) { return '屏幕上是停止前的最后状态，清单已保留。' + reason; },
    copy: '复制报告',
    reload: '重新加载页面',
  }, en: {
    what: '', // as the document has it
    starting: 'Starting the simulator…',
    noWebAssembly: 'WebAssembly is missing or disabled in this browser',
    noFile: function (file) { return 'could not load ' + file; },
    tooLarge: 'it is too large',
    status: 'the server answered ',
    cannotStart: 'Loopscope cannot start',
    needs: function (reason) { return reason + '. It needs a browser with WebAssembly, and the files that this site serves with the page.'; },
    stopped: function (at) { return 'The simulator stopped at ' + at; },
    kept: function (reason) { return 'The last state before the error stays on screen, and your manifest is kept. ' + reason; },
    copy: 'Copy report',
    reload: 'Reload the page',
  } };
  if (/^zh/i.test(query.get('lang') || kept('loopscope.lang') || navigator.language)) root.lang = 'zh-CN';
  function language() { return /^zh/.test(root.lang) ? 'zh' : 'en'; }
  function words() { return catalogues[language()]; }

  // The page around knows by this that its frame has come (static/embed.js).
  if (parent !== window) parent.postMessage('loopscope:here', '*');

  // What draws the page comes first, what one with a manifest of its own runs beside it, what the clock needs, loaded while the page is drawn, and
  // the rest of the module after these (scripts/split.mjs). In a build without the tools for that the first part is the whole, and the
  // others are empty.
  var glue = script('loopscope.js');
  var coming = {};
  var first = part('loopscope_bg');
  // A manifest or a lesson at an address of its own: at most as many characters as the simulator takes.
  var most = 4194304;
  var address = query.get('src') || (/[/.]/.test(query.get('lesson') || '') && query.get('lesson'));
  var loaded = address && load(address);
  var isLinked = location.hash.length > 1 || Boolean(address) || query.get('view') === 'storage';
  if (isLinked) part('linked').catch(function () { /* told when it is needed */ });
  first.then(function () { return part('play'); }).catch(function () { /* told when it is needed */ });
  // The page asks for its lesson when it is there, and opens when that has come: by then it is in the cache.
  var lesson = /^[a-z-]+$/.test(query.get('lesson') || '') && query.get('lesson');
  var taught = lesson && !inside && script('lessons/' + lesson + '.js').catch(function () { /* told when it is needed */ });
  // Until the document is there it is not known what the page is to say of itself.
  if (lesson || language() !== 'en') root.classList.add('introduces');

  function load(address) {
    return Promise.resolve().then(function () { return fetch(new URL(address, location.href)); }).then(function (answer) {
      if (!answer.ok) throw new Error(words().status + answer.status);
      if (Number(answer.headers.get('content-length')) > most) throw new Error(words().tooLarge);
      return answer.text();
    }).then(function (text) {
      if (text.length > most) throw new Error(words().tooLarge);
      window.loopscopeText = text;
    }).catch(function (error) { window.loopscopeTextError = String(error.message || error); });
  }

  function script(src) {
    return new Promise(function (resolve, reject) {
      var element = document.createElement('script');
      if (inside && inside.files[src]) {
        element.textContent = inside.files[src];
        document.head.appendChild(element);
        resolve();
        return;
      }
      element.src = base + src;
      element.onload = resolve;
      element.onerror = function () { reject(new Error(words().noFile(src))); };
      document.head.appendChild(element);
    });
  }
  window.loopscopeScript = script;

  // Packs bytes beside the page's own thread; fails where the browser cannot.
  window.loopscopeDeflate = function (bytes) {
    var stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
    return new Response(stream).arrayBuffer();
  };

  // Styles of what comes after the first Pods.
  function styles(name) {
    if (inside) return null;
    return new Promise(function (resolve) {
      var link = document.createElement('link');
      link.rel = 'stylesheet';
      link.onload = link.onerror = resolve;
      link.href = base + name;
      document.head.appendChild(link);
    });
  }

  // Browsers keep nothing for frames of opaque origins, and share nothing between them: the page around loads the parts and gives them
  // (static/embed.js). Who is not answered loads them alone.
  function given(name) {
    return new Promise(function (resolve) {
      if (!query.has('share')) { resolve(null); return; }
      var alone = setTimeout(resolve, 1000, null);
      addEventListener('message', function heard(event) {
        if (event.source !== parent || !event.data || event.data.loopscopePart !== name) return;
        clearTimeout(alone);
        if (event.data.waits) return;
        removeEventListener('message', heard);
        resolve(event.data.code);
      });
      parent.postMessage({ loopscopePart: name }, '*');
    });
  }

  // The script form of a part: a text with a character for each byte.
  function own(name) {
    return script(name + '.wasm.js').then(function () {
      var text = window.loopscopeParts[name];
      delete window.loopscopeParts[name];
      return text;
    });
  }

  // Compiles a part of the module while it is downloaded. A frame with an opaque origin may fetch only from servers that allow it to
  // (CORS), but it may load scripts from any: for those each part is a script as well.
  function part(name) {
    return coming[name] || (coming[name] = compile(name));
  }
  function compile(name) {
    if (typeof WebAssembly !== 'object') return Promise.reject(new Error(words().noWebAssembly));
    if (inside) {
      var packed = Uint8Array.from(atob(inside.parts[name]), function (one) { return one.charCodeAt(0); });
      var stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
      return new Response(stream).arrayBuffer().then(function (bytes) { return WebAssembly.compile(bytes); });
    }
    if (window.origin === 'null') {
      return given(name).then(function (code) { return code || own(name); }).then(function (code) {
        if (code instanceof ArrayBuffer) return WebAssembly.compile(code);
        if (code instanceof Blob) return code.arrayBuffer().then(function (bytes) { return WebAssembly.compile(bytes); });
        var bytes = new Uint8Array(code.length);
        for (var i = 0; i < code.length; i++) bytes[i] = code.charCodeAt(i);
        return WebAssembly.compile(bytes);
      });
    }
    return fetch(base + name + '.wasm').then(function (response) {
      if (!response.ok) throw new Error(words().noFile(name + '.wasm') + ' (' + response.status + ')');
      if (WebAssembly.compileStreaming && response.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(response);
      return response.arrayBuffer().then(function (bytes) { return WebAssembly.compile(bytes); });
    });
  }

  function kept(key) {
    try { return localStorage.getItem(key); } catch (_) { return null; } // opaque origin: no storage
  }
  var theme = query.get('theme') || kept('loopscope.theme') || 'system';
  var dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = dark ? 'dark' : 'light';
  if (query.has('embed')) root.classList.add('embedded');
  if (parent !== window) root.classList.add('framed');
  // Nothing leads to a page that was written into another one.
  if (location.protocol === 'about:') root.classList.add('unaddressed');
  if (lesson) root.classList.add('taught');
  // Who has the files already (static/sw.js) does not wait, and knows what this is.
  if (served()) root.classList.add('returning');
  function served() {
    try { return parent === window && navigator.serviceWorker.controller; } catch (_) { return null; } // a sandboxed page
  }
  if (query.get('controls') === 'false') root.classList.add('bare');

  // Commands given before the module runs are kept and played when it does.
  var waiting = [];
  var names = ['apply', 'load', 'kubectl', 'fault', 'play', 'pause', 'step', 'seek', 'speed', 'pace', 'live', 'branch', 'view', 'teach'];
  window.loopscope = { ready: false };
  names.forEach(function (name) {
    window.loopscope[name] = function () { waiting.push([name, arguments]); };
  });
  window.loopscope.now = function () { return 0; };
  window.loopscope.get = function () { return null; };
  window.loopscopeStarted = function () {
    waiting.forEach(function (call) { window.loopscope[call[0]].apply(null, call[1]); });
    waiting = [];
  };

  // A plain message over the page. The text in the editor stays where it is.
  function tell(title, details, buttons) {
    var box = document.createElement('div');
    box.className = 'stopped';
    box.setAttribute('role', 'alert');
    var head = document.createElement('h2');
    head.textContent = title;
    var text = document.createElement('p');
    text.textContent = details;
    box.append(head, text);
    var row = document.createElement('div');
    row.className = 'row';
    (buttons || []).forEach(function (entry) {
      var button = document.createElement('button');
      button.className = 'btn sm';
      button.textContent = entry[0];
      button.onclick = entry[1];
      row.append(button);
    });
    box.append(row);
    document.body.append(box);
  }

  // Called by the panic hook.
  var stopped = false;
  var startsAgain = false;
  window.loopscopeStopped = function (at, report) {
    if (stopped || startsAgain) return;
    stopped = true;
    tellError('stopped', report.split('\n')[0]);
    tell(words().stopped(at), words().kept(report.split('\n')[0]), [
      [words().copy, function () { if (navigator.clipboard) navigator.clipboard.writeText(report); }],
      [words().reload, function () { location.reload(); }],
    ]);
  };

  // What follows has a task of its own: a phone is busy with each for a while. Out of sight timers come once a second.
  function turn(value) {
    if (document.hidden) return Promise.resolve(value);
    return new Promise(function (resolve) { setTimeout(resolve, 0, value); });
  }

  // The module, and what brings it a later part: a promise that the part is in the module's tables.
  function instantiate(module) {
    var later = { play: {}, linked: {}, rest: {} };
    var brought = {};
    var exports;
    function bring(name) {
      return brought[name] || (brought[name] = part(name).then(turn).then(function (module) {
        return startsAgain || WebAssembly.instantiate(module, { first: exports });
      }));
    }
    // A call into a part before it is there: the page starts again, with all of them.
    function early() {
      if (!startsAgain) {
        Promise.all(Object.keys(later).map(bring)).then(function () { location.reload(); }, refuse);
        // Errors until the page is loaded again are expected: they are kept off the console.
        ['error', 'unhandledrejection'].forEach(function (name) { addEventListener(name, function (event) { event.preventDefault(); }); });
      }
      startsAgain = true;
      throw new Error('a function was called before its part of the module was loaded');
    }
    WebAssembly.Module.imports(module).forEach(function (one) { if (later[one.module]) later[one.module][one.name] = early; });
    // wasm-bindgen knows only its own imports.
    var original = WebAssembly.instantiate;
    WebAssembly.instantiate = function (module, given) {
      WebAssembly.instantiate = original;
      return original(module, Object.assign({}, later, given));
    };
    return wasm_bindgen({ module_or_path: module }).then(function (first) {
      exports = first;
      return bring;
    });
  }

  // The page of an embed puts its own picture away, and opens others (static/embed.js), once this is on the screen.
  function tellAround(what) {
    if (parent !== window) requestAnimationFrame(function () { requestAnimationFrame(function () { parent.postMessage('loopscope:' + what, '*'); }); });
  }

  // The element of a frame tells it as an event, as it does what static/host.js sends.
  function tellError(code, message) {
    if (parent !== window) parent.postMessage({ loopscope: 1, type: 'event', event: 'error', detail: { code: code, line: 0, message: message } }, '*');
  }

  // The page cannot start.
  function refuse(error) {
    // Perhaps what was given is of another build.
    if (query.has('share')) {
      location.replace(location.href.replace('share=1', 'alone=1'));
      return;
    }
    var note = document.getElementById('boot-note');
    if (note) note.textContent = '';
    var reason = String((error && error.message) || error);
    tell(words().cannotStart, words().needs(reason), []);
    tellError(typeof WebAssembly === 'object' ? 'start' : 'webassembly', reason);
    tellAround('started');
  }

  // A release build has a service worker that keeps its files (static/sw.js); a frame has no use for it. What the reader does comes first.
  function keep() {
    if (parent !== window || inside || !navigator.serviceWorker || !document.querySelector('link[rel="manifest"]')) return;
    setTimeout(function () { navigator.serviceWorker.register(base + 'sw.js').catch(function () { /* no room, or not allowed */ }); }, 3000);
  }

  // The page measures itself and paints with the colours of its style sheets: it opens when they are there, or have failed.
  function styled() {
    var missing = Array.prototype.filter.call(document.querySelectorAll('link[rel="stylesheet"]'), function (link) { return !link.sheet; });
    if (!missing.length || document.readyState === 'complete') return null;
    var each = missing.map(function (link) { return new Promise(function (resolve) { link.onload = link.onerror = resolve; }); });
    return Promise.race([Promise.all(each), new Promise(function (resolve) { window.addEventListener('load', resolve); })]);
  }

  // What a first visit reads has been on the screen before the page takes its place: two frames after it could be, where the browser does
  // not tell when it was. Out of sight nothing is painted.
  function read(value) {
    if (document.hidden || /embedded|returning/.test(root.className)) return value;
    return new Promise(function (resolve) {
      setTimeout(resolve, 1000, value);
      function seen() { resolve(value); }
      if (window.PerformanceObserver && (PerformanceObserver.supportedEntryTypes || []).includes('element')) {
        new PerformanceObserver(function (_, observer) { observer.disconnect(); seen(); }).observe({ type: 'element', buffered: true });
      } else {
        requestAnimationFrame(function () { requestAnimationFrame(seen); });
      }
    });
  }

  // What the page says while the simulator loads: what it is, or the lesson's title and summary (scripts/lessons.mjs).
  function introduce(what) {
    if (words().what) what.textContent = words().what;
    var summaries = document.getElementById('summaries');
    var said = lesson && summaries && (JSON.parse(summaries.textContent)[lesson] || {})[language()];
    if (!said) return;
    var title = document.createElement('b');
    title.textContent = said.title;
    what.replaceChildren(title, document.createElement('br'), said.summary);
  }

  function start() {
    var app = document.getElementById('app');
    var note = document.getElementById('boot-note');
    var what = document.getElementById('boot-what');
    if (what) introduce(what);
    root.classList.remove('introduces');
    var slow = setTimeout(function () { if (note) note.textContent = words().starting; }, 300);
    var navigation = performance.getEntriesByType('navigation')[0];
    // After a reload the files are in the cache, and the tab has what was done before. Lessons, diagrams and instants that the first parts
    // have no code for wait for the rest, and need not begin again.
    var waits = inside || address || /^(reload|back_forward)$/.test(navigation && navigation.type) || query.has('t') || lesson
      || /^(nodes|network|rollout|loops)$/.test(query.get('view'));
    Promise.all([first, glue, styled()])
      .then(turn)
      .then(function (loaded) { return instantiate(loaded[0]); })
      .then(read)
      .then(function (bring) { return loaded ? loaded.then(function () { return bring; }) : bring; })
      .then(function (bring) { return isLinked ? bring('linked').then(function () { return bring; }) : bring; })
      .then(function (bring) {
        function rest() { return Promise.all([bring('linked'), bring('rest'), styles('later.css')]); }
        function play() {
          wasm_bindgen.play();
          tellAround('started');
        }
        var clock = bring('play');
        if (waits) return Promise.all([clock, rest(), taught]).then(prepare).then(open).then(play);
        app.inert = true;
        return prepare().then(open).then(function () { return clock; }).then(play).then(rest);
      })
      .then(turn)
      .then(function () {
        if (startsAgain) return;
        app.inert = false;
        wasm_bindgen.whole();
        // What a cluster is served with comes from its server alone.
        if (query.has('follow')) script('follow.js');
        else keep();
        // A page around this one, or one that opened it, may play it (static/host.js).
        if (parent !== window || window.opener) script('host.js');
      })
      .catch(function (error) {
        clearTimeout(slow);
        if (!stopped && !startsAgain) refuse(error);
      });
    // Part by part.
    function prepare() {
      return wasm_bindgen.prepare() ? turn().then(prepare) : turn();
    }
    function open() {
      clearTimeout(slow);
      wasm_bindgen.open();
      tellAround('drawn');
    }
  }

  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
