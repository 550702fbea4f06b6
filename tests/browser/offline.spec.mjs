// The page without a network, and how a new build takes the place of the one that is kept.
import { expect, test } from '@playwright/test';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from './server.mjs';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
test.use({ serviceWorkers: 'allow', storageState: undefined });

const kept = (page) => page.evaluate(async () => (await navigator.serviceWorker.ready).active.state);
const pods = (page) => page.locator('.item[data-kind="Pod"]');

test('a page that was visited opens without a network, with its lessons and in both languages', async ({ page, context }) => {
  const errors = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.goto('index.html');
  await expect(pods(page).first()).toBeVisible();
  expect(await kept(page)).toMatch(/activat/);
  await context.setOffline(true);
  await page.goto('index.html?lesson=control-loop&lang=zh');
  await expect(page.locator('#lesson h2')).toHaveText('控制循环');
  await page.goto('index.html');
  await expect(pods(page).first()).toBeVisible();
  await page.evaluate(() => loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  await expect(pods(page)).toHaveCount(3);
  expect(errors).toEqual([]);
});

test('a new build takes the place of the kept one as a whole, once no page of the old one is open', async ({ browser }) => {
  test.setTimeout(150_000);
  const folder = mkdtempSync(join(tmpdir(), 'loopscope-'));
  cpSync(built, folder, { recursive: true });
  const server = await serve(0, { dist: folder });
  const address = `http://127.0.0.1:${server.address().port}/loopscope/`;
  const context = await browser.newContext({ serviceWorkers: 'allow' });
  try {
    const page = await context.newPage();
    await page.goto(address);
    expect(await kept(page)).toMatch(/activat/);
    await page.reload();
    const change = (name, from, to) => writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace(from, to));
    change('index.html', '<title>Loopscope', '<title>Newer Loopscope');
    change('sw.js', /VERSION = '/, "VERSION = 'newer-");
    let asked = false;
    server.on('request', (request) => { asked ||= request.headers['service-worker'] === 'script'; });
    const title = (page) => page.evaluate(() => document.head.querySelector('title').textContent);
    // Asked for until it is there: a browser may put an update off. Some builds of Chromium never look for one: then there is none to test.
    await expect.poll(() => page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      registration.update().catch(() => {});
      return registration.waiting !== null;
    }), { timeout: 60_000 }).toBe(true).catch((problem) => { if (asked) throw problem; });
    test.skip(!asked, 'this browser asks the server for no update of a service worker');
    // While another page is open, both stay what they are.
    const other = await context.newPage();
    await other.goto(address);
    expect(await title(other)).not.toContain('Newer');
    await other.close();
    const hash = '#base64:' + Buffer.from(JSON.stringify({ v: 1, manifest: 'kind: Pod' })).toString('base64url');
    // Opened again until it is the new one: a browser may count a page that was just closed as open for a moment.
    await expect(async () => {
      await page.goto('about:blank');
      await page.goto(address + hash);
      await expect.poll(() => title(page).catch(() => ''), { timeout: 5_000 }).toContain('Newer');
    }).toPass({ timeout: 40_000 });
    expect(page.url()).toBe(address + hash);
    await expect(pods(page)).toHaveCount(0);
    expect(await page.evaluate(() => caches.keys())).toHaveLength(1);
  } finally {
    await context.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test('neither a frame nor a development build is kept', async ({ page }) => {
  await page.goto('course-page.html');
  await expect(page.frameLocator('iframe').first().locator('.item').first()).toBeVisible();
  expect(await page.evaluate(() => navigator.serviceWorker.getRegistrations().then((all) => all.length))).toBe(0);
});
