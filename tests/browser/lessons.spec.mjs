// Lessons: each played to its end with its right and wrong answers, kept, loaded by a link, and written beside the diagram.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync, readdirSync } from 'node:fs';
import { isProblem, link, sandboxed, settled } from './wait.mjs';

const folder = new URL('../../static/lessons/', import.meta.url);
const text = (name) => readFileSync(new URL(`${name}.yaml`, folder), 'utf8');
const names = readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -5));
const panel = (page) => page.locator('#lesson');
const phase = (page) => panel(page).getAttribute('data-phase');
const next = (page) => page.locator('#lesson-next');
const button = (page, name) => panel(page).getByRole('button', { name, exact: true });

async function open(page, query) {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(panel(page)).toBeVisible();
  return problems;
}

/** Plays what a step plays to its end, as fast as it can. */
async function played(page) {
  await page.evaluate(() => window.loopscope.teach('hurry'));
  // The panel is drawn a moment after the lesson has moved: what it says of the step before counts for nothing.
  await page.waitForFunction(() => {
    const [{ step, phase }, shown] = [window.loopscope.lesson(), document.querySelector('#lesson')];
    return phase !== 'playing' && shown.dataset.phase === phase && Number(shown.querySelector('.row .dim').textContent.match(/\d+/)[0]) === step;
  });
}

/** Takes the step: answers its question, wrongly first, and lets its task be shown. */
async function take(page) {
  await played(page);
  if (await phase(page) === 'asking') {
    const answer = async (at) => {
      const choices = panel(page).locator('.choice');
      if (await choices.count()) {
        await choices.nth(at).click();
      } else {
        await page.locator('#prediction').fill(String(at));
        await page.locator('#prediction').press('Enter');
      }
      await played(page);
      return panel(page).locator('.verdict');
    };
    const verdict = await answer(0);
    await expect(verdict).toBeVisible();
    await expect(verdict).not.toContainText('–');
    const right = panel(page).locator('.choice.right');
    if (await right.count() && !(await right.getAttribute('class')).includes('given')) {
      await expect(verdict).toHaveClass(/wrong/);
      const at = await panel(page).locator('.choice').evaluateAll((all) => all.findIndex((one) => one.classList.contains('right')));
      await panel(page).locator('.again').click();
      await expect(panel(page)).toHaveAttribute('data-phase', 'asking');
      await expect(await answer(at)).toHaveClass(/right/);
    }
  }
  if (await phase(page) === 'task') {
    while (await panel(page).locator('.hints').count()) await panel(page).locator('.hints').click();
    await panel(page).locator('.show').click();
    await played(page);
  }
  await expect(panel(page)).toHaveAttribute('data-phase', 'done');
}

/** What the panel says, in a language. */
async function said(page, language) {
  await page.getByRole('button', { name: language, exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('lang', language === 'English' ? 'en' : 'zh-CN');
  // The document says it first, the panel is drawn after that.
  const told = panel(page).locator('.told');
  if (language === 'English') await expect(told).not.toContainText(/[一-鿿]/);
  else await expect(told).toContainText(/[一-鿿]/);
  return told.innerText();
}

for (const name of names) {
  test(`the lesson ${name} can be taken to its end in both languages`, async ({ page }) => {
    const problems = await open(page, `?lesson=${name}&lang=en`);
    for (let step = 1; ; step++) {
      await take(page);
      const [chinese, english] = [await said(page, '中文'), await said(page, 'English')];
      // No value is missing, and every text is in its language.
      for (const words of [chinese, english]) expect(words).not.toMatch(/\{\{ | \}\}|–|undefined/);
      expect(chinese).toMatch(/[一-鿿]/);
      expect(english).not.toMatch(/[一-鿿]/);
      if (await panel(page).locator('.finish').count()) break;
      await next(page).click();
    }
    await panel(page).locator('.finish').click();
    await expect(panel(page)).toHaveCount(0);
    await page.reload();
    await page.waitForFunction(() => window.loopscope?.ready);
    expect(await page.locator(`select option[value="${name}"]`).first().innerText()).toContain('✓');
    expect(problems).toEqual([]);
  });
}

test('a task is done by a person, a wrong attempt is none, and the keyboard is enough', async ({ page }) => {
  await open(page, '?lesson=control-loop');
  for (let step = 1; step < 4; step++) {
    await played(page);
    if (await phase(page) === 'asking') {
      await panel(page).locator('.choice').nth(1).focus();
      await page.keyboard.press('Enter');
      await played(page);
    }
    await next(page).focus();
    await page.keyboard.press('Enter');
  }
  await expect(panel(page)).toHaveAttribute('data-phase', 'task');
  await page.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=3'));
  await page.evaluate(() => window.loopscope.speed(20));
  await page.waitForFunction((to) => window.loopscope.now() > to, (await page.evaluate(() => window.loopscope.now())) + 10);
  await expect(panel(page)).toHaveAttribute('data-phase', 'task');
  await page.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=4'));
  await expect(panel(page)).toHaveAttribute('data-phase', 'done');
  await expect(panel(page).locator('.task')).toContainText('Done:');
});

test('a lesson is written beside the diagram: what is wrong stands at its line, and a link holds it', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const wrong = text('control-loop').replace('view: ownership', 'view: owners');
  const told = await page.evaluate((text) => window.loopscope.apply(text), wrong);
  expect(told).toMatch(/line \d+: steps\[1\]\.view: no diagram owners/);
  await expect(panel(page)).toHaveCount(0);
  await page.evaluate((text) => window.loopscope.apply(text), text('control-loop'));
  await expect(panel(page)).toContainText('The control loop');
  await page.waitForFunction(() => location.hash.startsWith('#pako:'));
  expect((await link(page)).manifest).toContain('lesson: 1');
  await page.reload();
  await expect(panel(page)).toContainText('The control loop');
  // The text of the lesson stays in the editor.
  await played(page);
  await next(page).click();
  await played(page);
  expect(await page.evaluate(() => window.loopscope.manifest())).toBe(text('control-loop'));
});

test('a lesson takes the place of work only when it is asked to, and can be undone', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
  await page.getByLabel('Example').selectOption('control-loop');
  await expect(page.getByRole('dialog')).toContainText('Begin the lesson The control loop?');
  await page.getByRole('dialog').getByRole('button', { name: 'Begin' }).click();
  await expect(panel(page)).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(panel(page)).toHaveCount(0);
  expect(await page.evaluate(() => window.loopscope.manifest())).toContain('nginx-deployment');
});

test('what a link has done is there before the lesson asks, and stays where it is refused', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=4'));
  await page.getByRole('button', { name: 'Share' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#pako:'));
  const hash = await page.evaluate(() => location.hash);
  expect((await link(page)).history).toBeDefined();
  const other = await page.context().newPage();
  await other.goto(`index.html?lesson=control-loop${hash}`);
  await expect(other.getByRole('dialog')).toContainText('Begin the lesson The control loop?');
  await other.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(panel(other)).toHaveCount(0);
  expect(await other.evaluate(() => window.loopscope.manifest())).toContain('nginx-deployment');
  expect(await other.evaluate(() => window.loopscope.get('Deployment', 'default', 'nginx-deployment').spec.replicas)).toBe(4);
});

for (const [scheme, lang, width, height] of [['light', 'en', 1440, 900], ['dark', 'zh', 390, 844], ['light', 'en', 720, 420]]) {
  test(`axe finds nothing serious in a lesson, ${scheme}, ${lang}, ${width}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    await open(page, `?lesson=control-loop&lang=${lang}`);
    for (let step = 1; step <= 3; step++) {
      await played(page);
      if (await phase(page) === 'asking') {
        await panel(page).locator('.choice').first().click();
        await played(page);
      }
      await settled(page);
      const { violations } = await new AxeBuilder({ page }).include('#lesson').analyze();
      expect(violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html}`)).toEqual([]);
      const box = await panel(page).boundingBox();
      expect(box.x >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1).toBe(true);
      await next(page).click();
    }
  });
}

for (const [lang, title, summary] of [['en', 'The control loop', 'A controller compares what you asked for'], ['zh', '控制回路', '控制器比较期望状态与实际状态']]) {
  test(`what a lesson is about is read while the simulator loads, ${lang}`, async ({ page }) => {
    let go;
    const wait = new Promise((resolve) => (go = resolve));
    await page.route('**/loopscope_bg.wasm', async (route) => {
      await wait;
      await route.continue();
    });
    await page.goto(`index.html?lesson=control-loop&lang=${lang}`);
    const what = page.locator('#boot-what');
    await expect(what).toBeVisible();
    await expect(what.locator('b')).toHaveText(title);
    await expect(what).toContainText(summary);
    go();
    await expect(page.locator('#lesson h2')).toHaveText(title);
  });
}

for (const [query, width] of [['', 1440], ['', 390], ['embed&', 720]]) {
  test(`its page opens with the lesson, not with the example before it, ${query}${width}`, async ({ page }) => {
    await page.addInitScript(() => {
      // What was drawn before the lesson was.
      window.early = [];
      new MutationObserver(() => {
        if (!document.querySelector('#lesson')) window.early.push(...[...document.querySelectorAll('.item[data-kind]')].map((item) => item.dataset.kind));
      }).observe(document, { childList: true, subtree: true });
    });
    let go;
    const wait = new Promise((resolve) => (go = resolve));
    await page.route('**/rest.wasm', async (route) => {
      await wait;
      await route.continue();
    });
    await page.setViewportSize({ width, height: 800 });
    const asked = page.waitForRequest('**/rest.wasm');
    await page.goto(`index.html?${query}lesson=control-loop`);
    await asked;
    if (!query) await expect(page.locator('#boot-what b')).toHaveText('The control loop');
    go();
    await expect(page.locator('#lesson')).toContainText('This manifest asks for two Pods');
    expect(await page.evaluate(() => window.early)).toEqual([]);
  });
}

test('an unknown lesson is said to be none', async ({ page }) => {
  await page.goto('index.html?lesson=nothing');
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(page.getByRole('alert')).toContainText('There is no lesson nothing');
});

test('a lesson in a sandboxed frame', async ({ page }) => {
  const frame = await sandboxed(page, 'index.html?embed&lesson=control-loop&lang=en', 720, 420);
  await expect(frame.locator('#lesson')).toContainText('This manifest asks for two Pods', { timeout: 15_000 });
  await frame.locator('#lesson-next').click();
  await frame.locator('#lesson-next').click();
  await expect(frame.locator('#lesson')).toContainText('2 are ready');
});

test('a lesson is presented large, with the keys of a clicker and notes on another screen', async ({ page }) => {
  await page.goto('index.html?lesson=control-loop');
  const panel = page.locator('#lesson');
  await expect(panel).toBeVisible();
  const size = () => panel.locator('p').first().evaluate((one) => parseFloat(getComputedStyle(one).fontSize));
  const before = await size();
  await page.keyboard.press('p');
  await expect(page.locator('.topbar')).toBeHidden();
  expect(await size()).toBeGreaterThan(before * 1.5);
  const [notes] = await Promise.all([page.waitForEvent('popup'), panel.locator('.notes').click()]);
  await expect(notes.locator('body')).toContainText('1');
  const step = () => panel.locator('.row .dim').first().textContent();
  const first = await step();
  await page.keyboard.press('PageDown');
  await expect.poll(step).not.toBe(first);
  // What is played is over at once.
  await page.keyboard.press('PageDown');
  await expect(panel).toHaveAttribute('data-phase', 'done');
  await expect(notes.locator('body')).toContainText(await step());
  // The question comes next, and the one who asks it is not told the answer.
  await expect(notes.locator('body')).toContainText('Next');
  await page.keyboard.press('PageUp');
  await expect.poll(step).toBe(first);
  await page.keyboard.press('Escape');
  await expect(page.locator('.topbar')).toBeVisible();
  await expect(panel.locator('.notes')).toHaveCount(0);
});

test('progress is saved as a file, with what is kept of other lessons', async ({ page }, info) => {
  await page.addInitScript(() => localStorage.setItem('loopscope.lesson.undo', 'over'));
  await open(page, '?lesson=control-loop');
  await played(page);
  const [download] = await Promise.all([page.waitForEvent('download'), panel(page).getByRole('button', { name: 'Save progress as a file' }).click()]);
  expect(download.suggestedFilename()).toBe('loopscope-progress.json');
  const file = info.outputPath('progress.json');
  await download.saveAs(file);
  const progress = JSON.parse(readFileSync(file, 'utf8'));
  expect(progress).toMatchObject({ loopscope: 'progress', version: 1, lesson: { lesson: 'control-loop', step: 1, steps: 4, over: false }, kept: { undo: 'over' } });
  // As the page around a frame hears it.
  expect(progress.lesson).toEqual(await page.evaluate(() => window.loopscope.lesson()));
});
