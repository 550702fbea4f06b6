// A chapter with forty fenced blocks: the module is fetched once, scrolling stays smooth, and what has been opened plays without a network.
import { expect, test } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../browser/server.mjs';
import { scrolled } from '../browser/many.mjs';
import { processor } from '../../scripts/measure/speed.mjs';
import { call } from './drive.mjs';
import { folder, note, npmPackages, root, run, seconds } from './trial.mjs';

const block = (play) => (_, at) => `## Part ${at + 1}

Some words about it.

\`\`\`${play ? 'loopscope autoplay' : 'yaml'}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: part-${at + 1}
spec:
  replicas: ${1 + (at % 3)}
  selector:
    matchLabels: {app: part-${at + 1}}
  template:
    metadata:
      labels: {app: part-${at + 1}}
    spec:
      containers:
      - {name: nginx, image: "nginx:1.27"}
\`\`\`
`;
const chapter = (play) => `# A chapter\n\n${Array.from({ length: 40 }, block(play)).join('\n')}`;
const pods = (page) => page.frameLocator('iframe').first().locator('.item[data-kind="Pod"]').first();

test('forty blocks on a page of VitePress', async ({ page, browser }) => {
  test.setTimeout(600_000);
  const path = folder('forty', join(root, 'tests/packages/sites/vitepress'));
  run(path, 'npm', ['install', '--no-fund', '--no-audit', ...npmPackages('loopscope', 'markdown-it-loopscope')]);
  const build = (play) => {
    writeFileSync(join(path, 'index.md'), chapter(play));
    return seconds(() => run(path, 'npm', ['run', 'build']));
  };
  const [without, built] = [await build(false), await build(true)];
  expect(built - without).toBeLessThan(10);
  let bytes = 0;
  const site = await serve(0, { base: '/course/', dist: join(path, '.vitepress/dist'), brotli: 11, keeps: true, sent: (size) => { bytes += size; } });
  const home = `http://127.0.0.1:${site.address().port}/course/`;
  try {
    const fetched = [];
    page.on('request', (request) => { if (/\.wasm(\.js)?$/.test(request.url())) fetched.push(request.url().split('/').pop()); });
    await page.goto(home);
    const first = await seconds(() => expect(pods(page)).toBeVisible());
    const scopes = page.locator('loop-scope');
    await expect(scopes).toHaveCount(40);
    // A reader goes through the chapter: each block that comes into sight opens.
    for (let at = 0; at < 40; at++) {
      await scopes.nth(at).scrollIntoViewIfNeeded();
      expect(await call(scopes.nth(at), 'getManifest')).toContain(`name: part-${at + 1}\n`);
    }
    // Once each, and as modules: the scripts are for pages of other sites.
    expect(fetched.sort()).toEqual(['linked.wasm', 'loopscope_bg.wasm', 'play.wasm', 'rest.wasm']);
    const transfer = bytes;
    await page.evaluate(() => scrollTo(0, 0));
    const { median, late, busy } = await scrolled(page);
    expect(median).toBeLessThan(20);
    // The network is gone.
    await page.context().setOffline(true);
    const last = scopes.nth(39);
    await call(last, 'play');
    await expect.poll(() => call(last, 'getCurrentTime')).toBeGreaterThan(2);
    await page.screenshot({ path: join(root, 'target/packages/forty.png') });
    // A slow phone, as Lighthouse has it.
    const context = await browser.newContext({ viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true });
    const { slowdown } = await processor(browser);
    const phone = await context.newPage();
    const session = await context.newCDPSession(phone);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: (1.6 * 1024 * 1024) / 8, uploadThroughput: (750 * 1024) / 8 });
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    const slowly = [];
    phone.on('request', (request) => { if (/\.wasm\.js$/.test(request.url())) slowly.push(request.url()); });
    const slow = await seconds(async () => {
      await phone.goto(home);
      await phone.locator('loop-scope').first().scrollIntoViewIfNeeded();
      await expect(pods(phone)).toBeVisible({ timeout: 60_000 });
    });
    expect(slowly).toEqual([]);
    await context.close();
    note('forty blocks', {
      'build without': without, 'build with': built, first, 'kB': transfer / 1000, 'frames ms': median, 'late %': late * 100, 'busiest thread ms': busy,
      'slow phone': slow, 'processor slowed': slowdown,
    });
  } finally {
    site.close();
  }
});
