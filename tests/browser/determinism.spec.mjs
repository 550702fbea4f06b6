import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
