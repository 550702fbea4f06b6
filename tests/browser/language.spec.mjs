import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { frames, problemsOf, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');

async function open(page, query = '?lang=zh&editor=plain') {
  const problems = problemsOf(page);
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  return problems;
}

/** Runs of three English words that are left on the page, where the page itself speaks. */
const english = (page) => page.evaluate(() => {
  const others = '.mono, pre, code, textarea, .host, .yaml, [lang], .events';
  const found = new Set();
  const look = (text) => { for (const run of text.match(/\b[A-Za-z]?[a-z]+(?: [a-z]{2,}){2,}/g) ?? []) found.add(run); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!parent.closest(others) && parent.closest('#app') && !parent.closest('symbol')) look(walker.currentNode.data);
  }
  for (const element of document.querySelectorAll('#app [aria-label], #app [title], #app [placeholder]')) {
    if (element.closest('.mono, textarea')) continue;
    for (const name of ['aria-label', 'title', 'placeholder']) if (!/^kubectl /.test(element.getAttribute(name) ?? '')) look(element.getAttribute(name) ?? '');
  }
  // What the scheduler says is quoted word for word, and components keep their names.
  return [...found].filter((run) => !/horizontal pod autoscaler|nodes are available|claims to deallocate|helpful for scheduling/.test(run));
});

test('the page speaks Chinese where it is asked for, and names stay as they are', async ({ page }) => {
  const problems = await open(page);
  await expect(page.getByRole('button', { name: '应用' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(page.locator('.c-head h1')).toHaveText('归属');
  await expect(page.locator('.c-head .pill').first()).toContainText('所有 Pod 都已就绪');
  await expect(page.locator('.item[data-kind="Deployment"]')).toContainText('nginx-deployment');
  await page.locator('.item[data-kind="Pod"]').first().click();
  await expect(page.locator('.why li').first()).toContainText('变为 Ready');
  await expect(page.locator('.why')).toContainText('期望 2 个 Pod，现有 0 个');
  expect(problems).toEqual([]);
});

test('the switch changes the language at once, both ways, and is remembered', async ({ page }) => {
  await open(page, '?editor=plain');
  await page.getByRole('button', { name: '中文' }).click();
  await expect(page.locator('#manifest h2')).toHaveText('清单');
  await expect(page.locator('#step')).toHaveAttribute('aria-label', '下一次调谐');
  await page.getByRole('tab', { name: '节点' }).click();
  await expect(page.locator('.c-head h1')).toHaveText('节点');
  await page.reload();
  await expect(page.locator('#manifest h2')).toHaveText('清单');
  await page.getByRole('button', { name: 'English' }).click();
  await expect(page.locator('#manifest h2')).toHaveText('Manifest');
  await expect(page.locator('#step')).toHaveAttribute('aria-label', 'Next reconcile');
  await page.getByRole('tab', { name: 'Storage' }).click();
  await expect(page.locator('.c-head h1')).toHaveText('Storage');
});

test.describe('a Chinese browser', () => {
  test.use({ locale: 'zh-CN' });
  test('gets the Chinese page', async ({ page }) => {
    await open(page, '');
    await expect(page.locator('#manifest h2')).toHaveText('清单');
    await expect(page.getByRole('textbox', { name: /清单/ })).toBeVisible();
  });
});

for (const [name, steps] of [['deployment', 5], ['network', 8], ['statefulset', 8], ['unschedulable', 3], ['jobs', 20], ['daemonset', 6], ['autoscaler', 20]]) {
  test(`no sentence stays English: ${name}`, async ({ page }) => {
    await open(page);
    await expect(page.locator('#manifest h2')).toHaveText('清单');
    await page.evaluate((text) => loopscope.load(text), example(name));
    await page.evaluate(() => { loopscope.pause(); document.activeElement?.blur(); });
    for (let i = 0; i < steps; i++) await page.keyboard.press('.');
    const left = new Set();
    for (const view of '123456') {
      await page.keyboard.press(view);
      await frames(page, 4);
      const item = page.locator('.item[role="button"]:not(.ghost):not([data-kind="Loop"])').first();
      if (await item.count() && view !== '6') await item.dispatchEvent('click');
      for (const tab of ['概要', '事件', '原因']) await page.getByRole('tab', { name: tab }).click();
      for (const run of await english(page)) left.add(run);
    }
    await page.keyboard.press('?');
    for (const run of await english(page)) left.add(run);
    await page.keyboard.press('Escape');
    await page.locator('#history').click();
    for (const run of await english(page)) left.add(run);
    await page.locator('#break').click();
    for (const run of await english(page)) left.add(run);
    expect([...left]).toEqual([]);
  });
}

test('axe finds nothing serious in Chinese', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open(page);
  await expect(page.locator('#manifest h2')).toHaveText('清单');
  await page.evaluate(() => loopscope.pause());
  await settled(page);
  const found = await new AxeBuilder({ page }).analyze();
  expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join('; ')}`)).toEqual([]);
});

test('answers of kubectl stay as they are, also in what is said for a moment', async ({ page }) => {
  await page.goto('index.html?editor=plain&lang=zh');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.waitForFunction(() => loopscope.get('Pod', 'default', loopscope.kubectl('get pods -o name').split('\n')[0].replace('pod/', '')));
  await page.evaluate(() => { loopscope.pause(); loopscope.kubectl('delete pod --all --wait=false'); });
  await expect(page.locator('#notice')).toHaveText(/pod "nginx-deployment-\S+" deleted from default namespace/);
});

test('what was done to how many reads as Chinese does', async ({ page }) => {
  await open(page);
  const map = (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  await page.evaluate((text) => window.loopscope.load(text), [map('a'), map('B_'), map('C_')].join('---\n'));
  await expect(page.locator('#manifest .pill')).toHaveText('拒绝 2 个，应用 1 个');
  await page.locator('#manifest textarea').fill([map('a'), map('d'), map('B_')].join('---\n'));
  await expect(page.locator('#plan b')).toHaveText('创建 1 个，未变 1 个，拒绝 1 个');
});
