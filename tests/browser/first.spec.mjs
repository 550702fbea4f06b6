// The first minute: what the page offers, how it goes on by itself, and how a person's own manifest takes its place.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { frames, problemsOf, settled } from './wait.mjs';

// A first visit: the other tests are those of a reader who has closed the suggestions.
test.use({ storageState: { cookies: [], origins: [] } });

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const pods = (page) => page.locator('.item[data-kind="Pod"]:not(.ghost)');
const offers = (page) => page.locator('.offers > div');
const kubectl = (page, line) => page.evaluate((line) => window.loopscope.kubectl(line), line);
const manifest = (page) => page.getByRole('textbox', { name: /Manifest/ });
const config = (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

async function open(page, query = '') {
  const problems = problemsOf(page);
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  return problems;
}

/** Until the clock of the page shows so many seconds. */
const until = (page, seconds) => page.waitForFunction((seconds) => window.loopscope.now() >= seconds, seconds);

for (const [name, width, height] of [['a screen', 1440, 900], ['a phone', 390, 844], ['a low window', 720, 420]]) {
  test(`the page says what it is and what to try, and does not move the diagram for it, on ${name}`, async ({ page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    const problems = await open(page);
    await expect(offers(page)).toContainText("runs Kubernetes' control loops in your browser");
    await expect(offers(page).getByRole('group').getByRole('button')).toHaveText(['Scale it to 4 Pods', 'Break its image', 'Delete a Pod']);
    // The sentence has the width of the card.
    const [card, sentence] = await offers(page).evaluate((card) => [card, card.querySelector('p')].map((one) => one.getBoundingClientRect().width));
    expect(sentence).toBeGreaterThan(card * 0.7);
    await settled(page);
    const place = () => page.locator('#stage').evaluate((stage) => JSON.stringify(stage.getBoundingClientRect()));
    const before = await place();
    await offers(page).getByRole('button', { name: 'Hide these suggestions' }).click();
    await expect(offers(page)).toHaveCount(0);
    expect(await place()).toBe(before);
    // Closed once, it stays away; the help has it.
    await page.reload();
    await page.waitForFunction(() => window.loopscope?.ready);
    await frames(page, 10);
    await expect(offers(page)).toHaveCount(0);
    if (width < 768) await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Help' }).click();
    const help = page.getByRole('dialog', { name: 'Help' });
    await expect(help).toContainText("runs Kubernetes' control loops in your browser");
    // A phone has no keyboard to name keys of: there it is open.
    if (width >= 768) await help.getByText('Glossary').click();
    await expect(help.getByText('desired state', { exact: true })).toBeVisible();
    await help.getByText('What is simulated').click();
    await expect(help.getByRole('row', { name: /Kinds stored, not acted on .*FlowSchema/ })).toBeVisible();
    expect(await help.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await help.getByRole('button', { name: 'Scale it to 4 Pods' }).click();
    await expect(help).toHaveCount(0);
    await expect(pods(page)).toHaveCount(4);
    expect(problems).toEqual([]);
  });
}

test('the opening example goes on until a person acts, and then never again', async ({ page }) => {
  test.slow(); // the causal pace takes its time
  await open(page);
  const marks = () => pods(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label').split(',')[0]).join());
  await until(page, 7);
  const before = await marks();
  await until(page, 10);
  expect(await marks()).not.toBe(before);
  await expect(offers(page)).toBeVisible();
  await page.getByRole('button', { name: 'Delete a Pod' }).click();
  await expect(offers(page)).toHaveCount(0);
  const now = await page.evaluate(() => window.loopscope.now());
  await until(page, now + 4);
  const after = await marks();
  await until(page, now + 12);
  expect(await marks()).toBe(after);
});

test('the first visit shows each pass before the next, at a pace that can be left', async ({ page }) => {
  await open(page);
  const pace = page.getByRole('button', { name: 'By cause' });
  await expect(pace).toHaveAttribute('aria-pressed', 'true');
  // Sentences of the passes that lead to the first Pod, as they are shown.
  const told = new Set();
  await page.exposeFunction('tell', (text) => told.add(text.replace(/^.* later:/, '').trim().split(' ')[0]));
  await page.evaluate(() => setInterval(() => window.tell(document.querySelector('.told-step')?.innerText ?? ''), 30));
  await expect(pods(page)).toHaveCount(2);
  const loops = ['deployment-controller:', 'replicaset-controller:', 'default-scheduler:', 'kubelet'];
  await expect.poll(() => loops.filter((loop) => !told.has(loop))).toEqual([]);
  await page.keyboard.press('c');
  await expect(pace).toHaveAttribute('aria-pressed', 'false');
  const now = await page.evaluate(() => window.loopscope.now());
  await page.waitForTimeout(2_000);
  expect(await page.evaluate(() => window.loopscope.now())).toBeGreaterThan(now + 1);
});

test('on a phone the pace of the first visit can be left too', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await expect(offers(page)).toBeVisible();
  await page.locator('#more').click();
  const pace = page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'By cause' });
  await expect(pace).toHaveAttribute('aria-pressed', 'true');
  await pace.click();
  await page.locator('#more').click();
  await expect(pace).toHaveAttribute('aria-pressed', 'false');
});

test('in Loops a write is seen to travel, and so are the events that it causes', async ({ page }) => {
  const seen = new Set();
  await page.exposeFunction('see', (path) => seen.add(path));
  await page.addInitScript(() => addEventListener('animationstart', (event) => event.animationName === 'carry' && window.see(event.target.style.offsetPath), true));
  await open(page, '?view=loops');
  await expect.poll(() => seen.size).toBeGreaterThan(5);
  // With less motion the lines alone say it.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect(page.locator('.edge.writes')).toHaveCount(1);
  await expect(page.locator('.offers')).toBeVisible();
  const [card, wheel] = [await page.locator('.offers').boundingBox(), await page.locator('#stage').boundingBox()];
  expect(card.y + card.height).toBeLessThanOrEqual(wheel.y + 1);
});

test('neither an embed nor a link has suggestions or moves by itself', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'Share' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#pako:'));
  const hash = await page.evaluate(() => location.hash);
  for (const query of ['?embed&autoplay=1', hash]) {
    await page.goto('about:blank');
    await open(page, query);
    await until(page, 5);
    const before = await kubectl(page, 'get pods -o name');
    await until(page, 12);
    await expect(offers(page)).toHaveCount(0);
    expect(await kubectl(page, 'get pods -o name')).toBe(before);
  }
});

test('the example of a rolling update rolls, and the load of the autoscaler is a slider', async ({ page }) => {
  await open(page);
  const picker = page.getByRole('combobox', { name: 'Example' });
  await picker.selectOption({ label: 'Rolling update' });
  await expect(page.locator('.item[data-kind="ReplicaSet"]:not(.ghost)')).toHaveCount(2);
  await picker.selectOption({ label: 'Autoscaler' });
  const slider = page.getByRole('slider', { name: 'CPU load of app=shop' });
  await expect(slider).toHaveValue('0');
  await until(page, 3);
  await slider.fill('900');
  await expect(page.locator('.load b')).toHaveText('900m');
  await page.evaluate(() => window.loopscope.speed(50));
  await expect(pods(page)).toHaveCount(8);
});

test('a pasted manifest takes the place of the example, and what leaves it later is kept or deleted as chosen', async ({ page }) => {
  const problems = await open(page, '?editor=plain');
  await manifest(page).fill(`${config('a')}---\n${config('b')}`);
  await expect(page.locator('.prune')).toHaveText('Apply replaces the example and starts with an empty cluster');
  await page.getByRole('button', { name: /^Apply/ }).click();
  await expect(page.locator('#manifest .pill')).toHaveText('Applied');
  expect(await kubectl(page, 'get deployments')).toContain('No resources found');
  await manifest(page).fill(config('b'));
  const left = page.getByRole('group', { name: '1 object is no longer in the manifest' });
  await expect(left).toContainText('ConfigMap a');
  await left.getByLabel('Delete').check();
  await page.getByRole('button', { name: /^Apply/ }).click();
  await expect(left).toHaveCount(0);
  await expect.poll(() => kubectl(page, 'get configmaps -o name')).not.toContain('configmap/a');
  expect(await kubectl(page, 'get configmaps -o name')).toContain('configmap/b');
  expect(problems).toEqual([]);
});

test('starting over and opening an example ask where there is work to lose, and can be undone', async ({ page }) => {
  await open(page, '?editor=plain');
  const picker = page.getByRole('combobox', { name: 'Example' });
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await kubectl(page, 'scale deployment nginx-deployment --replicas=5');
  await expect(pods(page)).toHaveCount(5);
  await picker.selectOption({ label: 'StatefulSet storage' });
  const ask = page.getByRole('dialog', { name: 'Open the example StatefulSet storage?' });
  await expect(ask).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(ask).toHaveCount(0);
  await expect(picker.locator('option:checked')).toHaveText('Deployment');
  await expect(pods(page)).toHaveCount(5);
  const before = await page.evaluate(() => { window.loopscope.pause(); return window.loopscope.now(); });
  await picker.selectOption({ label: 'StatefulSet storage' });
  await ask.getByRole('button', { name: 'Open example' }).click();
  await expect(page.locator('.item[data-kind="StatefulSet"]').or(page.locator('.item[data-name="web-0"]')).first()).toBeVisible();
  await expect(picker.locator('option:checked')).toHaveText('StatefulSet storage');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(pods(page)).toHaveCount(5);
  await expect(picker.locator('option:checked')).toHaveText('Deployment');
  expect(await page.evaluate(() => window.loopscope.now())).toBe(before);
  expect(await page.evaluate(() => window.loopscope.manifest())).toBe(example('deployment'));
  await expect(page.locator('.toast.undo')).toHaveCount(0);
});

test('the history has one menu, which closes with Escape and after a choice', async ({ page }) => {
  await open(page);
  await page.evaluate(() => window.loopscope.pause());
  const history = page.getByRole('button', { name: 'History', exact: true });
  await history.click();
  const menu = page.getByRole('group', { name: 'History' });
  await expect(menu).toContainText('Change something in the past to start a second branch');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  await expect(history).toBeFocused();
  await page.keyboard.press('Enter');
  await menu.getByRole('button', { name: 'Breakpoints' }).click();
  await expect(menu).toHaveCount(0);
  await expect(page.getByRole('dialog', { name: 'Pause when' })).toBeVisible();
  await expect(history).toBeFocused();
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing serious in what is offered, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await open(page, '?editor=plain');
    const look = async () => {
      await settled(page);
      const found = await new AxeBuilder({ page }).analyze();
      expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join('; ')}`)).toEqual([]);
    };
    await expect(offers(page)).toBeVisible();
    // axe measures over hundreds of milliseconds: nothing may change meanwhile.
    await page.evaluate(() => window.loopscope.pause());
    await page.getByRole('button', { name: 'History', exact: true }).click();
    await look();
    await page.getByRole('button', { name: 'Help' }).click();
    for (const part of ['Glossary', 'What is simulated']) await page.getByText(part, { exact: true }).click();
    await look();
  });
}
