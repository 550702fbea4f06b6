// Bundles the editor into one file that the page loads when an editor is shown. Without it the page keeps its text area.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(`${root}/target/editor`, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ['editor/editor.mjs'],
  outfile: 'target/editor/editor.js',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2021',
  legalComments: 'none',
  // Where it can ask whether input waits, it works up to 100 ms at a time; else it keeps to what the browser's idle time allows.
  define: { 'navigator.scheduling': 'null' },
  banner: { js: '/* Contains CodeMirror 6 and Lezer, (C) 2018 and later Marijn Haverbeke and others, MIT License: https://codemirror.net */' },
});
