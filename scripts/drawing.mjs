// Measures what drawing costs while nothing happens but time: `node scripts/drawing.mjs [PODS…]` prints how many nodes the document has,
// what changes in it in a frame, and how long the page's thread works for a frame.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { tasks } from '../tests/browser/tasks.mjs';
import { addNodes, manifest } from './many.mjs';

const counts = process.argv.slice(2).map(Number);

const server = await serve(0);
const browser = await browserType.launch(chromium);
console.log('    Pods  view         nodes  changes a frame  ms a frame');
for (const pods of counts.length ? counts : [100, 1000, 5000]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/?editor=plain`);
  await page.waitForFunction(() => window.loopscope.ready);
  await page.evaluate(() => loopscope.pause());
  await addNodes(page, pods);
  await page.evaluate((text) => {
    loopscope.apply(text);
    loopscope.speed(20);
    loopscope.play();
  }, manifest(pods));
  await page.waitForFunction((pods) => loopscope.get('Deployment', 'default', 'many')?.status?.readyReplicas === pods, pods, { timeout: 120_000 });
  await page.evaluate(() => { loopscope.speed(1); document.activeElement?.blur(); });
  for (const [key, view] of [['1', 'Ownership'], ['2', 'Nodes'], ['6', 'Loops']]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(1500);
    await devtools.send('HeapProfiler.collectGarbage');
    let seen;
    const all = await tasks(browser, page, async () => {
      seen = await page.evaluate(() => new Promise((resolve) => {
        let [frames, changes] = [0, 0];
        const observer = new MutationObserver((all) => { changes += all.length; });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        const count = () => {
          frames += 1;
          if (frames < 120) return requestAnimationFrame(count);
          observer.disconnect();
          resolve({ frames, changes });
        };
        requestAnimationFrame(count);
      }));
    });
    const spent = all.reduce((sum, task) => sum + task, 0);
    const { metrics } = await devtools.send('Performance.getMetrics');
    const nodes = metrics.find((metric) => metric.name === 'Nodes').value;
    console.log(`${String(pods).padStart(8)}  ${view.padEnd(10)}${String(nodes).padStart(8)}${(seen.changes / seen.frames).toFixed(1).padStart(17)}${(spent / seen.frames).toFixed(1).padStart(12)}`);
  }
  await page.close();
}
await browser.close();
server.close();
