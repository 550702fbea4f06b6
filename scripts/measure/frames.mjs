// Measures how smoothly the page draws: `node scripts/frames.mjs [PODS…]` opens it in Chromium, starts Deployments of so
// many Pods, updates them all, and prints frames a second and the longest task while Pods come, and while they are replaced.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { tasks } from '../tests/browser/tasks.mjs';
import { addNodes, manifest, paste, ready } from './many.mjs';

const counts = process.argv.slice(2).map(Number);

const server = await serve(0);
const browser = await browserType.launch(chromium);
console.log(`${'Pods'.padStart(7)}  ${'while'.padEnd(10)}${'in'.padEnd(11)}${'frames/s'.padStart(9)}${'longest task'.padStart(14)}${'over 50'.padStart(9)}${'Pods shown'.padStart(12)}`);
for (const pods of counts.length ? counts : [100, 1000, 5000, 20000, 150000]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/`);
  await page.waitForFunction(() => window.loopscope.ready);
  await page.waitForTimeout(1000);
  await addNodes(page, pods);
  await page.waitForTimeout(2000);
  const measure = async (word, view, what) => {
    let rate = 0;
    // Typing thousands of lines at once is no part of it; applying them is.
    if (what) {
      await paste(page, what);
      await page.waitForTimeout(4000);
    }
    const all = await tasks(browser, page, async () => {
      if (what) await page.keyboard.press('Control+Enter');
      rate = await page.evaluate(
        () =>
          new Promise((resolve) => {
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
      );
    });
    const shown = await page.evaluate(() => document.querySelector('[data-kind="Pods"], .world')?.getAttribute('aria-label')?.slice(0, 40) ?? '');
    const long = all.filter((task) => task > 50);
    console.log(`${String(pods).padStart(7)}  ${word.padEnd(10)}${view.padEnd(11)}${rate.toFixed(0).padStart(9)}${`${Math.max(...all).toFixed(0)} ms`.padStart(14)}${String(long.length).padStart(9)}  ${shown}`);
  };
  await measure('start', 'Ownership', manifest(pods));
  await ready(page, pods);
  await measure('update', 'Ownership', manifest(pods, 'nginx:1.26'));
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('2');
  await page.waitForTimeout(1500);
  await measure('update', 'Nodes');
  await page.close();
}
await browser.close();
server.close();
