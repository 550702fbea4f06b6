// <loop-scope view="storage" src="web.yaml"></loop-scope>: a simulator inside a course page.
// Makes one sandboxed iframe, loaded when it comes near the screen, and shows the objects of the manifest as cards until it has drawn its
// own picture. No framework; it requests what its attributes name, and the module for its frames.
// Its attributes are listed in docs/embedding.md, its methods and events in docs/javascript.md. As a module it is imported by embed.mjs.
(function () {
  'use strict';
  // A page that is drawn on a server imports it too.
  if (typeof customElements === 'undefined' || customElements.get('loop-scope')) return;
  // What the page opens with when nothing is given.
  var usual = 'kind: Deployment\nmetadata:\n  name: nginx-deployment\nspec:\n  replicas: 2\n';

  function base64url(bytes) {
    var text = '';
    bytes.forEach(function (byte) { text += String.fromCharCode(byte); });
    return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }

  function through(bytes, stream) {
    return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
  }

  // The same link the Share button makes: zlib over versioned JSON. Older browsers get it stored, not deflated.
  function pack(manifest) {
    var bytes = new TextEncoder().encode(JSON.stringify({ v: 1, manifest: manifest }));
    if (typeof CompressionStream === 'function') {
      return through(bytes, new CompressionStream('deflate')).then(function (buffer) { return '#pako:' + base64url(new Uint8Array(buffer)); });
    }
    return Promise.resolve('#base64:' + base64url(bytes));
  }

  // The manifest of a link, for the cards. Whether the link is damaged is told by the frame.
  function unpack(hash) {
    var parts = /^#?(pako|base64):([\w-]+)/.exec(hash);
    if (!parts || typeof DecompressionStream !== 'function') return Promise.resolve('');
    return Promise.resolve().then(function () {
      var text = atob(parts[2].replace(/-/g, '+').replace(/_/g, '/'));
      var bytes = Uint8Array.from(text, function (one) { return one.charCodeAt(0); });
      return parts[1] === 'pako' ? inflate(bytes) : bytes;
    }).then(function (found) { return String(JSON.parse(new TextDecoder().decode(found)).manifest || ''); });
  }

  // At most as much as the simulator takes.
  var most = 4194304;
  function inflate(bytes) {
    var reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
    var found = [];
    var size = 0;
    return reader.read().then(function more(next) {
      if (next.done) return new Blob(found).arrayBuffer();
      size += next.value.length;
      if (size > most) return reader.cancel().then(function () { throw new Error('too large'); });
      found.push(next.value);
      return reader.read().then(more);
    });
  }

  // Kind, name and replicas of each document. Read by lines: enough for a card, and the simulator reads the text properly. More than these
  // characters hold has no room in the picture.
  function objects(manifest) {
    return manifest.slice(0, 20000).split(/^---.*$/m).map(function (text) {
      function field(pattern) { return (pattern.exec(text) || [])[1]; }
      return {
        kind: field(/^kind:\s*["']?(\w+)/m),
        name: field(/^metadata:[^]*?\bname:\s*["']?([\w.-]+)/m) || '',
        pods: Math.min(12, Number(field(/^[ \t]+replicas:\s*(\d+)/m) || 1)),
      };
    }).filter(function (object) { return object.kind; });
  }

  // The title of a lesson, in the language of the page around, or undefined for a manifest.
  function lessonTitle(text, language) {
    text = text.slice(0, 20000);
    if (!/^lesson:/m.test(text)) return undefined;
    var title = (/^title:(.*(?:\n[ \t].*)*)/m.exec(text) || [])[1] || '';
    // In braces a value ends at a comma; else it is the rest of the line, or what is indented below it.
    var plain = /^\s*\{/.test(title) ? '([^,{}\\n]+)' : '((?!\\w\\w:)[^\\n]+(?:\\n(?!\\s*\\w\\w:)[^\\n]+)*)';
    function value(before) {
      var found = new RegExp(before + '\\s*(?:"([^"]*)"|\'([^\']*)\'|(?:[|>][+-]?\\s*\\n\\s*)?' + plain + ')').exec(title);
      return found && (found[1] || found[2] || (found[3] || '').replace(/ #.*/g, '').replace(/\s+/g, ' ')).trim();
    }
    return value('\\b' + language + ':') || value('\\ben:') || value('^') || undefined;
  }

  // One letter too many, too few, changed, or two swapped.
  function isNear(word, other) {
    if (Math.abs(word.length - other.length) > 1) return false;
    var at = 0;
    while (at < word.length && word[at] === other[at]) at++;
    var rest = word.slice(at);
    var of = other.slice(at);
    return rest.slice(1) === of.slice(1) || rest.slice(1) === of || rest === of.slice(1) || (rest[0] === of[1] && rest[1] === of[0] && rest.slice(2) === of.slice(2));
  }

  var owners = Object.assign(Object.create(null), { Deployment: 1, ReplicaSet: 1, StatefulSet: 1, ReplicationController: 1 });

  // Surface, card, line, text and lesser text.
  function inks(dark) {
    return dark ? ['#14181f', '#1a1f28', '#3a4352', '#e8ecf3', '#b1bac9'] : ['#ffffff', '#f8f9fb', '#cdd3dd', '#171b24', '#465065'];
  }
  // The style of what lies over the frame.
  function sheet(ink) {
    return 'position:absolute;inset:0;width:100%;height:100%;box-sizing:border-box;border:1px solid ' + ink[2] + ';border-radius:12px;background:' + ink[0] + ';font-family:system-ui,sans-serif;pointer-events:none;';
  }

  // What the element says where its frame cannot.
  var sentences = {
    en: { open: 'Open the simulation', failed: 'This simulation cannot be shown: ', attribute: 'Loopscope has no attribute ', known: '; did you mean ', frame: ' did not answer', home: 'where Loopscope is served is not known: call serveFrom(address) first', status: 'the server answered ' },
    zh: { open: '打开模拟', failed: '无法显示此模拟：', attribute: 'Loopscope 没有属性 ', known: '；是否指 ', frame: ' 没有响应', home: '不知道 Loopscope 的地址：请先调用 serveFrom(address)', status: '服务器返回 ' },
  };

  function titled(title, ink) {
    var paragraph = document.createElement('p');
    var text = document.createElement('span');
    text.textContent = title;
    // Above the button, where there is one.
    text.style.cssText = 'display:block;max-height:calc(50% - 40px);overflow:hidden';
    paragraph.append(text);
    paragraph.style.cssText = sheet(ink) + 'margin:0;padding:24px;color:' + ink[3] + ';font-size:20px;line-height:1.4;text-align:center';
    return paragraph;
  }

  // A card for each object, and an outline for each Pod that is still to come.
  function picture(manifest, ink) {
    var svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    function add(name, attributes, text) {
      var element = document.createElementNS(svg.namespaceURI, name);
      Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
      if (text) element.textContent = text;
      svg.append(element);
    }
    function cut(text, most) { return text.length > most ? text.slice(0, most - 1) + '…' : text; }
    function card(x, y, kind, name) {
      add('rect', { x: x, y: y, width: 184, height: 52, rx: 8, fill: ink[1], stroke: ink[2] });
      add('text', { x: x + 12, y: y + 21, fill: ink[4], 'font-size': 11 }, kind);
      add('text', { x: x + 12, y: y + 39, fill: ink[3], 'font-size': 13, 'font-weight': 600 }, cut(name, 22));
    }
    var y = 20;
    var column = 20;
    var shown = objects(manifest).slice(0, 12);
    var rows = shown.filter(function (one) { return owners[one.kind]; });
    rows.forEach(function (one) {
      card(20, y, one.kind, one.name);
      for (var at = 0; at < one.pods; at++) {
        add('rect', { x: 252 + (at % 6) * 80, y: y + Math.floor(at / 6) * 58, width: 68, height: 50, rx: 8, fill: 'none', stroke: ink[2], 'stroke-dasharray': '4 4' });
        add('text', { x: 264 + (at % 6) * 80, y: y + 30 + Math.floor(at / 6) * 58, fill: ink[4], 'font-size': 11 }, 'Pod');
      }
      add('path', { d: 'M204 ' + (y + 26) + 'H252', fill: 'none', stroke: ink[2] });
      y += one.pods > 6 ? 130 : 72;
    });
    shown.forEach(function (one) {
      if (owners[one.kind]) return;
      card(column, y, one.kind, one.name);
      column += 204;
      if (column > 560) { column = 20; y += 72; }
    });
    if (column > 20) y += 72;
    svg.setAttribute('viewBox', '0 0 760 ' + Math.max(y, 120));
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', shown.map(function (one) { return one.kind + ' ' + one.name; }).join(', ') || 'Loopscope');
    svg.style.cssText = sheet(ink);
    return svg;
  }

  // The parts of the module, for the frames of this page: browsers share nothing between sandboxed frames, and keep nothing for the next visit.
  // Here each part is loaded once, from the cache if the reader has seen it on another page of this site.
  var parts = {};
  var own = document.currentScript || {};
  function part(name) {
    return parts[name] || (parts[name] = mayFetch() ? fetched(name).catch(function () { return scripted(name); }) : scripted(name));
  }

  // Other sites may forbid to read what they serve; where this script was loaded with the attribute crossorigin, theirs does not.
  function mayFetch() {
    return !isFolder() && (own.crossOrigin || new URL(LoopScope.home, document.baseURI).origin === location.origin);
  }

  // Of a folder without a server scripts may be loaded, and nothing may be fetched.
  function isFolder() {
    return new URL(LoopScope.home, document.baseURI).protocol === 'file:';
  }

  function fetched(name) {
    return fetch(LoopScope.home + name + '.wasm').then(function (answer) {
      if (!answer.ok) throw new Error(name + '.wasm: ' + answer.status);
      return answer.arrayBuffer();
    }).then(function (code) {
      // A blob is handed on without a copy. (answer.blob() fails in Chromium where the page had it preloaded.)
      return new Blob([code]);
    });
  }

  // As a script, which any site may load: a text with a character for each byte, or nothing where a policy forbids it; then each frame
  // loads its own.
  function scripted(name) {
    return new Promise(function (resolve) {
      function add(tag, attributes) {
        var element = Object.assign(document.createElement(tag), attributes);
        element.nonce = own.nonce || '';
        document.head.append(element);
      }
      function load() {
        add('script', {
          src: src,
          onload: function () {
            var loaded = window.loopscopeParts || {};
            resolve(loaded[name] || null);
            delete loaded[name];
          },
          onerror: function () { resolve(null); },
        });
      }
      var src = LoopScope.home + name + '.wasm.js';
      // The page's own load event does not wait for what is only preloaded.
      add('link', { rel: 'preload', as: 'script', href: src, onload: load, onerror: load });
    });
  }

  // Gives a frame the part that it asks for.
  function give(frame, name) {
    if (!/^(loopscope_bg|play|linked|rest)$/.test(name)) return;
    frame.postMessage({ loopscopePart: name, waits: true }, '*');
    part(name).then(function (code) { frame.postMessage({ loopscopePart: name, code: code }, '*'); });
  }

  // What many elements of a page have to do is done one after another, so that the reader can scroll meanwhile.
  var tasks = [];
  function soon(task) {
    if (tasks.push(task) === 1) setTimeout(next);
  }
  function next() {
    try {
      tasks[0]();
    } finally {
      tasks.shift();
      if (tasks.length) setTimeout(next);
    }
  }

  // The elements by the windows of their frames.
  var windows = new Map();
  window.addEventListener('message', function (event) {
    var element = event.source && windows.get(event.source);
    if (element) element.hear(event.data);
  });

  // Making a frame takes time even if it loads nothing: it is made shortly before it can be seen.
  var near = typeof IntersectionObserver === 'function' && new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (entry.isIntersecting) openSoon(entry.target);
    });
  }, { rootMargin: '1250px' });
  function openSoon(element) {
    if (near) near.unobserve(element);
    soon(function () { element.open(); });
  }
  function openNear(element) {
    if (!near || element.getAttribute('preload') === 'auto') openSoon(element);
    else near.observe(element);
  }

  // The first frame in sight opens alone: with others it would have a share of the network and of the processor, and the reader would wait
  // for all of them. They open once it has started; where none is in sight, as they come near it.
  var waiting = [];
  // Elements whose manifest is not read yet: one of them may be the first in sight.
  var coming = new Set();
  var first;
  var limit;
  var isFree = false;
  // The box of an element does not tell what is clipped, folded away, or in a page that is out of sight itself.
  var watch = typeof IntersectionObserver === 'function' && new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      var isSeen = entry.intersectionRatio > 0 && getComputedStyle(entry.target).visibility !== 'hidden';
      if (isSeen && !first && !isFree) {
        first = entry.target;
        // A frame that may not be loaded tells nothing.
        limit = setTimeout(openAll, 10000);
        first.open();
      }
      // What is not painted does not tell that it has started.
      if (!isSeen && entry.target === first) openAll();
    });
    openIfNoneSeen();
  }, { threshold: [0, 0.01] });
  function openIfNoneSeen() {
    if (!first && !isFree && !coming.size) openAll();
  }
  function openInTurn(element) {
    // Behind another tab nothing is painted.
    if (document.hidden || !watch) {
      element.open();
      return;
    }
    if (isFree) {
      openNear(element);
      return;
    }
    waiting.push(element);
    watch.observe(element);
  }
  function openAll() {
    isFree = true;
    clearTimeout(limit);
    watch.disconnect();
    waiting.splice(0).forEach(function (element) {
      if (element !== first) openNear(element);
    });
  }
  // It has started, cannot, or is gone.
  function leaveTurn(element) {
    waiting = waiting.filter(function (other) { return other !== element; });
    if (element === first) openAll();
    if (coming.delete(element) && waiting.length) openIfNoneSeen();
  }

  // Attributes that are parameters of the page as they are.
  var passed = ['view', 'theme', 'speed', 'pace', 'autoplay', 'controls', 'loop', 'idle-time-limit', 'markers', 'pause-on-markers'];
  var known = passed.concat(['src', 'hash', 'lesson', 'start-at', 'preload', 'poster', 'fit', 'height']);
  var calls = ['play', 'pause', 'seek', 'step', 'setSpeed', 'setView', 'setTheme', 'getCurrentTime', 'getDuration', 'getManifest', 'getLesson', 'apply', 'load', 'kubectl', 'next', 'hurry', 'back'];

  class LoopScope extends HTMLElement {
    static get observedAttributes() { return ['theme', 'view']; }

    // A frame that is there changes with them.
    attributeChangedCallback(name, before, now) {
      if (!this.frame || before === now) return;
      var self = this;
      this.call(name === 'view' ? 'setView' : 'setTheme', [now || (name === 'view' ? 'ownership' : 'system')]).then(function () {
        if (self.note) self.note.remove();
      }, function (error) {
        self.tell('error', { code: name === 'view' ? 'view' : 'frame', line: 0, message: error.message });
        self.say(error.message, false);
      });
    }

    constructor() {
      super();
      // What was asked and is not answered, by number.
      this.asked = new Map();
      this.number = 0;
      // Each time the element is put into a document.
      this.turn = 0;
    }

    connectedCallback() {
      if (this.frame || this.cover) return;
      var self = this;
      var turn = ++this.turn;
      var height = this.getAttribute('height') || '420';
      this.style.display = 'block';
      this.style.position = 'relative';
      this.style.height = height + (/^\d+$/.test(height) ? 'px' : '');
      coming.add(this);
      // The children of an element are parsed after it is connected.
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', function () { soon(function () { self.prepare(turn); }); });
      // A module says where Loopscope is once this one has run.
      else soon(function () { self.prepare(turn); });
    }

    prepare(turn) {
      var self = this;
      if (turn !== this.turn || !this.isConnected) return;
      if (!LoopScope.home) {
        this.fail('element', this.words().home);
        return;
      }
      this.checkAttributes();
      var inline = this.querySelector('script[type="text/yaml"], template, pre');
      var hash = this.getAttribute('hash');
      var lesson = this.getAttribute('lesson');
      var src = lesson && !this.named() ? lesson : this.getAttribute('src');
      var text = inline ? Promise.resolve((inline.content || inline).textContent)
        : src ? fetch(src).then(function (answer) {
          if (!answer.ok) throw new Error(src + ': ' + self.words().status + answer.status);
          return answer.text();
        }) : null;
      var fragment = hash ? Promise.resolve(hash[0] === '#' ? hash : '#' + hash) : text ? text.then(pack) : Promise.resolve('');
      var manifest = hash ? unpack(hash) : text || Promise.resolve(lesson ? '' : usual);
      function current() { return turn === self.turn && self.isConnected; }
      manifest.catch(function () { return ''; }).then(function (known) { if (current()) self.draw(known); });
      fragment.then(function (end) { if (current()) self.show(end); }, function (error) { if (current()) self.fail('source', String(error.message || error)); });
    }

    // A misspelled attribute would be left out without a word.
    checkAttributes() {
      var words = this.words();
      Array.prototype.forEach.call(this.attributes, function (attribute) {
        var name = attribute.name;
        if (known.indexOf(name) >= 0) return;
        var meant = known.filter(function (one) { return isNear(name, one); })[0];
        if (!meant) return;
        var message = words.attribute + name + words.known + meant + '?';
        this.tell('error', { code: 'attribute', line: 0, message: message });
        this.say(message, false);
      }, this);
    }

    words() {
      return sentences[/^zh/i.test(this.spoken()) ? 'zh' : 'en'];
    }

    // A sentence that stays: over the frame, or in its place.
    say(message, instead) {
      var ink = inks(this.isDark());
      var note = document.createElement('p');
      note.setAttribute('role', 'alert');
      note.textContent = message;
      if (!instead) {
        if (this.note) this.note.remove();
        this.note = note;
        note.style.cssText = 'position:absolute;top:8px;left:8px;right:8px;z-index:1;margin:0;padding:8px 12px;border:1px solid #b45309;border-radius:8px;background:' + ink[0] + ';color:' + ink[3] + ';font:14px/1.4 system-ui,sans-serif';
        this.root().append(note);
        return;
      }
      var box = document.createElement('div');
      box.style.cssText = sheet(ink) + 'overflow:auto;padding:16px;pointer-events:auto;font-size:14px;line-height:1.4;color:' + ink[3];
      note.style.margin = '0';
      var link = document.createElement('a');
      link.href = LoopScope.home + 'index.html' + this.query();
      link.textContent = this.words().open;
      link.style.cssText = 'display:inline-block;margin:12px 0;color:inherit';
      box.append(note);
      if (LoopScope.home) box.append(link);
      var text = this.querySelector('script[type="text/yaml"], template, pre');
      if (text) {
        var code = document.createElement('pre');
        code.textContent = (text.content || text).textContent.trim();
        code.style.cssText = 'margin:0;font-size:13px;white-space:pre-wrap';
        box.append(code);
      }
      if (this.still) this.still.remove();
      if (this.frame) this.frame.remove();
      this.root().append(box);
    }

    // What the page opens with: the link, or the lesson.
    query() {
      var hash = this.getAttribute('hash');
      if (hash) return hash[0] === '#' ? hash : '#' + hash;
      var src = this.getAttribute('src');
      if (src) return '?src=' + encodeURIComponent(new URL(src, document.baseURI).href);
      return this.named() ? '?lesson=' + encodeURIComponent(this.named()) : '';
    }

    isDark() {
      var theme = this.getAttribute('theme');
      return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
    }

    // The language of the page around.
    spoken() {
      var around = this.closest('[lang]');
      return around ? around.lang : '';
    }

    // A lesson of the page has a name; another one has an address.
    named() {
      var lesson = this.getAttribute('lesson');
      return /[/.]/.test(lesson || '') ? null : lesson;
    }

    root() {
      return this.shadowRoot || this.attachShadow({ mode: 'open' });
    }

    // The still picture, until the frame says that it has drawn its own. The frame of a lesson of the page says itself what it will be.
    draw(manifest) {
      var poster = this.getAttribute('poster');
      // A picture between the tags is of this manifest, and stays whole.
      var inner = poster ? null : this.querySelector('img');
      var title = lessonTitle(manifest, /^zh/i.test(this.spoken()) ? 'zh' : 'en') || (this.rests() && this.named() && (this.getAttribute('title') || this.named()));
      if (this.drawn || this.still || !(manifest || poster || title)) return;
      var dark = this.isDark();
      if (poster || inner) {
        this.still = document.createElement('img');
        this.still.src = poster || inner.src;
        this.still.alt = inner ? inner.alt : '';
        this.still.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;object-fit:' + (inner ? 'contain;background:' + inks(dark)[0] : 'cover') + ';border-radius:12px;pointer-events:none';
      } else {
        this.still = title ? titled(title, inks(dark)) : picture(manifest, inks(dark));
      }
      this.root().append(this.still);
    }

    rests() {
      return this.getAttribute('preload') === 'none';
    }

    // What rests loads nothing before the reader asks for it.
    show(fragment) {
      var self = this;
      if (!this.rests()) {
        this.makeFrame(fragment);
        coming.delete(this);
        openInTurn(this);
        return;
      }
      leaveTurn(this);
      this.cover = document.createElement('button');
      this.cover.type = 'button';
      this.cover.textContent = '▶';
      this.cover.setAttribute('aria-label', this.getAttribute('title') || this.named() || 'Loopscope');
      this.cover.style.cssText = 'position:absolute;inset:0;margin:auto;width:64px;height:64px;border:0;border-radius:999px;background:#326ce5;color:#fff;font-size:24px;cursor:pointer;z-index:1';
      this.cover.onclick = function () {
        self.cover.remove();
        // The frame of a lesson of the page says itself what it will be.
        if (self.named() && self.still && !self.hasAttribute('poster')) self.still.remove();
        self.setAttribute('autoplay', '');
        self.makeFrame(fragment);
        self.open();
        self.frame.focus();
      };
      this.root().append(this.cover);
    }

    // The frame, which loads nothing before it is opened.
    makeFrame(fragment) {
      var query = new URLSearchParams({ embed: '' });
      passed.forEach(function (name) {
        if (this.hasAttribute(name)) query.set(name, this.getAttribute(name) || '1');
      }, this);
      if (this.named()) query.set('lesson', this.named());
      if (this.hasAttribute('start-at')) query.set('t', this.getAttribute('start-at'));
      query.set('share', '1');
      if (this.spoken()) query.set('lang', this.spoken());
      var self = this;
      var frame = document.createElement('iframe');
      // From a folder, where a sandboxed page may load nothing, it has an origin of its own without that.
      if (!isFolder()) frame.setAttribute('sandbox', 'allow-scripts allow-popups allow-popups-to-escape-sandbox');
      frame.setAttribute('loading', this.getAttribute('preload') === 'auto' ? 'eager' : 'lazy');
      frame.title = this.getAttribute('title') || 'Loopscope: a Kubernetes simulation';
      frame.style.cssText = 'width:100%;height:100%;box-sizing:border-box;border:1px solid #d5dae3;border-radius:12px;display:block';
      frame.src = LoopScope.home + 'index.html?' + query + fragment;
      this.frame = frame;
      // Browsers tell of no failure of a frame: its page says at once that it is there.
      frame.onload = function () {
        self.late = setTimeout(function () {
          if (!self.came && self.frame === frame) self.fail('frame', LoopScope.home + 'index.html' + self.words().frame);
        }, 5000);
      };
      this.needsLinked = fragment.length > 1 || this.getAttribute('view') === 'storage';
    }

    open() {
      if (!this.frame || this.frame.isConnected) return;
      this.root().prepend(this.frame);
      this.hears = this.frame.contentWindow;
      windows.set(this.hears, this);
      // A frame in sight will ask for them as soon as its document is there.
      var box = this.getBoundingClientRect();
      if (box.bottom <= 0 || box.top >= innerHeight) return;
      part('loopscope_bg').then(function () { part('play'); });
      if (this.needsLinked) part('linked');
    }

    // What the frame says.
    hear(message) {
      this.came = true;
      if (message === 'loopscope:drawn') {
        this.drawn = true;
        if (this.still) this.still.remove();
      }
      // The first Pods are on the screen a moment later.
      if (message === 'loopscope:started') setTimeout(leaveTurn, 300, this);
      if (message && typeof message.loopscopePart === 'string') give(this.frame.contentWindow, message.loopscopePart);
      if (!message || message.loopscope !== 1) return;
      if (message.type === 'event') {
        if (message.event === 'ready') this.begin();
        if (message.event === 'height' && this.getAttribute('fit') === 'content') {
          this.style.height = Math.min(Math.max(message.detail.height, 240), 1200) + 'px';
        }
        this.tell(message.event, message.detail);
      }
      var asked = this.asked.get(message.id);
      if (!asked || !/^(result|error)$/.test(message.type)) return;
      this.asked.delete(message.id);
      if (message.type === 'error') asked.reject(new Error(message.message));
      else asked.resolve(message.value);
    }

    // Asks a frame what was asked before it was ready, or of the frame before it.
    begin() {
      if (this.ready) return;
      this.ready = true;
      this.asked.forEach(function (asked) { this.frame.contentWindow.postMessage(asked.message, '*'); }, this);
    }

    tell(name, detail) {
      this.dispatchEvent(new CustomEvent(name, { detail: detail }));
    }

    // Asks the frame; what is asked before it is ready waits.
    call(method, args) {
      var self = this;
      var message = { loopscope: 1, type: 'call', id: ++this.number, method: method, args: args };
      return new Promise(function (resolve, reject) {
        if (self.failed) {
          reject(new Error(self.failed));
          return;
        }
        self.asked.set(message.id, { message: message, resolve: resolve, reject: reject });
        if (self.ready) self.frame.contentWindow.postMessage(message, '*');
      });
    }

    fail(code, reason) {
      this.tell('error', { code: code, line: 0, message: reason });
      this.say(this.words().failed + reason, true);
      windows.delete(this.hears);
      this.frame = null;
      this.failed = reason;
      this.refuse(reason);
      leaveTurn(this);
    }

    // Nothing that was asked will be answered.
    refuse(reason) {
      this.asked.forEach(function (asked) { asked.reject(new Error(reason)); });
      this.asked.clear();
    }

    dispose() {
      this.remove();
    }

    disconnectedCallback() {
      var self = this;
      windows.delete(this.hears);
      if (near) near.unobserve(this);
      this.root().replaceChildren();
      this.frame = this.still = this.cover = null;
      clearTimeout(this.late);
      this.drawn = this.ready = this.came = false;
      this.failed = '';
      leaveTurn(this);
      // An element that is only moved is connected again at once, and its new frame is asked again.
      Promise.resolve().then(function () { if (!self.isConnected) self.refuse('the element was removed'); });
    }
  }
  // Where Loopscope is served: beside this script, if it is one of the page. (A static field would be written with helpers outside of
  // this function, whose names collide with those of the page around.)
  LoopScope.home = document.currentScript && document.currentScript.src ? new URL('.', document.currentScript.src).href : '';
  calls.forEach(function (method) {
    LoopScope.prototype[method] = function () { return this.call(method, Array.prototype.slice.call(arguments)); };
  });
  customElements.define('loop-scope', LoopScope);
})();
