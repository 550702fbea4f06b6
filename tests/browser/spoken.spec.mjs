import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { forward, link } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');

async function open(page, query = '') {
  await page.goto(`index.html?editor=plain${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
}

test('what settles and what fails is said in a sentence, and not too often', async ({ page }) => {
  await open(page);
  await expect(page.locator('#notice')).toHaveAttribute('aria-live', 'polite');
  await page.evaluate(() => {
    window.said = [];
    let last = '';
    const look = () => {
      const now = document.getElementById('notice').textContent;
      if (now !== last) window.said.push([performance.now(), (last = now)]);
    };
    new MutationObserver(look).observe(document.getElementById('notice'), { childList: true, characterData: true, subtree: true });
    loopscope.speed(5);
  });
  await expect(page.locator('#notice')).toHaveText(/^Stable since 00:0\d\.\d+: All Pods are Ready$/);
  await page.evaluate(() => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:nonexistent'));
  await expect(page.locator('#notice')).toHaveText(/^Deployment nginx-deployment: .* Image nginx:nonexistent cannot be pulled \(Pod .*\)$/);
  // That the pull is tried again and again is not said again; that nothing gets further is.
  await page.waitForFunction(() => window.said.length > 2);
  const said = await page.evaluate(() => window.said);
  expect(said.length).toBeGreaterThan(2);
  const gaps = said.slice(1).map(([at], index) => at - said[index][0]);
  // The answer to the command itself comes at once; what the simulation says waits two seconds.
  expect(gaps.filter((gap) => gap < 1900).length).toBeLessThanOrEqual(2);
});

for (const [view, name, words] of [[1, 'network', 'StatefulSet web 3 desired'], [2, 'network', 'Node node-1'], [3, 'network', 'Cluster DNS, '],
  [4, 'statefulset', 'PersistentVolumeClaim www-web-0'], [5, 'deployment', 'Deployment nginx-deployment'], [6, 'deployment', 'deployment-controller']]) {
  test(`the diagram ${view} is read as a list, and its objects can be chosen there`, async ({ page }) => {
    await open(page);
    await page.evaluate((text) => { loopscope.load(text); loopscope.pause(); document.activeElement?.blur(); }, example(name));
    await forward(page, 8);
    await page.keyboard.press(String(view));
    expect((await page.locator('.world').getAttribute('aria-label')).length).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'Show as list' }).click();
    const list = page.locator('.aslist').first();
    await expect(list).toContainText(words);
    if (view === 1) {
      expect(new Set(await list.locator('li').evaluateAll((all) => all.map((one) => one.ariaLevel)))).toEqual(new Set(['1', '2', '3']));
      const row = list.getByRole('button', { name: /^Pod web-1/ });
      await row.focus();
      await page.keyboard.press('Enter');
      await expect(page.locator('.i-head')).toContainText('web-1');
    }
  });
}

test('a list of very many objects has pages', async ({ page }) => {
  await open(page);
  await page.evaluate(() => { for (let n = 4; n <= 130; n++) loopscope.fault(`add-node node-${n}`); loopscope.pause(); document.activeElement?.blur(); });
  await page.keyboard.press('2');
  await page.getByRole('button', { name: 'Show as list' }).click();
  const [rows, pages] = [page.locator('table.aslist tbody tr'), page.getByRole('group', { name: 'List pages' })];
  await expect(rows).toHaveCount(100);
  await expect(pages.getByRole('button', { name: 'Previous' })).toHaveAttribute('aria-disabled', 'true');
  await pages.getByRole('button', { name: 'Next' }).click();
  await expect(pages.getByRole('status')).toHaveText(/^101 to (\d+) of \1$/);
  await expect(rows).toHaveCount(30);
  await expect(rows.last()).toContainText('node-130');
  await expect(pages.getByRole('button', { name: 'Next' })).toHaveAttribute('aria-disabled', 'true');
  // A filter that leaves a page leaves no pages.
  await page.locator('.filter').fill('node-13');
  await expect(rows).toHaveCount(2);
  await expect(pages).toHaveCount(0);
});

test('when the simulator stops, that is said, and the text stays', async ({ page }) => {
  await open(page, '&test=stop');
  const text = example('statefulset');
  await page.getByRole('textbox', { name: /Manifest/ }).fill(text);
  await expect.poll(() => link(page)).toMatchObject({ manifest: text });
  await page.evaluate(() => { try { loopscope.stop(); } catch { /* the module has trapped */ } });
  const box = page.locator('.stopped');
  await expect(box).toHaveAttribute('role', 'alert');
  await expect(box).toContainText(/The simulator stopped at 00:/);
  await expect(box.getByRole('button', { name: 'Copy report' })).toBeVisible();
  await expect(page.getByRole('textbox', { name: /Manifest/ })).toHaveValue(text);
  await expect(page.locator('.item[data-kind="Deployment"]')).toBeVisible();
  await box.getByRole('button', { name: 'Reload the page' }).click();
  await page.waitForFunction(() => window.loopscope?.ready);
  expect(await page.evaluate(() => loopscope.manifest())).toBe(text);
});
