// The module comes in parts where the tools to split it are there (scripts/split.mjs): the page is drawn with the first alone, or with the
// one for links too if its address has a manifest, and its clock runs with the next.
import { expect, test } from '@playwright/test';
import { deflateSync } from 'node:zlib';
import { isSplit } from '../../scripts/wrap.mjs';
import { frames } from './wait.mjs';

const pods = (page) => page.locator('.item[data-kind="Pod"][data-state="ready"]');

// As course pages write a manifest.
const short = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - {name: nginx, image: "nginx:1.27"}\n';

const link = (manifest) => `#pako:${deflateSync(JSON.stringify({ v: 1, manifest })).toString('base64url')}`;

/** Keeps later parts of the module back until `go` is called, and counts how often the page begins. */
async function hold(page, parts = '**/{linked,rest}.wasm') {
  let go;
  const wait = new Promise((resolve) => (go = resolve));
  await page.route(parts, async (route) => {
    await wait;
    await route.continue();
  });
  const begun = [];
  page.on('domcontentloaded', () => begun.push(page.url()));
  return { go, begun };
}

/** A reader who does not wait: a key, another tab. */
async function press(page) {
  await page.keyboard.press('z');
  await page.evaluate(() => {
    document.dispatchEvent(new Event('visibilitychange'));
    dispatchEvent(new Event('pagehide'));
  });
}

test.describe('before the rest of the module is there', () => {
  test.skip(!isSplit('dist'), 'the module is in one piece');

  for (const [query, width, height] of [['', 1440, 900], ['', 1280, 720], ['', 1536, 864], ['', 390, 844], ['?embed&autoplay=1', 760, 420], ['?embed&autoplay=1&view=ownership&theme=light&loop=1', 980, 420], [`?embed&autoplay=1&view=ownership${link(short)}`, 760, 380]]) {
    test(`the first Pods come up, ${query.split('#')[0] || 'page'}, ${width}x${height}`, async ({ page }) => {
      const { go, begun } = await hold(page, query.includes('#') ? '**/rest.wasm' : undefined);
      await page.setViewportSize({ width, height });
      await page.goto(`index.html${query}`);
      await expect(pods(page)).toHaveCount(2);
      await press(page);
      await frames(page, 60);
      expect(await page.evaluate(() => window.loopscope.ready)).toBe(false);
      go();
      await page.waitForFunction(() => window.loopscope.ready);
      expect(begun).toHaveLength(1);
    });
  }

  for (const [query, width, height] of [['', 1440, 900], ['', 390, 844], ['?embed', 760, 380], ['?embed&autoplay=1', 760, 420], [`?embed&autoplay=1&view=ownership${link(short)}`, 760, 380]]) {
    test(`the Deployment is drawn before the clock can run, ${query.split('#')[0] || 'page'}, ${width}x${height}`, async ({ page }) => {
      const { go, begun } = await hold(page, '**/play.wasm');
      await page.setViewportSize({ width, height });
      await page.goto(`index.html${query}`);
      await expect(page.locator('.item[data-kind="Deployment"]')).toBeVisible();
      await page.setViewportSize({ width: width + 20, height: height + 20 });
      await press(page);
      await frames(page, 240);
      await expect(page.locator('.item[data-kind="Pod"]')).toHaveCount(0);
      go();
      if (query !== '?embed') await expect(pods(page)).toHaveCount(2);
      await page.waitForFunction(() => window.loopscope.ready);
      expect(begun).toHaveLength(1);
    });
  }

  for (const view of ['storage', 'nodes', 'network', 'rollout', 'loops']) {
    test(`a frame with ${view} waits for it, and does not begin twice`, async ({ page }) => {
      const problems = [];
      page.on('pageerror', (error) => problems.push(error.message));
      const { go, begun } = await hold(page);
      const asked = page.waitForRequest(view === 'storage' ? '**/linked.wasm' : '**/rest.wasm');
      await page.goto(`index.html?embed&autoplay=1&view=${view}`);
      await asked;
      go();
      await page.waitForFunction(() => window.loopscope.ready);
      // The example has neither a Service nor a claim: the diagrams say so.
      await expect(page.locator(/storage|network/.test(view) ? '.nothing' : '.world .item').first()).toBeVisible();
      expect(begun).toHaveLength(1);
      expect(problems).toEqual([]);
    });
  }

  test('a frame that starts at a time waits for it, and does not begin twice', async ({ page }) => {
    const { go, begun } = await hold(page);
    const asked = page.waitForRequest('**/rest.wasm');
    await page.goto('index.html?embed&t=5');
    await asked;
    go();
    await page.waitForFunction(() => window.loopscope.ready);
    await expect(pods(page)).toHaveCount(2);
    expect(begun).toHaveLength(1);
  });

  test('a page that one comes back to begins once, with what was done in it', async ({ page }) => {
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope.ready);
    await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
    await expect(pods(page)).toHaveCount(4);
    await page.goto('favicon.svg');
    const begun = [];
    page.on('domcontentloaded', () => begun.push(page.url()));
    await page.goBack();
    await page.waitForFunction(() => window.loopscope.ready);
    await expect(pods(page)).toHaveCount(4);
    expect(begun).toHaveLength(1);
  });

  test('commands wait for it, and controls take no input', async ({ page }) => {
    const { go } = await hold(page);
    await page.goto('index.html');
    await expect(pods(page)).toHaveCount(2);
    await expect(page.locator('#app')).toHaveJSProperty('inert', true);
    await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
    go();
    await expect(pods(page)).toHaveCount(4);
    await expect(page.locator('#app')).toHaveJSProperty('inert', false);
  });

  test('a call into it starts the page again, with all parts', async ({ page }) => {
    const { go, begun } = await hold(page);
    await page.goto('index.html');
    await expect(pods(page)).toHaveCount(2);
    // Offering the commands is no part of the opening.
    await page.evaluate(() => { try { wasm_bindgen.whole(); } catch { /* not there yet */ } });
    await expect(page.locator('.stopped')).toHaveCount(0);
    go();
    await expect.poll(() => begun.length).toBe(2);
    await page.waitForFunction(() => window.loopscope.ready);
    await expect(pods(page)).toHaveCount(2);
  });
});

test('an embed shows the objects of its manifest until it has drawn them', async ({ page }) => {
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  let go;
  const wait = new Promise((resolve) => (go = resolve));
  await page.route('**/loopscope_bg.wasm', async (route) => {
    await wait;
    await route.continue();
  });
  await page.goto('course-page.html');
  const second = page.locator('loop-scope').nth(1);
  await expect(second.locator('svg')).toHaveAttribute('aria-label', 'StatefulSet web');
  await expect(second.locator('svg text', { hasText: 'Pod' })).toHaveCount(3);
  go();
  await second.scrollIntoViewIfNeeded();
  await expect(second.locator('svg')).toHaveCount(0);
  await expect(second.frameLocator('iframe').locator('.item[data-kind="Pod"]').first()).toBeVisible();
  // The server sends no CORS headers, and nothing was asked for that needs them.
  expect(errors).toEqual([]);
});
