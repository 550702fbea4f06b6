// The control loops beside a program that only reacts to events: one clock, the same actions and faults.
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { forward } from './wait.mjs';

/** The Pods that are drawn on the left and on the right, by their state. */
const pods = (page) => page.locator('.side').evaluateAll((sides) => sides.map((side) => side.querySelectorAll('.item[data-kind="Pod"][data-state="ready"]').length));

async function beside(page) {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.pause());
  await forward(page, 5);
  await page.getByRole('button', { name: 'History', exact: true }).click();
  await page.locator('#event-driven').click();
  await expect(page.locator('.side h2')).toContainText(['Control loop', 'Event-driven']);
  await expect.poll(() => pods(page)).toEqual([2, 2]);
}

for (const [experiment, left, right] of [['Delete a Pod', 2, 2], ['…and lose the event', 2, 1], ['…and deliver it twice', 2, 3], ['…10 s late', 2, 2], ['…and restart', 2, 1]]) {
  test(`${experiment}: ${left} Pods on the left, ${right} on the right`, async ({ page }) => {
    await beside(page);
    await page.locator('.experiments').getByRole('button', { name: experiment, exact: true }).click();
    await forward(page, 30);
    await expect.poll(() => pods(page)).toEqual([left, right]);
  });
}

test('the machine is found by keyboard and axe, and ends', async ({ page }) => {
  await beside(page);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
  await page.locator('#end-machine').focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.side')).toHaveCount(0);
});
