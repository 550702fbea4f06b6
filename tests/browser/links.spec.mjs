// A link to what one sees.
import { expect, test } from '@playwright/test';
import { settled } from './wait.mjs';

const pods = (page) => page.locator('.item[data-kind="Pod"]');
const share = async (page) => {
  await page.getByRole('button', { name: 'Share' }).click();
  return page.evaluate(() => navigator.clipboard.readText());
};

test('what was done, the instant and the selection are what another reader sees', async ({ page, context }) => {
  await page.goto('index.html');
  await expect(pods(page)).toHaveCount(2);
  // The picture may stand before the module has taken the calls.
  await page.waitForFunction(() => loopscope.ready);
  await page.evaluate(() => { loopscope.pause(); loopscope.seek(5); loopscope.live(); loopscope.kubectl('scale deployment nginx-deployment --replicas=5'); });
  await page.evaluate(() => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:broken'));
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  await pods(page).first().click();
  await settled(page);
  const here = { now: await page.evaluate(() => loopscope.now()), pods: await page.evaluate(() => loopscope.kubectl('get pods -o wide')) };
  const link = await share(page);
  const other = await context.newPage();
  const loads = [];
  other.on('framenavigated', () => loads.push(other.url()));
  await other.goto(link);
  await other.waitForFunction((now) => loopscope.ready && loopscope.now() === now, here.now);
  expect(await other.evaluate(() => loopscope.kubectl('get pods -o wide'))).toBe(here.pods);
  await expect(other.locator('.item.sel, .item[aria-pressed="true"], .item.selected').first()).toBeVisible();
  expect(loads).toHaveLength(1);
  await other.evaluate(() => loopscope.kubectl('rollout undo deployment/nginx-deployment'));
  await other.evaluate(() => loopscope.play());
  await expect.poll(() => other.evaluate(() => loopscope.kubectl('get pods'))).not.toContain('ImagePull');
});

test('the link of a lesson opens the lesson', async ({ page, context }) => {
  await page.goto('index.html?lesson=control-loop');
  await expect(page.locator('#lesson')).toBeVisible();
  const link = await share(page);
  expect(link).toMatch(/\/\?lesson=control-loop$|index\.html\?lesson=control-loop$/);
  const other = await context.newPage();
  await other.goto(link);
  await expect(other.locator('#lesson h2')).toHaveText('The control loop');
});
