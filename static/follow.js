// Follows the cluster that serves this page (`loopscope serve --page`): what is done there is told to the page, and what is done on
// the page is sent there. A connection that breaks comes back by itself.
(function () {
  'use strict';
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
