import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readOpening } from '../../scripts/wasm/names.mjs';
import { split } from '../../scripts/wasm/split.mjs';

const root = new URL('../../', import.meta.url);
const scenarios = readdirSync(new URL('tests/conformance/scenarios/', root)).filter((name) => name.endsWith('.yaml')).sort();

/** Traces of scenarios in the page that differ from those of the native command. */
async function differing(page, names) {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const found = [];
  for (const name of names) {
    const file = fileURLToPath(new URL(`tests/conformance/scenarios/${name}`, root));
    const native = execFileSync('cargo', ['run', '--quiet', '--', 'run', file, '--trace'], {
      cwd: fileURLToPath(root), encoding: 'utf8', maxBuffer: 1 << 28,
    });
    const here = await page.evaluate((text) => window.loopscope.trace(text), readFileSync(file, 'utf8'));
    expect(here.length).toBeGreaterThan(1_000);
    if (here !== native) found.push(name);
  }
  return found;
}

test("every scenario's trace in the browser is the native one, to the byte", async ({ page }) => {
  test.setTimeout(300_000);
  expect(scenarios.length).toBeGreaterThan(80);
  expect(await differing(page, scenarios)).toEqual([]);
});

// The page's module is taken apart by what its opening reaches (scripts/wasm/cold.mjs). Taken apart anywhere else as well, it does the same.
for (const seed of [1, 2]) {
  test(`a module taken apart at random does the same, seed ${seed}`, async ({ page }) => {
    test.setTimeout(120_000);
    let state = seed;
    const chance = () => (state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 >>> 0) / 2 ** 32;
    const whole = readFileSync(new URL('target/page/whole.wasm', root));
    const { runs, reached } = readOpening(readFileSync(new URL('scripts/wasm/opening.txt', root), 'utf8'));
    const { first, rest } = split(whole, runs, (name, shape) => (runs(name) ? reached(name, shape) : () => chance() < 0.5));
    expect(rest.length).toBeGreaterThan(1.03 * readFileSync(new URL('dist/rest.wasm', root)).length);
    const serve = (body) => (route) => route.fulfill({ body, contentType: 'application/wasm' });
    await page.route('**/loopscope_bg.wasm', serve(first));
    await page.route('**/rest.wasm', serve(rest));
    expect(await differing(page, scenarios.filter((_, i) => i % 12 === seed))).toEqual([]);
  });
}
