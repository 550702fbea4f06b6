// What the page around a frame may say to it, and hears of it. Loaded in frames and in windows that were opened by a page; answers nobody
// but the parent or the opener. The messages are described in docs/messages.md.
(function () {
  'use strict';
  // A window that a page opened is played by it only if it was opened as a frame is.
  var host = parent !== window ? parent : /[?&]embed\b/.test(location.search) ? opener : null;
  if (!host) return;
  var version = 1;
  // More calls than this in a second are refused.
  var limit = 50;
  var counted = 0;
  var since = 0;
  var told = 0;

  function send(message) {
    // The host's origin is its own business: nothing that is sent is a secret of this page.
    host.postMessage(Object.assign({ loopscope: version }, message), '*');
  }
  function number(value) {
    if (typeof value !== 'number' || !isFinite(value)) throw new TypeError('a number is expected');
    return value;
  }
  function text(value) {
    if (typeof value !== 'string' || value.length > 4194304) throw new TypeError('a text is expected');
    return value;
  }
  var page = window.loopscope;
  var methods = {
    play: function () { page.play(); },
    pause: function () { page.pause(); },
    step: function () { page.step(); },
    seek: function (seconds) { page.seek(number(seconds)); },
    setSpeed: function (speed) { page.speed(number(speed)); },
    getCurrentTime: function () { return page.now(); },
    getDuration: function () { return page.end(); },
    setView: function (view) {
      if (page.views.indexOf(text(view)) < 0) throw new TypeError('there is no diagram ' + view + '; there are ' + page.views.join(', '));
      return page.view(view);
    },
    setTheme: function (theme) { page.theme(text(theme)); },
    apply: function (manifest) { return page.apply(text(manifest)); },
    load: function (manifest) { return page.load(text(manifest)); },
    kubectl: function (line) { return page.kubectl(text(line)); },
    getManifest: function () { return page.manifest(); },
    getLesson: function () { return page.lesson(); },
    next: function () { page.teach('next'); },
    hurry: function () { page.teach('hurry'); },
    back: function () { page.teach('back'); },
  };

  addEventListener('message', function (event) {
    var message = event.data;
    if (event.source !== host || !message || typeof message !== 'object' || message.loopscope !== version) return;
    if (message.type === 'ping') {
      send({ type: 'pong', id: message.id, ready: Boolean(page.ready), methods: Object.keys(methods) });
      return;
    }
    if (message.type !== 'call') return;
    var now = Date.now();
    if (now - since > 1000) { since = now; counted = 0; }
    counted++;
    var answer = { type: 'result', id: message.id };
    try {
      if (counted > limit) throw new Error('too many calls: at most ' + limit + ' a second');
      if (!page.ready) throw new Error('not ready');
      if (!Object.prototype.hasOwnProperty.call(methods, message.method)) throw new Error('no such method');
      var value = methods[message.method].apply(null, Array.isArray(message.args) ? message.args.slice(0, 4) : []);
      answer.value = value === undefined ? null : value;
    } catch (error) {
      answer = { type: 'error', id: message.id, message: String(error.message || error) };
    }
    send(answer);
  });

  // Called by the page: 'play', 'pause', 'step' and 'lesson', each with what there is to say.
  // A learning platform may listen as well (static/scorm.js).
  var before = window.loopscopeTell;
  window.loopscopeTell = function (event, detail) {
    if (before) before(event, detail);
    send({ type: 'event', event: event, detail: JSON.parse(detail) });
  };

  // How much room the content takes: what scrolls within the panels, and the picture.
  function measure() {
    var stage = document.querySelector('.stage');
    var items = document.querySelectorAll('.world .item');
    if (!stage || items.length > 300) return;
    var boxes = Array.prototype.map.call(items, function (item) { return item.getBoundingClientRect(); });
    var top = Math.min.apply(null, boxes.map(function (box) { return box.top; }));
    var bottom = Math.max.apply(null, boxes.map(function (box) { return box.bottom; }));
    var inside = items.length ? bottom - top + 72 : 0;
    var panel = document.querySelector('#lesson .told');
    var hidden = panel ? panel.scrollHeight - panel.clientHeight : 0;
    var height = Math.round(innerHeight - stage.getBoundingClientRect().height + Math.max(inside, 200) + hidden);
    if (Math.abs(height - told) < 8) return;
    told = height;
    send({ type: 'event', event: 'height', detail: { height: height } });
    // As learning platforms read it, where the address says that it is in one.
    if (/[?&]lti\b/.test(location.search)) host.postMessage({ subject: 'lti.frameResize', height: height }, '*');
  }
  // Only while it is in sight.
  var measuring;
  new IntersectionObserver(function (entries) {
    clearInterval(measuring);
    if (entries[entries.length - 1].isIntersecting) measuring = setInterval(measure, 500);
  }).observe(document.documentElement);
  // What was wrong before anybody listened.
  page.tell();
  send({ type: 'event', event: 'ready', detail: { methods: Object.keys(methods), version: page.version } });
})();
