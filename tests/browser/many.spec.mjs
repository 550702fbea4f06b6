// Several embeds on one page: they share what is downloaded, rest when they are out of sight, and leave the page its frames.
// Bounds are generous, for a shared machine; `node scripts/measure.mjs embeds` prints the figures of docs/embedding.md.
import { expect, test } from '@playwright/test';
import { course, crowd, scrolled, transfer, used } from './many.mjs';

test.describe.configure({ timeout: 180_000 });
let site;
test.beforeAll(async () => { site = await course(); });
test.afterAll(() => site.close());

test('four embeds transfer at most 1.2 times what one does', async ({ browser }) => {
  const [one, four] = [await transfer(browser, site, 1), await transfer(browser, site, 4)];
  expect(one).toBeGreaterThan(500_000);
  expect(four / one).toBeLessThanOrEqual(1.2);
});

test('where the frame that loads for all goes away, the others load for themselves', async ({ page }) => {
  await page.goto(site.address(3));
  await page.waitForFunction(() => document.querySelectorAll('loop-scope')[2].frame);
  await page.locator('loop-scope').first().evaluate((scope) => scope.remove());
  for (const scope of await page.locator('loop-scope').all()) expect(await scope.evaluate((element) => element.getManifest())).toContain('nginx');
});

test('what is given and is no part of this build is not used', async ({ page }) => {
  await page.goto(site.address(0));
  await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<loop-scope preload="auto"></loop-scope><loop-scope preload="auto"></loop-scope>');
    const [first] = document.querySelectorAll('loop-scope');
    first.hear({ loopscopePart: 'loopscope_bg', bytes: new ArrayBuffer(64) });
    first.hear({ loopscopePart: '__proto__', bytes: new ArrayBuffer(64) });
    first.hear({ loopscopePart: { toString: 1 } });
  });
  for (const scope of await page.locator('loop-scope').all()) expect(await scope.evaluate((element) => element.getManifest())).toContain('nginx');
});

test('an embed out of sight rests', async ({ browser }) => {
  const { share, moved } = await used(browser, site);
  expect(moved).toBe(0);
  expect(share).toBeLessThan(0.05);
});

test('a page of twenty embeds scrolls', async ({ browser }) => {
  const page = await crowd(browser, site, 20);
  const { median, late } = await scrolled(page);
  await page.context().close();
  expect(median).toBeLessThan(34);
  expect(late).toBeLessThan(0.3);
});
