// The page as one file: opened from a disk with the network off, it plays a lesson to its end, and brings a manifest back.
import { expect, test } from '@playwright/test';
import { pathToFileURL } from 'node:url';

/** Saves the page as one file and opens it from the disk, without a network. */
async function saved(page, browser, info) {
  await page.getByRole('button', { name: 'Embed' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#single').click()]);
  const file = info.outputPath(download.suggestedFilename());
  await download.saveAs(file);
  const context = await browser.newContext({ offline: true });
  const other = await context.newPage();
  const asked = [];
  other.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()); });
  const problems = [];
  other.on('pageerror', (error) => problems.push(error.message));
  other.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  await other.goto(pathToFileURL(file).href);
  await other.waitForFunction(() => window.loopscope?.ready);
  return { other, asked, problems, name: download.suggestedFilename() };
}

test('a lesson saved as one file is taken to its end from a disk', async ({ page, browser }, info) => {
  await page.goto('index.html?lesson=control-loop');
  await expect(page.locator('#lesson')).toBeVisible();
  const { other, asked, problems, name } = await saved(page, browser, info);
  expect(name).toBe('the-control-loop.html');
  const panel = other.locator('#lesson');
  await expect(panel).toContainText('The control loop');
  for (let step = 1; !(await panel.locator('.finish').count()); step++) {
    const phase = await panel.getAttribute('data-phase');
    if (phase === 'asking') await panel.locator('.choice').nth(1).click();
    else if (phase === 'task') await other.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=4'));
    // What is played may be over by then.
    else if (phase === 'playing') await other.evaluate(() => window.loopscope.teach('hurry'));
    else await other.locator('#lesson-next').click({ timeout: 1_000 }).catch(() => {});
    expect(step).toBeLessThan(200);
  }
  await expect(panel.locator('.task')).toContainText('Done:');
  // The panel is drawn as on the page.
  expect(await panel.evaluate((one) => getComputedStyle(one).display)).toBe('flex');
  await other.getByRole('button', { name: '中文' }).click();
  await expect(panel).toContainText('已完成');
  expect([asked, problems]).toEqual([[], []]);
});

test('a manifest saved as one file comes back with its text', async ({ page, browser }, info) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: c, image: nginx}]}\n# </script><!-- `${x}`\n';
  await page.evaluate((text) => window.loopscope.apply(text), text);
  await expect(page.locator('.item[data-name="one"]').first()).toBeVisible();
  const { other, asked, problems } = await saved(page, browser, info);
  expect(await other.evaluate(() => window.loopscope.manifest())).toBe(text);
  await expect(other.locator('.item[data-name="one"]').first()).toBeVisible();
  expect([asked, problems]).toEqual([[], []]);
});
