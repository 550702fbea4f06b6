// Measures what drawing costs: `node scripts/drawing.mjs [PODS…]` prints, while nothing happens but time and while all Pods are updated,
// how many nodes the document has, what changes in it in a frame, and how long the page's thread works for a frame. Of a page that was
// built with `--features renders` (make drawing) it also prints how often each component is drawn anew in ten frames.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { tasks } from '../tests/browser/tasks.mjs';
import { addNodes, manifest, ready } from './many.mjs';

const counts = process.argv.slice(2).map(Number);

const server = await serve(0);
const browser = await browserType.launch(chromium);
console.log('    Pods  while   view         nodes  changes a frame  ms a frame  drawn anew in ten frames');
for (const pods of counts.length ? counts : [100, 1000, 5000]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/?editor=plain`);
  await page.waitForFunction(() => window.loopscope.ready);
  await addNodes(page, pods);
  await page.evaluate((text) => loopscope.apply(text), manifest(pods));
  await ready(page, pods);
  await page.evaluate(() => document.activeElement?.blur());
  let image = 25;
  for (const [key, view] of [['1', 'Ownership'], ['2', 'Nodes'], ['6', 'Loops']]) {
    for (const word of ['quiet', 'update']) {
      if (word === 'update') await page.evaluate((text) => loopscope.apply(text), manifest(pods, `nginx:1.${++image}`));
      await page.keyboard.press(key);
      await page.waitForTimeout(word === 'quiet' ? 1500 : 500);
      await devtools.send('HeapProfiler.collectGarbage');
      let seen;
      const all = await tasks(browser, page, async () => {
        seen = await page.evaluate(() => new Promise((resolve) => {
          loopscope.renders = {};
          let [frames, changes] = [0, 0];
          const observer = new MutationObserver((all) => { changes += all.length; });
          observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
          const count = () => {
            frames += 1;
            if (frames < 120) return requestAnimationFrame(count);
            observer.disconnect();
            resolve({ frames, changes, renders: loopscope.renders });
          };
          requestAnimationFrame(count);
        }));
      });
      const spent = all.reduce((sum, task) => sum + task, 0);
      const { metrics } = await devtools.send('Performance.getMetrics');
      const nodes = metrics.find((metric) => metric.name === 'Nodes').value;
      const renders = Object.entries(seen.renders).map(([what, times]) => `${what} ${(times * 10 / seen.frames).toFixed(1)}`).join(', ');
      console.log(`${String(pods).padStart(8)}  ${word.padEnd(8)}${view.padEnd(10)}${String(nodes).padStart(8)}${(seen.changes / seen.frames).toFixed(1).padStart(17)}${(spent / seen.frames).toFixed(1).padStart(12)}  ${renders}`);
      if (word === 'update') await ready(page, pods);
    }
  }
  await page.close();
}
await browser.close();
server.close();
