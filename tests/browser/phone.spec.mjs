// On a phone: everything that a large page offers is reached, large enough for a finger, and nothing is cut.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { forward, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const pods = (page) => page.locator('#stage .item[data-kind="Pod"]:not(.ghost)');
test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

async function open(page, text, seconds = 8) {
  await page.goto('index.html?editor=plain');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate((text) => { if (text) loopscope.load(text); loopscope.pause(); }, text);
  await forward(page, seconds);
}
const serious = async (page) => {
  const found = await new AxeBuilder({ page }).analyze();
  return found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes[0].html}`);
};

test('where the clock stops, comparisons and branches are in a sheet', async ({ page }) => {
  await open(page);
  await page.locator('#more').tap();
  const sheet = page.getByRole('dialog', { name: 'More' });
  await expect(sheet).toBeVisible();
  for (const box of await sheet.locator('button, select, input').evaluateAll((all) => all.map((one) => [one.textContent, one.getBoundingClientRect().toJSON()]))) {
    expect(box[1].height, box[0]).toBeGreaterThan(43.5);
    expect(box[1].right, box[0]).toBeLessThanOrEqual(390);
  }
  expect(await serious(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Breakpoints: pause when…' }).tap();
  await expect(sheet).toHaveCount(0);
  const breaks = page.getByRole('dialog', { name: 'Pause when' });
  await breaks.getByRole('button', { name: 'pod deleted' }).tap();
  await expect(breaks.locator('.set li')).toHaveCount(1);
  await breaks.getByRole('button', { name: 'Close' }).tap();

  await page.locator('#more').tap();
  await sheet.getByRole('button', { name: 'Compare two points in time' }).tap();
  const compare = page.getByRole('dialog', { name: 'Compare two points in time' });
  await compare.getByRole('button', { name: /Mark A/ }).tap();
  await page.evaluate(() => loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  for (let i = 0; i < 5; i++) await page.keyboard.press('.');
  await compare.getByRole('button', { name: /Mark B/ }).tap();
  await expect(compare.locator('.sum')).toContainText('1 created');
  await compare.getByRole('button', { name: 'Close' }).tap();

  await page.evaluate(() => loopscope.seek(4));
  const past = page.locator('.past');
  for (const button of await past.getByRole('button').all()) {
    const box = await button.boundingBox();
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  }
  await page.evaluate(() => loopscope.kubectl('scale deployment nginx-deployment --replicas=1'));
  // The clock stops at the breakpoint, where a Pod is deleted.
  for (let i = 0; i < 5; i++) await page.keyboard.press('.');
  await expect(pods(page)).toHaveCount(1);
  await page.locator('#more').tap();
  await sheet.getByRole('button', { name: 'Branch 1' }).tap();
  await page.keyboard.press('Escape');
  await expect(pods(page)).toHaveCount(3);
});

test('the picture opens as large as it stays', async ({ page }) => {
  const scale = page.locator('#stage .world');
  for (const size of [{ width: 390, height: 844 }, { width: 1024, height: 768 }]) {
    await page.setViewportSize(size);
    await page.goto('index.html');
    await expect(pods(page).first()).toBeVisible();
    // It was laid out for another width first. A picture that could be larger is let rest for three seconds.
    await expect(scale).toHaveAttribute('style', /--z:1$/, { timeout: 1_500 });
  }
});

test('filter, list and language are there too', async ({ page }) => {
  await open(page, example('network'));
  await page.keyboard.press('1');
  await page.locator('#more').tap();
  await page.getByRole('searchbox').fill('web');
  await page.getByRole('searchbox').blur();
  await page.keyboard.press('Escape');
  await expect(page.locator('.item[data-kind="Deployment"]:not(.ghost)')).toHaveCount(0);
  await page.locator('#more').tap();
  await page.getByRole('button', { name: /hidden/ }).tap();
  await page.getByRole('dialog').getByRole('button', { name: '中文' }).tap();
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
});

test('manifest and console have a title and are left by Done', async ({ page }) => {
  await open(page);
  for (const [name, title] of [['Manifest', 'Manifest'], ['kubectl console', 'kubectl console']]) {
    await page.getByRole('button', { name, exact: true }).tap();
    await expect(page.locator('.fullscreen h2')).toHaveText(title);
    await page.getByRole('button', { name: 'Done' }).tap();
    await expect(page.locator('.fullscreen')).toHaveCount(0);
  }
  await page.evaluate(() => loopscope.load(''));
  for (const link of await page.locator('.nothing .linkrow').all()) expect((await link.boundingBox()).height).toBeGreaterThan(43.5);
});

for (const scheme of ['light', 'dark']) {
  test(`every view is readable and holds together, ${scheme}`, async ({ page }) => {
    test.slow();
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await open(page, example('statefulset'), 12);
    for (const key of '123456') {
      await page.keyboard.press(key);
      await settled(page);
      const zoom = await page.locator('.world').evaluate((world) => new DOMMatrix(getComputedStyle(world).transform).a).catch(() => 1);
      expect(zoom, `view ${key}`).toBeGreaterThanOrEqual(0.79);
      expect(await serious(page), `view ${key}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  });
}

test('a rollout tells on a phone what it may do and what it waits for', async ({ page }) => {
  await open(page, example('rollout'), 12);
  const card = page.locator('.item[data-kind="Deployment"]');
  await expect(card).toContainText('at least 3 · at most 4');
  await expect(card.locator('.pill')).toHaveCount(0);
  await page.evaluate(() => loopscope.kubectl('set image deployment/nginx nginx=nginx:1.27'));
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  await expect(card.locator('.pill')).toHaveText('Rolling out');
  await expect(card.locator('.nums')).toContainText('updated');
  await expect(card.locator('.roll > i')).toHaveCount(4);
  await expect(card.locator('.roll')).toContainText('Waiting for');
  const cut = await card.locator('.txt').evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent));
  expect(cut).toEqual([]);
});

test('of a pass Observe, Diff and Act come before the code', async ({ page }) => {
  await open(page);
  await page.keyboard.press('6');
  const top = (what) => page.locator(`.pass ${what}`).evaluate((one) => one.getBoundingClientRect().top);
  await expect(page.locator('.pass .steps')).toBeVisible();
  expect(await top('.steps')).toBeLessThan(await top('.pseudo'));
  const sheet = await page.locator('.pass .step').last().evaluate((one) => {
    const box = one.getBoundingClientRect();
    return document.elementFromPoint(box.x + box.width / 2, box.bottom - 4)?.closest('.pass') !== null;
  });
  expect(sheet, 'all three are in sight').toBe(true);
});
