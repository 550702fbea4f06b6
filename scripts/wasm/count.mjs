// A module that notes which of its functions run: each sets a global of its own, exported as `ran0`, `ran1`, …
import { ID, KIND, assemble, instructions, list, number, parse, text } from './module.mjs';

/** The module with the notes. */
export function counting(bytes) {
  const module = parse(bytes);
  const first = module.globals.length;
  const globals = module.globals.map(({ type, init }) => [...type, ...init]);
  const exports = module.exports.map(({ name, kind, index }) => [...text(name), kind, ...number(index)]);
  // As a first part has it, so that the page takes it for one.
  exports.push([...text('f0'), KIND.func, ...number(module.exports.find(({ kind }) => kind === KIND.func).index)]);
  const bodies = module.bodies.map((body, i) => {
    globals.push([0x7f, 1, 0x41, 0, 0x0b]);
    exports.push([...text(`ran${i}`), KIND.global, ...number(first + i)]);
    const from = instructions(body);
    const noted = Buffer.concat([body.subarray(0, from), Buffer.from([0x41, 1, 0x24, ...number(first + i)]), body.subarray(from)]);
    return Buffer.concat([Buffer.from(number(noted.length)), noted]);
  });
  const sections = new Map(module.sections);
  sections.set(ID.global, list(globals));
  sections.set(ID.export, list(exports));
  sections.set(ID.code, list(bodies));
  const order = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];
  return assemble(order.filter((id) => sections.has(id)).map((id) => [id, sections.get(id)]));
}

