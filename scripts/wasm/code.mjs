// Function bodies as lists of instructions, with what each takes from the stack of operands and gives to it.
import { Reader, instruction } from './module.mjs';

export const OP = {
  unreachable: 0x00, block: 0x02, loop: 0x03, if: 0x04, else: 0x05, end: 0x0b, br: 0x0c, brIf: 0x0d, brTable: 0x0e, return: 0x0f, call: 0x10,
  callIndirect: 0x11, get: 0x20, set: 0x21, tee: 0x22, constant: 0x41, equal: 0x46, ref: 0xd2,
};
/** The type of a block without a value, as the number that it is read as; those of one value are between. */
const VOID = 0xffffffc0;
const VALUE = 0xffffffef;

/** `[from, to, taken, given]` for stretches of opcodes. */
const EFFECTS = [
  [0x01, 0x01, 0, 0], [0x1a, 0x1a, 1, 0], [0x1b, 0x1c, 3, 1], [0x20, 0x20, 0, 1], [0x21, 0x21, 1, 0], [0x22, 0x22, 1, 1], [0x23, 0x23, 0, 1],
  [0x24, 0x24, 1, 0], [0x25, 0x25, 1, 1], [0x26, 0x26, 2, 0], [0x28, 0x35, 1, 1], [0x36, 0x3e, 2, 0], [0x3f, 0x3f, 0, 1], [0x40, 0x40, 1, 1],
  [0x41, 0x44, 0, 1], [0x45, 0x45, 1, 1], [0x46, 0x4f, 2, 1], [0x50, 0x50, 1, 1], [0x51, 0x66, 2, 1], [0x67, 0x69, 1, 1], [0x6a, 0x78, 2, 1],
  [0x79, 0x7b, 1, 1], [0x7c, 0x8a, 2, 1], [0x8b, 0x91, 1, 1], [0x92, 0x98, 2, 1], [0x99, 0x9f, 1, 1], [0xa0, 0xa6, 2, 1], [0xa7, 0xc4, 1, 1],
  [0xd0, 0xd0, 0, 1], [0xd1, 0xd1, 1, 1], [0xd2, 0xd2, 0, 1],
];
const EFFECT = new Map(EFFECTS.flatMap(([from, to, ...effect]) => Array.from({ length: to - from + 1 }, (_, i) => [from + i, effect])));
/** The same behind the prefix 0xfc. */
const BULK = [...Array(8).fill([1, 1]), [3, 0], [0, 0], [3, 0], [3, 0], [3, 0], [0, 0], [3, 0], [2, 1], [0, 1], [3, 0]];

/**
 * A body: `locals` are the types of those it declares, `head` is where they end, and `code` its instructions: `op`, where it stands (`from`,
 * `to`), its immediates, `results` of a block, and `effect` on the stack.
 */
export function decode(module, body) {
  const reader = new Reader(body);
  const locals = reader.list((r) => [r.number(), r.byte()]).flatMap(([count, type]) => Array(count).fill(type));
  const head = reader.at;
  const code = [];
  const typeOf = (f) => module.types[f < module.imported.length ? module.imports[f].type : module.functions[f - module.imported.length]];
  const called = ({ takes, gives }, more) => [takes.length + more, gives.length];
  while (reader.at < body.length) {
    const it = instruction(reader);
    if (it.op === OP.block || it.op === OP.loop || it.op === OP.if) {
      if (it.type !== VOID && it.type < VALUE) throw new Error('a block of several values');
      it.results = it.type === VOID ? 0 : 1;
    } else if (it.op === OP.call) it.effect = called(typeOf(it.n), 0);
    else if (it.op === OP.callIndirect) it.effect = called(module.types[it.type], 1);
    else it.effect = it.op === 0xfc ? BULK[it.n] : EFFECT.get(it.op);
    code.push(it);
  }
  return { locals, head, code };
}

/** Where it shows whether code is reached: behind `if`, `else`, a conditional branch, and the end of what is nested. */
export function points(code) {
  const found = [];
  let depth = 0;
  code.forEach(({ op }, i) => {
    if (op === OP.block || op === OP.loop || op === OP.if) depth++;
    if (op === OP.if || op === OP.else || op === OP.brIf || (op === OP.end && depth > 0)) found.push(i);
    if (op === OP.end) depth--;
  });
  return found;
}

/** A number for the shape of a body: two of one shape have the same instructions and labels. */
export function shape(code) {
  let hash = 0x811c9dc5;
  const add = (value) => { hash = Math.imul(hash ^ value, 0x01000193) >>> 0; };
  for (const { op, n, targets } of code) {
    add(op);
    if (op === OP.br || op === OP.brIf) add(n);
    targets?.forEach(add);
  }
  return hash.toString(36);
}
