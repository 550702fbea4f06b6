import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { forward, isProblem, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const item = (page, kind, name = '') => page.locator(`.item[data-kind="${kind}"]:not(.ghost)${name && `[data-name="${name}"]`}`);

async function open(page, text, seconds = 10) {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  await page.goto('index.html?editor=plain');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate((text) => { if (text) loopscope.load(text); loopscope.pause(); }, text);
  await page.evaluate(() => document.activeElement?.blur());
  await forward(page, seconds);
  return problems;
}

/** What is wrong with a document; its styles would be the page's, whose policy refuses them. */
const malformed = (text) => new DOMParser().parseFromString(text.replace(/<style>[^]*?<\/style>/, ''), 'image/svg+xml').querySelector('parsererror')?.textContent ?? '';

test('a card says what an object is and why it last changed, by pointer and by keyboard', async ({ page }) => {
  await open(page);
  const card = page.locator('.hover');
  await item(page, 'Pod').first().hover();
  await expect(card).toContainText('Pod on node-');
  await expect(card).toContainText('became Ready');
  await expect(card).toContainText('kubelet');
  await page.mouse.move(5, 5);
  await expect(card).toHaveCount(0);
  await item(page, 'Deployment').focus();
  await page.keyboard.press('ArrowDown');
  await expect(card).toContainText('ReplicaSet');
  await expect(card).toContainText('0 of 2 Pods exist');
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  // It stays within the stage wherever its object stands.
  for (const at of [0, 1]) {
    await item(page, 'Pod').nth(at).hover();
    const [inner, outer] = [await card.boundingBox(), await page.locator('#stage').boundingBox()];
    expect(inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height).toBe(true);
  }
});

test('the snippet for other pages says what was chosen', async ({ page }) => {
  await open(page, undefined, 2);
  await page.getByRole('button', { name: 'Embed' }).click();
  const [dialog, snippet] = [page.getByRole('dialog', { name: 'Embed' }), page.getByRole('textbox', { name: 'Snippet' })];
  await expect(snippet).toHaveValue(/<loop-scope view="ownership" autoplay="1"\n {2}hash="pako:/);
  await dialog.getByLabel('Diagram').selectOption('Rollout');
  await dialog.getByLabel('Theme').selectOption('Dark');
  await dialog.getByLabel('Height').selectOption('560');
  await dialog.getByLabel('Start').selectOption('On click');
  await expect(snippet).toHaveValue(/<loop-scope view="rollout" theme="dark" height="560"\n {2}hash="pako:/);
  await dialog.getByLabel('Language').selectOption('简体中文');
  await expect(snippet).toHaveValue(/height="560" lang="zh"\n {2}hash="pako:/);
  await page.keyboard.press('Escape');
  await page.evaluate(() => { loopscope.kubectl('scale deployment/nginx-deployment --replicas=3'); loopscope.play(); });
  await expect(page.locator('#stage .item[data-kind="Pod"][data-state="ready"]')).toHaveCount(3);
  await page.getByRole('button', { name: 'Embed' }).click();
  await dialog.getByLabel('Diagram').selectOption('Ownership');
  await expect(dialog.getByLabel('Begins with').locator(':checked')).toHaveText('This page as it is now');
  const shared = await snippet.inputValue();
  await dialog.getByLabel('Begins with').selectOption('The manifest alone');
  await expect(snippet).not.toHaveValue(shared);
  await dialog.getByLabel('Begins with').selectOption('This page as it is now');
  await expect(snippet).toHaveValue(shared);
  const frame = page.frameLocator('.preview');
  await expect(frame.locator('.item[data-kind="Pod"]')).toHaveCount(3);
  // The clock runs on, and the snippet stays what was asked for: its preview does not begin anew.
  const now = await snippet.inputValue();
  const clock = await page.locator('#clock').textContent();
  await expect(page.locator('#clock')).not.toHaveText(clock);
  expect(await snippet.inputValue()).toBe(now);
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await snippet.inputValue());
  // From a frame the full page opens with what was done, not with the manifest alone.
  const [, hash] = now.match(/hash="(pako:[^"]+)"/);
  const embed = await page.context().newPage();
  await embed.goto(`index.html?embed#${hash}`);
  await expect(embed.locator('.item[data-kind="Pod"]')).toHaveCount(3);
  await embed.waitForFunction(() => window.loopscope?.ready);
  const link = embed.getByRole('link', { name: 'Open full page' });
  const alone = await link.getAttribute('href');
  await link.hover();
  await expect(link).not.toHaveAttribute('href', alone);
  await embed.goto(await link.getAttribute('href'));
  await expect(embed.locator('#stage .item[data-kind="Pod"]')).toHaveCount(3);
  await embed.close();
});

test('one Pod among many cells has its card too', async ({ page }) => {
  await open(page, example('deployment').replace('replicas: 2', 'replicas: 60'), 12);
  const cells = page.locator('.cells canvas').first();
  const box = await cells.boundingBox();
  await page.mouse.move(box.x + 3, box.y + 3);
  await page.mouse.move(box.x + 4, box.y + 4);
  await expect(page.locator('.hover')).toContainText('Pod on node-');
});

for (const [form, scheme, view, name] of [['SVG', 'light', 1, 'network'], ['PNG', 'dark', 4, 'statefulset'], ['SVG', 'dark', 6, 'deployment']]) {
  test(`the picture is saved as ${form}, ${scheme}, view ${view}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    const problems = await open(page, example(name));
    await page.keyboard.press(String(view));
    await page.locator('#export').click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: form, exact: true }).click()]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^loopscope-(ownership|storage|loops)-00-10\\.\\d+\\.${form.toLowerCase()}$`));
    const bytes = readFileSync(await download.path());
    if (form === 'PNG') {
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      expect(width).toBeGreaterThan(600);
      expect(height).toBeGreaterThan(400);
      // More than a plain sheet.
      expect(bytes.length).toBeGreaterThan(15_000);
    } else {
      const text = bytes.toString();
      const wrong = await page.evaluate(malformed, text);
      expect(wrong).toBe('');
      expect(text).not.toMatch(/var\(|<script|foreignObject|href="(?!#)|\$/);
      // Every icon that it uses is in it.
      for (const [, icon] of text.matchAll(/href="#([\w-]+)"/g)) expect(text).toContain(`<symbol id="${icon}"`);
      expect(text).toContain(view === 6 ? 'API server' : 'StatefulSet');
      expect(text).toContain('font-family:');
    }
    expect(problems).toEqual([]);
  });
}

test('nothing that is focused out of sight moves the stage itself', async ({ page }) => {
  await open(page, example('network'));
  await page.keyboard.press('3');
  await expect(page.locator('.stage .foot')).toHaveCount(1);
  const scrolled = () => page.locator('#stage').evaluate((stage) => [stage.scrollLeft, stage.scrollTop]);
  await page.evaluate(() => document.querySelector('#stage').scrollTo(0, 80));
  expect(await scrolled()).toEqual([0, 0]);
  await page.locator('.world .item').last().evaluate((item) => item.scrollIntoView());
  expect(await scrolled()).toEqual([0, 0]);
});

test('a picture that is a little too high is seen whole, with letters that can be read', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, example('statefulset'));
  await page.keyboard.press('4');
  await expect(page.locator('.world .cylinder')).toHaveCount(2);
  const whole = await page.evaluate(() => {
    const world = document.querySelector('.world');
    const z = new DOMMatrix(getComputedStyle(world).transform).a;
    const written = [...world.querySelectorAll('*')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return { z, least: z * Math.min(...written.map((one) => parseFloat(getComputedStyle(one).fontSize))) };
  });
  expect(whole.z).toBeLessThan(1);
  expect(whole.least).toBeGreaterThan(10.45);
  await expect(page.locator('.stage .foot')).toHaveCount(0);
});

test('a map appears when the diagram no longer fits, and leads through it', async ({ page }) => {
  await open(page, example('network'));
  const map = page.locator('.minimap');
  await page.getByRole('button', { name: 'Zoom to fit' }).click();
  for (let i = 0; i < 5; i++) await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect(map).toBeVisible();
  const where = () => page.locator('.world').evaluate((world) => new DOMMatrix(getComputedStyle(world).transform).e);
  const box = await map.boundingBox();
  await page.mouse.click(box.x + 4, box.y + 4);
  await settled(page);
  // What was pointed at is there to be seen.
  const seen = async () => {
    const inner = await page.locator('.minimap .seen').boundingBox();
    return [inner.x <= box.x + 5, inner.width > 10, inner.height > 5];
  };
  expect(await seen()).toEqual([true, true, true]);
  const left = await where();
  await page.mouse.click(box.x + box.width - 4, box.y + 4);
  await settled(page);
  expect(await where()).toBeLessThan(left - 200);
  await page.getByRole('button', { name: 'Zoom to fit' }).click();
  await expect(map).toHaveCount(0);
  await settled(page);
  const stage = await page.locator('#stage').boundingBox();
  for (const one of await page.locator('.world .item').all()) {
    const at = await one.boundingBox();
    const inside = at.x >= stage.x && at.y >= stage.y && at.x + at.width <= stage.x + stage.width && at.y + at.height <= stage.y + stage.height;
    expect(inside, await one.getAttribute('aria-label')).toBe(true);
  }
  await page.getByRole('button', { name: 'Zoom to a readable size' }).click();
  await expect(page.getByRole('button', { name: 'Zoom to a readable size' })).toHaveText('100%');
});

test('nothing is covered by the controls, also where the stage is low', async ({ page }) => {
  await open(page, example('deployment').replace('replicas: 2', 'replicas: 4'));
  for (const size of [[720, 450], [820, 500], [1024, 600]]) {
    await page.setViewportSize({ width: size[0], height: size[1] });
    await settled(page);
    const zoom = page.locator('.zoom');
    if (!(await zoom.count())) continue;
    const over = await zoom.boundingBox();
    // What does not fit at a readable size is panned: a Pod that is gone to is not under the controls.
    await item(page, 'ReplicaSet').first().focus();
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('ArrowDown');
      await settled(page);
      const box = await page.evaluate(() => document.activeElement.getBoundingClientRect().toJSON());
      const apart = box.right <= over.x || box.left >= over.x + over.width || box.bottom <= over.y || box.top >= over.y + over.height;
      expect(apart, `${size}: ${JSON.stringify([box, over])}`).toBe(true);
    }
  }
});

test('of many Pods both revisions are in sight, and neither the map nor the controls lie on them', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, example('deployment').replace('replicas: 2', 'replicas: 3000'), 3);
  const blocks = item(page, 'Pods');
  await expect(blocks).toHaveCount(1);
  const place = async (n) => blocks.nth(n).evaluate((block) => block.style.cssText + block.getAttribute('style'));
  const before = await place(0);
  await page.evaluate(() => { loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.26'); loopscope.pause(); });
  await forward(page, 2);
  await expect(blocks).toHaveCount(2);
  await settled(page);
  const box = (of) => page.locator(of).boundingBox();
  const [stage, old, next, foot] = [await box('#stage'), await blocks.nth(0).boundingBox(), await blocks.nth(1).boundingBox(), await box('.foot')];
  expect(old.x + old.width).toBeLessThan(next.x);
  expect(next.x + next.width).toBeLessThanOrEqual(stage.x + stage.width);
  expect(Math.abs(old.y - next.y)).toBeLessThan(1);
  expect(next.y + 100).toBeLessThan(foot.y);
  expect((await box('.zoom')).y).toBeGreaterThan(foot.y);
  // Blocks as wide as the stage leave the map no corner, also when the picture is moved.
  await page.mouse.move(stage.x + 40, stage.y + 40);
  await page.mouse.wheel(0, 40);
  await settled(page);
  await expect(page.locator('.minimap')).toHaveCount(0);
  expect(before).toMatch(/translate: /);
  expect(before.match(/translate: [^;]*/)?.[0]).toBe((await place(0)).match(/translate: [^;]*/)?.[0]);
});

/** Saves the diagram in a form of the menu. */
async function save(page, name) {
  await page.locator('#export').click();
  const [download] = await Promise.all([page.waitForEvent('download', { timeout: 60_000 }), page.getByRole('menuitem', { name }).click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('a stretch between two marks is saved as stills, one a page', async ({ page, browser }) => {
  await open(page, example('statefulset'));
  for (const [at, mark] of [[2, 'a'], [5, 'b']]) {
    await page.evaluate((at) => loopscope.seek(at), at);
    await page.keyboard.press(mark);
  }
  await page.getByRole('dialog', { name: 'Compare two points in time' }).getByRole('button', { name: 'Close' }).click();
  await page.evaluate(() => loopscope.seek(9));
  const stills = await save(page, 'Stills, one a page, from 00:02.000 to 00:05.000 (marks A and B)');
  expect(stills.name).toMatch(/\.html$/);
  const other = await browser.newPage();
  await other.setContent(stills.bytes.toString());
  const pictures = other.locator('img');
  // Of the seconds 2 to 5, each painted, with what it shows in words.
  await expect(pictures).toHaveCount(4);
  for (const picture of await pictures.all()) {
    await expect.poll(() => picture.evaluate((image) => image.complete && image.naturalWidth > 100)).toBe(true);
    await expect(picture).toHaveAttribute('alt', /StatefulSet/);
  }
  const clocks = await pictures.evaluateAll((all) => all.map((image) => /00:0\d\.\d+/.exec(decodeURIComponent(image.src))?.[0]));
  expect(clocks).toEqual(['00:02.000', '00:03.000', '00:04.000', '00:05.000']);
  // The stills fill a sheet each.
  expect((await other.pdf()).toString('latin1').match(/\/Type\s*\/Page[^s]/g)).toHaveLength(4);
  await other.close();
});

test('the last seconds are saved as a picture that moves, and as a video', async ({ page }) => {
  await open(page, example('statefulset'));
  const film = await save(page, 'Animated SVG of the last 20 s, or from mark A to B');
  expect(film.name).toMatch(/\.svg$/);
  const text = film.bytes.toString();
  const wrong = await page.evaluate(malformed, text);
  expect(wrong).toBe('');
  expect(text).toContain('@keyframes k0');
  expect(text).toContain('prefers-reduced-motion');
  expect(text).toContain('web-0');
  const video = await save(page, /^Video/);
  expect(video.name).toMatch(/\.webm$/);
  // The signature of EBML, and more than its head.
  expect(video.bytes.subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  expect(video.bytes.length).toBeGreaterThan(5_000);
});
