// Reads and writes a WebAssembly module, as far as taking one apart needs it: sections, names, and the
// function indices inside function bodies. https://webassembly.github.io/spec/core/binary/

export const ID = { custom: 0, type: 1, import: 2, func: 3, table: 4, memory: 5, global: 6, export: 7, start: 8, elem: 9, code: 10, data: 11, count: 12 };
export const KIND = { func: 0, table: 1, memory: 2, global: 3 };

/** A cursor over bytes. */
export class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }
  byte() {
    return this.bytes[this.at++];
  }
  /** An unsigned number. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }
  /** A number of either sign, of 32 bits, as an address. */
  signed() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return (shift < 25 && byte & 64 ? value | (-1 << (shift + 7)) : value) >>> 0;
    }
  }
  /** Skips a number of either sign. */
  skip() {
    while (this.byte() >= 128);
  }
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  text() {
    return new TextDecoder().decode(this.take(this.number()));
  }
  limits() {
    const from = this.at;
    const flags = this.byte();
    this.skip();
    if (flags & 1) this.skip();
    return this.bytes.subarray(from, this.at);
  }
  list(read) {
    return Array.from({ length: this.number() }, () => read(this));
  }
  /** The value of `i32.const n`, `end`. */
  offset() {
    if (this.byte() !== 0x41) throw new Error('an offset that is not a constant');
    const value = this.signed();
    this.byte();
    return value;
  }
  /** A constant expression, with its `end`. */
  constant() {
    const from = this.at;
    walk(this, {});
    return this.bytes.subarray(from, this.at);
  }
}

/** Bytes of an unsigned number. */
export function number(value) {
  const bytes = [];
  do {
    bytes.push((value % 128) | (value >= 128 ? 128 : 0));
    value = Math.floor(value / 128);
  } while (value > 0);
  return bytes;
}

/** Bytes of `i32.const value`; addresses of the upper half are negative there. */
export function constant(value) {
  const bytes = [0x41];
  for (let left = value | 0; ; left >>= 7) {
    const byte = left & 127;
    if ((left >> 7 === 0 && !(byte & 64)) || (left >> 7 === -1 && byte & 64)) return [...bytes, byte];
    bytes.push(byte | 128);
  }
}

export const text = (value) => {
  const bytes = new TextEncoder().encode(value);
  return [...number(bytes.length), ...bytes];
};

/** A list: its length, then its entries. */
export const list = (entries) => Buffer.concat([Buffer.from(number(entries.length)), ...entries.map((entry) => Buffer.from(entry))]);

/** A module out of `[id, body]` pairs; bodies that are empty lists are left out. */
export function assemble(sections) {
  const parts = [Buffer.from([0, 97, 115, 109, 1, 0, 0, 0])];
  for (const [id, body] of sections) {
    if (body.length === 1 && body[0] === 0) continue;
    parts.push(Buffer.from([id, ...number(body.length)]), body);
  }
  return Buffer.concat(parts);
}

/** Instructions whose one immediate is an index. */
const INDEXED = new Set([0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x3f, 0x40, 0xd0]);
/** How many numbers follow each of those behind the prefix 0xfc. */
const BULK = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/**
 * One instruction: `op`, where it stands (`from`, `to`), and of its immediates `n` for an index, a label or the second opcode, `type` of a block
 * or an indirect call, `targets` of a table, `constant`, and `offset` of a load or a store.
 */
export function instruction(reader) {
  const from = reader.at;
  const op = reader.byte();
  const it = { op, from, to: 0 };
  if (op === 0x02 || op === 0x03 || op === 0x04) it.type = reader.signed();
  else if (op === 0x0c || op === 0x0d || op === 0x10 || op === 0xd2 || INDEXED.has(op)) it.n = reader.number();
  else if (op === 0x0e) it.targets = [...reader.list((r) => r.number()), reader.number()];
  else if (op === 0x11) {
    it.type = reader.number();
    reader.skip();
  } else if (op === 0x1c) reader.list((r) => r.skip());
  else if (op >= 0x28 && op <= 0x3e) {
    if (reader.number() & 0x40) reader.skip();
    it.offset = reader.number();
  } else if (op === 0x41) it.constant = reader.signed();
  else if (op === 0x42) reader.skip();
  else if (op === 0x43) reader.take(4);
  else if (op === 0x44) reader.take(8);
  else if (op === 0xfc) {
    it.n = reader.number();
    for (let left = BULK[it.n]; left > 0; left--) reader.skip();
  } else if (!(op <= 0x01 || op === 0x05 || op === 0x0b || op === 0x0f || op === 0x1a || op === 0x1b || (op >= 0x45 && op <= 0xc4) || op === 0xd1))
    throw new Error(`instruction 0x${op.toString(16)} is not known`);
  it.to = reader.at;
  return it;
}

/**
 * Walks instructions to the `end` that closes them. `on.call(function, from, to)` is told of direct calls,
 * `on.ref(function, from, to)` of references; `from` and `to` are where the instruction stands. `on.constant`
 * and `on.offset` are told of the numbers that may be addresses: constants, and offsets of loads and stores.
 */
export function walk(reader, on) {
  for (let depth = 1; depth > 0; ) {
    const { op, from, to, n, constant, offset } = instruction(reader);
    if (op === 0x0b) depth--;
    else if (op === 0x02 || op === 0x03 || op === 0x04) depth++;
    else if (op === 0x10) on.call?.(n, from, to);
    else if (op === 0xd2) on.ref?.(n, from, to);
    else if (constant !== undefined) on.constant?.(constant);
    else if (offset !== undefined) on.offset?.(offset);
  }
}

/** A function body with its calls and references rewritten by `on.call` and `on.ref`, which return bytes. */
export function rewrite(body, on) {
  const reader = new Reader(body, instructions(body));
  const parts = [];
  let kept = 0;
  const replace = (how) => (callee, from, to) => {
    parts.push(body.subarray(kept, from), Buffer.from(how(callee)));
    kept = to;
  };
  walk(reader, { call: replace(on.call), ref: replace(on.ref) });
  return Buffer.concat([...parts, body.subarray(kept)]);
}

/** Which functions a body calls or refers to, and the numbers in it that may be addresses. */
export function uses(body) {
  const found = { calls: new Set(), refs: new Set(), constants: new Set(), offsets: new Set() };
  const reader = new Reader(body, instructions(body));
  walk(reader, { call: (f) => found.calls.add(f), ref: (f) => found.refs.add(f), constant: (n) => found.constants.add(n), offset: (n) => found.offsets.add(n) });
  return found;
}

/** Where a body's instructions begin, behind its locals. */
export function instructions(body) {
  const reader = new Reader(body);
  reader.list((r) => {
    r.skip();
    r.byte();
  });
  return reader.at;
}

/** A module in its parts. */
export function parse(bytes) {
  const module = { sections: new Map(), imports: [], types: [], exports: [], elems: [], bodies: [], names: new Map(), customs: new Map() };
  const reader = new Reader(bytes, 8);
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const body = reader.take(reader.number());
    const section = new Reader(body);
    if (id === ID.custom) {
      const name = section.text();
      if (name === 'name') names(section, module.names);
      else module.customs.set(name, body.subarray(section.at));
      continue;
    }
    module.sections.set(id, body);
    if (id === ID.import) module.imports = section.list(one);
    else if (id === ID.type) module.types = section.list(type);
    else if (id === ID.func) module.functions = section.list((r) => r.number());
    else if (id === ID.export) module.exports = section.list((r) => ({ name: r.text(), kind: r.byte(), index: r.number() }));
    else if (id === ID.elem) module.elems = section.list(elem);
    else if (id === ID.code) module.bodies = section.list((r) => r.take(r.number()));
    else if (id === ID.table) module.tables = section.list((r) => ({ type: r.byte(), limits: r.limits() }));
    else if (id === ID.memory) module.memories = section.list((r) => r.limits());
    else if (id === ID.data) module.data = section.list(segment);
    else if (id === ID.global) module.globals = section.list((r) => ({ type: r.take(2), init: r.constant() }));
  }
  module.imported = module.imports.filter((entry) => entry.kind === KIND.func);
  if (module.imported.length !== module.imports.length) throw new Error('only functions may be imported');
  return module;
}

function one(reader) {
  const [from, name, kind] = [reader.text(), reader.text(), reader.byte()];
  if (kind !== KIND.func) return { kind };
  return { from, name, kind, type: reader.number() };
}

function type(reader) {
  const from = reader.at;
  if (reader.byte() !== 0x60) throw new Error('only function types are known');
  const takes = reader.list((r) => r.byte());
  const gives = reader.list((r) => r.byte());
  return { bytes: reader.bytes.subarray(from, reader.at), takes, gives };
}

/** Element segments as compilers write them: functions by index, or by constant expression, into a table from an offset. */
function elem(reader) {
  const flags = reader.number();
  if (flags === 0 || flags === 2) {
    const table = flags === 2 ? reader.number() : 0;
    const offset = reader.offset();
    if (flags === 2) reader.byte();
    return { table, offset, functions: reader.list((r) => r.number()) };
  }
  throw new Error(`element segments of form ${flags} are not known`);
}

/** A data segment; `at` is where its bytes stand in the section. */
function segment(reader) {
  if (reader.number() !== 0) throw new Error('only active data segments of the one memory are known');
  const address = reader.offset();
  const length = reader.number();
  return { address, at: reader.at, bytes: reader.take(length) };
}

function names(reader, found) {
  while (reader.at < reader.end) {
    const id = reader.byte();
    const body = new Reader(reader.take(reader.number()));
    if (id === 1) body.list((r) => found.set(r.number(), r.text()));
  }
}
