// What a build is made of: crates that are linked into it, and packages of the page's scripts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');

/** The crates of other projects that are linked into the program for a target. */
export function crates(target) {
  const metadata = JSON.parse(execFileSync('cargo', ['metadata', '--format-version', '1', '--filter-platform', target], { cwd: root, maxBuffer: 1 << 28 }));
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const packages = new Map(metadata.packages.map((one) => [one.id, one]));
  // Normal dependencies, without macros, which run when it is built.
  const linked = new Set();
  const visit = (id) => {
    if (linked.has(id) || packages.get(id).targets.some((one) => one.kind.includes('proc-macro'))) return;
    linked.add(id);
    for (const dep of nodes.get(id).deps) if (dep.dep_kinds.some((one) => one.kind === null)) visit(dep.pkg);
  };
  visit(metadata.resolve.root);
  // The table of types and the descriptions of fields are generated from it.
  for (const one of metadata.packages) if (one.name === 'k8s-openapi') linked.add(one.id);
  // The crates of the workspace are under the project's own licence.
  const others = [...linked].map((id) => packages.get(id)).filter((one) => one.source !== null);
  return others.map((one) => ({ name: one.name, version: one.version, licence: one.license ?? 'see its text', from: one.repository ?? '', folder: dirname(one.manifest_path) }));
}

/** The npm packages that the bundles of the scripts are made of. */
export function scripts() {
  const bundled = new Map();
  const take = (name) => {
    if (bundled.has(name) || !existsSync(join(modules, name))) return;
    const about = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
    bundled.set(name, { name, version: about.version, licence: about.license, from: about.repository?.url ?? about.repository ?? '', folder: join(modules, name) });
    Object.keys(about.dependencies ?? {}).forEach(take);
  };
  ['@codemirror/autocomplete', '@codemirror/commands', '@codemirror/lang-yaml', '@codemirror/language', '@codemirror/lint', '@codemirror/search', '@codemirror/state', '@codemirror/view', '@lezer/highlight', 'fflate'].forEach(take);
  return [...bundled.values()];
}
