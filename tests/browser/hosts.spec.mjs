// Course pages made by the tools that teachers use, from the snippets of docs/hosts.md (scripts/hosts.mjs): each is opened from another
// site than Loopscope's, and its frame plays. A tool that is not at hand leaves its page out, and says so.
import { expect, test } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { build } from '../../scripts/hosts.mjs';
import { serve } from './server.mjs';

// One worker builds them all.
test.describe.configure({ mode: 'default' });
let built;
let site;
test.beforeAll(async ({}, info) => {
  info.setTimeout(180_000);
  built = build(info.project.use.baseURL);
  site = await serve(0, { base: '/', dist: fileURLToPath(new URL('../../target/hosts/', import.meta.url)) });
});
test.afterAll(() => site?.close());

/** Opens the page of a tool, or leaves the test out. */
async function open(page, tool) {
  test.skip(built[tool] !== true, String(built[tool]));
  await page.goto(`http://127.0.0.1:${site.address().port}/${tool}/embed.html`);
}

const call = (scope, method, ...args) => scope.evaluate((element, [method, args]) => element[method](...args), [method, args]);

test('mdBook: a manifest between the tags plays at once', async ({ page }) => {
  await open(page, 'mdbook');
  const scope = page.locator('loop-scope');
  expect(await call(scope, 'getManifest')).toContain('kind: StatefulSet');
  await expect(page.frameLocator('iframe').locator('.item[data-kind="PersistentVolumeClaim"]').first()).toBeVisible();
  await expect.poll(() => call(scope, 'getCurrentTime')).toBeGreaterThan(0.2);
  // The frame is as wide as the text around it.
  const [text, frame] = [await page.locator('main').boundingBox(), await page.locator('iframe').boundingBox()];
  expect(Math.abs(text.width - frame.width)).toBeLessThan(4);
});

test('Sphinx: a lesson', async ({ page }) => {
  await open(page, 'sphinx');
  await expect(page.frameLocator('iframe[title="The control loop"]').locator('#lesson h2')).toHaveText('The control loop');
  await expect.poll(() => call(page.locator('loop-scope'), 'getLesson').then((lesson) => JSON.parse(JSON.stringify(lesson)) !== null)).toBe(true);
});

test('Reveal.js: nothing is loaded before it is asked for, and a slide plays when it comes and rests when it goes', async ({ page }) => {
  await open(page, 'reveal');
  await page.keyboard.press('ArrowRight');
  const first = page.locator('loop-scope').nth(0);
  await expect(first).toBeVisible();
  await expect(first.locator('iframe')).toHaveCount(0);
  await first.getByRole('button', { name: 'A Deployment of two Pods' }).click();
  await expect.poll(() => call(first, 'getCurrentTime')).toBeGreaterThan(0.2);
  await page.evaluate(() => Reveal.next());
  const second = page.locator('loop-scope').nth(1);
  await expect.poll(() => call(second, 'getCurrentTime'), { timeout: 30_000 }).toBeGreaterThan(0.2);
  // What is out of sight rests.
  const before = await call(first, 'getCurrentTime');
  await page.waitForTimeout(1_000);
  expect(await call(first, 'getCurrentTime')).toBeLessThan(before + 0.5);
  await page.evaluate(() => Reveal.prev());
  await page.waitForTimeout(300);
  const rests = await call(second, 'getCurrentTime');
  await page.waitForTimeout(700);
  expect(await call(second, 'getCurrentTime')).toBe(rests);
});

test('Hugo: a shortcode with a manifest', async ({ page }) => {
  await open(page, 'hugo');
  expect(await call(page.locator('loop-scope'), 'getManifest')).toContain('metadata: {name: web}');
  await expect(page.frameLocator('iframe').locator('.item[data-kind="Deployment"]').first()).toBeVisible();
});

test('Jekyll: a lesson', async ({ page }) => {
  await open(page, 'jekyll');
  await expect(page.frameLocator('iframe[title="Scaling"]').locator('#lesson h2')).toHaveText('Scaling');
});
