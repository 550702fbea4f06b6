// The module comes in two parts (scripts/wasm/split.mjs): the opening runs with the first alone.
import { expect, test } from '@playwright/test';

const pods = (page) => page.locator('.item[data-kind="Pod"][data-state="ready"]');

/** Keeps the rest of the module back until `go` is called. */
async function hold(page) {
  let go;
  const wait = new Promise((resolve) => (go = resolve));
  await page.route('**/rest.wasm', async (route) => {
    await wait;
    await route.continue();
  });
  return go;
}

for (const [width, height] of [[1440, 900], [390, 844]]) {
  test(`the first Deployment comes up before the rest of the module is there, ${width}x${height}`, async ({ page }) => {
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const go = await hold(page);
    await page.setViewportSize({ width, height });
    await page.goto('index.html');
    await expect(pods(page)).toHaveCount(2);
    await page.waitForTimeout(1500);
    // What runs now and was not there would have been waited for. After a change to the opening: `make profile`.
    expect(await page.evaluate(() => window.loopscope.late ?? 0)).toBe(0);
    expect(await page.evaluate(() => window.loopscope.ready)).toBe(false);
    go();
    await page.waitForFunction(() => window.loopscope.ready);
    expect(errors).toEqual([]);
  });
}

test('what a person and a script do meanwhile happens when the rest is there', async ({ page }) => {
  const go = await hold(page);
  await page.goto('index.html');
  await expect(pods(page)).toHaveCount(2);
  await page.click('#play');
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
  await expect(page.locator('#play')).toHaveAttribute('aria-label', 'Pause');
  go();
  await expect(page.locator('#play')).toHaveAttribute('aria-label', 'Play');
  await page.click('#play');
  await expect(pods(page)).toHaveCount(4);
});

test('a call into the rest that comes too early waits, and nothing is lost', async ({ page }) => {
  await page.addInitScript(() => {
    // The rest never comes by itself; a synchronous request is not held back.
    const fetched = window.fetch;
    window.fetch = (url, ...more) => (String(url).endsWith('rest.wasm') ? new Promise(() => {}) : fetched(url, ...more));
  });
  await page.goto('index.html');
  await expect(pods(page)).toHaveCount(2);
  await page.evaluate(() => wasm_bindgen.whole());
  expect(await page.evaluate(() => window.loopscope.late)).toBe(1);
  const said = await page.evaluate(() => window.loopscope.kubectl('get deployment'));
  expect(said).toContain('nginx-deployment');
});
