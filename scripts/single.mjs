// The page as one file: styles, scripts, the parts of the module, lessons and languages inside, so that it opens from a disk without a
// network. It opens with nothing; *Save as one file* and `loopscope export` write into it what it opens with.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { parts as modules } from './wrap.mjs';

const dist = new URL('../dist/', import.meta.url);
const text = (name) => readFileSync(new URL(name, dist), 'utf8');

// Within an element of HTML nothing may look like the end of it.
const script = (source) => `<script>${source.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--')}</script>`;
const style = (name) => `<style>${text(name).replace(/<\/(style)/gi, '<\\/$1')}</style>`;
const json = (value) => JSON.stringify(value).replace(/</g, '\\u003c').replace(/\u2028|\u2029/g, ' ');

const files = {};
// wasm-bindgen reads the address of its script, which the page does not use: it gives the module itself. In a frame that was written into its
// page (srcdoc) there is none, and that of a blob is no base.
const ownAddress = /new URL\(document\.currentScript\.src, ?location\.href\)/;
for (const name of ['loopscope.js', 'zh.js', 'explain.js', 'editor.js', 'export.js', 'host.js', 'follow.js']) files[name] = text(name);
for (const name of readdirSync(new URL('lessons/', dist)).filter((name) => name.endsWith('.js'))) files[`lessons/${name}`] = text(`lessons/${name}`);
if (!ownAddress.test(files['loopscope.js'])) throw new Error('the glue of the module reads its address in another way');
files['loopscope.js'] = files['loopscope.js'].replace(ownAddress, 'new URL("about:blank")');
const parts = {};
for (const name of modules) {
  parts[name] = deflateSync(readFileSync(new URL(`${name}.wasm`, dist)), { level: 9 }).toString('base64');
}

const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
let page = text('index.html')
  .replace(/<link rel="stylesheet" href="([^"]+)">/g, (_, name) => style(name))
  .replace('</head>', () => `${style('later.css')}</head>`)
  .replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, (_, head) => head + policy)
  .replace(/<link rel="(icon|manifest|help)"[^>]*>/g, '')
  // What it opens with stands in a line of its own, which others write over.
  .replace('<script>', () => `${script('window.loopscopeFile={"hash":"","query":""}')}\n${script(`Object.assign(window.loopscopeFile,${json({ files, parts })});`)}<script>`);
if (/<(link|script)[^>]*(href|src)="(?!data:)/.test(page.replace(/<script>[^]*?<\/script>/g, ''))) throw new Error('the single file still loads something');
writeFileSync(new URL('single.html', dist), page);
