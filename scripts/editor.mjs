// Bundles what the page loads when it is wanted, each into one file: the code editor (without it the page keeps its text area), and what
// saves the page as a file or a package.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(`${root}/target/editor`, { recursive: true });
const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2021',
  legalComments: 'none',
};
await build({
  ...common,
  entryPoints: ['editor/single.mjs'],
  outfile: 'target/editor/single.js',
  banner: { js: '/* Contains fflate, (C) Arjun Barrett, MIT License: https://github.com/101arrowz/fflate */' },
});
await build({
  ...common,
  entryPoints: ['editor/editor.mjs'],
  outfile: 'target/editor/editor.js',
  // Where it can ask whether input waits, it works up to 100 ms at a time; else it keeps to what the browser's idle time allows.
  define: { 'navigator.scheduling': 'null' },
  banner: { js: '/* Contains CodeMirror 6 and Lezer, (C) 2018 and later Marijn Haverbeke and others, MIT License: https://codemirror.net */' },
});
