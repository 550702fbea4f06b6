// Run after a build, where the npm packages are: scripts and styles without what only people read.
import { transform } from 'esbuild';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const dir = process.env.TRUNK_STAGING_DIR ?? new URL('../dist', import.meta.url).pathname;
for (const name of readdirSync(dir).filter((name) => /\.(js|css)$/.test(name) && !/^(editor|single)\.js$|\.wasm\.js$/.test(name))) {
  const { code } = await transform(readFileSync(`${dir}/${name}`, 'utf8'), { loader: name.endsWith('.css') ? 'css' : 'js', minify: true, legalComments: 'none', target: 'es2021' });
  writeFileSync(`${dir}/${name}`, code);
}
