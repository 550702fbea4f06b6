// What a built course site must do, whatever made it.
import { expect } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../browser/server.mjs';
import { root, seconds } from './trial.mjs';

/** The manifest of the first block of each site. */
export const manifest = readFileSync(join(root, 'tests/packages/sites/vitepress/index.md'), 'utf8').match(/^```loopscope.*\n([^]*?)^```/m)[1].trim();

export const call = (scope, method, ...args) => scope.evaluate((element, [method, args]) => element[method](...args), [method, args]);

/**
 * Opens the site: its first block plays, another stays code, a lesson opens on the second page, nothing fails and nothing is asked of other
 * sites; without JavaScript the manifest can be read, and its picture is seen if the build could draw one (`pictured`). Returns the seconds until the first Pod is in sight.
 */
export async function drive(page, browser, { name, built, second, more, pictured }) {
  const site = await serve(0, { base: '/course/', dist: built });
  const home = `http://127.0.0.1:${site.address().port}/course/`;
  const failed = [];
  page.on('response', (response) => { if (response.status() >= 400 && !response.url().endsWith('favicon.ico')) failed.push(response.url()); });
  page.on('pageerror', (error) => failed.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error' && !message.location().url.endsWith('favicon.ico')) failed.push(message.text()); });
  page.on('request', (request) => { if (!/^(http:\/\/127\.0\.0\.1|data:|blob:)/.test(request.url())) failed.push(request.url()); });
  try {
    await page.goto(home);
    const scope = page.locator('loop-scope').first();
    const first = await seconds(() => expect(page.frameLocator('iframe').first().locator('.item[data-kind="Pod"]').first()).toBeVisible());
    // The manifest arrives as it was written, with its empty line and its indentation.
    expect((await call(scope, 'getManifest')).trim()).toBe(manifest);
    await expect.poll(() => call(scope, 'getCurrentTime')).toBeGreaterThan(0.2);
    await page.screenshot({ path: join(root, `target/packages/${name}.png`) });
    await more?.(page);
    if (second) {
      await page.goto(home + second);
      await expect(page.frameLocator('iframe[title="Undo"]').locator('#lesson h2')).toHaveText('Undo and history');
    }
    expect(failed).toEqual([]);
    const still = await browser.newPage({ javaScriptEnabled: false });
    await still.goto(home);
    expect((await still.locator('loop-scope pre').first().innerText()).trim()).toBe(manifest);
    const picture = still.locator('loop-scope').first().locator('img');
    await expect(picture).toHaveCount(pictured ? 1 : 0);
    if (pictured) {
      await expect(picture).toBeVisible();
      await expect(picture).toHaveAttribute('alt', /2 Pods/);
      expect(await picture.evaluate((image) => image.naturalWidth)).toBeGreaterThan(200);
    }
    await still.screenshot({ path: join(root, `target/packages/${name}-still.png`) });
    await still.close();
    return first;
  } finally {
    site.close();
  }
}

/** A block of code that is left alone, and an element that rests until its button is pressed. */
export async function codeAndResting(page) {
  await expect(page.locator('pre code')).toHaveCount(1);
  const resting = page.locator('loop-scope').nth(1);
  await resting.scrollIntoViewIfNeeded();
  await expect(resting.locator('iframe')).toHaveCount(0);
  await resting.getByRole('button', { name: 'A Pod' }).click();
  await expect.poll(() => call(resting, 'getManifest')).toContain('kind: Pod');
}
