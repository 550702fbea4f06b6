// Run after the module is built or split: writes each part as a script as well, for frames with an opaque origin (static/start.js).
// A character for a byte: compressed that is as small as the module itself, which Base64 is not.
import { readFileSync, writeFileSync } from 'node:fs';

/** The parts of the module. */
export const parts = ['loopscope_bg', 'linked', 'rest'];

export function wrap(dir) {
  for (const name of parts) {
    const text = readFileSync(`${dir}/${name}.wasm`, 'latin1').replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r');
    writeFileSync(`${dir}/${name}.wasm.js`, `(window.loopscopeParts=window.loopscopeParts||{}).${name}="${text}";\n`);
  }
}

if (process.argv[2]) wrap(process.argv[2]);
