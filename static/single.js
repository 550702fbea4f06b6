// Saves the page as one file that opens from a disk without a network: styles, scripts, both parts of the module and the language inside.
// Loaded when somebody asks for it.
(function () {
  'use strict';
  const text = async (name) => {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.text();
  };

  /** Deflated, as base64: that is a third of the bytes. */
  async function packed(name) {
    const answer = await fetch(name);
    if (!answer.ok) return null;
    const stream = new Blob([await answer.arrayBuffer()]).stream().pipeThrough(new CompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    let out = '';
    for (let at = 0; at < bytes.length; at += 32_766) out += btoa(String.fromCharCode(...bytes.subarray(at, at + 32_766)));
    return out;
  }

  // Within an element of HTML nothing may look like the end of it.
  const script = (source) => `<script>${source.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--')}</script>`;
  const json = (value) => JSON.stringify(value).replace(/</g, '\\u003c').replace(/\u2028|\u2029/g, ' ');

  window.loopscopeSingle = async function (hash, query, lesson, title, done) {
    try {
      const files = {};
      for (const name of ['loopscope.js', 'zh.js', 'editor.js', 'export.js']) files[name] = await text(name);
      if (lesson) files[`lessons/${lesson}.js`] = await text(`lessons/${lesson}.js`);
      const parts = { loopscope_bg: await packed('loopscope_bg.wasm') };
      const rest = await packed('rest.wasm');
      if (rest) parts.rest = rest;
      const start = await text('start.js');
      let page = await text('index.html');
      for (const name of ['tokens.css', 'components.css', 'page.css', 'views.css']) {
        const style = (await text(name)).replace(/<\/(style)/gi, '<\\/$1');
        page = page.replace(`<link rel="stylesheet" href="${name}">`, () => `<style>${style}</style>`);
      }
      const later = (await text('lesson.css')).replace(/<\/(style)/gi, '<\\/$1');
      page = page.replace('</head>', () => `<style>${later}</style></head>`);
      const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
      page = page.replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, (_, head) => head + policy)
        .replace(/<link rel="icon"[^>]*>/, '')
        .replace(/<title>[^<]*<\/title>/, () => `<title>${title.replace(/[&<]/g, (c) => (c === '&' ? '&amp;' : '&lt;'))}</title>`)
        .replace('<script src="start.js"></script>', () => script(`window.loopscopeFile=${json({ hash, query, files, parts })};`) + script(start));
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
      link.download = `${title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').toLowerCase() || 'loopscope'}.html`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      done('');
    } catch (error) {
      done(String(error.message || error));
    }
  };
})();
