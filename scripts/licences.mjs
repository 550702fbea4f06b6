// The licences of everything that the page ships, in a file beside it: crates of the module, and packages of the scripts.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crates, scripts } from './components.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const texts = (folder) => readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice|unlicense)/i.test(name)).sort().map((name) => readFileSync(join(folder, name), 'utf8').trim());
const all = [...crates('wasm32-unknown-unknown'), ...scripts()].sort((a, b) => a.name.localeCompare(b.name));
const allowed = /^[\s()]*((MIT|Apache-2\.0|BSD-[23]-Clause|ISC|Zlib|0BSD|Unlicense|Unicode-3\.0|CC0-1\.0|MIT-0|BSL-1.0|LLVM-exception|Apache-2\.0 WITH LLVM-exception)[\s()]*(OR|AND|\/|$)[\s()]*)+$/;
const strange = all.filter((one) => !allowed.test(one.licence));
if (strange.length) {
  console.error(`Licences that nobody has looked at: ${strange.map((one) => `${one.name} (${one.licence})`).join(', ')}`);
  process.exit(1);
}
// One text for all who have the same.
const shared = new Map();
for (const one of all) for (const text of texts(one.folder)) shared.set(text, [...(shared.get(text) ?? []), one.name]);
const list = all.map((one) => `${one.name} ${one.version}: ${one.licence}${one.from ? `, ${String(one.from).replace(/^git\+/, '')}` : ''}`).join('\n');
const told = [...shared].map(([text, names]) => `${'-'.repeat(72)}\n${names.join(', ')}\n\n${text}`).join('\n\n');
writeFileSync(join(root, 'dist/licences.txt'), `Loopscope: MIT OR Apache-2.0\n\nThe page contains parts of the Rust standard library (MIT OR Apache-2.0) and of:\n\n${list}\n\n${told}\n`);
console.log(`licences.txt: ${all.length} packages`);
