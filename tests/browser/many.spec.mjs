// Several embeds on one page: they share what is downloaded, rest when they are out of sight, and leave the page its frames.
// Bounds are generous, for a shared machine; `node scripts/measure.mjs embeds` prints the figures of docs/embedding.md.
import { expect, test } from '@playwright/test';
import { course } from './course.mjs';
import { all, crowd, many, scrolled, transfer, used } from './many.mjs';

test.describe.configure({ timeout: 180_000 });
let site;
test.beforeAll(async () => { site = await many({ brotli: 5 }); });
test.afterAll(() => site.close());

test('four embeds transfer at most 1.2 times what one does', async ({ browser }) => {
  const [one, four] = [await transfer(browser, site, 1), await transfer(browser, site, 4)];
  expect(one).toBeGreaterThan(500_000);
  expect(four / one).toBeLessThanOrEqual(1.2);
});

test('the next page of a course finds the module in the cache', async ({ browser }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const visit = async (n) => {
    await page.goto(site.address(n));
    await all(page);
    return site.sent();
  };
  site.sent();
  expect(await visit(1)).toBeGreaterThan(500_000);
  expect(await visit(2)).toBeLessThan(150_000);
  await context.close();
});

test('where the element that asked first goes away, the others open all the same', async ({ page }) => {
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(site.address(4));
  await page.waitForFunction(() => document.querySelector('loop-scope').frame?.isConnected);
  const from = Date.now();
  // The last one waits.
  await page.evaluate(() => ['first', 'last'].forEach((which) => document.querySelector(`loop-scope:${which}-of-type`).remove()));
  for (const scope of await page.locator('loop-scope').all()) expect(await scope.evaluate((element) => element.getManifest())).toContain('nginx');
  expect(Date.now() - from).toBeLessThan(8_000);
  expect(errors).toEqual([]);
});

test('the first in sight opens alone, the others once it has started', async ({ page }) => {
  await page.addInitScript(() => {
    window.opened = [];
    addEventListener('message', ({ data }) => {
      if (data !== 'loopscope:started') return;
      const open = [...document.querySelectorAll('loop-scope')].filter(({ frame }) => frame.isConnected);
      window.opened.push(open.map((scope) => scope.getBoundingClientRect().top < innerHeight));
    });
  });
  // The first in the document is the last on the page.
  await page.goto(site.address(4, '&gap=200&reversed=1'));
  await all(page);
  const [alone, then] = await page.evaluate(() => window.opened);
  expect(alone).toEqual([true]);
  expect(then).toHaveLength(4);
});

test('one in sight whose manifest comes late opens before those out of sight', async ({ page, baseURL }) => {
  await page.route('**/late.yaml', async (route) => {
    await new Promise((go) => setTimeout(go, 1_500));
    await route.fulfill({ body: 'kind: Pod\napiVersion: v1\nmetadata:\n  name: late\nspec:\n  containers:\n  - name: web\n    image: nginx\n' });
  });
  await course(page, baseURL, '<style>body { display: flex; flex-direction: column-reverse; }</style><script src="HOMEembed.js"></script><loop-scope autoplay></loop-scope><p style="height:900px"></p><loop-scope src="late.yaml" autoplay></loop-scope>');
  const isOpen = (which) => page.locator(`loop-scope:${which}-of-type`).evaluate(({ frame }) => frame?.isConnected ?? false);
  await expect.poll(() => isOpen('last')).toBe(true);
  expect(await isOpen('first')).toBe(false);
  await expect.poll(() => isOpen('first')).toBe(true);
});

/** Waits until the last embed of a page or frame answers; the milliseconds. */
async function answered(of) {
  const from = Date.now();
  expect(await of.locator('loop-scope').last().evaluate((scope) => scope.getManifest())).toContain('nginx');
  return Date.now() - from;
}

for (const [where, folded] of [
  ['a closed <details>', (scope) => `<details><summary>More</summary>${scope}</details>`],
  ['a folded panel', (scope) => `<div style="height:0;overflow:hidden">${scope}</div>`],
  ['a hidden slide', (scope) => `<div style="position:absolute;visibility:hidden">${scope}</div>`],
]) {
  test(`one in ${where} keeps nobody waiting`, async ({ page, baseURL }) => {
    const scope = '<loop-scope autoplay></loop-scope>';
    await course(page, baseURL, `<script src="HOMEembed.js"></script>${folded(scope)}${scope}`);
    expect(await answered(page)).toBeLessThan(8_000);
  });
}

test('in a frame as high as its content, what the reader scrolls to opens at once', async ({ page }) => {
  await page.setContent(`<iframe id="course" style="width:800px;height:4000px" src="${site.address(6, '&gap=300&preload=near')}"></iframe>`);
  const frame = page.frameLocator('#course');
  await expect.poll(() => frame.locator('loop-scope').first().evaluate(({ frame }) => frame?.isConnected)).toBe(true);
  await frame.locator('loop-scope').last().scrollIntoViewIfNeeded();
  expect(await answered(frame)).toBeLessThan(8_000);
});

test('a frame that may not be loaded does not keep the others waiting for good', async ({ page }) => {
  let frames = 0;
  await page.route('**/index.html?*', (route) => (frames++ ? route.continue() : route.fulfill({ contentType: 'text/html', body: '' })));
  await page.goto(site.address(2));
  expect(await page.locator('loop-scope').nth(1).evaluate((scope) => scope.getManifest())).toContain('nginx');
});

/** What the page of a course gets in place of the module; its frames get the module. */
for (const [name, fulfil] of [
  ['is no part of this build', (route) => route.fulfill({ contentType: 'text/javascript', body: 'window.loopscopeParts = { loopscope_bg: "\\0asm?" };' })],
  ['is no script', (route) => route.fulfill({ contentType: 'text/javascript', body: '<html>' })],
  ['may not be loaded', (route) => route.abort('blockedbyclient')],
]) {
  test(`where what the page has to give ${name}, the frames load their own`, async ({ page }) => {
    await page.route('**/loopscope_bg.wasm.js', (route) => (route.request().frame() === page.mainFrame() ? fulfil(route) : route.continue()));
    await page.goto(site.address(2));
    await page.evaluate(() => {
      const [first] = document.querySelectorAll('loop-scope');
      for (const loopscopePart of ['__proto__', { toString: 1 }]) first.hear({ loopscopePart });
    });
    for (const scope of await page.locator('loop-scope').all()) expect(await scope.evaluate((element) => element.getManifest())).toContain('nginx');
  });
}

test.describe('where a site allows its files to be read, and the page says so', () => {
  let open;
  test.beforeAll(async () => { open = await many({ cors: true, brotli: 5 }); });
  test.afterAll(() => open.close());

  /** The files of the module that the page of a course, not its frames, asked for, in the order in which they came to be asked for. */
  const opened = async (page) => {
    const asked = [];
    page.on('request', (request) => request.frame() === page.mainFrame() && /wasm/.test(request.url()) && asked.push(request.url().replace(/.*\//, '')));
    await page.goto(open.address(2));
    for (const scope of await page.locator('loop-scope').all()) expect(await scope.evaluate((element) => element.getManifest())).toContain('nginx');
    return asked;
  };

  test('each part is loaded once, as it is', async ({ page }) => {
    expect([...(await opened(page))].sort()).toEqual(['linked.wasm', 'loopscope_bg.wasm', 'play.wasm', 'rest.wasm']);
  });

  test('a part that cannot be read all the same comes as a script', async ({ page }) => {
    await page.route('**/play.wasm', (route) => route.abort('blockedbyclient'));
    await page.route('**/rest.wasm', (route) => route.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' } }));
    const asked = await opened(page);
    expect([...new Set(asked)].sort()).toEqual(['linked.wasm', 'loopscope_bg.wasm', 'play.wasm', 'play.wasm.js', 'rest.wasm', 'rest.wasm.js']);
  });

  test('a part of another build is not used', async ({ page }) => {
    await page.route('**/loopscope_bg.wasm', (route) => route.fulfill({ contentType: 'application/wasm', headers: { 'access-control-allow-origin': '*' }, body: '\0asm?' }));
    await opened(page);
  });
});

test('an embed out of sight rests', async ({ browser }) => {
  const { script, task, asked, moved } = await used(browser, site);
  expect({ asked, moved }).toEqual({ asked: 0, moved: 0 });
  // Of five seconds; an embed in sight uses some hundreds. What keeps this one at rest is the line above: these bounds are for what is not counted there.
  expect(script).toBeLessThan(50);
  expect(task).toBeLessThan(200);
});

test('a page of twenty embeds scrolls', async ({ browser }) => {
  const page = await crowd(browser, site, 20);
  const { median, late, busy } = await scrolled(page);
  await page.context().close();
  // Of the 16.7 ms that a frame has, whatever else the machine does.
  expect(busy).toBeLessThan(12);
  expect(median).toBeLessThan(34);
  expect(late).toBeLessThan(0.3);
});
