// Follows the cluster that serves this page (`loopscope serve --page`): what is done there is told to the page, and what is done on
// the page is sent there. A connection that breaks comes back by itself.
(function () {
  'use strict';
  var source = new EventSource('../loopscope/record?follow=true');
  source.onmessage = function (event) { loopscope.told(event.data); };
  source.onerror = function () { loopscope.lost(); };
  window.loopscopeSend = function (path, body) {
    fetch('../loopscope/' + path, { method: 'POST', body: body, headers: { 'content-type': 'application/json' } })
      .then(function (response) { return response.text(); })
      .then(loopscope.answered, loopscope.lost);
  };
})();
