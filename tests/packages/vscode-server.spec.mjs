// The extension in VS Code itself, served by code-server, whose program CODE_SERVER names (npm's `code-server`, with the Node.js that it asks for first on the PATH).
import { expect, test } from '@playwright/test';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { commandFolder, folder, packed, root, run } from './trial.mjs';

const program = process.env.CODE_SERVER;
test.skip(!program, 'CODE_SERVER names no code-server');

const manifest = readFileSync(join(root, 'tests/packages/sites/vitepress/index.md'), 'utf8').match(/^```loopscope.*\n([^]*?)^```/m)[1];

/** A port that nobody listens on. */
const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

test('play, problems, Why and a lesson in VS Code', async ({ page }) => {
  const path = folder('vscode-server');
  const own = ['--extensions-dir', join(path, 'extensions'), '--user-data-dir', join(path, 'data')];
  run(path, program, [...own, '--install-extension', packed(/^loopscope-\d.*\.vsix$/)]);
  mkdirSync(join(path, 'data/User'), { recursive: true });
  writeFileSync(join(path, 'data/User/settings.json'), JSON.stringify({ 'loopscope.path': join(commandFolder(), 'loopscope'), 'workbench.startupEditor': 'none' }));
  const files = join(path, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'web.yaml'), manifest);
  writeFileSync(join(files, 'bad.yaml'), manifest.replace('replicas: 2', 'replicas: two'));
  writeFileSync(join(files, 'undo.yaml'), readFileSync(join(root, 'static/lessons/undo.yaml')));
  const port = await freePort();
  const server = spawn(program, [...own, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', files], { stdio: 'ignore' });
  try {
    const address = `http://127.0.0.1:${port}/?folder=${files}`;
    await expect.poll(() => fetch(address).then((answer) => answer.ok, () => false), { timeout: 60_000 }).toBe(true);
    await page.goto(address);
    await expect(page.getByRole('treeitem', { name: 'web.yaml' })).toBeVisible({ timeout: 60_000 });
    const palette = async (words) => {
      await page.keyboard.press('F1');
      await expect(page.locator('.quick-input-widget input').first()).toBeFocused();
      await page.keyboard.type(words);
      await expect(page.locator('.quick-input-list .monaco-list-row').first()).toContainText(words.split(': ').pop());
      await page.keyboard.press('Enter');
    };
    const open = (name) => page.getByRole('treeitem', { name }).dblclick();
    await open('bad.yaml');
    // The refusal is underlined at its line.
    await expect(page.locator('.squiggly-error').first()).toBeVisible();
    await open('web.yaml');
    await palette('Loopscope: Play This Manifest');
    const shown = page.frameLocator('iframe.webview.ready').frameLocator('iframe').frameLocator('iframe');
    await expect(shown.locator('.item[data-kind="Pod"]')).toHaveCount(2, { timeout: 60_000 });
    await page.screenshot({ path: join(root, 'target/packages/vscode-play.png') });
    await page.getByRole('tab', { name: /^web\.yaml/ }).first().click();
    await page.keyboard.press('Control+g');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    await palette('Loopscope: Why');
    await expect(page.getByRole('tab', { name: /Preview Deployment/ })).toBeVisible({ timeout: 60_000 });
    await page.screenshot({ path: join(root, 'target/packages/vscode-why.png') });
    await open('undo.yaml');
    await palette('Loopscope: Preview Lesson');
    const lesson = page.frameLocator('iframe.webview.ready').frameLocator('iframe').frameLocator('iframe').getByText('Step 1 of');
    await expect.poll(async () => {
      const frames = await Promise.all(page.frames().map((frame) => frame.getByText('Step 1 of').count().catch(() => 0)));
      return frames.some((count) => count > 0) || lesson.count();
    }, { timeout: 60_000 }).toBeTruthy();
    await page.screenshot({ path: join(root, 'target/packages/vscode-lesson.png') });
  } finally {
    server.kill();
  }
});
