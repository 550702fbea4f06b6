import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { paste } from './clipboard.mjs';
import { frames, isProblem, problemsOf, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const box = (page) => page.getByRole('textbox', { name: /Manifest/ });
const text = (page) => page.evaluate(() => window.loopscope.manifest());
const pods = (page) => page.locator('.item[data-kind="Pod"]:not(.ghost)');

/** The page with its code editor, the cursor at the end of a line (from 1). */
async function open(page, line = 0) {
  const problems = problemsOf(page);
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(page.locator('.code.rich .cm-content')).toBeVisible();
  if (line) {
    await box(page).click();
    await page.keyboard.press('Control+Home');
    for (let at = 1; at < line; at++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
  }
  return problems;
}

test('the code editor takes the place of the text area and keeps what was typed, the focus and the selection', async ({ page }) => {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  await page.route('**/editor.js', async (route) => { await new Promise((go) => setTimeout(go, 1500)); await route.continue(); });
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const area = page.locator('#manifest textarea');
  await area.press('Control+End');
  await page.keyboard.type('# typed early');
  await expect(page.locator('.code.rich .cm-content')).toBeVisible();
  await expect(area).toHaveCount(0);
  await page.keyboard.type(', and late');
  await expect.poll(() => text(page)).toBe(`${example('deployment')}# typed early, and late`);
  expect(problems).toEqual([]);
});

test('what is wrong is told while one types, under its characters, and mended by a click', async ({ page }) => {
  const problems = await open(page, 9);
  await page.keyboard.press('Enter');
  await page.keyboard.type('replica: 3');
  // Nothing opens beside the cursor, unless it is asked for.
  await expect(page.locator('#manifest .count')).toHaveText('1 problem');
  await expect(page.locator('.ls-says')).toHaveCount(0);
  await page.locator('#manifest .count').click();
  await expect(page.locator('.ls-says')).toContainText('unknown field "spec.replica"');
  await page.keyboard.press('Control+Home');
  await expect(page.locator('.cm-lintRange-error')).toHaveText('replica');
  await expect(page.locator('.ls-says')).toContainText('unknown field "spec.replica"');
  await expect(page.locator('#manifest .pill')).toHaveText('Edited');
  await expect(pods(page)).toHaveCount(2);
  await box(page).fill(example('deployment').replace('replicas: 2', 'replica: 4'));
  await page.keyboard.press('Control+Home');
  await expect(page.locator('.cm-line', { has: page.locator('.cm-lintRange-error') })).toHaveText('  replica: 4');
  await page.locator('.ls-says').getByRole('button', { name: 'replicas' }).click();
  await expect.poll(() => text(page)).toBe(example('deployment').replace('replicas: 2', 'replicas: 4'));
  await expect(pods(page)).toHaveCount(4);
  expect(problems).toEqual([]);
});

test('lines that differ are coloured wherever one scrolls to in a long manifest', async ({ page }) => {
  await open(page);
  await paste(page, Array.from({ length: 900 }, (_, at) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-${at}}\n`).join(''));
  const line = (at) => page.locator('.cm-line', { hasText: new RegExp(`map-${at}\\b`) });
  await expect(page.locator('.cm-line.ls-hot').first()).toBeVisible();
  for (const [share, at] of [[1, 899], [0, 0], [0.5, 450], [1, 899]]) {
    await page.locator('.cm-scroller').evaluate((scroller, share) => { scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight); }, share);
    await expect(line(at)).toHaveClass(/ls-hot/);
  }
});

test('that Apply takes a scaling back is told while another line is edited, and once it has', async ({ page }) => {
  await open(page);
  await page.evaluate(() => window.loopscope.kubectl('scale deployment/nginx-deployment --replicas=4'));
  const drift = page.locator('#drift');
  await expect(drift).toHaveText('differs: replicas');
  await box(page).fill(example('deployment').replace('nginx:1.7.9', 'nginx:1.27'));
  await expect(page.locator('#manifest .pill')).toHaveText(['Edited', 'differs: replicas']);
  await page.keyboard.press('Control+Enter');
  await expect(drift).toHaveCount(0);
  await expect(page.locator('.toast.said')).toHaveText(/configured: replicas 4 → 2, image nginx:1.7.9 → nginx:1.27$/);
});

test('what Apply would change is told field by field, and Apply does it', async ({ page }) => {
  await open(page);
  await box(page).fill(`${example('deployment').replace('replicas: 2', 'replicas: 3')}---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: nginx}, ports: [{port: 80}]}\n`);
  const head = page.locator('#plan');
  await expect(head).toContainText('1 created, 1 configured');
  await head.click();
  const list = page.getByRole('list', { name: 'Changes that Apply would make' });
  await expect(list.locator('li').first()).toContainText('spec.replicas2 → 3');
  await expect(list.locator('li').nth(1)).toContainText('Service');
  expect(await page.evaluate(() => window.loopscope.get('Service', 'default', 'web'))).toBe(null);
  // Also from the list of changes.
  await head.press('Control+Enter');
  await expect(page.locator('#manifest .pill')).toHaveText('Applied');
  await expect(head).toHaveCount(0);
  await expect(pods(page)).toHaveCount(3);
  expect(await page.evaluate(() => window.loopscope.get('Service', 'default', 'web').spec.ports[0].port)).toBe(80);
});

test('fields are completed and explained from the schema', async ({ page }) => {
  await open(page, 11);
  await page.keyboard.press('Enter');
  await page.keyboard.type('anno');
  await expect(page.locator('.cm-tooltip-autocomplete li')).toHaveText(/annotations.*map of string/);
  // CodeMirror takes no key for 75 ms after a list has come.
  await frames(page, 10);
  await page.keyboard.press('Enter');
  await page.keyboard.type('note: a');
  expect(await text(page)).toContain('      annotations:\n        note: a\n');
  await page.locator('.cm-line', { hasText: 'containers' }).getByText('containers').hover();
  await expect(page.locator('.ls-about')).toContainText('spec.template.spec.containers');
  await expect(page.locator('.ls-about')).toContainText('[]Container, required');
});

test('sections fold, Ctrl+F searches in the text, and the page\'s keys rest', async ({ page }) => {
  await open(page, 1);
  await page.locator('.cm-foldGutter .cm-gutterElement', { hasText: '⌄' }).first().click({ force: true });
  await expect(page.locator('.cm-foldPlaceholder')).toHaveCount(1);
  await page.locator('.cm-foldPlaceholder').click();
  await box(page).click();
  await page.keyboard.press('Control+f');
  await expect(page.locator('.cm-search')).toBeVisible();
  await page.keyboard.type('3');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('image');
  await expect(page.locator('.cm-searchMatch')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(page.locator('.cm-search')).toHaveCount(0);
  await expect(page.getByRole('tab', { name: 'Ownership' })).toHaveAttribute('aria-selected', 'true');
});

test('the keyboard: Tab indents, Escape and Tab leave, F6 comes back', async ({ page }) => {
  await open(page, 21);
  const before = await text(page);
  await page.keyboard.press('Tab');
  await expect(box(page)).toBeFocused();
  expect(await text(page)).not.toBe(before);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(box(page)).not.toBeFocused();
  for (let i = 0; i < 5 && !(await box(page).evaluate((element) => element === element.getRootNode().activeElement)); i++) await page.keyboard.press('F6');
  await expect(box(page)).toBeFocused();
});

test('where the editor\'s file cannot be had, the text area stays and works', async ({ page }) => {
  await page.route('**/editor.js', (route) => route.abort());
  const refused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('editor.js'));
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await refused;
  const area = page.locator('#manifest textarea');
  await area.fill(example('deployment').replace('replicas: 2', 'replicas: 3'));
  await expect(page.locator('#plan')).toContainText('1 configured');
  await area.press('Control+Enter');
  await expect(pods(page)).toHaveCount(3);
});

test('in a sandboxed frame the editor works as well', async ({ page }) => {
  const failed = [];
  page.on('console', (message) => { if (message.type() === 'error' && /Content Security/.test(message.text())) failed.push(message.text()); });
  await page.goto('course-page.html');
  await page.evaluate(() => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.width = 1300; frame.height = 800; frame.id = 'whole'; frame.src = 'index.html';
    document.body.prepend(frame);
  });
  await page.locator('#whole').scrollIntoViewIfNeeded();
  const frame = page.frameLocator('#whole');
  await expect(frame.locator('.code.rich .cm-line').first()).toHaveText('apiVersion: apps/v1');
  expect(failed).toEqual([]);
});

for (const scheme of ['light', 'dark']) {
  test(`axe finds nothing serious in the editor, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await open(page);
    await box(page).fill(`${example('deployment').replace('replicas: 2', 'replica: 4')}# true, 1, 50%\n---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: c}\n`);
    await page.keyboard.press('Control+Home');
    await page.locator('#plan').click();
    await expect(page.locator('.ls-says')).toHaveCount(2);
    await settled(page);
    const found = await new AxeBuilder({ page }).analyze();
    expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join('; ')}`)).toEqual([]);
  });
}

for (const plain of [false, true]) {
  test(`Tab leaves the ${plain ? 'text area' : 'code editor'} after Escape and changes nothing, and a hint says so`, async ({ page }) => {
    if (plain) await page.goto('index.html?editor=plain');
    else await open(page);
    await page.waitForFunction(() => window.loopscope?.ready);
    const hint = page.locator('#manifest .leave');
    await expect(hint).toBeHidden();
    const area = plain ? page.locator('#manifest textarea') : page.locator('.cm-content');
    await area.click();
    await expect(hint).toBeVisible();
    await expect(hint).toHaveText('Press Esc, then Tab, to leave the editor');
    const before = await text(page);
    await page.keyboard.press('Escape');
    // However long one waits: CodeMirror itself forgets it after two seconds.
    await page.evaluate(() => { const now = Date.now; Date.now = () => now() + 60_000; });
    await page.keyboard.press('Tab');
    await expect(hint).toBeHidden();
    expect(await page.evaluate(() => !!document.activeElement.closest('.code'))).toBe(false);
    expect(await text(page)).toBe(before);
  });
}

test('a large manifest is coloured where it is in sight, and once it is small again', async ({ page }) => {
  await open(page);
  const some = (keys) => Array.from({ length: keys }, (_, at) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c${at}}\n`).join('---\n');
  // Each line in sight with words has a colour.
  const plain = () => box(page).evaluate((content) => [...content.querySelectorAll('.cm-line')].filter((line) => {
    const [box, frame] = [line, content.parentElement].map((one) => one.getBoundingClientRect());
    return box.bottom > frame.top && box.top < frame.bottom && line.textContent.includes(':') && !line.querySelector('span');
  }).length);
  const everywhere = async () => {
    for (const share of [0, 0.5, 0.99, 0.2]) {
      await page.locator('.cm-scroller').evaluate((scroller, share) => { scroller.scrollTop = scroller.scrollHeight * share; }, share);
      await expect.poll(plain).toBe(0);
    }
  };
  for (const text of [some(5000), `apiVersion: v1\nkind: List\nitems:\n${Array.from({ length: 9000 }, (_, at) => `- kind: ConfigMap\n  metadata: {name: c${at}}\n`).join('')}`, some(3000)]) {
    expect(text.length > 200_000).toBe(text !== some(3000));
    await paste(page, text);
    await everywhere();
  }
});
