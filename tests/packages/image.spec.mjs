// The container image, built from its files without a registry and run: with buildah, which needs no daemon, or Docker where one runs.
import { expect, test } from '@playwright/test';
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { basename } from 'node:path';
import { folder, note, packed, root, run, seconds } from './trial.mjs';

const has = (command, ...args) => {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const buildah = has('buildah', '--version');

test('the image has the command and the page, and runs them as a user without rights', async ({ page }) => {
  test.skip(!buildah, 'buildah is not here.');
  test.setTimeout(300_000);
  const at = folder('image');
  const files = packed(/^loopscope-image-.*\.tar\.gz$/);
  copyFileSync(files, `${at}/${basename(files)}`);
  copyFileSync(`${root}/Dockerfile`, `${at}/Dockerfile`);
  const inside = (...args) => ['--storage-driver', 'vfs', ...args];
  const build = await seconds(() => run(at, 'buildah', inside('bud', '--isolation', 'chroot', '--build-arg', `FILES=${basename(files)}`, '-t', 'loopscope-trial', '.')));
  const config = JSON.parse(run(at, 'buildah', inside('inspect', '--type', 'image', 'loopscope-trial'))).OCIv1.config;
  expect(config.User).toBe('65532:65532');
  expect(config.Entrypoint).toEqual(['/usr/bin/loopscope']);
  const container = run(at, 'buildah', inside('from', 'loopscope-trial')).trim();
  try {
    const command = (...args) => inside('run', '--isolation', 'chroot', container, '--', '/usr/bin/loopscope', ...args);
    expect(run(at, 'buildah', command('version'))).toMatch(/^loopscope \d/);
    expect(run(at, 'buildah', command('kubectl', 'create', 'deployment', 'web', '--image=nginx', ';', 'get', 'deployments'))).toContain('deployment.apps/web created');
    const began = performance.now();
    const served = spawn('buildah', command('serve', '--page', '--listen', '0.0.0.0:8377', '--token', 'secret', '--kubeconfig', '/tmp/kubeconfig'), { detached: true });
    try {
      let told = '';
      served.stdout.on('data', (text) => { told += text; });
      await expect.poll(() => told, { timeout: 60_000 }).toContain('token=secret');
      await page.goto('http://127.0.0.1:8377/page/?follow&token=secret');
      await page.waitForFunction(() => window.loopscope?.ready);
      const ready = (performance.now() - began) / 1000;
      await fetch('http://127.0.0.1:8377/loopscope/kubectl', { method: 'POST', body: 'kubectl create deployment shop --image=nginx', headers: { authorization: 'Bearer secret' } });
      await expect(page.locator('.item[data-kind="Pod"]')).toHaveCount(1);
      note('image', { build, 'first result': ready });
    } finally {
      process.kill(-served.pid);
    }
  } finally {
    run(at, 'buildah', inside('rm', container));
    run(at, 'buildah', inside('rmi', 'loopscope-trial'));
  }
});
