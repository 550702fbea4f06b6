// The widget of loopscope.jupyter in the notebook: the page in a sandboxed frame, made of the bytes that the kernel sends.

// Pages by their content, for all widgets of the notebook: each of them loads this module anew.
const pages = (globalThis[Symbol.for('loopscope.pages')] ??= new Map());
const EMPTY = '{"hash":"","query":""}';
// A Jupyter server drops what exceeds 3 MB in 3 seconds, of all that its kernel sends.
const BURST = 2 << 20;
const PAUSE = 3200;
const PATIENCE = 10_000;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** One part of the page, asked for again if it does not come. */
function part(model, start, isLeft) {
  return new Promise((resolve, reject) => {
    let asked;
    const leave = () => { clearInterval(asked); model.off('msg:custom', hear); };
    const hear = (message, buffers) => {
      if (message.type !== 'page' || message.start !== start) return;
      leave();
      const { buffer, byteOffset = 0, byteLength } = buffers[0].buffer ? buffers[0] : { buffer: buffers[0], byteLength: buffers[0].byteLength };
      resolve({ bytes: new Uint8Array(buffer, byteOffset, byteLength).slice(), size: message.size });
    };
    const ask = () => {
      if (isLeft()) {
        leave();
        reject(new Error('the widget was removed'));
      } else model.send({ type: 'page', start });
    };
    model.on('msg:custom', hear);
    asked = setInterval(ask, PATIENCE);
    ask();
  });
}

async function load(model, isLeft) {
  const parts = [];
  let [start, sent, size] = [0, 0, Infinity];
  while (start < size) {
    if (sent >= BURST) {
      await wait(PAUSE);
      sent = 0;
    }
    const next = await part(model, start, isLeft);
    parts.push(next.bytes);
    [start, sent, size] = [start + next.bytes.length, sent + next.bytes.length, next.size];
  }
  return new Response(new Blob(parts).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** The page's text. A widget that is removed while it loads leaves the loading to the next. */
async function pageText(model, isLeft) {
  const name = model.get('page');
  for (;;) {
    if (!pages.has(name)) {
      const loading = load(model, isLeft);
      pages.set(name, loading);
      loading.catch(() => pages.delete(name));
    }
    try {
      return await pages.get(name);
    } catch (error) {
      if (isLeft()) throw error;
    }
  }
}

/** The theme of the notebook, where it is known; otherwise the page takes that of the system. */
function theme(model) {
  const { jpThemeLight } = document.body.dataset;
  if (model.get('theme')) return model.get('theme');
  if (jpThemeLight) return jpThemeLight === 'true' ? 'light' : 'dark';
  return /\bvscode-(light|dark)\b/.exec(document.body.className)?.[1];
}

function base64url(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** What the page opens with. */
function opening(model) {
  const query = new URLSearchParams({ embed: '', view: model.get('view') });
  if (theme(model)) query.set('theme', theme(model));
  if (model.get('lang')) query.set('lang', model.get('lang'));
  if (model.get('follows')) query.set('follow', '');
  query.set('autoplay', model.get('follows') || model.get('autoplay') ? '1' : '0');
  const hash = model.get('follows') ? '' : `#base64:${base64url(JSON.stringify({ v: 1, manifest: model.get('text') }))}`;
  return JSON.stringify({ hash, query: `?${query}` });
}

function render({ model, el }) {
  const id = crypto.randomUUID?.() ?? String(Math.random());
  const box = document.createElement('div');
  const frame = document.createElement('iframe');
  const poster = document.createElement('img');
  let [left, ready, calls, address] = [false, false, 0, ''];
  const size = () => { box.style.cssText = `position:relative;height:${model.get('height')}px`; };
  const tell = (message) => frame.contentWindow?.postMessage({ loopscope: 1, ...message }, '*');
  const call = (method, ...args) => { if (ready) tell({ type: 'call', id: ++calls, method, args }); };

  size();
  frame.title = 'Loopscope';
  frame.setAttribute('sandbox', 'allow-scripts allow-popups allow-popups-to-escape-sandbox');
  frame.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;border:0;border-radius:12px';
  poster.alt = '';
  poster.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;object-fit:contain;border-radius:12px;background:#f8f9fb';
  if (theme(model) === 'dark') poster.style.background = '#14181f';
  if (model.get('picture')) {
    poster.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(model.get('picture'))}`;
    box.append(poster);
  }
  el.append(box);
  // The picture beside the widget is for where there are none.
  document.querySelectorAll(`.${CSS.escape(model.get('still') || 'loopscope-still')}`).forEach((still) => { still.hidden = true; });

  const heard = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data === 'loopscope:drawn' || data === 'loopscope:started') poster.remove();
    if (data?.loopscope !== 1) return;
    if (data.type === 'send') model.send({ type: 'send', frame: id, path: data.path, body: data.body });
    if (data.type === 'event' && data.event === 'ready') {
      ready = true;
      if (model.get('follows')) model.send({ type: 'follow', frame: id });
    }
  };
  const told = (message) => {
    if (message.frame !== id) return;
    if (message.type === 'record') tell({ type: 'record', lines: message.lines });
    if (message.type === 'answer') tell({ type: 'answer', text: message.text });
    if (message.type === 'lost') tell({ type: 'lost' });
  };
  const changes = {
    'change:view': () => call('setView', model.get('view')),
    'change:theme': () => call('setTheme', theme(model) ?? 'system'),
    'change:text': () => call('load', model.get('text')),
    'change:height': size,
    'msg:custom': told,
  };
  window.addEventListener('message', heard);
  Object.entries(changes).forEach(([event, act]) => model.on(event, act));

  pageText(model, () => left).then((text) => {
    if (left) return;
    // A page without an address has no link to itself.
    const filled = text.replace(EMPTY, () => opening(model).replace(/</g, '\\u003c')).replace('</head>', '<style>a.full { display: none }</style></head>');
    address = URL.createObjectURL(new Blob([filled], { type: 'text/html' }));
    frame.src = address;
    box.prepend(frame);
  }, () => { /* the picture stays */ });

  return () => {
    left = true;
    window.removeEventListener('message', heard);
    Object.entries(changes).forEach(([event, act]) => model.off(event, act));
    if (address) URL.revokeObjectURL(address);
    if (model.get('follows')) model.send({ type: 'leave', frame: id });
  };
}

export default { render };
