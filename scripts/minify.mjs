// Run after a build, where the npm packages are: scripts and styles without what only people read, and the styles of the page and the
// script that starts it within the page: what it says first is painted when the page has come, not a request later, while the module takes
// the network. The policy names them by their hashes.
import { transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';

const dir = process.argv[2];
for (const name of readdirSync(dir).filter((name) => /\.(js|css)$/.test(name) && !/^(editor|single)\.js$|\.wasm\.js$/.test(name))) {
  const { code } = await transform(readFileSync(`${dir}/${name}`, 'utf8'), { loader: name.endsWith('.css') ? 'css' : 'js', minify: true, legalComments: 'none', target: 'es2021' });
  writeFileSync(`${dir}/${name}`, code);
}

const text = (name) => readFileSync(`${dir}/${name}`, 'utf8').trim();
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const html = text('index.html');
const sheets = [...html.matchAll(/\s*<link rel="stylesheet" href="([^"]+)">/g)];
const [start, styles] = [text('start.js'), sheets.map(([, name]) => text(name)).join('\n')];
const page = sheets.reduce((page, [link], at) => page.replace(link, () => (at ? '' : `\n  <style>${styles}</style>`)), html)
  .replace('<script src="start.js"></script>', () => `<script>${start}</script>`)
  .replace("script-src 'self'", `script-src 'self' ${hash(start)}`)
  .replace("style-src 'self'", `style-src 'self' ${hash(styles)}`);
writeFileSync(`${dir}/index.html`, page);
for (const name of ['start.js', ...sheets.map(([, name]) => name)]) unlinkSync(`${dir}/${name}`);
