// Forced colours, large letters and narrow frames: what is chosen can be told, and nothing is out of reach.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { forward, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const style = (locator, name) => locator.evaluate((element, name) => getComputedStyle(element)[name], name);

async function open(page, query = '', seconds = 8) {
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => loopscope.pause());
  await forward(page, seconds);
}

test('with forced colours the selected tab, language and object and the revisions can be told', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
  await open(page);
  for (const group of ['.topbar .tabs', '.seg.lang', '.itabs']) {
    const [on, off] = [page.locator(`${group} :is([aria-selected="true"], [aria-pressed="true"])`).first(), page.locator(`${group} :is([aria-selected="false"], [aria-pressed="false"])`).first()];
    expect(await style(on, 'backgroundColor'), group).not.toBe(await style(off, 'backgroundColor'));
  }
  await page.locator('.item[data-kind="Pod"]').first().click();
  await expect(page.locator('.item.pick')).toHaveCSS('outline-style', 'solid');
  await page.locator('.item.pick').focus();
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)).toBe('solid');
  await page.evaluate(() => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.9.1'));
  await forward(page, 3);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('5');
  const swatches = page.locator('.keys-of tbody i');
  await expect(swatches).toHaveCount(2);
  const [older, current] = [await style(swatches.nth(0), 'backgroundImage'), await style(swatches.nth(1), 'backgroundImage')];
  expect(older).toContain('gradient');
  expect(current).toBe('none');
  await expect(swatches.first()).toHaveCSS('border-top-style', 'solid');
});

test('in a narrow window the name over the rollout strip lies on none of its words', async ({ page }) => {
  for (const size of [{ width: 1024, height: 700 }, { width: 1200, height: 800 }, { width: 800, height: 700 }]) {
    await page.setViewportSize(size);
    await open(page);
    const boxes = await page.locator('.budget').evaluate((strip) => [...strip.querySelectorAll('h2, h3, p, text')].filter((one) => one.getClientRects().length).map((one) => {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      return { left, right, top, bottom, words: one.textContent };
    }));
    expect(boxes.length).toBeGreaterThan(3);
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        expect(a.left < b.right + 6 && b.left < a.right + 6 && a.top < b.bottom - 1 && b.top < a.bottom - 1, `${size.width}: ${a.words} on ${b.words}`).toBe(false);
      }
    }
  }
});

test('an embed of 320 by 300 shows the root with its Pods, and its caption in the language asked for', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 300 });
  await page.goto('index.html?embed&lang=zh&autoplay=1');
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  await settled(page);
  const outside = await page.locator('.item').evaluateAll((items) => items.map((item) => [item.dataset.kind, item.getBoundingClientRect()]).filter(([, box]) => box.left < 0 || box.right > innerWidth || box.top < 0).map(([kind]) => kind));
  expect(outside).toEqual([]);
  await expect(page.locator('.item[data-kind="Deployment"]')).toBeInViewport({ ratio: 1 });
  await expect(page.locator('.cap .mid')).toContainText(/[\u4e00-\u9fff]/);
});

for (const [zoom, size] of [['200 %', { width: 720, height: 450 }], ['400 %', { width: 360, height: 225 }], ['320 by 256 pixels', { width: 320, height: 256 }]]) {
  test(`at ${zoom} nothing is cut off or out of reach`, async ({ page }) => {
    await page.setViewportSize(size);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await open(page);
    for (let view = 1; view <= 6; view++) {
      await page.keyboard.press(String(view));
      await settled(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `view ${view}`).toBe(true);
      // Each control can be scrolled to and lies in the window then.
      const lost = await page.evaluate(() => [...document.querySelectorAll('button, a[href], select, input, textarea, [role="tab"], [role="slider"]')].filter((one) => {
        if (!one.getClientRects().length || getComputedStyle(one).visibility === 'hidden' || one.closest('[inert]')) return false;
        one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        const box = one.getBoundingClientRect();
        return box.left < -1 || box.right > innerWidth + 1 || box.top < -1 || box.bottom > innerHeight + 1;
      }).map((one) => one.outerHTML.slice(0, 120)));
      expect(lost, `view ${view}`).toEqual([]);
    }
    // The inspector too.
    await page.keyboard.press('1');
    await page.locator('.sheet .btn').click();
    const last = page.locator('.fullscreen .actions button').last();
    await last.scrollIntoViewIfNeeded();
    await expect(last).toBeInViewport({ ratio: 1 });
  });
}

test('the page paints with its colours', async ({ page }) => {
  await page.addInitScript(() => {
    window.refused = [];
    addEventListener('securitypolicyviolation', ({ violatedDirective }) => window.refused.push(violatedDirective));
  });
  await page.goto('index.html');
  // A release has its styles within the page, where its policy allows them.
  expect(await page.evaluate(() => [document.querySelectorAll('head > style').length, window.refused])).toEqual([1, []]);
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(page.locator('canvas.lanes')).toBeVisible();
  const ink = await page.locator('canvas.lanes').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let black = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255 && data[at] + data[at + 1] + data[at + 2] === 0) black++;
    return black / (data.length / 4);
  });
  expect(ink).toBeLessThan(0.02);
});

test('with the text spacing of WCAG 1.4.12 no control loses its words', async ({ page }) => {
  await open(page);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
  await settled(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  // Names are cut by intention; of the controls *Start over* alone is (docs/accessibility.md names it).
  const cut = await page.evaluate(() => [...document.querySelectorAll('button, a[href], [role="tab"], h2, h3, label')].filter((one) => {
    if (!one.getClientRects().length || one.matches('.ell, #restart') || one.closest('.world') || getComputedStyle(one).overflow === 'visible') return false;
    return one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 2;
  }).map((one) => one.outerHTML.slice(0, 140)));
  expect(cut).toEqual([]);
});
