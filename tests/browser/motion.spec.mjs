// Who asks for less motion gets none; and the words of the timeline and of the editor follow the language.
import { expect, test } from '@playwright/test';
import { frames } from './wait.mjs';

async function open(page, query = '?editor=plain') {
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
}
const moving = (page) => page.evaluate(() => document.getAnimations().filter((one) => one.playState === 'running' && Number(one.effect?.getComputedTiming().endTime) > 0).length);

for (const reducedMotion of ['reduce', 'no-preference']) {
  test(`a rollout with reduced motion: ${reducedMotion}`, async ({ page }) => {
    await page.emulateMedia({ reducedMotion });
    await open(page);
    await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
    await page.evaluate(() => { loopscope.speed(2); loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.9.1'); });
    let most = 0;
    for (let i = 0; i < 40; i++) {
      most = Math.max(most, await moving(page));
      await frames(page, 1);
    }
    if (reducedMotion === 'reduce') expect(most).toBe(0);
    else expect(most).toBeGreaterThan(0);
  });
}

test('the lanes of the timeline and an open search panel change with the language', async ({ page }) => {
  await page.addInitScript(() => {
    const fill = CanvasRenderingContext2D.prototype.fillText;
    window.drawn = new Set();
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      window.drawn.add(text);
      return fill.call(this, text, ...more);
    };
  });
  await open(page, '');
  await expect(page.locator('.code.rich .cm-content')).toBeVisible();
  await page.getByRole('textbox', { name: /Manifest/ }).click();
  await page.keyboard.press('Control+f');
  await expect(page.locator('.cm-search [name=next]')).toHaveText('next');
  expect(await page.evaluate(() => window.drawn.has('scheduler'))).toBe(true);
  await page.getByRole('button', { name: '中文' }).click();
  await expect(page.locator('.cm-search [name=next]')).not.toHaveText('next');
  await expect.poll(() => page.evaluate(() => window.drawn.has('用户'))).toBe(true);
  await page.getByRole('button', { name: 'English' }).click();
  await expect(page.locator('.cm-search [name=next]')).toHaveText('next');
});
