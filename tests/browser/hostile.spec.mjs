// Text of a person stays text, in every field that holds any: in the diagrams, the inspector, the console, a lesson, the presenter's window and
// in what is saved.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { strFromU8, unzipSync } from 'fflate';

const bad = '<img src=x onerror="window.hit=1"></title><script>window.hit=2</script>';
const quoted = JSON.stringify(bad);
const manifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: words, annotations: {a: ${quoted}}}
data: {page: ${quoted}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, annotations: {kubernetes.io/change-cause: ${quoted}}}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}, annotations: {a: ${quoted}}}
    spec:
      containers:
      - {name: web, image: nginx, command: [sh, -c, ${JSON.stringify(`echo '${bad}'; sleep infinity`)}], env: [{name: A, value: ${quoted}}]}
---
apiVersion: v1
kind: Service
metadata: {name: shop, annotations: {a: ${quoted}}}
spec: {selector: {app: shop}, ports: [{port: 80}]}
# ${bad}
`;
const text = JSON.stringify({ en: bad, zh: bad });
const lesson = `lesson: 1
title: ${text}
summary: ${text}
steps:
- say: ${text}
  notes: ${text}
- say: ${text}
  notes: ${text}
  do: [{apply: ${JSON.stringify(manifest)}}, {wait: settled}]
  predict:
    ask: ${text}
    choices: [{say: ${text}, if: "ready(shop) == 2"}, {say: ${text}, if: "ready(shop) != 2"}]
    because: ${text}
- say: ${text}
  task: {goal: ${text}, check: "replicas(shop) == 3", hints: [${text}], solution: [{kubectl: scale deployment shop --replicas=3}]}
- say: ${text}
`;

/** Notes what would have run. */
const watch = (context) => context.addInitScript(() => {
  window.refused = [];
  addEventListener('securitypolicyviolation', (event) => window.refused.push(event.blockedURI));
});
/** What became an element, or was about to run. */
const found = (page) => page.evaluate(() => ({
  hit: window.hit ?? 0, refused: window.refused.filter((one) => one === 'inline').length,
  elements: document.querySelectorAll('img[src="x"], img[onerror]').length + [...document.scripts].filter((one) => one.textContent.includes('window.hit=2') && one.textContent.length < 100).length,
}));
const none = { hit: 0, refused: 0, elements: 0 };

test.beforeEach(({ context }) => watch(context));

test('in manifests', async ({ page }) => {
  test.setTimeout(120_000);
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate((text) => window.loopscope.apply(text), manifest);
  await page.waitForFunction(() => window.loopscope.get('Deployment', 'default', 'shop')?.status?.readyReplicas === 2);
  await page.evaluate(() => window.loopscope.pause());
  for (const view of ['ownership', 'nodes', 'network', 'storage', 'rollout', 'loops']) {
    await page.evaluate((view) => window.loopscope.view(view), view);
    const items = page.locator('.world .item[tabindex]');
    for (let at = 0; at < Math.min(await items.count(), 6); at++) {
      await items.nth(at).focus();
      await page.keyboard.press('Enter');
      for (const tab of await page.locator('[role=tab]').all()) await tab.click();
    }
    expect(await found(page), view).toEqual(none);
  }
  await page.keyboard.press('`');
  const answers = [];
  for (const line of ['get configmap words -o yaml', 'describe deployment shop', 'describe pods', 'rollout history deployment shop', 'logs deploy/shop', `annotate pods --all b='${bad}'`,
    `get pods '${bad}'`, `create configmap more --from-literal=a='${bad}'`, 'get cm more -o yaml']) {
    answers.push(await page.evaluate((line) => window.loopscope.kubectl(line), line));
  }
  // It is there, as text.
  expect(answers.filter((answer) => answer.includes('<img src=x onerror=')).length).toBeGreaterThan(3);
  await expect(page.getByRole('log', { name: 'Output' })).toContainText('<img src=x');
  expect(await found(page)).toEqual(none);
});

test('in lessons, the presenter\'s window, and what is saved', async ({ page, browser }, info) => {
  test.setTimeout(120_000);
  await page.goto('index.html?lang=zh');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate((text) => window.loopscope.load(text), lesson);
  const panel = page.locator('#lesson');
  await expect(panel.locator('h2')).toHaveText(bad);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('p');
  const [notes] = await Promise.all([page.waitForEvent('popup'), panel.locator('.notes').click()]);
  for (let turn = 0; !(await panel.locator('.finish').count()); turn++) {
    const phase = await panel.getAttribute('data-phase');
    expect(await found(page), phase).toEqual(none);
    if (phase === 'asking') await panel.locator('.choice').first().click();
    else if (phase === 'task') {
      while (await panel.locator('.hints').count()) await panel.locator('.hints').click();
      await page.evaluate(() => window.loopscope.kubectl('scale deployment shop --replicas=3'));
    } else if (phase === 'playing') await page.evaluate(() => window.loopscope.teach('hurry'));
    else await page.locator('#lesson-next').click({ timeout: 1_000 }).catch(() => {});
    expect(turn).toBeLessThan(300);
  }
  expect(await found(page)).toEqual(none);
  expect(await notes.evaluate(() => [document.querySelectorAll('img, script').length, document.body.textContent.includes('<img src=x')])).toEqual([0, true]);

  await page.keyboard.press('p');
  await page.getByRole('button', { name: '嵌入' }).click();
  const [single] = await Promise.all([page.waitForEvent('download'), page.locator('#single').click()]);
  const file = info.outputPath('single.html');
  await single.saveAs(file);
  const [zip] = await Promise.all([page.waitForEvent('download'), page.locator('#scorm').click()]);
  const packed = unzipSync(readFileSync(await zip.path()));
  const parsed = await page.evaluate((text) => {
    const document = new DOMParser().parseFromString(text, 'application/xml');
    return [document.querySelectorAll('parsererror, img, script').length, document.getElementsByTagName('title')[0].textContent];
  }, strFromU8(packed['imsmanifest.xml']));
  expect(parsed).toEqual([0, bad]);
  const other = await (await browser.newContext({ offline: true })).newPage();
  await watch(other.context());
  await other.goto(`file://${file}`);
  await expect(other.locator('#lesson h2')).toHaveText(bad);
  expect(await other.evaluate(() => [document.title, window.hit ?? 0, document.querySelectorAll('img[src="x"]').length])).toEqual([expect.stringContaining('<img src=x'), 0, 0]);
  await other.context().close();
});
