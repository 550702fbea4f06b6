// Splits the page's module in four with Binaryen's wasm-split: the functions that run until a page is drawn, those that then run until the
// first Pods are, those that only a page with a manifest of its own opens with, and the rest. Which those are is found out here, in
// Chromium, with a module that notes what is called: the page and embeds are opened at several sizes, and as links to some examples.
// Without wasm-split the module stays in one piece: larger to wait for, and otherwise the same.
import { chromium as browserType } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
// A slow machine, where slices of the engine end before their work; a slow clock, where each state on the way has a frame of its own.
const slow = [{ cpu: 10, clock: 1, seconds: 10 }, { cpu: 1, clock: 0.2, seconds: 15 }];
const slowly = (openings) => slow.flatMap((how) => openings.map((opening) => ({ ...opening, ...how })));
const plain = [
  ...sized([[1440, 900], [1280, 720], [1024, 768], [720, 420], [390, 844]], ['', '?theme=dark']),
  ...sized([[760, 420], [720, 420], [390, 420]], [embed, `${embed}&speed=0.5`]),
  // As course pages write them (docs/embedding.md).
  ...sized([[1008, 420], [760, 420]], [`${embed}&view=ownership&share=1&lang=en`]),
  ...sized([[760, 420]], [`${embed}&theme=light&controls=false&loop=1&idle-time-limit=2&markers=1:Created&pause-on-markers=1`]),
  // A frame that waits for its reader to press play.
  ...sized([[760, 380]], ['?embed']),
  // A page that follows a cluster, which is empty at first.
  ...sized([[1440, 900], [1280, 720], [390, 844]], ['?follow']),
  ...slowly([...sized([[1440, 900], [390, 844]], ['']), ...sized([[760, 420]], [embed])]),
];
// What else a link may hold is in the rest: such a page begins again when that is there (static/start.js).
const linked = [
  ...sized([[760, 420], [720, 420]], [`${embed}&view=ownership${example('rollout')}`, `${embed}&view=ownership${example('statefulset')}`, `${embed}&view=storage${example('statefulset')}`]),
  // A manifest in short form, as course pages write it.
  ...sized([[760, 380]], [`?embed&view=ownership${link(short)}`, `${embed}&view=ownership${link(short)}`]),
  ...slowly(sized([[760, 420]], [`${embed}&view=ownership${example('rollout')}`, `${embed}&view=ownership${link(short)}`])),
  // A link with a history, which is read and carried out later; this one cannot be.
  ...sized([[1440, 900]], ['kind: Pod', text('deployment'), text('statefulset')].flatMap((manifest) => [told(manifest), link(manifest)])),
];

/** What ran during an opening: asked for by an export that writes it into memory. */
async function profile(browser, address, { width, height, query, cpu = 1, clock = 3, seconds = 4 }) {
  const page = await browser.newPage({ viewport: { width, height } });
  await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: cpu });
  await page.addInitScript((clock) => {
    const now = performance.now.bind(performance);
    performance.now = () => now() * clock;
    const instantiate = WebAssembly.instantiate;
    WebAssembly.instantiate = async (...given) => {
      const instance = await instantiate(...given);
      window.instance ??= instance; // the first part
      return instance;
    };
  }, clock);
  await page.goto(address + query);
  await page.waitForFunction(() => !document.querySelector('.boot'));
  await page.waitForTimeout(seconds * 1000);
  await page.setViewportSize({ width: width - 10, height: height - 10 });
  await page.waitForTimeout(1000);
  for (const [width, height] of query ? [] : turned) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(400);
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

/** Moves what the openings do not run out of the page's module, into a part of this name. The page is never told of the stages after it. */
async function moveOut(name, openings, ...untold) {
  const before = `${work}/before-${name}.wasm`;
  copyFileSync(`${dist}/loopscope_bg.wasm`, before);
  tool('--instrument', before, '-o', `${work}/noting.wasm`);
  const server = await serve(0, { extra: {
    'loopscope_bg.wasm': readFileSync(`${work}/noting.wasm`),
    'loopscope.js': `${readFileSync(`${dist}/loopscope.js`, 'utf8')}\n${untold.map((stage) => `wasm_bindgen.${stage} = () => {};`).join('')}`,
  } });
  const profiles = openings.map((_, n) => `${work}/${name}-${n}.profile`);
  const left = [...openings.entries()];
  await Promise.all([1, 2, 3].map(async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      writeFileSync(profiles[next[0]], await profile(browser, `http://127.0.0.1:${server.address().port}/loopscope/`, next[1]));
    }
  }));
  server.close();
  tool('--merge-profiles', ...profiles, '-o', `${work}/${name}.profile`);
  tool('--split', before, `--profile=${work}/${name}.profile`, '-o1', `${dist}/loopscope_bg.wasm`, '-o2', `${dist}/${name}.wasm`,
    '--import-namespace=first', `--placeholder-namespace=${name}`, `--export-prefix=${name[0]}%`);
}

await moveOut('rest', [...plain, ...linked], 'whole');
await moveOut('linked', plain, 'whole');
await moveOut('play', [...plain, ...linked].filter(({ clock }) => !clock).map((opening) => ({ ...opening, seconds: 1 })), 'play', 'whole');
await browser.close();
// What packs better: functions that are the same once, and the locals that are used most first. Of Binaryen's other passes most pack worse.
for (const part of parts) {
  const file = `${dist}/${part}.wasm`;
  execFileSync('wasm-opt', [file, '-o', file, '--all-features', '--duplicate-function-elimination', '--reorder-locals']);
}
wrap(dist);
