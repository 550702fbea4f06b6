// The licences of everything that the page ships, in a file beside it: crates of the module, and packages of the scripts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const metadata = JSON.parse(execFileSync('cargo', ['metadata', '--format-version', '1', '--offline', '--filter-platform', 'wasm32-unknown-unknown'], { cwd: root, maxBuffer: 1 << 28 }));
const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
const packages = new Map(metadata.packages.map((one) => [one.id, one]));

// What is linked into the module: normal dependencies, without macros, which run when it is built.
const linked = new Set();
const visit = (id) => {
  if (linked.has(id) || packages.get(id).targets.some((target) => target.kind.includes('proc-macro'))) return;
  linked.add(id);
  for (const dep of nodes.get(id).deps) if (dep.dep_kinds.some((one) => one.kind === null)) visit(dep.pkg);
};
visit(metadata.resolve.root);
// The crates of the workspace are under the project's own licence.
for (const id of [...linked]) if (packages.get(id).source === null) linked.delete(id);

const texts = (folder) => readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice|unlicense)/i.test(name)).sort().map((name) => readFileSync(join(folder, name), 'utf8').trim());
const crates = [...linked].map((id) => packages.get(id)).map((one) => ({ name: one.name, version: one.version, licence: one.license ?? 'see its text', from: one.repository ?? '', folder: dirname(one.manifest_path) }));

// What the bundles of the scripts are made of.
const modules = join(root, 'node_modules');
const script = (name) => {
  const about = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
  return { name, version: about.version, licence: about.license, from: about.repository?.url ?? about.repository ?? '', folder: join(modules, name), needs: Object.keys(about.dependencies ?? {}) };
};
const bundled = new Map();
const take = (name) => {
  if (bundled.has(name) || !existsSync(join(modules, name))) return;
  bundled.set(name, script(name));
  bundled.get(name).needs.forEach(take);
};
['@codemirror/autocomplete', '@codemirror/commands', '@codemirror/lang-yaml', '@codemirror/language', '@codemirror/lint', '@codemirror/search', '@codemirror/state', '@codemirror/view', '@lezer/highlight', 'fflate'].forEach(take);

const all = [...crates, ...bundled.values()].sort((a, b) => a.name.localeCompare(b.name));
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
