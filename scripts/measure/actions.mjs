// How long the page is busy with each thing that a person does: `actions [PODS…]` starts so many Pods, and prints for each action the
// longest task and how many took over 50 ms.
import { tasks } from '../../tests/browser/tasks.mjs';
import { counts, leaveFields, open, withBrowser } from './page.mjs';
import { paste } from '../../tests/browser/clipboard.mjs';
import { addNodes, manifest, names, ready } from './pods.mjs';

const list = 'button[aria-label="Show as list"]';

export const measure = (given) => withBrowser(async (browser, address) => {
  for (const pods of counts(given, [1000, 5000, 150000])) {
    const page = await open(browser, address);
    await page.waitForTimeout(1000);
    await addNodes(page, pods);
    await paste(page, manifest(pods));
    await page.keyboard.press('Control+Enter');
    await ready(page, pods);
    await leaveFields(page);
    await page.waitForTimeout(3000);
    console.log(`\n${pods} Pods`);
    await actions(browser, page, pods);
    await page.close();
  }
});

async function actions(browser, page, pods) {
  const row = async (word, what, wait = 2500) => {
    const all = await tasks(browser, page, async () => {
      await what();
      await page.waitForTimeout(wait);
    });
    const long = all.filter((task) => task > 50).map((task) => task.toFixed(0));
    console.log(`${word.padEnd(34)}${`${Math.max(...all).toFixed(0)} ms`.padStart(8)}${long.length ? `  over 50: ${long.join(', ')}` : ''}`);
  };
  // Inside the page where possible: a test takes longer to look an element up than the page takes to act.
  const key = (name) => () => page.keyboard.press(name);
  const click = (selector) => () => page.evaluate((selector) => document.querySelector(selector).click(), selector);
  const type = (text) => () => page.evaluate((text) => {
    const input = document.querySelector('input.filter[type=search]');
    input.value = text;
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);

  for (const [at, view] of ['Nodes', 'Network', 'Storage', 'Loops', 'Rollout', 'Ownership'].entries()) await row(view, key(String(((at + 1) % 6) + 1)));
  await row('filter', type('-1'));
  await row('filter, another', type('app=many'));
  await row('no filter', type(''));
  await row('list', click(list));
  await row('diagram', click(list));
  await page.keyboard.press('2');
  await page.waitForTimeout(2500);
  await row('filter in Nodes', type('-1'));
  await row('no filter in Nodes', type(''));
  await row('list of Nodes', click(list));
  await row('diagram of Nodes', click(list));
  await page.keyboard.press('1');
  await page.waitForTimeout(2500);
  await row('choose', click('.item[data-kind="Deployment"]'));
  await row('Why', key('w'));
  await row('theme', click("button[aria-label$=\" theme\"]"));
  await row('an instant of the past', () => page.evaluate(() => loopscope.seek(loopscope.now() / 2)), 6000);
  await row('forward one second', key('.'), 4000);
  await row('a reconcile back', key('ArrowLeft'), 4000);
  await row('live', key('End'), 4000);
  await row('get pods', async () => {
    await page.keyboard.press('`');
    await page.waitForTimeout(500);
    await page.keyboard.type('get pods\n');
  }, 5000);
  await page.keyboard.press('Escape');
  await leaveFields(page);
  await page.waitForTimeout(500);
  await row('PNG', async () => {
    const saved = page.waitForEvent('download', { timeout: 60_000 });
    await page.evaluate(() => document.querySelector('#export').click());
    await page.waitForTimeout(300);
    await page.evaluate(() => [...document.querySelectorAll('.menu [role=menuitem]')].find((item) => item.textContent === 'PNG').click());
    await saved;
  });
  await row('scale', () => page.evaluate((name) => loopscope.kubectl(`scale deployment ${name} --replicas=${5}`), names(pods)[0]));
}
