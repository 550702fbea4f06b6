// What an hour of the clock leaves in memory: `memory [PODS] [MINUTES] [EVERY]` updates a Deployment of so many Pods every so many
// minutes of the clock, and prints memory at intervals, and how long a look into the past takes.
import { longest } from '../../tests/browser/tasks.mjs';
import { keepMemory, open, withBrowser } from './page.mjs';
import { addNodes, manifest } from './pods.mjs';

export const measure = ([pods = 100, minutes = 60, every = 1]) => withBrowser(async (browser, address) => {
  const page = await open(browser, `${address}?editor=plain`, keepMemory);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const print = (cells) => console.log(cells.map((cell, i) => String(cell).padStart(i ? 14 : 8)).join(''));
  const row = async (minute) => {
    await devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devtools.send('Performance.getMetrics');
    const of = (name) => metrics.find((metric) => metric.name === name).value;
    const wasm = await page.evaluate(() => window.memory.buffer.byteLength);
    const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
    print([minute, mb(wasm), mb(of('JSHeapUsedSize')), of('Nodes'), of('JSEventListeners')]);
  };

  print(['minute', 'wasm', 'JS heap', 'DOM nodes', 'listeners']);
  await page.evaluate(() => {
    loopscope.pause();
    loopscope.kubectl('delete deployment nginx-deployment --wait=false');
  });
  await addNodes(page, Number(pods));
  await page.evaluate((text) => {
    loopscope.apply(text);
    loopscope.speed(1000);
    loopscope.play();
  }, manifest(Number(pods)));
  const begun = Date.now();
  for (let minute = 1; minute <= minutes; minute++) {
    await page.waitForFunction((until) => loopscope.now() >= until, minute * 60, { polling: 5, timeout: 600_000 });
    if (minute % every === 0) await page.evaluate((tag) => loopscope.kubectl(`set image deployment/many web=nginx:1.${tag}`), 25 + (minute % 7));
    if (minute % Math.max(1, Math.floor(minutes / 6)) === 0) await row(minute);
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
});
