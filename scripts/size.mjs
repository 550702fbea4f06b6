// What a first visit downloads: the page's files, compressed as a web server does. Fails above the limits.
import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { brotli } from '../tests/browser/server.mjs';
import { isSplit } from './wrap.mjs';

// Bytes after brotli: until the page is drawn; until its first Pods are, of a page with a manifest of its own too; the whole page but its
// editor, which comes when a manifest is shown; the editor. A twentieth above what they were on 2026-11-30: builds of one source differ, since what
// the openings of split.mjs run depends on the machine's speed. What a reader waits is measured by `make opening`.
const limits = { drawn: 578_000, opening: 690_000, linked: 795_000, page: 2_200_000, editor: 160_000 };
const dist = new URL('../dist/', import.meta.url);
// Not part of a visit to the page: the script for course pages, what is loaded when it is asked for, and the parts of the module as scripts.
const apart = new Set(['embed.js', 'host.js', 'follow.js', 'editor.js', 'export.js', 'scorm.js', 'single.html', 'single.js', 'sw.js', 'zh.js', 'explain.js', 'course-page.html']);
// What comes after the first Pods, while the page runs.
const later = new Set(['linked.wasm', 'rest.wasm', 'later.css']);

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
const sizes = { drawn: 0, opening: 0, linked: 0, page: 0, editor: brotli(readFileSync(new URL('editor.js', dist))).length };
console.log(`${'file'.padEnd(24)}${'raw'.padStart(10)}${'gzip'.padStart(10)}${'brotli'.padStart(10)}`);
for (const name of readdirSync(dist).sort()) {
  if (!/\.(wasm|js|css|html)$/.test(name) || name.endsWith('.wasm.js') || apart.has(name)) continue;
  const bytes = readFileSync(new URL(name, dist));
  const size = brotli(bytes).length;
  sizes.page += size;
  if (!later.has(name)) sizes.opening += size;
  if (!later.has(name) && name !== 'play.wasm') sizes.drawn += size;
  if (!later.has(name) || name === 'linked.wasm') sizes.linked += size;
  console.log(`${name.padEnd(24)}${String(bytes.length).padStart(10)}${String(gzipSync(bytes).length).padStart(10)}${String(size).padStart(10)}`);
}
// Without wasm-split the module is in one piece with its names, and has no limit.
const whole = !isSplit(dist.pathname);
console.log(`until the page is drawn: ${kB(sizes.drawn)} (limit ${kB(limits.drawn)})`);
console.log(`until the first Pods are: ${kB(sizes.opening)} (limit ${kB(limits.opening)})`);
console.log(`with a manifest in the address: ${kB(sizes.linked)} (limit ${kB(limits.linked)})`);
console.log(`the page without its editor: ${kB(sizes.page)} (limit ${kB(limits.page)})`);
console.log(`the code editor, where a manifest is shown: ${kB(sizes.editor)} (limit ${kB(limits.editor)})`);
if (whole) console.log('The module was not split (scripts/split.mjs): the limits are not checked.');
else if (Object.keys(limits).some((what) => sizes[what] > limits[what])) {
  console.error('The page is over its limit.');
  process.exit(1);
}
