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
  var names = ['apply', 'kubectl', 'fault', 'play', 'pause', 'step', 'seek'];
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
      .then(function () {
        return fetch(base + 'loopscope_bg.wasm').then(
          function (response) {
            if (!response.ok) throw new Error('loopscope_bg.wasm: ' + response.status);
            return response.arrayBuffer();
          },
          function () {
            // A sandboxed frame may not fetch from servers without CORS; it may load a script.
            return script('loopscope_bg.wasm.js').then(function () {
              var text = atob(window.loopscopeWasm);
              delete window.loopscopeWasm;
              var bytes = new Uint8Array(text.length);
              for (var i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
              return bytes.buffer;
            });
          });
      })
      .then(function (bytes) { return wasm_bindgen({ module_or_path: bytes }); })
      .then(function () { clearTimeout(slow); }, function (error) {
        if (!stopped) fail(String((error && error.message) || error) + '.');
      });
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
})();
