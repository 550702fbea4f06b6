import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
let command;
const scenarios = readdirSync(new URL('tests/conformance/scenarios/', root)).filter((name) => name.endsWith('.yaml')).sort();

/** Traces of scenarios in the page that differ from those of the native command. */
async function differing(page, names) {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const found = [];
  for (const name of names) {
    const file = fileURLToPath(new URL(`tests/conformance/scenarios/${name}`, root));
    const native = execFileSync(command, ['run', file, '--trace'], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const here = await page.evaluate((text) => window.loopscope.trace(text), readFileSync(file, 'utf8'));
    expect(here.length).toBeGreaterThan(1_000);
    if (here !== native) found.push(name);
  }
  return found;
}

test.beforeAll(() => {
  test.setTimeout(600_000);
  // Built once, and where cargo puts it: nothing else knows about target directories.
  const messages = execFileSync('cargo', ['build', '--quiet', '--bin', 'loopscope', '--message-format', 'json'], { cwd: fileURLToPath(root), encoding: 'utf8', maxBuffer: 1 << 28 });
  command = messages.split('\n').filter(Boolean).map((line) => JSON.parse(line)).find((one) => one.executable)?.executable;
  expect(command).toBeTruthy();
});

const PARTS = 6;
for (let part = 0; part < PARTS; part++) {
  test(`every scenario's trace in the browser is the native one, to the byte: part ${part + 1} of ${PARTS}`, async ({ page }) => {
    test.setTimeout(240_000);
    expect(scenarios.length).toBeGreaterThan(80);
    expect(await differing(page, scenarios.filter((_, i) => i % PARTS === part))).toEqual([]);
  });
}
