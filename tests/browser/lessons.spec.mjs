// Lessons: each played to its end with its right and wrong answers, kept, loaded by a link, and written beside the diagram.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { inLanguage, learn, lesson, names, next, open, panel, pass, phase, played, still, text } from './lesson-play.mjs';
import { link, sandboxed, settled } from './wait.mjs';

/** A number that no lesson has for an answer. */
const NEVER = 997;

/** Gives an answer, by the place of a choice or as a number, and waits until the step has shown what comes of it. */
async function answer(page, given) {
  const choices = panel(page).locator('.choice');
  if (await choices.count()) {
    await choices.nth(given).click({ force: true });
  } else {
    // Nothing of the question before it.
    await expect(page.locator('#prediction')).toHaveValue('');
    await page.locator('#prediction').fill(String(given));
    await page.locator('#prediction').press('Enter');
  }
  await played(page);
}

/** The right answer, once the panel has told it. */
async function told(page) {
  const choices = await panel(page).locator('.choice').evaluateAll((all) => all.map((one) => one.classList.contains('right')));
  if (choices.length === 0) return Number((await panel(page).locator('.verdict b').textContent()).match(/\d+/g).find((number) => Number(number) !== NEVER));
  expect(choices.filter(Boolean)).toHaveLength(1);
  return choices.indexOf(true);
}

/** The step from its beginning. */
async function again(page, asks) {
  await panel(page).locator('.again').click({ force: true });
  if (asks) await expect(panel(page)).toHaveAttribute('data-phase', 'asking');
  else await played(page);
}

/** Answers the question of a step, wrongly and then rightly; returns the right answer. */
async function predict(page, lang, { because }) {
  await inLanguage(page, lang);
  const verdict = panel(page).locator('.verdict');
  const explained = async () => {
    await inLanguage(page, lang);
    // Where nothing more is said about the answer, the caption explains it.
    const reasons = verdict.locator('p:not(:has(> b))');
    await expect(reasons).toHaveCount(because ? 1 : 0);
    for (const words of await panel(page).locator('.verdict p, .told > p').allTextContents()) expect(words.trim()).not.toBe('');
    await expect(panel(page).locator('.told > p')).toHaveCount(1);
  };
  // A choice may be the right one: then it is given first, and another is wrong.
  const some = await panel(page).locator('.choice').count() ? 0 : NEVER;
  await answer(page, some);
  const right = await told(page);
  if (right === some) {
    await again(page, true);
    await answer(page, some + 1);
  }
  await expect(verdict).toHaveClass('verdict wrong');
  await explained();
  await again(page, true);
  await answer(page, right);
  await expect(verdict).toHaveClass('verdict right');
  await explained();
  return right;
}

/** The name that a placeholder of a line stands for. */
async function resolved(page, line) {
  const pods = line.includes('{{') ? (await page.evaluate(() => window.loopscope.kubectl('get pods -o name --sort-by=.metadata.creationTimestamp'))).split('\n') : [];
  return line.replace(/\{\{pod:([^:}]+):(\d+)\}\}/g, (_, prefix, at) => pods.map((one) => one.replace('pod/', '')).filter((one) => one.startsWith(prefix))[at]);
}

/** Does what a way to do a task says; what comes of it. */
async function go(page, actions) {
  for (const { apply, kubectl, fault, wait } of actions) {
    if (wait) await pass(page, wait);
    else if (apply) await page.evaluate((text) => window.loopscope.apply(text), apply);
    else if (fault) await page.evaluate((line) => window.loopscope.fault(line), fault);
    else await page.evaluate((line) => window.loopscope.kubectl(line), await resolved(page, kubectl));
  }
  await still(page);
  return phase(page);
}

/** Does the task of a step: in the wrong way, in the other right way and in the right one. */
async function accomplish(page, lang, { hints, solution, alternative, wrong }, restart) {
  const task = panel(page).locator('.task');
  while (await panel(page).locator('.hints').count()) {
    await panel(page).locator('.hints').click({ force: true });
    await inLanguage(page, lang);
  }
  expect(await task.locator('.hint').count()).toBeGreaterThanOrEqual(hints.length);
  await expect(panel(page).locator('.show')).toBeVisible();
  if (wrong) {
    expect(['task', 'lost']).toContain(await go(page, wrong));
    await inLanguage(page, lang);
    await expect(task).not.toHaveClass(/right/);
    await restart();
  }
  if (alternative) {
    expect(await go(page, alternative), 'the alternative').toBe('done');
    await restart();
  }
  expect(await go(page, solution), 'the solution').toBe('done');
  await expect(task).toHaveClass(/right/);
  const { results, step } = await page.evaluate(() => window.loopscope.lesson());
  expect(results[step - 1]).toBe('solved');
}

for (const name of names) {
  for (const lang of ['en', 'zh']) {
    test(`the lesson ${name} is played to its end, ${lang}`, async ({ page }) => {
      test.slow();
      const problems = await open(page, `?lesson=${name}&lang=${lang}`);
      const { steps, title } = lesson(name);
      await expect(panel(page).locator('h2')).toHaveText(title[lang]);
      for (const [at, step] of steps.entries()) {
        await played(page);
        const right = step.predict && await predict(page, lang, step.predict);
        if (step.task) {
          await expect(panel(page)).toHaveAttribute('data-phase', 'task');
          await accomplish(page, lang, step.task, async () => {
            await again(page, !!step.predict);
            if (step.predict) await answer(page, right);
            await expect(panel(page)).toHaveAttribute('data-phase', 'task');
          });
        }
        await expect(panel(page)).toHaveAttribute('data-phase', 'done');
        await inLanguage(page, lang);
        if (at + 1 < steps.length) await next(page).click({ force: true });
      }
      const { over, right, asked } = await page.evaluate(() => window.loopscope.lesson());
      expect({ over, right, asked }).toEqual({ over: true, right: asked, asked: steps.flatMap(({ predict, task }) => [predict, task].filter(Boolean)).length });
      await panel(page).locator('.finish').click({ force: true });
      await expect(panel(page)).toHaveCount(0);
      if (lang === 'en') {
        await page.reload();
        await page.waitForFunction(() => window.loopscope?.ready);
      }
      await page.locator('button.learn').click();
      await page.getByRole('dialog').getByRole('button', { name: /^(All lessons|全部课程)$/ }).click();
      await expect(page.getByRole('dialog').locator(`[data-lesson="${name}"]`)).toContainText(/done|已完成/);
      expect(problems).toEqual([]);
    });
  }
}

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
  await learn(page, 'control-loop');
  await expect(page.getByRole('dialog')).toContainText('Begin the lesson The control loop?');
  await page.getByRole('dialog').getByRole('button', { name: 'Begin' }).click();
  await expect(panel(page)).toBeVisible();
  // Over the lesson the way back is not offered: it would take the lesson away.
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  await panel(page).getByRole('button', { name: 'Leave the lesson' }).click();
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

for (const [lang, title, summary] of [['en', 'The control loop', 'A controller compares what you asked for'], ['zh', '控制循环', '控制器比较期望状态与实际状态']]) {
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
    await expect(page.locator('#lesson')).toContainText('A manifest describes the desired state');
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
  await expect(frame.locator('#lesson')).toContainText('A manifest describes the desired state');
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
