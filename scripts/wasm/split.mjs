// Takes a module apart into the part that the page's opening runs, and the rest.
//
// Both parts share one memory, one table of functions, and the globals. A function of the rest is called from
// the first part through the table. Until the rest is there, its place in the table holds a stub that asks the
// page for it (`load`, an import of the module) and then calls again, so that a call never fails: it is at worst late.
import { takeOut } from './cold.mjs';
import { merged, reached as reachedData } from './data.mjs';
import { ID, KIND, Reader, assemble, constant, list, number, parse, rewrite, text, uses } from './module.mjs';

const FUNCREF = 0x70;

/** The name of the import that brings the rest, as the page's code declares it. */
export const LOAD = /^__wbg_loopscopeRest_/;

/**
 * `first` and `rest`, for a module, a test that says of a function's name whether the opening runs it, and one that says of its name and shape
 * which points of it are reached.
 */
export function split(bytes, opens, reached) {
  const module = parse(bytes);
  const imports = module.imported.length;
  const own = imports + module.bodies.length;
  takeOut(module, reached);
  const load = module.imports.findIndex(({ name }) => LOAD.test(name));
  if (load < 0) throw new Error('the module does not import what brings the rest');
  const table = module.tables.findIndex(({ type }) => type === FUNCREF);
  const typeOf = (f) => (f < imports ? module.imports[f].type : module.functions[f - imports]);
  const bodyOf = (f) => module.bodies[f - imports];

  // Which functions stay: those of the opening, and those that the page's script calls.
  const all = module.functions.map((_, i) => imports + i);
  const calls = new Map(all.map((f) => [f, uses(bodyOf(f))]));
  const stays = new Set(module.exports.filter(({ kind }) => kind === KIND.func).map(({ index }) => index));
  for (const f of all) {
    if (f < own && opens(module.names.get(f) ?? '')) stays.add(f);
    for (const callee of calls.get(f).refs) stays.add(callee);
  }
  const first = all.filter((f) => stays.has(f));
  const rest = all.filter((f) => !stays.has(f));
  const isRest = (f) => f >= imports && !stays.has(f);

  // Constants that the first part names, and what these point to, stay.
  const numbers = (which) => new Set(first.flatMap((f) => [...calls.get(f)[which]]));
  const named = reachedData(module, numbers('constants'), numbers('offsets'));

  // A place in the table for each function of the rest that the first part calls, or that the table has already.
  const slots = new Map();
  for (const { offset, functions } of module.elems) {
    functions.forEach((f, i) => isRest(f) && slots.set(f, [...(slots.get(f) ?? []), offset + i]));
  }
  const length = tableLength(module.tables[table].limits);
  const added = [];
  for (const f of first) for (const callee of calls.get(f).calls) {
    if (isRest(callee) && !slots.has(callee)) {
      slots.set(callee, [length + added.length]);
      added.push(callee);
    }
  }
  // Who is only in tables that the first part does not know needs no stub.
  const fills = rest.filter((f) => slots.has(f));
  const stubs = fills.filter((f) => slots.get(f).some((slot) => slot >= length || named.slots.has(slot)));
  const through = (f) => [...constant(slots.get(f)[0]), 0x11, ...number(typeOf(f)), ...number(table)];

  // The first part: its functions, then the stubs.
  const place = new Map(module.imported.map((_, i) => [i, i]));
  [...first, ...stubs].forEach((f, i) => place.set(f, imports + i));
  const call = (f) => (isRest(f) ? through(f) : [0x10, ...number(place.get(f))]);
  const bodies = first.map((f) => sized(rewrite(bodyOf(f), { call, ref: (g) => [0xd2, ...number(place.get(g))] })));
  for (const f of stubs) {
    const params = module.types[typeOf(f)].takes.length;
    const pass = Array.from({ length: params }, (_, i) => [0x20, ...number(i)]).flat();
    bodies.push(sized(Buffer.from([0, 0x10, ...number(load), ...pass, ...through(f), 0x0b])));
  }

  // What the rest takes from the first part, by short names.
  const taken = new Set(rest.flatMap((f) => [...calls.get(f).calls]).filter((f) => !isRest(f)));
  const shared = [...taken].sort((a, b) => place.get(a) - place.get(b)).map((f, i) => [f, `f${i.toString(36)}`]);
  const exports = module.exports.map(({ name, kind, index }) => [...text(name), kind, ...number(kind === KIND.func ? place.get(index) : index)]);
  const give = (name, kind, index) => exports.push([...text(name), kind, ...number(index)]);
  for (const [f, name] of shared) give(name, KIND.func, place.get(f));
  module.tables.forEach((_, i) => give(`t${i}`, KIND.table, i));
  module.memories.forEach((_, i) => give(`m${i}`, KIND.memory, i));
  module.globals.forEach((_, i) => give(`g${i}`, KIND.global, i));

  const segment = (offset, functions) => [
    ...(table === 0 ? [0] : [2, ...number(table)]),
    ...constant(offset),
    0x0b,
    ...(table === 0 ? [] : [0]),
    ...list(functions.map(number)),
  ];
  const filled = module.elems.flatMap(({ table: of, offset, functions }) => {
    if (of !== table) throw new Error('only the table of functions may be filled');
    return functions.map((f, i) => [offset + i, place.get(f)]).filter(([, f]) => f !== undefined);
  });
  const firstElems = runs([...filled, ...added.map((f, i) => [length + i, place.get(f)])]).map(([start, fs]) => segment(start, fs));

  const sections = new Map(module.sections);
  sections.set(ID.type, list(module.types.map((type) => type.bytes)));
  sections.set(ID.data, list(merged(module.data, (i) => named.segments.has(i))));
  sections.set(ID.func, list([...first, ...stubs].map((f) => number(typeOf(f)))));
  sections.set(ID.table, list(module.tables.map(({ type, limits }, i) => [type, ...(i === table ? grown(limits, added.length) : limits)])));
  sections.set(ID.export, list(exports));
  sections.set(ID.elem, list(firstElems));
  sections.set(ID.code, list(bodies));
  if (sections.has(ID.start)) throw new Error('a start function is not known');

  // The rest: everything shared is imported, in the same order, so that only functions change their numbers.
  const restPlace = new Map([...shared.map(([f], i) => [f, i]), ...rest.map((f, i) => [f, shared.length + i])]);
  const take = (name, kind, ...what) => [...text('p'), ...text(name), kind, ...what];
  const restImports = [
    ...shared.map(([f, name]) => take(name, KIND.func, ...number(typeOf(f)))),
    ...module.tables.map(({ type, limits }, i) => take(`t${i}`, KIND.table, type, ...(i === table ? grown(limits, added.length) : limits))),
    ...module.memories.map((limits, i) => take(`m${i}`, KIND.memory, ...limits)),
    ...module.globals.map(({ type }, i) => take(`g${i}`, KIND.global, ...type)),
  ];
  const restCall = (f) => [0x10, ...number(restPlace.get(f))];
  const restElems = runs(fills.flatMap((f) => slots.get(f).map((slot) => [slot, restPlace.get(f)]))).map(([start, fs]) => segment(start, fs));
  return {
    first: assemble([1, 2, 3, 4, 5, 6, 7, 9, 12, 10, 11].filter((id) => sections.has(id)).map((id) => [id, sections.get(id)])),
    rest: assemble([
      [ID.type, sections.get(ID.type)],
      [ID.import, list(restImports)],
      [ID.func, list(rest.map((f) => number(typeOf(f))))],
      [ID.elem, list(restElems)],
      [ID.code, list(rest.map((f) => sized(rewrite(bodyOf(f), { call: restCall, ref: () => { throw new Error('a reference in the rest'); } }))))],
      [ID.data, list(merged(module.data, (i) => !named.segments.has(i)))],
    ]),
    stubs: stubs.length,
    shared: shared.length,
  };
}

const sized = (body) => Buffer.concat([Buffer.from(number(body.length)), body]);

/** The length a table begins with. */
function tableLength(limits) {
  return new Reader(limits, 1).number();
}

/** Limits of a table that begins with more entries, and may hold no more. */
function grown(limits, more) {
  const length = tableLength(limits) + more;
  return [1, ...number(length), ...number(length)];
}

/** `[slot, function]` pairs as stretches of neighbouring slots. */
function runs(pairs) {
  const found = [];
  for (const [slot, f] of pairs.sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && last[0] + last[1].length === slot) last[1].push(f);
    else found.push([slot, [f]]);
  }
  return found;
}
