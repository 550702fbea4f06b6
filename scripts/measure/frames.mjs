// How smoothly the page draws: `frames [PODS…]` starts Deployments of so many Pods, updates them all, and prints frames a second and
// the longest task while Pods come, and while they are replaced.
import { tasks } from '../../tests/browser/tasks.mjs';
import { counts, frameRate, leaveFields, open, withBrowser } from './page.mjs';
import { paste } from '../../tests/browser/clipboard.mjs';
import { addNodes, manifest, ready } from './pods.mjs';

export const measure = (given) => withBrowser(async (browser, address) => {
  console.log(`${'Pods'.padStart(7)}  ${'while'.padEnd(10)}${'in'.padEnd(11)}${'frames/s'.padStart(9)}${'longest task'.padStart(14)}${'over 50'.padStart(9)}${'Pods shown'.padStart(12)}`);
  for (const pods of counts(given, [100, 1000, 5000, 20000, 150000])) {
    const page = await open(browser, address);
    await page.waitForTimeout(1000);
    await addNodes(page, pods);
    await page.waitForTimeout(2000);
    const row = async (word, view, text) => {
      let rate = 0;
      // Pasting thousands of lines is not measured; applying them is.
      if (text) {
        await paste(page, text);
        await page.waitForTimeout(4000);
      }
      const all = await tasks(browser, page, async () => {
        if (text) await page.keyboard.press('Control+Enter');
        rate = await frameRate(page);
      });
      const shown = await page.evaluate(() => document.querySelector('[data-kind="Pods"], .world')?.getAttribute('aria-label')?.slice(0, 40) ?? '');
      const long = all.filter((task) => task > 50);
      console.log(`${String(pods).padStart(7)}  ${word.padEnd(10)}${view.padEnd(11)}${rate.toFixed(0).padStart(9)}${`${Math.max(...all).toFixed(0)} ms`.padStart(14)}${String(long.length).padStart(9)}  ${shown}`);
    };
    await row('start', 'Ownership', manifest(pods));
    await ready(page, pods);
    await row('update', 'Ownership', manifest(pods, 'nginx:1.26'));
    await leaveFields(page);
    await page.keyboard.press('2');
    await page.waitForTimeout(1500);
    await row('update', 'Nodes');
    await page.close();
  }
});
