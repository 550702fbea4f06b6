// Measures what an hour of the clock leaves in memory: `node scripts/memory.mjs [PODS] [MINUTES]` opens the page in Chromium, updates a
// Deployment of so many Pods once a minute of the clock, and prints memory at intervals, and how long a look into the past takes.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { longest } from '../tests/browser/tasks.mjs';
import { addNodes, manifest } from './many.mjs';

const pods = Number(process.argv[2] ?? 100);
const minutes = Number(process.argv[3] ?? 60);
const every = Number(process.argv[4] ?? 1);

const server = await serve(0);
const browser = await browserType.launch(chromium);
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.addInitScript(() => {
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    const memory = (made.instance ?? made).exports.memory;
    if (memory) window.memory = memory;
    return made;
  };
});
const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable');
await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/?editor=plain`);
await page.waitForFunction(() => window.loopscope.ready);
const words = (cells) => console.log(cells.map((cell, i) => String(cell).padStart(i ? 14 : 8)).join(''));

async function measure(minute) {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  const wasm = await page.evaluate(() => window.memory.buffer.byteLength);
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  words([minute, mb(wasm), mb(of('JSHeapUsedSize')), of('Nodes'), of('JSEventListeners')]);
}

words(['minute', 'wasm', 'JS heap', 'DOM nodes', 'listeners']);
await page.evaluate(() => {
  loopscope.pause();
  loopscope.kubectl('delete deployment nginx-deployment --wait=false');
});
await addNodes(page, pods);
await page.evaluate((text) => {
  loopscope.apply(text);
  loopscope.speed(1000);
  loopscope.play();
}, manifest(pods));
const begun = Date.now();
for (let minute = 1; minute <= minutes; minute++) {
  await page.evaluate((until) => new Promise((resolve) => {
    const look = setInterval(() => {
      if (loopscope.now() < until) return;
      clearInterval(look);
      resolve();
    }, 5);
  }), minute * 60);
  if (minute % every === 0) await page.evaluate((tag) => loopscope.kubectl(`set image deployment/many web=nginx:1.${tag}`), 25 + (minute % 7));
  if (minute % Math.max(1, Math.floor(minutes / 6)) === 0) await measure(minute);
}
console.log(`${((Date.now() - begun) / 1000).toFixed(0)} s for ${minutes} minutes of the clock`);

// Places all over the history, shown, drawn and laid out, by the longest task of the page's thread.
await page.evaluate(() => loopscope.pause());
const seeks = [];
for (let i = 0; i < 20; i++) {
  seeks.push(await longest(browser, page, () => page.evaluate(async (to) => {
    loopscope.seek(to);
    for (let frame = 0; frame < 3; frame++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
  }, ((i * 7) % 20) / 20 * minutes * 60)));
}
seeks.sort((a, b) => a - b);
console.log(`a look into the past, of the thread's time: ${seeks[10].toFixed(0)} ms in the middle, ${seeks[18].toFixed(0)} ms in nine of ten, ${seeks[19].toFixed(0)} ms at most`);
await browser.close();
server.close();
