// Records which functions the page's opening runs, and what of them, into scripts/wasm/opening.txt: opens the page as built, at several
// sizes and in both themes, with a module that notes what runs. Run by `make profile`, after a change to what the opening does.
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { decode, shape } from './wasm/code.mjs';
import { counting } from './wasm/count.mjs';
import { parse } from './wasm/module.mjs';
import { plain, writeOpening } from './wasm/names.mjs';

const whole = readFileSync(new URL('../target/page/whole.wasm', import.meta.url));
const module = parse(whole);
const { noting, places } = counting(whole);
const server = await serve(0);
const home = `http://127.0.0.1:${server.address().port}/loopscope/`;
const browser = await browserType.launch(chromium);
const from = places[0];
const reached = new Uint8Array(places.at(-1) - from);
for (const [width, height, theme] of [[1440, 900, 'light'], [1024, 768, 'dark'], [720, 420, 'light'], [390, 844, 'dark']]) {
  // The first seconds as a visitor sees them; then a clock that goes six times as fast, for what happens only now and then; then a slow
  // machine, where slices end before their work; then a clock so slow that a frame shows each state on the way.
  for (const [fast, slow] of [[1, 1], [6, 1], [1, 10], [0.1, 1]]) {
    const page = await browser.newPage({ viewport: { width, height } });
    await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slow });
    await page.route('**/loopscope_bg.wasm', (route) => route.fulfill({ body: noting, contentType: 'application/wasm' }));
    await page.route('**/rest.wasm', () => {}); // never comes
    await page.addInitScript((times) => {
      const now = performance.now.bind(performance);
      performance.now = () => now() * times;
      const instantiate = WebAssembly.instantiate;
      WebAssembly.instantiate = async (...given) => (window.instance = await instantiate(...given));
    }, fast);
    await page.goto(`${home}?theme=${theme}`);
    await page.waitForTimeout(fast < 1 ? 18_000 : 9_000);
    const notes = await page.evaluate(([from, length]) => {
      const { memory } = (window.instance.instance ?? window.instance).exports;
      return new TextDecoder('latin1').decode(new Uint8Array(memory.buffer, from, length));
    }, [from, reached.length]);
    for (let i = 0; i < reached.length; i++) reached[i] |= notes.charCodeAt(i);
    await page.close();
  }
}
await browser.close();
server.close();
const functions = [];
module.bodies.forEach((body, i) => {
  const [entered, ...own] = reached.subarray(places[i] - from, places[i + 1] - from);
  const name = plain(module.names.get(module.imported.length + i) ?? '');
  functions.push(entered ? { name, shape: shape(decode(module, body).code), reached: own.map(Boolean) } : { name });
});
writeFileSync(new URL('wasm/opening.txt', import.meta.url), writeOpening(functions));
console.log(`${functions.filter(({ reached }) => reached).length} of ${functions.length} functions`);
