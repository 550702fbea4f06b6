// A control loop that is a program: its problems while typing, completion, the steps of a pass, breakpoints on lines, its lane.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { frames, problemsOf } from './wait.mjs';

const loop = `apiVersion: loopscope.dev/v1
kind: ControlLoop
metadata: {name: keep-pods}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  owns:
  - {apiVersion: v1, kind: Pod}
  program: |
    def reconcile(key):
        config = get("ConfigMap", key)
        if not config or not config.data or not config.data.pods: return
        desired = int(config.data.pods)
        current = list("Pod", owner=config)
        for n in range(len(current), desired):
            pod = {"kind": "Pod", "metadata": {"generateName": key.name + "-"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
            check(create(set_owner(pod, config)))
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {pods: "2"}
`;
const box = (page) => page.getByRole('textbox', { name: /Manifest/ });
const pods = (page) => page.locator('.item[data-kind="Pod"]:not(.ghost)');

async function open(page, query = '') {
  const problems = problemsOf(page);
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(page.locator('.code.rich .cm-content')).toBeVisible();
  return problems;
}

async function choose(page) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('6');
  await page.locator('.item[data-kind="Loop"]', { hasText: 'keep-pods' }).first().click();
  return page.locator('#inspector');
}

test('a problem of the program is told at its line of the manifest while one types', async ({ page }) => {
  const problems = await open(page);
  await box(page).fill(loop.replace('desired = int(', 'desired = itn('));
  await expect(page.locator('#manifest .count')).toHaveText('1 problem');
  await expect(page.locator('.cm-lintRange-error')).toHaveText('itn');
  await box(page).fill(loop.replace('get("ConfigMap", key)', 'get("ConfigMap", key'));
  await expect(page.locator('.cm-line', { has: page.locator('.cm-lintRange-error') }).first()).toContainText(/config = get|if not config/);
  await box(page).fill(loop);
  await expect(page.locator('#manifest .count')).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('functions of the cluster are completed', async ({ page }) => {
  await open(page);
  await box(page).fill(`${loop.split('            check(')[0]}            set_o`);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('w');
  await expect(page.locator('.cm-tooltip-autocomplete li').first()).toContainText('set_owner');
  await frames(page, 10);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => window.loopscope.manifest())).toContain('set_owner');
});

for (const [lang, into] of [['en', 'Step through the pass'], ['zh', '逐行查看这一轮']]) {
  test(`a pass is stepped through, and a line stops the clock, ${lang}`, async ({ page }) => {
    const problems = await open(page, `?lang=${lang}`);
    await page.evaluate((text) => window.loopscope.apply(text), loop);
    await expect(pods(page)).toHaveCount(2);
    const inspector = await choose(page);
    await page.evaluate(() => window.loopscope.pause());
    await expect(inspector.locator('#step-into')).toHaveText(into);
    await inspector.locator('#step-into').click();
    // Forwards and back, by buttons and keys; the value of a name is that of its line.
    const here = inspector.locator('li.lit');
    await expect(here).toHaveCount(1);
    const first = await here.innerText();
    await inspector.locator('#step-line').click();
    await inspector.locator('#step-line').click();
    await expect(here).not.toHaveText(first);
    await expect(inspector.locator('.program dl')).toContainText('config');
    await inspector.locator('.program').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await here.innerText()).toBe(first);
    const found = await new AxeBuilder({ page }).include('#inspector').analyze();
    expect(found.violations.map((one) => one.id)).toEqual([]);
    await inspector.locator('#step-out').click();
    // A breakpoint on the line that creates.
    await inspector.locator('.line').nth(7).click();
    await expect(inspector.locator('.line').nth(7)).toHaveAttribute('aria-pressed', 'true');
    await page.evaluate(() => window.loopscope.play());
    await page.evaluate(() => window.loopscope.kubectl('delete pod --all --wait=false'));
    await expect(page.locator('.live.rew').first()).toBeVisible();
    await expect(inspector.locator('li.lit')).toContainText('check(create');
    await page.evaluate(() => window.loopscope.pause());
    expect(problems).toEqual([]);
  });
}
