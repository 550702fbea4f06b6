// Measures how long the page is busy with each thing that a person does: `node scripts/actions.mjs [PODS…]` opens it in Chromium,
// starts so many Pods, and prints for each action the longest task and how many took over 50 ms.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';
import { tasks } from '../tests/browser/tasks.mjs';
import { addNodes, manifest, names, paste, ready } from './many.mjs';

const counts = process.argv.slice(2).map(Number);
const server = await serve(0);
const browser = await browserType.launch(chromium);
for (const pods of counts.length ? counts : [1000, 5000, 150000]) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/loopscope/`);
  await page.waitForFunction(() => window.loopscope.ready);
  await page.waitForTimeout(1000);
  await addNodes(page, pods);
  await paste(page, manifest(pods));
  await page.keyboard.press('Control+Enter');
  await ready(page, pods);
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(3000);
  console.log(`\n${pods} Pods`);
  /** What is done is done by the page itself where it can be: to look an element up takes a test longer than the page to act. */
  const measure = async (word, what, wait = 2500) => {
    const all = await tasks(browser, page, async () => {
      await what();
      await page.waitForTimeout(wait);
    });
    const long = all.filter((task) => task > 50).map((task) => task.toFixed(0));
    console.log(`${word.padEnd(34)}${`${Math.max(...all).toFixed(0)} ms`.padStart(8)}${long.length ? `  over 50: ${long.join(', ')}` : ''}`);
  };
  const key = (name) => () => page.keyboard.press(name);
  const click = (selector) => () => page.evaluate((selector) => document.querySelector(selector).click(), selector);
  const type = (text) => () => page.evaluate((text) => {
    const input = document.querySelector('input.filter[type=search]');
    input.value = text;
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);
  for (const [at, view] of ['Nodes', 'Network', 'Storage', 'Loops', 'Rollout', 'Ownership'].entries()) await measure(view, key(String(((at + 1) % 6) + 1)));
  await measure('filter', type('-1'));
  await measure('filter, another', type('app=many'));
  await measure('no filter', type(''));
  await measure('list', click('button[aria-label="Show as list"]'));
  await measure('diagram', click('button[aria-label="Show as list"]'));
  await page.keyboard.press('2');
  await page.waitForTimeout(2500);
  await measure('filter in Nodes', type('-1'));
  await measure('no filter in Nodes', type(''));
  await measure('list of Nodes', click('button[aria-label="Show as list"]'));
  await measure('diagram of Nodes', click('button[aria-label="Show as list"]'));
  await page.keyboard.press('1');
  await page.waitForTimeout(2500);
  await measure('choose', click('.item[data-kind="Deployment"]'));
  await measure('Why', key('w'));
  await measure('theme', click("button[aria-label$=\" theme\"]"));
  await measure('an instant of the past', () => page.evaluate(() => loopscope.seek(loopscope.now() / 2)), 6000);
  await measure('one second on', key('.'), 4000);
  await measure('a reconcile back', key('ArrowLeft'), 4000);
  await measure('live', key('End'), 4000);
  await measure('get pods', async () => {
    await page.keyboard.press('`');
    await page.waitForTimeout(500);
    await page.keyboard.type('get pods\n');
  }, 5000);
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(500);
  await measure('PNG', async () => {
    const saved = page.waitForEvent('download', { timeout: 60_000 });
    await page.evaluate(() => document.querySelector('#export').click());
    await page.waitForTimeout(300);
    await page.evaluate(() => [...document.querySelectorAll('.menu [role=menuitem]')].find((item) => item.textContent === 'PNG').click());
    await saved;
  });
  await measure('scale', () => page.evaluate((name) => loopscope.kubectl(`scale deployment ${name} --replicas=${5}`), names(pods)[0]));
  await page.close();
}
await browser.close();
server.close();
