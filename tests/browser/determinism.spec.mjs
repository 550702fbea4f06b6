import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

// The same scenario and seed, in the browser's WebAssembly and in the native command: the same bytes.
for (const name of ['b-rolling-3-default', 'l05-sts-rolling', 'n06-svc-rolling']) {
  test(`${name}: the browser's trace is the native one, to the byte`, async ({ page }) => {
    const file = fileURLToPath(new URL(`tests/conformance/scenarios/${name}.yaml`, root));
    const native = execFileSync('cargo', ['run', '--quiet', '--', 'run', file, '--trace'], {
      cwd: fileURLToPath(root), encoding: 'utf8', maxBuffer: 1 << 28,
    });
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    const here = await page.evaluate((text) => window.loopscope.trace(text), readFileSync(file, 'utf8'));
    expect(here.length).toBeGreaterThan(10_000);
    expect(here === native).toBe(true);
  });
}
