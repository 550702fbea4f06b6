// scripts/wasm/opening.txt: a line for each function that the page's opening runs, by its name without what changes from
// build to build. Where parts of it are not reached, its shape and which of its points are follow: a function that has
// changed since has another shape, and then stays whole until `make profile`. Behind them stand short sums of the names of
// all others: a function that was not there when they were recorded counts as one that the opening may run.

export const plain = (name) =>
  name
    .replace(/\[[0-9a-f]{8,16}\]/g, '') // of which crate version
    .replace(/\b(?:core|alloc|std|yew|serde_core|serde_json|serde_yaml|hashbrown)::(?:[a-z_0-9]+::)*(?=[A-Z])/g, '') // the way to a library's type
    .replace(/(__wbg_\w+?)_[0-9a-f]{16}/g, '$1')
    .replace(/\.\d+$/, '');

/** Begins a line of sums. */
const SUMS = '# not run:';

/** Four characters for a name. */
function sum(name) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return (hash % 36 ** 4).toString(36).padStart(4, '0');
}

/** The lines, from `{ name, shape, reached }`; `reached` holds a truth for each point, and nothing of a function that does not run. */
export function writeOpening(functions) {
  const runs = functions.filter(({ reached }) => reached);
  const names = new Set(runs.map(({ name }) => name));
  const others = [...new Set(functions.filter(({ name }) => !names.has(name)).map(({ name }) => sum(name)))].sort();
  const lines = new Map();
  for (const { name, shape, reached } of runs) {
    const key = reached.every(Boolean) ? name : `${name}\t${shape}`;
    lines.set(key, reached.map((yes, i) => yes || (lines.get(key)?.[i] ?? false)));
  }
  const digits = (reached) => {
    let out = '';
    for (let i = 0; i < reached.length; i += 4) out += reached.slice(i, i + 4).reduce((n, yes, bit) => n + (yes ? 1 << bit : 0), 0).toString(16);
    return out;
  };
  const written = [...lines].map(([key, reached]) => (key.includes('\t') ? `${key}\t${digits(reached)}` : key));
  const sums = [];
  for (let i = 0; i < others.length; i += 24) sums.push(`${SUMS} ${others.slice(i, i + 24).join(' ')}`);
  return `${[...written.sort(), ...sums].join('\n')}\n`;
}

/** What the lines say of a function's name, and of its name and shape. */
export function readOpening(text) {
  const names = new Set();
  const others = new Set();
  const points = new Map();
  for (const line of text.split('\n').filter(Boolean)) {
    if (line.startsWith(SUMS)) {
      line.slice(SUMS.length + 1).split(' ').forEach((one) => others.add(one));
      continue;
    }
    const [name, shape, digits] = line.split('\t');
    names.add(name);
    if (shape) points.set(`${name}\t${shape}`, digits);
  }
  return {
    // Those without a name are wasm-bindgen's, and small.
    runs: (name) => name === '' || names.has(plain(name)) || !others.has(sum(plain(name))),
    reached: (name, shape) => {
      const digits = points.get(`${plain(name)}\t${shape}`);
      return digits && ((point) => ((parseInt(digits[point >> 2], 16) >> (point & 3)) & 1) === 1);
    },
  };
}
