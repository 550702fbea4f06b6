// What a visitor meets first: lessons that are found and lead on, words that are whole, a bar that stays where it is.
import { expect, test } from '@playwright/test';
import { learn, names, next, open, panel, played, still } from './lesson-play.mjs';
import { settled } from './wait.mjs';

const box = (one) => one.evaluate((one) => one.getBoundingClientRect().toJSON());

/** To the beginning of a step, as fast as it can be played; questions are left open. */
async function goTo(page, step) {
  for (let at = 1; at < step; at++) {
    await played(page);
    for (let i = 0; i < 4 && (await page.evaluate(() => window.loopscope.lesson().step)) === at; i++) {
      await page.evaluate(() => window.loopscope.teach('next'));
      await played(page);
    }
  }
  await still(page);
  await settled(page);
}

test('lessons are found in the bar, and the end of one leads to the next', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await learn(page, 'control-loop');
  await expect(panel(page).locator('h2')).toHaveText('The control loop');
  await goTo(page, 3);
  await panel(page).locator('.again').click();
  await panel(page).locator('.choice').nth(1).click();
  await played(page);
  await next(page).click();
  await played(page);
  await page.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=4'));
  await expect(panel(page)).toHaveAttribute('data-phase', 'done');
  await expect(panel(page).locator('.score')).toHaveText('2 of 2 questions answered correctly and tasks done');
  await expect(panel(page).locator('.learned li')).toHaveCount(3);
  await panel(page).locator('.following').click();
  await expect(panel(page).locator('h2')).toHaveText('Events or state?');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  // Learn knows what is done, and goes on with the first lesson that is not.
  await page.locator('button.learn').click();
  const row = (name) => page.getByRole('dialog').locator(`[data-lesson="${name}"]`);
  await expect(row('control-loop')).toContainText('done');
  await expect(row('control-loop').getByRole('button')).toHaveText('Again');
  await expect(row('pods').getByRole('button')).toBeFocused();
  await expect(row('pods')).toContainText(/\d min, 4 steps/);
  await expect(row('scaling')).toContainText('after Deployment, ReplicaSet, Pod');
  await page.keyboard.press('Escape');
  await expect(page.locator('button.learn')).toBeFocused();
});

test.describe('a first visit', () => {
  test.use({ storageState: { cookies: [], origins: [] } });
  for (const [width, height] of [[1440, 900], [1280, 800], [1280, 720]]) {
    test(`its card offers lessons and covers nothing that it names, ${width} x ${height}`, async ({ page }) => {
      await page.setViewportSize({ width, height });
      await page.goto('index.html');
      await page.waitForFunction(() => window.loopscope?.ready);
      const card = page.locator('.offers > div');
      await expect(card.locator('#door-learn')).toBeVisible();
      await settled(page);
      const under = await box(card);
      for (const item of await page.locator('.item[data-kind]:not(.ghost)').all()) expect((await box(item)).y).toBeGreaterThanOrEqual(under.bottom);
      await card.locator('#door-learn').click();
      await page.getByRole('dialog').locator('[data-lesson="scaling"] .btn').click();
      await expect(panel(page)).toBeVisible();
    });
  }

  test('its card opens the manifest for what is pasted', async ({ page }) => {
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    await page.evaluate(() => navigator.clipboard.writeText('kind: Pod'));
    await page.locator('#door-paste').click();
    // The code editor takes the place of the text area about now: a key in that moment may be lost.
    await expect(async () => {
      await page.keyboard.press('ControlOrMeta+v');
      await expect.poll(() => page.evaluate(() => window.loopscope.manifest()), { timeout: 2_000 }).toBe('kind: Pod');
    }).toPass();
  });
});

for (const lang of ['en', 'zh']) {
  for (const [width, height] of [[1440, 900], [1280, 800]]) {
    test(`the control loop is read as a whole: its caption and its pseudo-code, ${lang}, ${width} x ${height}`, async ({ page }) => {
      await page.setViewportSize({ width, height });
      await open(page, `?lesson=control-loop&lang=${lang}`);
      for (let step = 1; step <= 4; step++) {
        await goTo(page, step);
        if (step === 3) await page.evaluate(() => window.loopscope.teach('next'));
        await played(page);
        const hidden = await panel(page).locator('.told').evaluate((told) => told.scrollHeight - told.clientHeight);
        expect(hidden, `step ${step}`).toBeLessThanOrEqual(1);
        if (step < 4) await page.evaluate(() => window.loopscope.teach('next'));
      }
      const lines = page.locator('#inspector .pseudo li');
      await expect(lines).toHaveCount(11);
      const [within, last] = [await box(page.locator('#i-body')), await box(lines.last())];
      expect(last.bottom).toBeLessThanOrEqual(within.bottom);
    });
  }

  test(`no title of a lesson lies over the tabs, ${lang}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    for (const name of names) {
      await open(page, `?lesson=${name}&lang=${lang}`);
      const [left, tabs] = [await box(page.locator('.topbar > .row')), await box(page.locator('.topbar .tabs'))];
      const pickers = await Promise.all((await page.locator('.topbar .picker').all()).map(box));
      for (const one of [left, ...pickers]) expect(one.right, name).toBeLessThanOrEqual(tabs.left);
    }
  });

  test(`what a rollout waits for is whole at 1280 x 720, ${lang}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goto(`index.html?lang=${lang}`);
    await page.waitForFunction(() => window.loopscope?.ready);
    await page.evaluate(() => window.loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.27'));
    await settled(page);
    const strip = await box(page.locator('.budget'));
    for (const words of await page.locator('.budget :is(h2, h3, p)').all()) {
      if (await words.isVisible()) expect((await box(words)).right).toBeLessThanOrEqual(strip.right);
    }
  });
}

test('a diagram without its objects says so in a lesson as well', async ({ page }) => {
  await open(page, '?lesson=own-volume');
  await goTo(page, 4);
  await expect(page.locator('.nothing')).toContainText('No PersistentVolumeClaim yet');
  await expect(page.locator('.nothing')).toBeVisible();
});

test('a copied link moves nothing in the bar', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const places = () => page.locator('.topbar').evaluate((bar) => [...bar.querySelectorAll('button, select')].map((one) => one.getBoundingClientRect().x));
  const before = await places();
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByText('Link copied')).toBeVisible();
  expect(await places()).toEqual(before);
});

test('no word of the bars is cut in a window of 1024 pixels and more', async ({ page }) => {
  for (const width of [1024, 1100, 1280, 1366]) {
    await page.setViewportSize({ width, height: 768 });
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    await page.evaluate(() => loopscope.pause());
    const cut = await page.evaluate(() => [...document.querySelectorAll('.topbar button, .topbar a, .topbar [role="tab"], .c-head h1, .c-head .pill, .c-head .pill > .ell')]
      .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth && getComputedStyle(one).overflow !== 'visible').map((one) => one.textContent));
    expect(cut, `${width}`).toEqual([]);
    // The name of the example.
    expect((await page.locator('.topbar .picker select').boundingBox()).width).toBeGreaterThan(80);
  }
});

test('the arrow keys move the speed', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const speed = page.getByRole('slider', { name: 'Speed' });
  const by = page.getByRole('button', { name: 'By cause' });
  await by.click();
  await speed.focus();
  // The slider runs from the causal pace to the real one.
  await expect(speed).toHaveAttribute('aria-valuetext', 'By cause, 1×');
  for (const [key, value] of [['ArrowRight', 'By cause, 2×'], ['ArrowUp', 'By cause, 5×'], ['ArrowUp', 'By cause, 10×'], ['ArrowRight', '0.1×'], ['ArrowRight', '0.2×'], ['ArrowDown', '0.1×'], ['ArrowLeft', 'By cause, 10×']]) {
    await page.keyboard.press(key);
    await expect(speed).toHaveAttribute('aria-valuetext', value);
    await expect(by).toHaveAttribute('aria-pressed', String(value.startsWith('By')));
  }
});

test('a control loop is chosen in its diagram and disturbed in the inspector', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.keyboard.press('6');
  await page.locator('.item[data-kind="Loop"]', { hasText: 'replicaset' }).first().click();
  const inspector = page.locator('#inspector');
  await expect(inspector.locator('.i-head b')).toHaveText('replicaset-controller');
  await inspector.getByText('Faults', { exact: true }).click();
  for (const name of ['Slow down', 'Restart kube-controller-manager', 'Lose the next Pod event']) await expect(inspector.getByRole('button', { name })).toBeVisible();
  await inspector.getByRole('button', { name: 'Slow down' }).click();
  await expect(inspector.locator('.pill')).toContainText('2 s');
});
