// What a first visit downloads: wasm, js and css of the release page, compressed as a web server does.
// Fails above the limit.
import { readFileSync, readdirSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

// What a first visit may weigh until the first Pods are drawn, and what may follow.
const limit = 300_000;
const most = 860_000;
const dist = new URL('../dist/', import.meta.url);
// Not part of a first visit: the script for course pages, what comes when it is asked for, and the copies of the module for pages
// that may not fetch.
const apart = new Set(['embed.js', 'editor.js', 'export.js', 'zh.js', 'loopscope_bg.wasm.js', 'rest.wasm.js']);
// The code editor comes when a manifest is shown, after the page.
const editorLimit = 160_000;

const brotli = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length;

// What comes behind the first Pods, while the page already runs.
const later = new Set(['rest.wasm', 'views.css']);

let total = 0;
let behind = 0;
console.log(`${'file'.padEnd(24)}${'raw'.padStart(10)}${'gzip'.padStart(10)}${'brotli'.padStart(10)}`);
for (const name of readdirSync(dist).sort()) {
  if (!/\.(wasm|js|css|html)$/.test(name) || apart.has(name) || name === 'course-page.html') continue;
  const bytes = readFileSync(new URL(name, dist));
  const size = brotli(bytes);
  if (later.has(name)) behind += size;
  else if (!name.endsWith('.html')) total += size;
  console.log(`${name.padEnd(24)}${String(bytes.length).padStart(10)}${String(gzipSync(bytes).length).padStart(10)}${String(size).padStart(10)}`);
}
console.log(`until the first Pods are drawn: wasm + js + css, brotli: ${(total / 1000).toFixed(1)} kB (limit ${limit / 1000} kB)`);
console.log(`behind it, in the background: ${(behind / 1000).toFixed(1)} kB (limit ${most / 1000} kB)`);
const editor = brotli(readFileSync(new URL('editor.js', dist)));
console.log(`the code editor, where a manifest is shown: ${(editor / 1000).toFixed(1)} kB (limit ${editorLimit / 1000} kB)`);
if (total > limit || behind > most || editor > editorLimit) {
  console.error('The page is over its limit.');
  process.exit(1);
}
