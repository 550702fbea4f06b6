// Within the webview: writes the page into its frame, and passes messages between the frame and the extension.
(function () {
  'use strict';
  const code = acquireVsCodeApi();
  const frame = document.querySelector('iframe');
  addEventListener('message', ({ source, data }) => {
    if (source !== frame.contentWindow) frame.contentWindow.postMessage(data, '*');
    else if (data && data.loopscope === 1) code.postMessage(data);
  });
  fetch(document.body.dataset.page).then((answer) => answer.text()).then((page) => {
    frame.srcdoc = page.replace(document.body.dataset.closed, () => document.body.dataset.opening);
  });
})();
