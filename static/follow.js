// Follows the cluster that serves this page (`loopscope serve --page`): what is done there is told to the page, and what is done on
// the page is sent there. A connection that breaks comes back by itself. A page in one file asks no server: the page around it tells it, and
// sends for it (docs/messages.md).
(function () {
  'use strict';
  if (window.loopscopeFile) {
    addEventListener('message', function (event) {
      var message = event.data;
      if (event.source !== parent || !message || message.loopscope !== 1) return;
      if (message.type === 'record') message.lines.forEach(function (line) { loopscope.told(line); });
      if (message.type === 'answer') loopscope.answered(message.text);
      if (message.type === 'lost') loopscope.lost();
    });
    window.loopscopeSend = function (path, body) { parent.postMessage({ loopscope: 1, type: 'send', path: path, body: body }, '*'); };
    return;
  }
  // A server with --token asks for it; its page has it in the address.
  var token = new URLSearchParams(location.search).get('token');
  var source = new EventSource('../loopscope/record?follow=true' + (token ? '&token=' + encodeURIComponent(token) : ''));
  source.onmessage = function (event) { loopscope.told(event.data); };
  source.onerror = function () { loopscope.lost(); };
  window.loopscopeSend = function (path, body) {
    var headers = { 'content-type': 'application/json' };
    if (token) headers.authorization = 'Bearer ' + token;
    fetch('../loopscope/' + path, { method: 'POST', body: body, headers: headers })
      .then(function (response) { return response.text(); })
      .then(loopscope.answered, loopscope.lost);
  };
})();
