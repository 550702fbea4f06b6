// Splits the page's module in four with Binaryen's wasm-split: the functions that run until a page is drawn, those that then run until the
// first Pods are, those that only a page with a manifest of its own opens with, and the rest. Which those are is found out here, in
// Chromium, with a module that notes what is called: the page and embeds are opened at several sizes, and as links to some examples.
// Without wasm-split the module stays in one piece: larger to wait for, and otherwise the same.
import { chromium as browserType } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { parts, wrap } from './wrap.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = `${root}/dist`;
const work = `${root}/target/split`;
const tool = (...args) => execFileSync('wasm-split', [...args, '--all-features', '--quiet'], { stdio: ['ignore', 'inherit', 'inherit'] });

const link = (manifest) => `#pako:${deflateSync(JSON.stringify({ v: 1, manifest })).toString('base64url')}`;
const text = (name) => readFileSync(`${root}/crates/session/src/examples/${name}.yaml`, 'utf8');
const example = (name) => link(text(name));
const told = (manifest) => `#pako:${deflateSync(JSON.stringify({ v: 1, manifest, seed: 1, history: { commands: [[0, 1.5, { none: 'x' }], null, true], end: [0, 1] }, selected: 'x', breakpoints: ['x'] })).toString('base64url')}`;
// What a reader shares who scaled, broke an image and selected a Pod (tests/browser/links.spec.mjs).
const shared = (manifest) => `#pako:${deflateSync(JSON.stringify({ v: 1, manifest, seed: 1, view: 'ownership', history: { at: 2279, commands: [
  [0, 0, { apply: manifest }],
  ...['scale deployment nginx-deployment --replicas=5', 'set image deployment/nginx-deployment nginx=nginx:broken'].map((line) => [52, 279_301, { kubectl: `kubectl ${line}` }]),
], end: [192, 2_279_000] }, selected: 'Pod/default/nginx-deployment-6b799bd7f6-57ngw' })).toString('base64url')}`;
const short = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: "nginx:1.27", ports: [{containerPort: 80}]}]}
`;
const embed = '?embed&autoplay=1';
const sized = (sizes, queries) => sizes.flatMap(([width, height]) => queries.map((query) => ({ width, height, query })));
// Sizes of windows that a page is turned to while it is open: what fits nowhere has a map, what is narrow has its panels elsewhere.
const turned = [[1280, 720], [1366, 768], [1100, 620], [820, 1180], [1920, 1080], [360, 740]];
// A slow machine, on which slices of the engine end before their work.
const slowly = (openings) => openings.map((opening) => ({ ...opening, look: 1 }));
// What a frame finds changed depends on how often the clock is looked at: sorts and motions that seldom run are met at one of these.
const paced = (openings) => openings.filter(({ look, seconds }) => !look && !seconds).map((opening, n) => ({ ...opening, look: [0.01, 0.1, 0.3][n % 3] }));
// Readers who have been here before: their clock goes at its own pace. A first visit goes write by write, for longer.
const again = (openings) => openings.map((opening) => ({ ...opening, again: true }));
const longer = (openings) => openings.map((opening) => ({ ...opening, seconds: 9 }));
// With the clock of this machine: which states are drawn between two writes depends on its frames.
const real = (openings) => openings.map((opening) => ({ ...opening, real: true, seconds: 6 }));
// Frames a few milliseconds apart: each state that a burst of writes passes through is drawn, as that of some reader's frame may be.
const finely = (openings) => openings.map((opening) => ({ ...opening, scale: 0.2, seconds: 8 }));
const plain = [
  ...sized([[1440, 900], [1280, 720], [1024, 768], [720, 420], [390, 844]], ['']),
  ...again(sized([[1440, 900], [1280, 720], [1024, 768], [720, 420], [390, 844]], [''])),
  ...again(sized([[1440, 900], [390, 844]], ['?theme=dark'])),
  ...longer([...sized([[1440, 900], [390, 844]], ['']), ...sized([[760, 420]], [`${embed}&pace=cause`, `${embed}&pace=cause&view=ownership&loop=1`])]),
  ...sized([[760, 420], [720, 420], [390, 420]], [embed, `${embed}&speed=0.5`]),
  // As course pages write them (docs/embedding.md).
  ...sized([[1008, 420], [760, 420]], [`${embed}&view=ownership&share=1&lang=en`]),
  ...sized([[760, 420]], [`${embed}&theme=light&controls=false&loop=1&idle-time-limit=2&markers=1:Created&pause-on-markers=1`]),
  // A frame that waits for its reader to press play.
  ...sized([[760, 380]], ['?embed']),
  // A page that follows a cluster, which is empty at first.
  ...sized([[1440, 900], [1280, 720], [390, 844]], ['?follow']),
  ...real([...again(sized([[1440, 900], [390, 844]], [''])), ...sized([[760, 420]], [embed, `${embed}&view=ownership&loop=1`])]),
  ...finely([...again(sized([[1440, 900], [390, 844]], [''])), ...sized([[760, 420]], [embed, `${embed}&view=ownership&loop=1`])]),
  ...slowly([...again(sized([[1440, 900], [1280, 720], [390, 844]], [''])), ...sized([[760, 420]], [embed])]),
];
// What else a link may hold is in the rest: such a page begins again when that is there (static/start.js).
const linked = [
  ...sized([[760, 420], [720, 420]], [`${embed}&view=ownership${example('rollout')}`, `${embed}&view=ownership${example('statefulset')}`, `${embed}&view=storage${example('statefulset')}`]),
  // A manifest in short form, as course pages write it.
  ...sized([[760, 380]], [`?embed&view=ownership${link(short)}`, `${embed}&view=ownership${link(short)}`]),
  ...slowly(sized([[760, 420]], [`${embed}&view=ownership${example('rollout')}`, `${embed}&view=ownership${link(short)}`])),
  ...real(sized([[760, 420]], [`${embed}&view=ownership${link(short)}`, `${embed}&view=storage${example('statefulset')}`])),
  ...finely(sized([[760, 420]], [`${embed}&view=ownership${link(short)}`, `${embed}&view=storage${example('statefulset')}`])),
  // Each state between two writes is drawn, such as a volume that is not bound yet.
  ...longer(sized([[760, 420]], [`${embed}&pace=cause&view=ownership${example('rollout')}`, `${embed}&pace=cause&view=storage${example('statefulset')}`])),
  // A link with a history, which is read and carried out later; this one cannot be.
  ...sized([[1440, 900]], ['kind: Pod', text('deployment'), text('statefulset')].flatMap((manifest) => [told(manifest), link(manifest)])),
  ...slowly(sized([[1280, 720]], [told(text('deployment'))])),
  ...again([...sized([[1440, 900]], [shared(text('deployment'))]), ...slowly(sized([[1280, 720]], [shared(text('deployment'))])), ...real(sized([[1440, 900]], [shared(text('deployment'))]))]),
];

// Milliseconds between the browser's own frames: three of the page's.
const FRAME = 48;

/**
 * What ran during an opening: asked for by an export that writes it into memory. Timers and frames come when the clock is moved on here, and
 * a task sees time pass by the number of its looks at the clock: so that builds find out the same, however busy the machine is. The
 * page's clock goes three times as fast (`scale`), for fewer frames. A few openings are `real`: their clock is the machine's.
 */
async function profile(browser, address, { width, height, query, again, real, look = 0.03, scale = 3, seconds = 4 }) {
  const page = await browser.newPage({ viewport: { width, height } });
  if (again) await page.addInitScript(() => localStorage.setItem('loopscope.offers', '1'));
  // The browser's own frame: it also delivers what observers of sizes report.
  await page.addInitScript(() => {
    const frame = requestAnimationFrame.bind(window);
    const later = setTimeout.bind(window);
    window.painted = () => new Promise((resolve) => frame(() => later(resolve)));
  });
  if (!real) await page.clock.install({ time: 0 });
  await page.addInitScript(({ real, look, scale }) => {
    const now = performance.now.bind(performance);
    let looks = 0;
    if (!real) performance.now = () => scale * now() + look * ++looks;
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = async (...given) => {
      const instance = await instantiate(...given);
      window.instance ??= instance; // the first part
      return instance;
    };
  }, { real, look, scale });
  // As on a screen, each frame of the page is painted before the next.
  const pass = async (seconds) => {
    if (real) return sleep(seconds * 1000);
    for (let left = seconds * 1000; left > 0; left -= FRAME) {
      await page.clock.runFor(FRAME);
      await page.evaluate(() => window.painted());
    }
  };
  await page.goto(address + query);
  // The module comes when it comes: no time passes until it is there.
  const until = async (isTrue, wait) => {
    for (let left = 5000; !await page.evaluate(isTrue); left--) {
      if (!left) throw new Error(`the page did not open: ${query}`);
      await wait();
    }
  };
  await until(() => window.instance, () => sleep(20));
  await until(() => !document.querySelector('.boot'), () => (real ? sleep(20) : page.clock.runFor(20)));
  await pass(seconds);
  await page.setViewportSize({ width: width - 10, height: height - 10 });
  await pass(1);
  for (const [width, height] of query ? [] : turned) {
    await page.setViewportSize({ width, height });
    await pass(0.4);
  }
  // A reader may press a key, or turn to another tab, before the rest is there.
  await page.keyboard.press('Shift');
  const notes = await page.evaluate(() => {
    document.dispatchEvent(new Event('visibilitychange'));
    dispatchEvent(new Event('pagehide'));
    const { memory, __write_profile: write } = window.instance.exports;
    const size = write(0, 0);
    const from = memory.grow(Math.ceil(size / 65536)) * 65536;
    write(from, size);
    return Array.from(new Uint8Array(memory.buffer, from, size)).join(',');
  });
  await page.close();
  return Uint8Array.from(notes.split(','), Number);
}

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const browser = await browserType.launch(chromium);
const file = (name) => `${dist}/${name}.wasm`;

/** The functions of a module by index, as Binaryen names them: one whose name the module does not keep by a number. */
const lines = (text) => String(text).trim().split('\n').map((line) => line.slice(line.indexOf(':') + 1));
const functions = (path) => lines(execFileSync('wasm-opt', [path, '--all-features', '--print-function-map', '-o', `${work}/read.wasm`], { maxBuffer: 1 << 28 }));

// The module that notes what is called, and its functions in the order of a profile.
tool('--instrument', file('loopscope_bg'), '-o', `${work}/noting.wasm`);
const imported = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(file('loopscope_bg')))).filter(({ kind }) => kind === 'function').length;
let symbols = functions(file('loopscope_bg'));
const names = symbols.slice(imported);

/** Names of the functions that run in these openings of a page that is never told of some stages (`untold`). */
async function called(openings, ...untold) {
  const server = await serve(0, { extra: {
    'loopscope_bg.wasm': readFileSync(`${work}/noting.wasm`),
    'loopscope.js': `${readFileSync(`${dist}/loopscope.js`, 'utf8')}\n${untold.map((stage) => `wasm_bindgen.${stage} = () => {};`).join('')}`,
  } });
  const left = [...openings];
  // Always kept: what compares two keys of a table that share a part of their hash, which depends on uids; and what puts the items of a
  // keyed list in order, which depends on those that came between two frames.
  const found = new Set(names.filter((name) => /^hashbrown::.*closure|yew::dom_bundle::blist::/.test(name)));
  await Promise.all([1, 2, 3].map(async () => {
    for (let opening = left.shift(); opening; opening = left.shift()) {
      // A hash of the module, and for each function when it was first called, or zero.
      const notes = new DataView((await profile(browser, `http://127.0.0.1:${server.address().port}/loopscope/`, opening)).buffer);
      names.forEach((name, at) => notes.getUint32(8 + 4 * at, true) && found.add(name));
    }
  }));
  server.close();
  return found;
}

/** Moves all but the functions of these sets out of the page's module, into a part of this name. */
function moveOut(name, kept) {
  const before = `${work}/before-${name}.wasm`;
  copyFileSync(file('loopscope_bg'), before);
  const numbers = functions(before);
  writeFileSync(`${work}/${name}.names`, numbers.filter((_, at) => kept.some((set) => set.has(symbols[at]))).join('\n'));
  tool('--split', before, `--keep-funcs=@${work}/${name}.names`, '-o1', file('loopscope_bg'), '-o2', file(name), '--symbolmap',
    '--import-namespace=first', `--placeholder-namespace=${name}`, `--export-prefix=${name[0]}%`);
  // The parts have no names, for their exports would be as long: they are known by number, and written beside them.
  const known = new Map(numbers.map((number, at) => [number, symbols[at]]));
  symbols = lines(readFileSync(`${file('loopscope_bg')}.symbols`)).map((number) => known.get(number) ?? number);
  for (const part of ['loopscope_bg', name]) rmSync(`${file(part)}.symbols`);
}

const drawing = (openings) => openings.filter(({ look, seconds }) => !look && !seconds).map((opening) => ({ ...opening, seconds: 5 }));
const opens = await called([...plain, ...paced(plain)], 'whole');
const draws = await called(drawing(plain), 'play', 'whole');
const links = await called(linked, 'whole');
const linksDraw = await called(drawing(linked), 'play', 'whole');
moveOut('rest', [opens, draws, links, linksDraw]);
moveOut('linked', [opens, draws]);
moveOut('play', [draws, linksDraw]);
await browser.close();
// What packs better: functions that are the same once, and the locals that are used most first. Of Binaryen's other passes most pack worse.
for (const part of parts) {
  execFileSync('wasm-opt', [file(part), '-o', file(part), '--all-features', '--duplicate-function-elimination', '--reorder-locals']);
}
wrap(dist);
