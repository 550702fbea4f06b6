// Takes out of the functions that the opening runs what it never reaches in them: each such stretch, if it is long
// enough, becomes a function of its own, which the rest of the module holds.
//
// A stretch goes from where the opening never comes to the end of its block. It is given the locals that it reads, and
// gives back those that it writes and, where there are several ways out of it, which was taken.
import { OP, decode, points, shape } from './code.mjs';
import { number, constant } from './module.mjs';

const I32 = 0x7f;
/** Shorter ones cost more at the place where they are called than they are. */
const LEAST = 52;

/** Puts the stretches of `module` at the end of its functions; `reached(name, shape)` says which points of a function the opening reaches. */
export function takeOut(module, reached) {
  const imports = module.imported.length;
  const count = module.bodies.length;
  const types = new Map(module.types.map(({ bytes }, i) => [bytes.toString('hex'), i]));
  const typed = (takes, gives) => {
    const bytes = Buffer.from([0x60, ...number(takes.length), ...takes, ...number(gives.length), ...gives]);
    const key = bytes.toString('hex');
    if (!types.has(key)) types.set(key, module.types.push({ bytes, takes, gives }) - 1);
    return types.get(key);
  };
  for (let i = 0; i < count; i++) {
    const body = module.bodies[i];
    if (body.length < LEAST) continue;
    const { locals, head, code } = decode(module, body);
    const ran = reached(module.names.get(imports + i) ?? '', shape(code));
    if (!ran) continue;
    const { takes, gives } = module.types[module.functions[i]];
    const all = [...takes, ...locals];
    const made = [];
    const parts = [];
    let kept = head;
    for (const span of spans(code, ran, gives.length)) {
      const out = outline(body, code, span, all, gives, takes.length + locals.length + made.length);
      if (!out) continue;
      const f = imports + module.bodies.length;
      module.functions.push(typed(out.takes, out.gives));
      module.bodies.push(out.body);
      module.names.set(f, `${module.names.get(imports + i)} (not in the opening)`);
      made.push(...out.made);
      parts.push(body.subarray(kept, code[span.from].from), Buffer.from(out.call(f)));
      kept = code[span.to].from;
    }
    if (parts.length) module.bodies[i] = Buffer.concat([declared([...locals, ...made]), ...parts, body.subarray(kept)]);
  }
}

/** Declarations of locals. */
function declared(types) {
  const groups = [];
  for (const type of types) {
    if (groups.at(-1)?.[1] === type) groups.at(-1)[0]++;
    else groups.push([1, type]);
  }
  return Buffer.from([...number(groups.length), ...groups.flatMap(([n, type]) => [...number(n), type])]);
}

/** The stretches: from an instruction to one that it is not part of, with the blocks around it, innermost first. */
function* spans(code, ran, results) {
  const levels = [{ op: OP.block, arity: results, results, cold: false, height: 0, body: true }];
  const reached = new Map(points(code).map((at, i) => [at, ran(i)]));
  let inside = null;
  for (let i = 0; i < code.length; i++) {
    const it = code[i];
    const level = levels.at(-1);
    if (!inside && level.cold && !level.dead && level.height === 0 && (level.results === 0 || level.body) && it.op !== OP.end && it.op !== OP.else) {
      inside = level;
      level.from = i;
    }
    if ((it.op === OP.end || it.op === OP.else) && inside === level) {
      if (code[i].from - code[level.from].from >= LEAST) {
        const around = levels.toReversed().map(({ op, arity, body }) => ({ op, arity, body }));
        yield { from: level.from, to: i, around, loop: levels.some(({ op }) => op === OP.loop) };
      }
      inside = null;
    }
    switch (it.op) {
      case OP.if:
        level.height--; // falls through
      case OP.block:
      case OP.loop:
        levels.push({ op: it.op, arity: it.op === OP.loop ? 0 : it.results, results: it.results, cold: level.cold, height: 0 });
        break;
      case OP.else:
        Object.assign(level, { dead: false, cold: levels.at(-2).cold, height: 0 });
        break;
      case OP.end:
        levels.pop();
        if (levels.length) levels.at(-1).height += it.results ?? level.results;
        break;
      case OP.br:
      case OP.brTable:
      case OP.return:
      case OP.unreachable:
        level.dead = true;
        break;
      case OP.brIf:
        level.height--;
        break;
      default:
        level.height += it.effect[1] - it.effect[0];
    }
    if (reached.get(i) === false) levels.at(-1).cold = true;
  }
}

/** One stretch as a function, and what stands in its place. */
function outline(body, code, { from, to, around, loop }, all, gives, next) {
  const span = code.slice(from, to);
  if (span.some(({ op }) => op === OP.ref)) return null;
  const last = around.length - 1;
  // The ways out: the end of the block (-1), a label around it, or `last` for a return.
  const exits = [];
  const exit = (way) => (exits.includes(way) ? exits.indexOf(way) : exits.push(way) - 1);
  const way = (label) => (label === 0 && around[0].op !== OP.loop && last > 0 ? -1 : label);
  const { inputs, outputs, falls, carries } = locals(span, code, from, to, loop, around, way, exit);
  if (carries) return null;
  if (falls) exit(last === 0 ? 0 : -1);
  const returns = exits.includes(last);
  const value = returns && gives.length ? gives[0] : null;
  if (gives.length > 1) return null;
  const byType = (a, b) => all[a] - all[b] || a - b;
  const takes = [...inputs].sort(byType);
  // Whoever only returns, or never comes back, has nothing to give but what is returned.
  const out = exits.some((one) => one !== last) ? [...outputs].sort(byType) : [];
  const chooses = exits.length > 1;

  // The function: a block for each way out, what it gives behind its end.
  const used = new Set(span.filter(({ op }) => op === OP.get || op === OP.set || op === OP.tee).map(({ n }) => n));
  const own = [...used, ...out].filter((local, i, list) => !inputs.has(local) && list.indexOf(local) === i).sort(byType);
  const place = new Map([...takes, ...own].map((local, i) => [local, i]));
  const result = takes.length + own.length;
  const parts = [declared([...own.map((local) => all[local]), ...(value ? [value] : [])])];
  for (const _ of exits) parts.push(Buffer.from([OP.block, 0x40]));
  let depth = 0;
  const target = (n) => (n < depth ? n : depth + exits.indexOf(way(n - depth)));
  for (const it of span) {
    if (it.op === OP.end) depth--;
    if (it.op === OP.get || it.op === OP.set || it.op === OP.tee) parts.push(Buffer.from([it.op, ...number(place.get(it.n))]));
    else if (it.op === OP.return || (it.op === OP.br && it.n - depth === last)) {
      parts.push(Buffer.from([...(value ? [OP.set, ...number(result)] : []), OP.br, ...number(depth + exits.indexOf(last))]));
    } else if (it.op === OP.br || it.op === OP.brIf) parts.push(Buffer.from([it.op, ...number(target(it.n))]));
    else if (it.op === OP.brTable) {
      const targets = it.targets.map(target);
      parts.push(Buffer.from([it.op, ...number(targets.length - 1), ...targets.flatMap((n) => number(n))]));
    } else parts.push(body.subarray(it.from, it.to));
    if (it.op === OP.block || it.op === OP.loop || it.op === OP.if) depth++;
  }
  if (falls && last === 0) parts.push(Buffer.from([...(value ? [OP.set, ...number(result)] : []), OP.br, ...number(exits.indexOf(0))]));
  else if (falls) parts.push(Buffer.from([OP.br, ...number(exits.indexOf(-1))]));
  exits.forEach((_, i) => {
    const given = [...(value ? [OP.get, ...number(result)] : []), ...out.flatMap((local) => [OP.get, ...number(place.get(local))])];
    parts.push(Buffer.from([OP.end, ...given, ...(chooses ? constant(i) : []), OP.return]));
  });
  parts.push(Buffer.from([OP.end]));

  // In its place: the call, what it gave, and the way it took.
  const made = [...(value ? [value] : []), ...(chooses ? [I32] : [])];
  const [kept, chosen] = [next, next + (value ? 1 : 0)];
  const go = (one) => (one === last ? [...(value ? [OP.get, ...number(kept)] : []), OP.return] : one === -1 ? [] : [OP.br, ...number(one)]);
  const call = (f) => {
    const bytes = [...takes.flatMap((local) => [OP.get, ...number(local)]), OP.call, ...number(f)];
    if (chooses) bytes.push(OP.set, ...number(chosen));
    for (const local of out.toReversed()) bytes.push(OP.set, ...number(local));
    if (exits.length === 0) return [...bytes, OP.unreachable];
    if (value && !chooses) return [...bytes, OP.return];
    if (value) bytes.push(OP.set, ...number(kept));
    const ways = exits.map((one, i) => [one, i]).filter(([one]) => one !== -1);
    ways.forEach(([one, i], n) => {
      if (!chooses || (n === ways.length - 1 && !exits.includes(-1))) bytes.push(...go(one));
      else {
        const is = [OP.get, ...number(chosen), ...constant(i), OP.equal];
        bytes.push(...is, ...(one === last ? [OP.if, 0x40, ...go(one), OP.end] : [OP.brIf, ...number(one)]));
      }
    });
    return bytes;
  };
  const given = [...(value ? [value] : []), ...out.map((local) => all[local]), ...(chooses ? [I32] : [])];
  return { body: Buffer.concat(parts), takes: takes.map((local) => all[local]), gives: given, made, call };
}

/** Which locals a stretch must be given, which it gives back, and whether its end is reached. `carries`: a branch takes a value along. */
function locals(span, code, from, to, loop, around, way, exit) {
  const last = around.length - 1;
  const [inputs, first, sure, written, inner] = [new Set(), new Set(), new Set(), new Set(), new Map()];
  let [depth, left, carries] = [0, false, false];
  const leave = (n, conditional) => {
    if (n < depth) return;
    const label = n - depth;
    if (around[label].arity > 0 && (conditional || label !== last)) carries = true;
    exit(way(label));
    left = true;
  };
  for (const { op, n, targets } of span) {
    if (op === OP.end) depth--;
    if (op === OP.get) {
      inner.set(n, (inner.get(n) ?? 0) + 1);
      if (!first.has(n)) inputs.add(n);
    } else if (op === OP.set || op === OP.tee) {
      written.add(n);
      if (depth === 0) {
        if (!inputs.has(n)) first.add(n);
        if (!left) sure.add(n);
      }
    } else if (op === OP.br) leave(n, false);
    else if (op === OP.brIf) leave(n, true);
    else if (op === OP.brTable) targets.forEach((n) => leave(n, true));
    else if (op === OP.return) {
      exit(last);
      left = true;
    }
    if (op === OP.block || op === OP.loop || op === OP.if) depth++;
  }
  const reads = new Map();
  for (const { op, n } of code) if (op === OP.get) reads.set(n, (reads.get(n) ?? 0) + 1);
  const outputs = new Set([...written].filter((n) => (reads.get(n) ?? 0) > (inner.get(n) ?? 0) || (loop && inputs.has(n))));
  for (const n of outputs) if (!sure.has(n)) inputs.add(n);
  return { inputs, outputs, falls: reaches(span), carries };
}

/** Whether the end of a stretch is reached by going on: not behind what never goes on. */
function reaches(span) {
  let [depth, dead] = [0, false];
  for (const { op } of span) {
    if (op === OP.end) depth--;
    if (depth === 0) dead = [OP.br, OP.brTable, OP.return, OP.unreachable].includes(op);
    if (op === OP.block || op === OP.loop || op === OP.if) depth++;
  }
  return !dead;
}
