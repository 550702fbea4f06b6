// A module that notes what of it runs: each function sets a byte when it is entered, and one at each of its points.
import { decode, points } from './code.mjs';
import { ID, KIND, Reader, assemble, constant, list, number, parse, text } from './module.mjs';

const PAGE = 65_536;

/** The module with the notes, and where they stand in memory: `from`, and of each function the place of its first note. */
export function counting(bytes) {
  const module = parse(bytes);
  const limits = new Reader(module.memories[0], 1);
  // Behind what the module begins with. It never looks there: it takes new pages.
  const from = limits.number() * PAGE;
  const most = limits.at < limits.end ? limits.number() : null;
  let next = from;
  const note = () => [...constant(next++), 0x41, 1, 0x3a, 0, 0];
  const places = [];
  const bodies = module.bodies.map((body) => {
    const { head, code } = decode(module, body);
    places.push(next);
    const parts = [body.subarray(0, head), Buffer.from(note())];
    let kept = head;
    for (const at of points(code)) {
      parts.push(body.subarray(kept, code[at].to), Buffer.from(note()));
      kept = code[at].to;
    }
    const noted = Buffer.concat([...parts, body.subarray(kept)]);
    return Buffer.concat([Buffer.from(number(noted.length)), noted]);
  });
  places.push(next);
  const pages = Math.ceil(next / PAGE);
  const exports = module.exports.map(({ name, kind, index }) => [...text(name), kind, ...number(index)]);
  // As a first part has it, so that the page takes it for one.
  exports.push([...text('f0'), KIND.func, ...number(module.exports.find(({ kind }) => kind === KIND.func).index)]);
  const sections = new Map(module.sections);
  sections.set(ID.memory, list([[most === null ? 0 : 1, ...number(pages), ...(most === null ? [] : number(most))]]));
  sections.set(ID.export, list(exports));
  sections.set(ID.code, list(bodies));
  const order = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];
  return { noting: assemble(order.filter((id) => sections.has(id)).map((id) => [id, sections.get(id)])), places };
}
