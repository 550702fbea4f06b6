// Which constants belong to which part of a module. The linker says (--emit-relocs) what each address in code and data
// was made from: a symbol, and so a segment. Nothing is guessed: an address a little before or behind its constant, as
// compilers make them for loops, leads to the right one.
// https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md
import { Reader, constant, number } from './module.mjs';

/** The kind of relocation that is a place in the table of functions, as a word in data. */
const SLOT = 2;
/** Kinds of relocation that are addresses in memory: in code as numbers, in data as words. */
const ADDRESS = new Set([3, 4, 5]);
/** Kinds with an addend: the former, and offsets in functions and sections. */
const ADDED = new Set([3, 4, 5, 8, 9]);
const TABLE_OF_SYMBOLS = 8;
const [FUNCTION, DATA, GLOBAL, SECTION] = [0, 1, 2, 3];
const [UNDEFINED, NAMED] = [0x10, 0x40];

/**
 * What code with these constants and offsets in it reaches in `module`: `segments` by their indices, and `slots` of the table that are
 * named there.
 */
export function reached(module, constants, offsets) {
  const symbols = symbolsOf(module.customs.get('linking'));
  const segmentsOf = new Map();
  for (const { kind, symbol, addend } of relocations(module.customs.get('reloc.CODE'))) {
    const at = ADDRESS.has(kind) ? symbols[symbol] : undefined;
    if (at === undefined) continue;
    const value = (module.data[at.segment].address + at.offset + addend) >>> 0;
    segmentsOf.set(value, (segmentsOf.get(value) ?? new Set()).add(at.segment));
  }
  const points = module.data.map(() => new Set());
  const slotsOf = module.data.map(() => []);
  let from = 0;
  for (const { kind, offset, symbol } of relocations(module.customs.get('reloc.DATA'))) {
    while (offset >= module.data[from].at + module.data[from].bytes.length) from++;
    if (ADDRESS.has(kind) && symbols[symbol]) points[from].add(symbols[symbol].segment);
    if (kind === SLOT) {
      const { at, bytes } = module.data[from];
      slotsOf[from].push(bytes.readUInt32LE(offset - at));
    }
  }
  const found = new Set();
  const visit = [...constants, ...offsets].flatMap((value) => [...(segmentsOf.get(value) ?? [])]);
  while (visit.length) {
    const segment = visit.pop();
    if (found.has(segment)) continue;
    found.add(segment);
    visit.push(...points[segment]);
  }
  // A constant in code may be a place in the table, too.
  return { segments: found, slots: new Set([...constants, ...[...found].flatMap((segment) => slotsOf[segment])]) };
}

/** Data symbols by their index; other symbols are left empty. */
function symbolsOf(section) {
  const reader = new Reader(section);
  reader.number(); // the version
  while (reader.at < reader.end) {
    const kind = reader.byte();
    const body = new Reader(reader.take(reader.number()));
    if (kind === TABLE_OF_SYMBOLS) return body.list(symbol);
  }
  throw new Error('no table of symbols');
}

function symbol(reader) {
  const kind = reader.byte();
  const flags = reader.number();
  if (kind === SECTION) return void reader.number();
  if (kind !== DATA) {
    reader.number();
    if (!(flags & UNDEFINED) || flags & NAMED) reader.text();
    return undefined;
  }
  reader.text();
  if (flags & UNDEFINED) return undefined;
  const [segment, offset] = [reader.number(), reader.number()];
  reader.number(); // its size
  return { segment, offset };
}

function* relocations(section) {
  const reader = new Reader(section);
  reader.number(); // of which section
  for (let left = reader.number(); left > 0; left--) {
    const [kind, offset, symbol] = [reader.byte(), reader.number(), reader.number()];
    yield { kind, offset, symbol, addend: ADDED.has(kind) ? reader.signed() | 0 : 0 };
  }
}

/** Neighbouring segments as one where the gap costs less than a head of its own; a gap is bridged only by zeros. */
export function merged(segments, taken) {
  const entries = [];
  let last = null;
  segments.forEach(({ address, bytes }, i) => {
    if (!taken(i)) {
      last = null;
      return;
    }
    if (last && address - (last.address + last.length) < 8) {
      last.parts.push(Buffer.alloc(address - last.address - last.length), bytes);
      last.length = address - last.address + bytes.length;
    } else {
      last = { address, parts: [bytes], length: bytes.length };
      entries.push(last);
    }
  });
  return entries.map(({ address, parts, length }) => Buffer.concat([Buffer.from([0, ...constant(address), 0x0b, ...number(length)]), ...parts]));
}
