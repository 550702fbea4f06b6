// Random messages of the page around a frame, as many as it may send. Each call is answered, nothing of the frame fails, and it still
// plays afterwards. A failure prints its seed; MESSAGES_SEED repeats it, and MESSAGES_SECONDS makes it longer.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { course } from './course.mjs';
import { numbers } from './random.mjs';

const seconds = Number(process.env.MESSAGES_SECONDS ?? 8);
const seed = Number(process.env.MESSAGES_SEED ?? 1);
const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');

const methods = ['play', 'pause', 'step', 'seek', 'setSpeed', 'getCurrentTime', 'getDuration', 'setView', 'apply', 'load', 'kubectl', 'getManifest', 'getLesson', 'next', 'hurry', 'back'];
const strange = ['constructor', 'toString', '__proto__', 'teach', '', 'PLAY', 'hasOwnProperty'];
const words = ['get pods', 'get pods -o yaml', 'delete pod --all --wait=false', 'scale deployment/nginx-deployment --replicas=3', 'exec web-0 -- ls', 'get -w pods', 'apply -f -', 'drain node-1',
  '"', "$(x)", '--', 'get \u0000', '<img src=x onerror=alert(1)>', 'ownership', 'network', 'storage', 'nodes', 'no-view', '\ud800', '🐙'.repeat(50)];
const amounts = [0, -0, 1, -1, 0.1, 3.5, 60, 1e9, -1e9, 1e308, Number.MAX_SAFE_INTEGER, NaN, Infinity, -Infinity];
const manifests = ['deployment', 'statefulset', 'network', 'autoscaler'].map(example);

/** A manifest with some of its letters lost, doubled or replaced. */
function scrambled(random) {
  const text = [...manifests[Math.floor(random() * manifests.length)]];
  for (let left = Math.floor(random() * 6); left > 0; left--) {
    const at = Math.floor(random() * text.length);
    text.splice(at, Math.floor(random() * 8), ...['', '{', '- ', '\t', ': ', '&a ', '*a', '9'.repeat(30), '\u0000'][Math.floor(random() * 9)]);
  }
  return text.join('');
}

/** Anything that a message can hold. */
function value(random, depth = 0) {
  const one = (all) => all[Math.floor(random() * all.length)];
  switch (Math.floor(random() * (depth > 2 ? 6 : 8))) {
    case 0: return one(words);
    case 1: return one(amounts);
    case 2: return scrambled(random);
    case 3: return one([null, undefined, true, false]);
    case 4: return 'x'.repeat(Math.floor(random() * 200_000));
    case 5: return [one(words), one(words)].join(' ');
    case 6: return Array.from({ length: Math.floor(random() * 5) }, () => value(random, depth + 1));
    default: return { [one([...words, 'toString', 'valueOf', 'length'])]: value(random, depth + 1) };
  }
}

function message(random, id) {
  const method = random() < 0.9 ? methods[Math.floor(random() * methods.length)] : strange[Math.floor(random() * strange.length)];
  const fitting = method === 'seek' || method === 'setSpeed' ? amounts : method === 'apply' || method === 'load' ? [scrambled(random)] : words;
  const args = random() < 0.6 ? [fitting[Math.floor(random() * fitting.length)]] : Array.from({ length: Math.floor(random() * 6) }, () => value(random));
  const whole = { loopscope: 1, type: 'call', id, method, args };
  if (random() > 0.1) return whole;
  // What is no call is not answered.
  const { id: _, ...odd } = { ...whole, type: value(random), [words[0]]: value(random) };
  return random() < 0.5 ? odd : value(random);
}

test('whatever a page says to its frame, calls are answered and the frame goes on', async ({ page, baseURL }) => {
  test.setTimeout(60_000 + seconds * 1500);
  const failures = [];
  page.on('pageerror', (error) => failures.push(String(error)));
  page.on('console', (entry) => { if (entry.type() === 'error' && !entry.location().url.endsWith('/favicon.ico')) failures.push(entry.text()); });
  await course(page, baseURL, '<script src="HOMEembed.js"></script><loop-scope id="one" autoplay></loop-scope>');
  const call = (method) => page.locator('#one').evaluate((element, method) => element[method](), method);
  await call('getManifest');
  await page.evaluate(() => {
    window.answered = new Set();
    addEventListener('message', (event) => { if (event.data?.type === 'result' || event.data?.type === 'error') answered.add(event.data.id); });
  });
  const random = numbers(seed);
  const end = Date.now() + seconds * 1000;
  const calls = [];
  for (let round = 0; Date.now() < end; round++) {
    // Fewer than a frame carries out in a second: more are refused without a look.
    const some = Array.from({ length: 12 }, (_, at) => message(random, `${seed}-${round}-${at}`));
    calls.push(...some.filter((one) => one?.type === 'call' && one.id).map((one) => one.id));
    await page.evaluate((some) => some.forEach((one) => document.querySelector('#one').frame.contentWindow.postMessage(one, '*')), some);
    await page.waitForTimeout(250);
  }
  console.log(`${calls.length} calls, seed ${seed}`);
  await expect.poll(() => page.evaluate((calls) => calls.filter((id) => !answered.has(id)), calls), `MESSAGES_SEED=${seed}`).toEqual([]);
  expect(failures, `MESSAGES_SEED=${seed}`).toEqual([]);
  await page.waitForTimeout(1100);
  await page.locator('#one').evaluate(async (element, manifest) => { await element.load(manifest); await element.setSpeed(1); await element.play(); }, manifests[0]);
  const before = await call('getCurrentTime');
  await expect.poll(() => call('getCurrentTime'), `MESSAGES_SEED=${seed}`).toBeGreaterThan(before);
});
