// The wheel in empty environments: the Python API and the fixture, the command with its page, Sphinx and MkDocs.
import { expect, test } from '@playwright/test';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { codeAndResting, drive } from './drive.mjs';
import { environment, wheel } from './environment.mjs';
import { note, root, run, seconds } from './trial.mjs';

test('pip install, and loopscope serve --page: a page that follows the cluster', async ({ page }) => {
  const { path, command, pip } = environment('python');
  const install = await seconds(() => pip(wheel()));
  const server = spawn(command('loopscope'), ['serve', '--page', '--listen', '127.0.0.1:0'], { cwd: path, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    let address;
    const first = await seconds(async () => {
      for await (const line of createInterface({ input: server.stdout })) {
        address = /^page: +(\S+)/.exec(line)?.[1];
        if (address) break;
      }
      await page.goto(address);
      await page.waitForFunction(() => window.loopscope?.ready);
    });
    note('pip', { install, first });
    const kubectl = (line) => fetch(new URL('/loopscope/kubectl', address), { method: 'POST', body: line });
    expect((await kubectl('create deployment web --image=nginx --replicas=2')).ok).toBe(true);
    await expect(page.locator('.item[data-kind="Pod"]')).toHaveCount(2);
    await page.screenshot({ path: join(root, 'target/packages/pip.png') });
  } finally {
    server.kill();
  }
  // Written for the trial, beside no work tree.
  expect(run(path, command('python'), ['-m', 'loopscope', 'version'])).toMatch(/^loopscope \d/);
});

test('the Python API and the fixture', async () => {
  const { path, command, pip } = environment('pytest');
  pip(wheel(), 'pytest==8.4.2', 'mypy==1.18.2');
  const took = await seconds(() => run(path, command('pytest'), ['-q', join(root, 'packages/python/tests/test_installed.py'), '--rootdir', path, '-p', 'no:cacheprovider']));
  note('pytest', { took });
  // The types of the API are what a type checker of the caller sees.
  run(path, command('mypy'), ['--strict', '-p', 'loopscope.cluster', '-p', 'loopscope._command', '-p', 'loopscope.block', '-p', 'loopscope._picture']);
});

test('Sphinx: a directive and a block of code', async ({ page, browser }) => {
  const { path, command, pip } = environment('sphinx', join(root, 'tests/packages/sites/sphinx'));
  const install = await seconds(() => pip(wheel(), 'sphinx==8.1.3'));
  const build = await seconds(() => run(path, command('sphinx-build'), ['-q', '-W', '-b', 'html', '.', 'built']));
  const first = await drive(page, browser, {
    name: 'sphinx', pictured: true, built: join(path, 'built'), more: async (page) => {
      await expect(page.locator('div.highlight pre')).toHaveCount(1);
      await expect(page.locator('loop-scope')).toHaveCount(2);
    },
  });
  note('sphinx', { install, build, first });
  // Elsewhere the manifest is code.
  run(path, command('sphinx-build'), ['-q', '-W', '-b', 'text', '.', 'text']);
  const text = run(path, 'cat', ['text/index.txt']);
  expect(text).toContain('     name: web\n');
  expect(text).not.toContain('loop-scope');
});

test('MkDocs: blocks, also in a list', async ({ page, browser }) => {
  const { path, command, pip } = environment('mkdocs', join(root, 'tests/packages/sites/mkdocs'));
  const install = await seconds(() => pip(wheel(), 'mkdocs==1.6.1'));
  const build = await seconds(() => run(path, command('mkdocs'), ['build', '--quiet', '--strict']));
  const first = await drive(page, browser, { name: 'mkdocs', pictured: true, built: join(path, 'site'), second: 'second/', more: codeAndResting });
  note('mkdocs', { install, build, first });
  // A misspelled attribute ends the build.
  mkdirSync(join(path, 'docs/wrong'));
  run(path, 'sh', ['-c', 'printf "\\140\\140\\140loopscope vew=nodes\\n\\140\\140\\140\\n" > docs/wrong/index.md']);
  expect(() => run(path, command('mkdocs'), ['build', '--quiet'])).toThrow(/no attribute 'vew'/);
});
