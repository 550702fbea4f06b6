// Starts the page: theme first (so that nothing flashes), then the module. No framework, no inline script.
(function () {
  'use strict';
  var root = document.documentElement;
  var query = new URLSearchParams(location.search);
  var base = new URL('.', document.currentScript.src).href;

  function kept(key) {
    try { return localStorage.getItem(key); } catch (_) { return null; } // opaque origin: no storage
  }
  var theme = query.get('theme') || kept('loopscope.theme') || 'system';
  var dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = dark ? 'dark' : 'light';
  if (query.has('embed')) root.classList.add('embedded');

  // Commands given before the module runs are kept and played when it does.
  var waiting = [];
  var names = ['apply', 'load', 'kubectl', 'fault', 'play', 'pause', 'step', 'seek'];
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

  function script(src) {
    return new Promise(function (resolve, reject) {
      var element = document.createElement('script');
      element.src = base + src;
      element.onload = resolve;
      element.onerror = function () { reject(new Error('could not load ' + src)); };
      document.head.appendChild(element);
    });
  }

  // The page is readable without it.
  function style(href) {
    return new Promise(function (resolve) {
      var element = document.createElement('link');
      element.rel = 'stylesheet';
      element.href = base + href;
      element.onload = element.onerror = resolve;
      document.head.appendChild(element);
    });
  }

  // A plain message over the page. The text in the editor stays where it is.
  function tell(title, words, buttons) {
    var box = document.createElement('div');
    box.className = 'stopped';
    box.setAttribute('role', 'alert');
    var head = document.createElement('h2');
    head.textContent = title;
    var text = document.createElement('p');
    text.textContent = words;
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
  window.loopscopeStopped = function (at, report) {
    if (stopped) return;
    stopped = true;
    tell('The simulator stopped at ' + at, 'The last good state stays on screen, and your manifest is kept. ' + report.split('\n')[0], [
      ['Copy report', function () { if (navigator.clipboard) navigator.clipboard.writeText(report); }],
      ['Restart', function () { location.reload(); }],
    ]);
  };

  function start() {
    var note = document.getElementById('boot-note');
    var slow = setTimeout(function () { if (note) note.textContent = 'Starting the simulator…'; }, 300);
    function fail(reason) {
      clearTimeout(slow);
      if (note) note.textContent = '';
      tell('Loopscope cannot start', reason + ' It needs a browser with WebAssembly, and the files of this site beside the page.', []);
    }
    if (typeof WebAssembly !== 'object') return fail('WebAssembly is missing or switched off in this browser.');
    script('loopscope.js')
      .then(function () { return bytes('loopscope_bg'); })
      .then(function (first) { return wasm_bindgen({ module_or_path: first }); })
      .then(function (exports) {
        clearTimeout(slow);
        if ('f0' in exports) first = exports; // else it was built in one piece
        // The plain page opens with the first part; the rest comes while the first Pods start. A link may ask for anything.
        if (plain) wasm_bindgen.open();
        return Promise.all([bringRest(), style('views.css')]);
      })
      .then(function () {
        wasm_bindgen.whole();
        if (!plain) wasm_bindgen.open();
        release();
      })
      .catch(function (error) {
        if (!stopped) fail(String((error && error.message) || error) + '.');
      });
  }

  // A part of the module.
  function bytes(part) {
    return fetch(base + part + '.wasm').then(
      function (response) {
        if (!response.ok) throw new Error(part + '.wasm: ' + response.status);
        return response.arrayBuffer();
      },
      function () {
        // A sandboxed frame may not fetch from servers without CORS; it may load a script.
        return script(part + '.wasm.js').then(function () {
          var text = atob(window.loopscopeWasm);
          delete window.loopscopeWasm;
          var found = new Uint8Array(text.length);
          for (var i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
          return found.buffer;
        });
      });
  }

  // The second part of the module takes memory, table and functions from the first (scripts/wasm/split.mjs).
  var first = null;
  var late = 0;
  function bringRest() {
    if (!first) return Promise.resolve();
    return bytes('rest').then(function (found) {
      return WebAssembly.compile(found);
    }).then(function (module) {
      return first && WebAssembly.instantiate(module, { p: first });
    }).then(function () { first = null; });
  }
  // Called by the first part when it needs the rest at once: it waits here. The opening never does (tests/browser).
  window.loopscopeRest = function () {
    if (!first) return;
    window.loopscope.late = ++late;
    var request = new XMLHttpRequest();
    request.open('GET', base + 'rest.wasm', false);
    request.overrideMimeType('text/plain; charset=x-user-defined');
    request.send();
    var found = Uint8Array.from(request.responseText, function (one) { return one.charCodeAt(0) & 255; });
    new WebAssembly.Instance(new WebAssembly.Module(found), { p: first });
    first = null;
  };

  // What a person does before the rest is there is kept, and happens when it is.
  var plain = location.hash.length < 2 && !['embed', 'view', 'speed'].some(function (name) { return query.has(name); });
  var early = [];
  var kinds = ['pointerdown', 'pointermove', 'pointerup', 'pointerover', 'pointerout', 'click', 'dblclick', 'keydown', 'keyup', 'input', 'change',
    'submit', 'wheel', 'focusin', 'focusout', 'focus', 'blur', 'dragover', 'drop', 'paste', 'hashchange', 'resize'];
  function hold(event) {
    event.stopImmediatePropagation();
    if (!/^pointer(move|over|out)|wheel|dragover/.test(event.type)) early.push([event.target, event]);
  }
  function release() {
    kinds.forEach(function (kind) { window.removeEventListener(kind, hold, true); });
    early.forEach(function (one) { one[0].dispatchEvent(new one[1].constructor(one[1].type, one[1])); });
  }
  kinds.forEach(function (kind) { window.addEventListener(kind, hold, true); });

  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
