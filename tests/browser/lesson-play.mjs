// A lesson on the page, as the tests take it: what its file says, where its panel is, and what the panel says.
import { expect } from '@playwright/test';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { forward, isProblem } from './wait.mjs';

// The lessons as the built page has them.
const folder = new URL('../../dist/lessons/', import.meta.url);
export const text = (name) => readFileSync(new URL(`${name}.yaml`, folder), 'utf8');
export const names = readdirSync(folder).filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -5));
export const lesson = (name) => parse(text(name));

export const panel = (page) => page.locator('#lesson');
export const phase = (page) => panel(page).getAttribute('data-phase');
export const next = (page) => page.locator('#lesson-next');

export async function open(page, query) {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(error.message));
  // What moves on its way is drawn many times, for nobody.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(panel(page)).toBeVisible();
  return problems;
}

/** Opens a lesson by its row in Learn. */
export async function learn(page, name) {
  await page.locator('button.learn').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^(All lessons|全部课程)$/ }).click();
  await dialog.locator(`[data-lesson="${name}"] .btn`).click();
}

/** Until nothing of the step is played any more. */
export const still = (page) => page.waitForFunction(() => {
  // The panel is drawn a moment after the lesson has moved: what it says of the step before counts for nothing.
  const [{ step, phase }, shown] = [window.loopscope.lesson(), document.querySelector('#lesson')];
  return phase !== 'playing' && shown.dataset.phase === phase && Number(shown.querySelector('.row .dim').textContent.match(/\d+/)[0]) === step;
});

/** Plays what a step plays to its end, as fast as it can. */
export async function played(page) {
  await page.evaluate(() => window.loopscope.teach('hurry'));
  await still(page);
}

/** Runs until the cluster is stable: the clock has stood for some frames, or the task is done. */
async function settle(page) {
  await page.keyboard.press('s');
  await page.evaluate(() => new Promise((resolve) => {
    let [now, same] = [NaN, 0];
    const look = () => {
      same = window.loopscope.now() === now ? same + 1 : 0;
      now = window.loopscope.now();
      if (same >= 8 || window.loopscope.lesson().phase === 'done') resolve();
      else requestAnimationFrame(look);
    };
    look();
  }));
}

/** Lets time pass as an action of a lesson says, by the keys of the page. */
export async function pass(page, wait) {
  if (wait !== 'settled') return forward(page, parseInt(wait, 10));
  await settle(page);
  // What a lesson takes for settled has been quiet for three seconds.
  await forward(page, 3);
  await settle(page);
}

/** The kinds of objects, which have the same names in every language. */
const KINDS = /^(Pod|ReplicaSet|Deployment|StatefulSet|Service)$/;

/** Everything that the panel says is in the language of the page, and no value in it is missing. */
export async function inLanguage(page, lang) {
  const said = await panel(page).evaluate((shown) => [...shown.querySelectorAll('h2, .dim, p, .choice, .acts button')].map((one) => {
    const words = one.cloneNode(true);
    for (const verbatim of words.querySelectorAll('code, .mono')) verbatim.remove();
    return [one.textContent.trim(), words.textContent.trim()];
  }));
  expect(said.length).toBeGreaterThan(3);
  for (const [all, words] of said) {
    expect(all).not.toBe('');
    expect(all).not.toMatch(/\{\{ | \}\}|–|undefined|`/);
    if (lang === 'en') expect(all).not.toMatch(/[一-鿿]/);
    else if (/[A-Za-z]/.test(words) && !KINDS.test(words)) expect(words).toMatch(/[一-鿿]/);
  }
}
