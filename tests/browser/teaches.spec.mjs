// What a page that teaches does: terms are explained where they stand, panels give way, a lesson ends with questions, refusals offer repairs.
import { expect, test } from '@playwright/test';
import { next, open, panel, played } from './lesson-play.mjs';

test('a term of a lesson is explained under the pointer, at a tap and with the keyboard', async ({ page }) => {
  await open(page, '?lesson=pods');
  const node = panel(page).locator('.term', { hasText: 'nodes' }).first();
  await node.hover();
  const definition = page.getByRole('tooltip');
  await expect(definition).toHaveText('A machine of the cluster, on which Pods run.');
  const [at, { width, height }] = [await definition.boundingBox(), page.viewportSize()];
  expect(at.x).toBeGreaterThanOrEqual(0);
  expect(at.x + at.width).toBeLessThanOrEqual(width);
  expect(at.y + at.height).toBeLessThanOrEqual(height);
  await page.mouse.move(700, 700);
  await expect(definition).toHaveCount(0);
  const button = node.getByRole('button');
  await button.focus();
  await expect(definition).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(definition).toHaveCount(0);
  // Escape has closed the explanation alone.
  await expect(panel(page)).toBeVisible();
  await button.click();
  await expect(definition).toBeVisible();
  await page.getByRole('button', { name: '中文' }).click();
  await panel(page).locator('.term', { hasText: '节点' }).first().hover();
  await expect(page.getByRole('tooltip')).toContainText('集群中的一台机器');
});

test('a lesson folds away the panels that its step does not use, and gives them back', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(page.locator('#inspector')).toBeVisible();
  await open(page, '?lesson=control-loop');
  await expect(page.locator('.rail.left')).toBeVisible();
  await expect(page.locator('.rail.right')).toBeVisible();
  await page.locator('.rail.right button').click();
  await next(page).click();
  await played(page);
  // What a person has opened stays; what the step applies is shown.
  await expect(page.locator('#inspector')).toBeVisible();
  await expect(page.locator('.rail.left')).toHaveCount(0);
  await page.evaluate(() => window.loopscope.teach('close'));
  await expect(page.locator('.rail')).toHaveCount(0);
});

test('a lesson ends with what one can do now, and two questions', async ({ page }) => {
  await open(page, '?lesson=pods');
  for (let at = 0; at < 12 && !(await page.evaluate(() => window.loopscope.lesson().over)); at++) {
    await page.evaluate(() => window.loopscope.teach('next'));
    await played(page);
  }
  await expect(panel(page).locator('.learned li')).toHaveCount(3);
  await panel(page).getByRole('button', { name: 'Check yourself: 2 questions' }).click();
  const choice = (at) => panel(page).locator('.review .choice').nth(at);
  await choice(0).click();
  await expect(panel(page).locator('.review')).toContainText('Not so.');
  await expect(choice(1)).toHaveClass(/right/);
  await panel(page).getByRole('button', { name: 'Next question' }).click();
  await choice(0).click();
  await expect(panel(page).locator('.review')).toContainText('Right.');
  await panel(page).getByRole('button', { name: 'What you can do now' }).click();
  await expect(panel(page).locator('.learned li')).toHaveCount(3);
});

const set = 'apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: web\nspec:\n  serviceName: "nginx"   关键\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n';
for (const [name, text, button, repaired] of [
  ['a remark without its sign', set, '# 关键', 'serviceName: "nginx"   # 关键'],
  ['a version that is no longer served', 'apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n', 'apps/v1', 'apiVersion: apps/v1\n'],
  ['a block that is indented too far', 'kind: PersistentVolumeClaim\napiVersion: v1\n  metadata:\n    name: pv-claim\n  spec:\n    accessModes: [ReadWriteOnce]\n    resources: {requests: {storage: 1Gi}}\n', 'Move lines 3 to 7 left by 2', 'apiVersion: v1\nmetadata:\n  name: pv-claim\n'],
  ['a field without its object', 'replicas: 3\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx}]}\n', 'Put them into spec of Deployment web', '\n  replicas: 3\n'],
]) {
  test(`${name} is repaired with a click, and applied`, async ({ page }) => {
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    await page.evaluate((text) => window.loopscope.apply(text), text);
    await expect(page.locator('#manifest .pill')).toHaveText('Rejected');
    await page.locator('#manifest').getByRole('button', { name: button }).click();
    await expect(page.locator('#manifest .pill')).toHaveText('Applied');
    expect(await page.evaluate(() => window.loopscope.manifest())).toContain(repaired);
  });
}

test('the write that happens is seen on the diagram: from its owner, or at its object', async ({ page }) => {
  await page.goto('index.html?pace=cause');
  await page.waitForFunction(() => window.loopscope?.ready);
  // Each write is drawn once: those that have been drawn are counted.
  await page.evaluate(() => {
    window.seen = new Set();
    new MutationObserver((all) => {
      for (const { addedNodes } of all) for (const one of addedNodes) if (one.classList && (one.classList.contains('token') || one.classList.contains('written'))) window.seen.add(one.classList[0]);
    }).observe(document.body, { childList: true, subtree: true });
  });
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
  await expect.poll(() => page.evaluate(() => [...window.seen].sort())).toEqual(['token', 'written']);
  // A frame stands for a second of the cluster: afterwards nothing is left, and nothing comes back.
  await page.evaluate(() => {
    window.loopscope.pace('time');
    window.loopscope.speed(10);
  });
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(4);
  await expect(page.locator('.written, .token')).toHaveCount(0);
  await page.setViewportSize({ width: 1300, height: 800 });
  await expect(page.locator('.item[data-kind="Pod"]')).toHaveCount(4);
  await expect(page.locator('.written, .token')).toHaveCount(0);
});
