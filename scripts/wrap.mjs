// Run after the module is built or split: writes each part as a script as well, for frames with an opaque origin (static/start.js).
// A character for a byte: compressed that is as small as the module itself, which Base64 is not.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The parts of the module. */
export const parts = ['loopscope_bg', 'play', 'linked', 'rest'];

/** Whether the module in a folder was split: until then its later parts are empty modules, of eight bytes (scripts/post-build.sh). */
export const isSplit = (dir) => statSync(`${dir}/rest.wasm`).size > 8;

export function wrap(dir) {
  for (const name of parts) {
    const text = readFileSync(`${dir}/${name}.wasm`, 'latin1').replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r');
    writeFileSync(`${dir}/${name}.wasm.js`, `(window.loopscopeParts=window.loopscopeParts||{}).${name}="${text}";\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) wrap(process.argv[2]);
