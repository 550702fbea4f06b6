// Sites of VitePress, Astro and Docusaurus with the npm packages: built, served under a sub-path, and played in a browser.
import { expect, test } from '@playwright/test';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { serve } from '../browser/server.mjs';
import { call, codeAndResting, drive } from './drive.mjs';
import { commandFolder, folder, note, npmPackages, packed, root, run, seconds } from './trial.mjs';

const sites = {
  vitepress: { packages: ['loopscope', 'markdown-it-loopscope'], built: '.vitepress/dist', second: 'second.html', component: true },
  astro: { packages: ['loopscope', 'remark-loopscope'], built: 'dist', second: 'second/' },
  docusaurus: { packages: ['loopscope', 'remark-loopscope', 'docusaurus-plugin-loopscope'], built: 'build', second: 'second/', component: true },
};

for (const [name, { packages, built, second, component }] of Object.entries(sites)) {
  test(`${name}: blocks play, and others stay code`, async ({ page, browser }) => {
    const path = folder(name, join(root, 'tests/packages/sites', name));
    const install = await seconds(() => run(path, 'npm', ['install', '--no-fund', '--no-audit', ...npmPackages(...packages)]));
    const command = commandFolder();
    const env = command ? { PATH: [command, process.env.PATH].join(delimiter) } : {};
    const build = await seconds(() => run(path, 'npm', ['run', 'build'], env));
    const first = await drive(page, browser, { name, built: join(path, built), second, more: codeAndResting, pictured: Boolean(command) });
    note(name, { install, build, first });
    if (!component) return;
    const scope = page.locator('loop-scope[title="By component"]');
    const site = await serve(0, { base: '/course/', dist: join(path, built) });
    try {
      await page.goto(`http://127.0.0.1:${site.address().port}/course/${second}`);
      expect(await call(scope, 'getManifest')).toContain('kind: Pod');
      await expect(page.locator('#heard')).toHaveText('heard');
    } finally {
      site.close();
    }
  });
}

test('npx loopscope copy: the page in a folder', async ({ page }) => {
  const path = folder('copied');
  const install = await seconds(() => run(path, 'npm', ['install', '--no-fund', '--no-audit', ...npmPackages('loopscope')]));
  run(path, 'npx', ['--no-install', 'loopscope', 'copy', 'public/loopscope']);
  expect(() => run(path, 'npx', ['--no-install', 'loopscope', 'copy'])).toThrow(/usage/);
  const site = await serve(0, { base: '/', dist: join(path, 'public'), extra: { 'index.html': '<!doctype html><html lang="en"><title>Page</title><script src="loopscope/embed.js" defer></script><loop-scope autoplay></loop-scope></html>' } });
  try {
    await page.goto(`http://127.0.0.1:${site.address().port}/index.html`);
    const first = await seconds(() => expect(page.frameLocator('iframe').locator('.item[data-kind="Pod"]').first()).toBeVisible());
    note('npm', { install, first });
  } finally {
    site.close();
  }
});

test('Reveal.js: a block of a Markdown slide becomes an element, which plays while its slide is shown', async ({ page }) => {
  const path = folder('reveal', join(root, 'tests/packages/sites/reveal'));
  run(path, 'npm', ['install', '--no-fund', '--no-audit', 'reveal.js@5.2.1', ...npmPackages('loopscope', 'reveal-loopscope')]);
  run(path, 'npx', ['--no-install', 'loopscope', 'copy', 'loopscope']);
  const site = await serve(0, { base: '/', dist: path });
  try {
    await page.goto(`http://127.0.0.1:${site.address().port}/index.html`);
    const scope = page.locator('loop-scope');
    await expect(scope).toHaveAttribute('view', 'nodes');
    await expect(page.locator('pre code.yaml')).toHaveCount(1);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => call(scope, 'getCurrentTime')).toBeGreaterThan(0.2);
    expect(await call(scope, 'getManifest')).toContain('  replicas: 2');
    await page.screenshot({ path: join(root, 'target/packages/reveal.png') });
    await page.evaluate(() => Reveal.prev());
    await page.waitForTimeout(500);
    const rests = await call(scope, 'getCurrentTime');
    await page.waitForTimeout(700);
    expect(await call(scope, 'getCurrentTime')).toBe(rests);
  } finally {
    site.close();
  }
});

test('Hugo: the hook of code blocks and the shortcode', async ({ page, browser }) => {
  let hasHugo = true;
  try { run(root, 'hugo', ['version']); } catch { hasHugo = false; }
  test.skip(!hasHugo, 'Hugo is not installed');
  const path = folder('hugo', join(root, 'tests/packages/sites/hugo'));
  mkdirSync(join(path, 'themes'));
  const install = await seconds(() => run(path, 'tar', ['-xzf', packed(/^loopscope-hugo-/), '-C', 'themes']));
  const build = await seconds(() => run(path, 'hugo', ['--quiet', '--destination', 'built']));
  const first = await drive(page, browser, { name: 'hugo', built: join(path, 'built'), second: 'second/', more: codeAndResting });
  note('hugo', { install, build, first });
});
