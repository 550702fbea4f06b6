// Run after a build, where the npm packages are: scripts and styles without what only people read, and the script that starts the page
// within the page, which saves the reader a request; the policy names that script by its hash.
import { transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';

const dir = process.env.TRUNK_STAGING_DIR ?? new URL('../dist', import.meta.url).pathname;
for (const name of readdirSync(dir).filter((name) => /\.(js|css)$/.test(name) && !/^(editor|single)\.js$|\.wasm\.js$/.test(name))) {
  const { code } = await transform(readFileSync(`${dir}/${name}`, 'utf8'), { loader: name.endsWith('.css') ? 'css' : 'js', minify: true, legalComments: 'none', target: 'es2021' });
  writeFileSync(`${dir}/${name}`, code);
}

const start = readFileSync(`${dir}/start.js`, 'utf8').trim();
const hash = createHash('sha256').update(start).digest('base64');
const page = readFileSync(`${dir}/index.html`, 'utf8')
  .replace('<script src="start.js"></script>', () => `<script>${start}</script>`)
  .replace("script-src 'self'", `script-src 'self' 'sha256-${hash}'`);
writeFileSync(`${dir}/index.html`, page);
unlinkSync(`${dir}/start.js`);
