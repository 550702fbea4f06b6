import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { forward, frames, isProblem, settled } from './wait.mjs';

const pods = (page, stage = '#stage') => page.locator(`${stage} .item[data-kind="Pod"]:not(.ghost)`);
const kubectl = (page, line) => page.evaluate((line) => loopscope.kubectl(line), line);

/** Chooses from the menu of the history. */
async function choose(page, name) {
  await page.getByRole('button', { name: 'History', exact: true }).click();
  await page.getByRole('group', { name: 'History' }).getByRole('button', { name }).click();
}

async function open(page, seconds = 5) {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  await page.goto('index.html?editor=plain');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => loopscope.pause());
  await page.evaluate(() => document.activeElement?.blur());
  await forward(page, seconds);
  return problems;
}

test('the clock stops at a condition, and says where and why', async ({ page }) => {
  await open(page);
  await choose(page, 'Breakpoints');
  const panel = page.getByRole('dialog', { name: 'Pause when' });
  await panel.getByRole('textbox', { name: 'Condition' }).fill('pod vanished');
  await page.keyboard.press('Enter');
  await expect(panel.getByRole('alert')).toContainText('not ready');
  await panel.getByRole('button', { name: 'pod not ready' }).click();
  await panel.getByRole('textbox', { name: 'Condition' }).fill('event Killing');
  await page.keyboard.press('Enter');
  await expect(panel.locator('.set li')).toHaveCount(2);
  await page.keyboard.press('Escape');
  const name = await pods(page).first().getAttribute('data-name');
  await page.evaluate((name) => loopscope.fault(`unready pod/${name}`), name);
  await page.evaluate(() => loopscope.play());
  const stop = page.locator('.past.stop');
  await expect(stop).toContainText('pod not ready');
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
  await expect(page.locator('.i-head')).toContainText(name.slice(-5));
  await expect(pods(page).and(page.locator(`[data-name="${name}"]`))).toHaveAttribute('data-state', 'notready');
  const at = await page.locator('#clock').textContent();
  await frames(page, 15);
  expect(await page.locator('#clock').textContent()).toBe(at);
  await stop.getByRole('button', { name: 'Resume' }).click();
  await expect(stop).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
});

test('two instants are compared object by object', async ({ page }) => {
  await open(page);
  await page.keyboard.press('a');
  const panel = page.getByRole('dialog', { name: 'Compare two points in time' });
  await expect(panel).toContainText('00:05.');
  await kubectl(page, 'scale deployment nginx-deployment --replicas=3');
  await forward(page, 5);
  await page.keyboard.press('b');
  await expect(panel.locator('.sum')).toContainText('1 created, 0 deleted');
  await expect(panel.locator('.changes li.new')).toContainText('Pod');
  await expect(panel.locator('.changes li').filter({ hasText: '~Deployment' })).toContainText('spec.replicas2 → 3');
  // What the person changed first, marked on the diagram too; what the machinery keeps for itself is folded away; a row selects
  // its object.
  await expect(panel.locator('.changes li').first()).toContainText('Deployment');
  await expect(page.locator('.item.came[data-kind="Pod"]')).toHaveCount(1);
  await expect(page.locator('.item.differs[data-kind="Deployment"]')).toHaveCount(1);
  const deployment = panel.locator('.changes li').filter({ hasText: '~Deployment' });
  await expect(deployment.locator('summary')).toHaveText(/^\d+ more in status, \d+ set by the system$/);
  await expect(deployment.getByText('observedGeneration')).toBeHidden();
  await deployment.getByRole('button', { name: 'nginx-deployment' }).click();
  await expect(page.locator('.i-head')).toContainText('Deployment');
  await panel.getByRole('button', { name: 'Clear both' }).click();
  await expect(panel.locator('.sum')).toHaveCount(0);
});

test('a mark of the timeline says what it stands for', async ({ page }) => {
  await open(page);
  const lanes = page.locator('canvas.lanes');
  const box = await lanes.boundingBox();
  // The lane of the person comes first.
  await page.mouse.move(box.x + 104, box.y + 30);
  const tip = page.locator('.tip');
  await expect(tip).toHaveText(/^Command: kubectl apply .* at 00:00\.000$/);
  const [over, stage] = [await tip.boundingBox(), await page.locator('.timeline').boundingBox()];
  expect(over.y + over.height).toBeLessThanOrEqual(stage.y);
  await page.mouse.move(box.x + 400, box.y + 10);
  await expect(tip).toHaveCount(0);
});

/** Where the playhead is drawn on the lanes: the accent's column beside which its time stands. */
const playhead = (page) => page.locator('canvas.lanes').evaluate((canvas) => {
  const accent = document.createElement('canvas').getContext('2d');
  accent.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  accent.fillRect(0, 0, 1, 1);
  const [r, g, b] = accent.getImageData(0, 0, 1, 1).data;
  const { width } = canvas, row = canvas.getContext('2d').getImageData(0, 119 * devicePixelRatio, width, 1).data;
  for (let x = 0; x < width; x++) if (Math.abs(row[4 * x] - r) + Math.abs(row[4 * x + 1] - g) + Math.abs(row[4 * x + 2] - b) < 60) return x / devicePixelRatio;
  return -1;
});

test('what is about to be clicked on the timeline does not move away', async ({ page }) => {
  await open(page);
  const box = await page.locator('canvas.lanes').boundingBox();
  const [x, at] = [box.x + await playhead(page), await page.evaluate(() => window.loopscope.now())];
  await page.mouse.move(x, box.y + 60);
  // A step of the scale is at six seconds.
  await page.evaluate(() => loopscope.speed(0.5));
  await page.evaluate(() => loopscope.play());
  await page.waitForFunction(() => loopscope.now() > 6.05);
  await page.evaluate(() => loopscope.pause());
  await page.mouse.down();
  await page.mouse.up();
  await expect.poll(() => page.evaluate(() => window.loopscope.now())).toBeCloseTo(at, 0);
});

test('an hour in which nothing happens takes little room, and says how long it is', async ({ page }) => {
  await open(page, 8);
  const [before, box] = [await playhead(page), await page.locator('canvas.lanes').boundingBox()];
  for (const key of ['>', '>', '>', '>', '>', '>', '>', '>', '>']) await page.keyboard.press(key);
  await page.evaluate(() => loopscope.play());
  await expect.poll(() => page.evaluate(() => loopscope.now()), { timeout: 40_000 }).toBeGreaterThan(600);
  await page.evaluate(() => loopscope.pause());
  const end = await page.evaluate(() => loopscope.now());
  // The first seconds are still as wide as they were, and the playhead is beside them.
  const after = await playhead(page);
  expect(after).toBeGreaterThan(200);
  expect(after).toBeLessThan(before + 40);
  await page.mouse.move(box.x + after - 12, box.y + 60);
  await expect(page.locator('.tip')).toHaveText(/^Nothing was written from \d\d:\d\d\S* to \d\d:\d\d\S* \(\d+ min/);
  // A click in the fold goes into it.
  await page.mouse.click(box.x + after - 12, box.y + 60);
  const now = await page.evaluate(() => loopscope.now());
  expect(now).toBeGreaterThan(100);
  expect(now).toBeLessThan(0.9 * end);
});

test('the timeline is made larger and smaller by wheel, buttons and keys, and goes along with the playhead', async ({ page }) => {
  await open(page, 10);
  const lanes = page.locator('canvas.lanes');
  const [whole, box] = [await playhead(page), await lanes.boundingBox()];
  const scale = page.getByRole('group', { name: 'Timeline zoom' });
  await expect(scale.getByRole('button', { name: 'Show the whole timeline' })).toBeDisabled();
  // What is under the pointer stays there.
  await page.mouse.move(box.x + whole, box.y + 60);
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -300);
  await expect(scale.getByRole('button', { name: 'Show the whole timeline' })).toBeEnabled();
  expect(Math.abs((await playhead(page)) - whole)).toBeLessThan(12);
  // A second is now further away; beyond the edge the lanes follow.
  await page.keyboard.press(',');
  expect(whole - (await playhead(page))).toBeGreaterThan(150);
  for (let i = 0; i < 8; i++) await page.keyboard.press(',');
  expect(await playhead(page)).toBeGreaterThan(100);
  await scale.getByRole('button', { name: 'Show the whole timeline' }).click();
  await page.keyboard.press('End');
  expect(Math.abs((await playhead(page)) - whole)).toBeLessThan(3);
  await lanes.focus();
  await page.keyboard.press('+');
  await expect(scale.getByRole('button', { name: 'Show a longer period' })).toBeEnabled();
  await page.keyboard.press('-');
  await expect(scale.getByRole('button', { name: 'Show a longer period' })).toBeDisabled();
});

test('a click on a mark selects what was written, the names of the lanes are no place in time, and Ctrl drags the lanes', async ({ page }) => {
  await open(page, 10);
  await kubectl(page, 'set image deployment nginx-deployment nginx=nginx:broken');
  await forward(page, 6);
  const lanes = page.locator('canvas.lanes');
  const box = await lanes.boundingBox();
  const now = () => page.evaluate(() => loopscope.now());
  const at = await now();
  await page.mouse.click(box.x + 60, box.y + 42);
  expect(await now()).toBe(at);
  // The failing mark in the lane of the kubelets.
  const red = await lanes.evaluate((canvas) => {
    const scale = devicePixelRatio, data = canvas.getContext('2d').getImageData(0, 90 * scale, canvas.width, 1).data;
    for (let i = 110 * scale * 4; i < data.length; i += 4) if (data[i] > 180 && data[i + 1] < 90 && data[i + 2] < 100) return i / 4 / scale;
    return 0;
  });
  expect(red).toBeGreaterThan(0);
  await page.mouse.click(box.x + red + 1, box.y + 90);
  await expect(page.locator('#inspector .i-head')).toContainText('Pod');
  expect(await now()).toBeLessThan(at);
  // Larger, and then moved: what was held stays under the pointer.
  await page.mouse.move(box.x + red, box.y + 60);
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -300);
  await page.keyboard.press('End');
  const before = await playhead(page);
  await page.keyboard.down('Control');
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Control');
  expect(Math.abs(before - 100 - (await playhead(page)))).toBeLessThan(6);
});

test('what was left behind a fork stays faintly on the lanes, with the place of the fork', async ({ page }) => {
  await open(page, 8);
  await kubectl(page, 'scale deployment nginx-deployment --replicas=5');
  await forward(page, 4);
  const box = await page.locator('canvas.lanes').boundingBox();
  const end = await playhead(page);
  await page.evaluate(() => loopscope.seek(6));
  const at = await playhead(page);
  /** How many columns of the lane of Deployments are marked right of the fork, and how darkly at most. */
  const marks = () => page.locator('canvas.lanes').evaluate((canvas, [from, to]) => {
    const scale = devicePixelRatio, data = canvas.getContext('2d').getImageData(from * scale, 42 * scale, (to - from) * scale, 1).data;
    let [count, dark] = [0, 255];
    for (let i = 0; i < data.length; i += 4) {
      const seen = 255 - (255 - data[i]) * data[i + 3] / 255; // on the white of the panel
      if (seen < 215) [count, dark] = [count + 1, Math.min(dark, seen)];
    }
    return { count, dark };
  }, [at + 14, end - 4]);
  await page.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page.locator('#notice')).toHaveText('Branch 2 starts here. Branch 1 is kept until the page is left');
  await expect.poll(async () => (await marks()).dark).toBeGreaterThan(140);
  expect((await marks()).count).toBeGreaterThan(0);
  await page.mouse.move(box.x + at, box.y + 20);
  await expect(page.locator('.tip')).toHaveText('Branch 2 starts here');
  await choose(page, 'Branch 1');
  await expect.poll(async () => (await marks()).dark).toBeLessThan(140);
});

test('Why is of the instant shown, also from a failure of the past to an instant before it', async ({ page }) => {
  await open(page);
  await page.locator('#stage .item[data-kind="Deployment"]').first().click();
  const why = page.locator('#i-body');
  await expect(why).toContainText('kubectl apply');
  await kubectl(page, 'set image deployment/nginx-deployment nginx=nginx:9.99');
  await forward(page, 10);
  await expect(why).toContainText('nginx:9.99');
  for (const [at, told] of [[12, 'nginx:9.99'], [4, 'ReplicaSet'], [12, 'nginx:9.99'], [3, 'kubectl apply']]) {
    await page.evaluate((at) => loopscope.seek(at), at);
    await expect(why).toContainText(told);
    if (at < 5) await expect(why).not.toContainText('nginx:9.99');
    await expect(why).not.toContainText('from the start');
  }
});

test('two branches side by side on one clock, one above the other where it is narrow', async ({ page }) => {
  const problems = await open(page);
  await kubectl(page, 'scale deployment nginx-deployment --replicas=5');
  await forward(page, 6);
  await page.evaluate(() => loopscope.seek(5));
  await page.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page.locator('.toast')).toHaveText('Branch 2 starts here. Branch 1 is kept until the page is left');
  await kubectl(page, 'scale deployment nginx-deployment --replicas=1');
  await choose(page, 'Side by side');
  await expect(page.locator('.side')).toHaveCount(2);
  await forward(page, 8);
  await expect(pods(page)).toHaveCount(1);
  await expect(pods(page, '#stage-beside')).toHaveCount(5);
  // Back in time both show that instant; forward again both are where they were.
  await page.evaluate(() => loopscope.seek(4));
  await expect(pods(page)).toHaveCount(2);
  await expect(pods(page, '#stage-beside')).toHaveCount(2);
  await page.keyboard.press('End');
  await expect(pods(page, '#stage-beside')).toHaveCount(5);
  const boxes = () => page.locator('.side').evaluateAll((all) => all.map((side) => side.getBoundingClientRect().toJSON()));
  let [a, b] = await boxes();
  expect(b.x).toBeGreaterThanOrEqual(a.right - 1);
  await page.setViewportSize({ width: 900, height: 900 });
  [a, b] = await boxes();
  expect(b.y).toBeGreaterThanOrEqual(a.bottom - 1);
  await page.setViewportSize({ width: 1440, height: 900 });
  await choose(page, 'Side by side');
  await expect(page.locator('.side')).toHaveCount(0);
  expect(problems).toEqual([]);
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing serious in the panels of time, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await open(page);
    await page.keyboard.press('a');
    await kubectl(page, 'scale deployment nginx-deployment --replicas=3');
    await forward(page, 5);
    await page.keyboard.press('b');
    await page.evaluate(() => loopscope.seek(5));
    await kubectl(page, 'scale deployment nginx-deployment --replicas=1');
    await choose(page, 'Side by side');
    const look = async () => {
      await settled(page);
      const found = await new AxeBuilder({ page }).analyze();
      expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join('; ')}`)).toEqual([]);
    };
    await look();
    await choose(page, 'Breakpoints');
    await page.getByRole('button', { name: 'pod deleted' }).click();
    await look();
  });
}

test('a time is entered to go there, from the beginning or back', async ({ page }) => {
  await open(page, 8);
  const now = () => page.evaluate(() => loopscope.now());
  const go = async (text) => {
    await page.getByRole('button', { name: 'History', exact: true }).click();
    await page.getByLabel('Go to time').fill(text);
    await page.keyboard.press('Enter');
  };
  const end = await now();
  await go('0:05');
  await expect.poll(now).toBe(5);
  await go('-2s');
  await expect.poll(now).toBe(3);
  await go('1h');
  await expect.poll(now).toBe(end);
  await go('soon');
  await expect(page.getByLabel('Go to time')).toHaveAttribute('aria-invalid', 'true');
});

test('the console that is opened takes what is typed', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.keyboard.type('get nodes');
  await page.keyboard.press('Enter');
  await expect(page.locator('#console pre')).toContainText('node-1');
});
