// Each lesson by keyboard alone, and as the accessibility tree tells it. No pointer is used, and scripts only read.
import { expect, test } from '@playwright/test';
import { parse } from 'yaml';
import { lesson, names, open, panel, pass, phase, still } from './lesson-play.mjs';
import { reach } from './wait.mjs';

/** Presses a button of the panel. */
async function press(page, what, key = 'Enter') {
  // From within the panel a button before the focus is nearer backwards.
  const back = await page.evaluate((what) => !!document.activeElement?.closest('#lesson')
    && !!(document.querySelector(what)?.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING), what);
  await reach(page, what, back ? 'Shift+Tab' : 'Tab');
  await page.keyboard.press(key);
}

/** What a step plays, to its end by the button that skips ahead. */
async function played(page) {
  if (await phase(page) === 'playing') {
    await reach(page, '#lesson-next');
    // It may have come to its end by itself, and the button leads on then.
    if (await phase(page) === 'playing') await page.keyboard.press('Space');
  }
  await still(page);
}

/** A part of the tree that ariaSnapshot writes. */
const read = (snapshot) => {
  const node = (one) => {
    const [[head, inside]] = typeof one === 'string' ? [[one, []]] : Object.entries(one);
    const [, role, name = '', states = ''] = head.match(/^(\w+)(?: ("(?:[^"\\]|\\.)*"|\/.*\/))?((?: \[[^\]]*\])*)$/s) ?? [, head];
    const text = Array.isArray(inside) ? '' : String(inside ?? '');
    return { role, name: name.startsWith('"') ? JSON.parse(name) : name, states: states.match(/[\w=]+/g) ?? [], text, inside: Array.isArray(inside) ? inside.map(node) : [] };
  };
  return node(parse(snapshot)[0]);
};
const all = (tree, role) => tree.inside.flatMap((one) => [...(one.role === role ? [one] : []), ...all(one, role)]);
const words = (tree) => [tree.name, tree.text, ...tree.inside.map(words)].join('');
/** Without the marks of code, and without spaces: the tree has some around code. */
const plain = (text) => text.replace(/[`\s]/g, '');

/** The panel as a screen reader has it, against what is shown: its name, the question and its answers, the verdict, the task. */
async function told(page, title, given) {
  const tree = read(await panel(page).ariaSnapshot());
  const shown = await panel(page).evaluate((panel) => {
    const text = (one) => one?.innerText.replace(/\s+/g, ' ').trim();
    const texts = (what) => [...panel.querySelectorAll(what)].map(text);
    return { phase: panel.dataset.phase, ask: text(panel.querySelector('.ask > p')), choices: texts('.choice'), terms: panel.querySelectorAll('.ask > p .term').length, given: [...panel.querySelectorAll('.choice')].map((one) => one.classList.contains('given')),
      verdict: texts('.verdict p'), task: texts('.task p'), say: texts('.told > p'), acts: texts('.acts button') };
  });
  expect(tree.role).toBe('region');
  expect(tree.name).toContain(title);
  expect(all(tree, 'heading').map(({ name, states }) => [name, states])).toEqual([[title, ['level=2']]]);
  for (const button of all(tree, 'button')) expect(button.name.trim(), 'a button has a name').not.toBe('');
  for (const act of shown.acts) expect(all(tree, 'button').map((one) => one.name)).toContain(act);
  const [live] = all(tree, 'status');
  // What is told is in the live region.
  for (const said of [...shown.verdict, ...shown.task, ...shown.say]) expect(plain(words(live))).toContain(plain(said));
  if (shown.ask) {
    const [group] = all(live, 'group');
    expect(plain(group.name)).toBe(plain(shown.ask));
    const open = shown.phase === 'asking';
    if (shown.choices.length) {
      // Terms of the question are explained by buttons before its choices.
      const buttons = all(group, 'button').slice(shown.terms, shown.terms + shown.choices.length);
      expect(buttons.map((one) => plain(one.name))).toEqual(shown.choices.map(plain));
      expect(buttons.map((one) => one.states.includes('pressed'))).toEqual(shown.given);
      expect(buttons.map((one) => one.states.includes('disabled'))).toEqual(buttons.map(() => !open));
      expect(shown.given.filter(Boolean)).toHaveLength(open ? 0 : 1);
    } else {
      const [field] = all(group, 'spinbutton');
      expect(field.name.trim()).not.toBe('');
      if (!open) expect(field.text).toBe(String(given));
      expect(field.states.includes('disabled')).toBe(!open);
    }
    expect(shown.verdict.length > 0).toBe(!open);
  }
  return shown;
}

/** What the learner does, by keys: a line in the console, or a manifest in the editor. */
async function act(page, { apply, kubectl, fault, wait }) {
  if (wait) return pass(page, wait);
  if (apply) {
    for (let i = 0; i < 6 && !(await page.evaluate(() => !!document.activeElement?.closest('#manifest'))); i++) await page.keyboard.press('F6');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(apply);
    await page.keyboard.press('Control+Enter');
    await expect(page.locator('#manifest .pill').first()).toHaveText(/Applied|已应用/);
    await page.keyboard.press('Escape');
    return reach(page, '#lesson .told', 'Shift+Tab');
  }
  await page.keyboard.press('`');
  await expect(page.locator('#console textarea')).toBeFocused();
  await page.keyboard.type(kubectl ? `kubectl ${kubectl}` : `fault ${fault}`);
  await page.keyboard.press('Enter');
  await expect(page.locator('#console textarea')).toHaveValue('');
  await page.keyboard.press('Escape');
}

for (const [at, name] of names.entries()) {
  // Half of them in each language.
  const lang = ['en', 'zh'][at % 2];
  test(`the lesson ${name} by keyboard, and in the accessibility tree, ${lang}`, async ({ page }) => {
    test.slow();
    const problems = await open(page, `?lesson=${name}&lang=${lang}`);
    const { title, steps } = lesson(name);
    for (const [at, { predict, task }] of steps.entries()) {
      await played(page);
      let given;
      if (predict) {
        const { choices } = await told(page, title[lang]);
        if (choices.length) {
          await press(page, '#lesson .choice', at % 2 ? 'Enter' : 'Space');
        } else {
          await press(page, '#prediction', '2');
          await page.keyboard.press('ArrowUp');
          await page.keyboard.press('Enter');
          given = 3;
        }
        await expect(panel(page)).not.toHaveAttribute('data-phase', 'asking');
        await played(page);
        await told(page, title[lang], given);
      }
      if (task) {
        expect(await phase(page)).toBe('task');
        // Each hint is asked for.
        const before = (await told(page, title[lang], given)).task.length;
        while (await panel(page).locator('.hints').count()) await press(page, '#lesson .hints');
        expect((await told(page, title[lang], given)).task.length).toBeGreaterThan(before);
        for (const action of task.solution) await act(page, action);
      }
      await expect(panel(page)).toHaveAttribute('data-phase', 'done');
      await told(page, title[lang], given);
      await press(page, at + 1 < steps.length ? '#lesson-next' : '#lesson .finish');
      if (at + 1 < steps.length) await page.waitForFunction((step) => Number(document.querySelector('#lesson .row .dim').textContent.match(/\d+/)[0]) === step, at + 2);
    }
    await expect(panel(page)).toHaveCount(0);
    expect(problems).toEqual([]);
  });
}
