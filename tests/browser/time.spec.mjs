import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';

const pods = (page, stage = '#stage') => page.locator(`${stage} .item[data-kind="Pod"]:not(.ghost)`);
const kubectl = (page, line) => page.evaluate((line) => loopscope.kubectl(line), line);

async function open(page, seconds = 5) {
  const problems = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) problems.push(message.text()); });
  await page.goto('index.html?editor=plain');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => loopscope.pause());
  await page.evaluate(() => document.activeElement?.blur());
  for (let i = 0; i < seconds; i++) await page.keyboard.press('.');
  return problems;
}

test('the clock stops at a condition, and says where and why', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'Pause when…' }).click();
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
  await page.waitForTimeout(300);
  expect(await page.locator('#clock').textContent()).toBe(at);
  await stop.getByRole('button', { name: 'Go on' }).click();
  await expect(stop).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
});

test('two instants are compared object by object', async ({ page }) => {
  await open(page);
  await page.keyboard.press('a');
  const panel = page.getByRole('dialog', { name: 'Compare two instants' });
  await expect(panel).toContainText('00:05.');
  await kubectl(page, 'scale deployment nginx-deployment --replicas=3');
  for (let i = 0; i < 5; i++) await page.keyboard.press('.');
  await page.keyboard.press('b');
  await expect(panel.locator('.sum')).toContainText('1 created, 0 deleted');
  await expect(panel.locator('.changes li.new')).toContainText('Pod');
  await expect(panel.locator('.changes li').filter({ hasText: '~Deployment' })).toContainText('spec.replicas2 → 3');
  // Pods first; what the machinery keeps for itself is folded away; a row selects its object.
  await expect(panel.locator('.changes li').first()).toContainText('Pod');
  const deployment = panel.locator('.changes li').filter({ hasText: '~Deployment' });
  await expect(deployment.locator('summary')).toHaveText(/^\+\d+ technical$/);
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
  await expect(lanes).toHaveAttribute('title', /^you: You ran kubectl apply .* at 00:00\.000$/);
  await page.mouse.move(box.x + 400, box.y + 10);
  await expect(lanes).toHaveAttribute('title', '');
});

test('two branches side by side on one clock, one above the other where it is narrow', async ({ page }) => {
  const problems = await open(page);
  await kubectl(page, 'scale deployment nginx-deployment --replicas=5');
  for (let i = 0; i < 4; i++) await page.keyboard.press('.');
  await page.evaluate(() => loopscope.seek(5));
  await page.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page.locator('.toast')).toHaveText('Branch 2 begins here. Branch 1 is kept');
  await kubectl(page, 'scale deployment nginx-deployment --replicas=1');
  await page.getByRole('button', { name: 'Side by side' }).click();
  await expect(page.locator('.side')).toHaveCount(2);
  for (let i = 0; i < 8; i++) await page.keyboard.press('.');
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
  await page.getByRole('button', { name: 'Side by side' }).click();
  await expect(page.locator('.side')).toHaveCount(0);
  expect(problems).toEqual([]);
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing serious in the panels of time, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await open(page);
    await page.keyboard.press('a');
    await kubectl(page, 'scale deployment nginx-deployment --replicas=3');
    for (let i = 0; i < 5; i++) await page.keyboard.press('.');
    await page.keyboard.press('b');
    await page.evaluate(() => loopscope.seek(5));
    await kubectl(page, 'scale deployment nginx-deployment --replicas=1');
    await page.getByRole('button', { name: 'Side by side' }).click();
    const look = async () => {
      await page.waitForTimeout(300);
      const found = await new AxeBuilder({ page }).analyze();
      expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join('; ')}`)).toEqual([]);
    };
    await look();
    await page.getByRole('button', { name: 'Pause when…' }).click();
    await page.getByRole('button', { name: 'pod deleted' }).click();
    await look();
  });
}
