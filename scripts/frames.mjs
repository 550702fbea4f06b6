// Measures how smoothly the page draws: `node scripts/frames.mjs [PODS…]` opens it in Chromium, starts a Deployment of so
// many Pods, updates it, and prints frames a second and the longest task while Pods come, and while they are replaced.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { longest } from '../tests/browser/tasks.mjs';
import { addNodes, manifest } from './many.mjs';

const counts = process.argv.slice(2).map(Number);

const server = await serve(0);
const browser = await browserType.launch(chromium);
console.log(`${'Pods'.padStart(7)}  ${'while'.padEnd(10)}${'frames/s'.padStart(9)}${'longest task'.padStart(14)}${'heap'.padStart(10)}`);
for (const pods of counts.length ? counts : [100, 1000, 5000, 20000]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/`);
  await page.waitForFunction(() => window.loopscope.ready);
  await page.waitForTimeout(1000);
  await addNodes(page, pods);
  await page.waitForTimeout(2000);
  for (const [word, what, arg] of [['start', 'load', manifest(pods)], ['update', 'kubectl', 'set image deployment/many web=nginx:1.26']]) {
    let rate = 0;
    const task = await longest(browser, page, async () => {
      rate = await page.evaluate(
        ([what, arg]) =>
          new Promise((resolve) => {
            window.loopscope[what](arg);
            let frames = 0;
            const from = performance.now();
            const count = () => {
              frames += 1;
              const spent = performance.now() - from;
              if (spent < 6000) requestAnimationFrame(count);
              else resolve((frames * 1000) / spent);
            };
            requestAnimationFrame(count);
          }),
        [what, arg],
      );
    });
    const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
    console.log(`${String(pods).padStart(7)}  ${word.padEnd(10)}${rate.toFixed(0).padStart(9)}${`${task.toFixed(0)} ms`.padStart(14)}${`${(heap / 1e6).toFixed(0)} MB`.padStart(10)}`);
  }
  await page.close();
}
await browser.close();
server.close();
