// <loop-scope view="storage" src="web.yaml"></loop-scope>: a simulator inside a course page.
// Makes one sandboxed iframe, loaded when it comes near the screen. No framework, no requests but the frame's own.
//   src       address of a manifest on this site (or write the manifest between the tags, in a <script type="text/yaml">)
//   hash      the fragment of a link copied from Loopscope (#pako:…)
//   view, theme, speed, autoplay, height, title
(function () {
  'use strict';
  var home = new URL('.', document.currentScript.src).href;

  function base64url(bytes) {
    var text = '';
    bytes.forEach(function (byte) { text += String.fromCharCode(byte); });
    return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }

  // The same link the Share button makes: zlib over versioned JSON. Older browsers get it stored, not deflated.
  function pack(manifest) {
    var bytes = new TextEncoder().encode(JSON.stringify({ v: 1, manifest: manifest }));
    if (typeof CompressionStream === 'function') {
      var stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
      return new Response(stream).arrayBuffer().then(function (buffer) { return '#pako:' + base64url(new Uint8Array(buffer)); });
    }
    return Promise.resolve('#base64:' + base64url(bytes));
  }

  class LoopScope extends HTMLElement {
    connectedCallback() {
      if (this.frame) return;
      var self = this;
      var height = this.getAttribute('height') || '420';
      this.style.display = 'block';
      this.style.height = height + (/^\d+$/.test(height) ? 'px' : '');
      // The children of an element are parsed after it is connected.
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', function () { self.load(); });
      else this.load();
    }

    load() {
      var self = this;
      var inline = this.querySelector('script[type="text/yaml"], template, pre');
      var hash = this.getAttribute('hash');
      var src = this.getAttribute('src');
      var text = inline ? Promise.resolve((inline.content || inline).textContent)
        : src ? fetch(src).then(function (answer) { return answer.text(); }) : null;
      var fragment = hash ? Promise.resolve(hash[0] === '#' ? hash : '#' + hash) : text ? text.then(pack) : Promise.resolve('');
      fragment.then(function (end) { self.show(end); });
    }

    show(fragment) {
      var query = new URLSearchParams({ embed: '' });
      ['view', 'theme', 'speed', 'autoplay'].forEach(function (name) {
        if (this.hasAttribute(name)) query.set(name, this.getAttribute(name) || '1');
      }, this);
      var frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      frame.setAttribute('loading', 'lazy');
      frame.title = this.getAttribute('title') || 'Loopscope: a Kubernetes simulation';
      frame.style.cssText = 'width:100%;height:100%;border:1px solid #d5dae3;border-radius:12px;display:block';
      frame.src = home + 'index.html?' + query + fragment;
      this.frame = frame;
      this.replaceChildren(frame);
    }

    disconnectedCallback() {
      if (this.frame) this.frame.remove();
      this.frame = null;
    }
  }
  if (!customElements.get('loop-scope')) customElements.define('loop-scope', LoopScope);
})();
