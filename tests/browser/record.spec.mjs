// What a served cluster has recorded, opened in a page without the server.
import { expect, test } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, serve } from './served.mjs';

const deployment = {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'recorded' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'r' } }, template: { metadata: { labels: { app: 'r' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } } },
};

/** Drops a file on the code of the editor, as a hand does. */
const drop = (page, name, text) => page.locator('.code').evaluate((code, [name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name, { type: 'text/plain' }));
  code.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }));
  code.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
}, [name, text]);

const own = (page) => page.evaluate(() => loopscope.get('Deployment', 'default', 'recorded'));

test.skip(!existsSync(command), 'the command is not built (cargo build)');

test.describe('a record', () => {
  let kept, theirs, link;

  test.beforeAll(async () => {
    const server = await serve('--speed', '0', '--seed', '5', '--record', 'FOLDER/run.record');
    try {
      expect((await server.post('/apis/apps/v1/namespaces/default/deployments', deployment)).status).toBe(201);
      await server.post('/loopscope/time', { seconds: 10 });
      await server.post('/loopscope/kubectl', 'kubectl scale deployment recorded --replicas=3');
      await server.post('/loopscope/time', { seconds: 10 });
      const read = async (path) => (await fetch(`${server.address}${path}`)).json();
      theirs = {
        deployment: await read('/apis/apps/v1/namespaces/default/deployments/recorded'),
        pods: (await read('/api/v1/namespaces/default/pods')).items.map((pod) => [pod.metadata.name, pod.metadata.uid]),
      };
      const file = join(server.folder, 'run.record');
      kept = readFileSync(file, 'utf8');
      link = execFileSync(command, ['replay', file, '--link'], { encoding: 'utf8' }).trim();
    } finally {
      server.end();
    }
  });

  /** The page has become the recorded cluster: its objects, the clock at the end of it, and its past. */
  async function isOpen(page) {
    await expect.poll(() => own(page).then((one) => one?.metadata.uid)).toBe(theirs.deployment.metadata.uid);
    await expect.poll(() => own(page).then((one) => one.status.readyReplicas)).toBe(3);
    expect(theirs.pods).toHaveLength(3);
    for (const [name, uid] of theirs.pods) {
      expect(await page.evaluate((name) => loopscope.get('Pod', 'default', name)?.metadata.uid, name)).toBe(uid);
    }
    expect((await own(page)).metadata.resourceVersion).toBe(theirs.deployment.metadata.resourceVersion);
    expect((await own(page)).metadata.creationTimestamp).toBe(theirs.deployment.metadata.creationTimestamp);
    await page.evaluate(() => loopscope.seek(8));
    await expect.poll(() => own(page).then((one) => one.spec.replicas)).toBe(2);
  }

  test('is opened by dropping it on the editor, in place of what was there', async ({ page }) => {
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    await drop(page, 'run.record', kept);
    await isOpen(page);
    await expect(page.locator('.item[data-kind="Deployment"]')).toHaveCount(1);
    expect(errors).toEqual([]);
  });

  test('is opened by its link', async ({ page }) => {
    await page.goto(link);
    await page.waitForFunction(() => window.loopscope?.ready);
    await isOpen(page);
  });

  test('that is broken is refused with the line, and what was there stays', async ({ page }) => {
    await page.goto('index.html');
    await page.waitForFunction(() => window.loopscope?.ready);
    await expect(page.locator('.item[data-kind="Pod"]').first()).toBeVisible();
    const before = await page.evaluate(() => loopscope.manifest());
    await drop(page, 'run.record', kept.replace('\n[', '\n{'));
    await expect(page.locator('#notice')).toContainText('line 2');
    expect(await own(page)).toBeNull();
    expect(await page.evaluate(() => loopscope.manifest())).toBe(before);
    await expect(page.locator('.item[data-kind="Pod"]').first()).toBeVisible();
  });
});

test('a manifest that is dropped becomes the text of the editor', async ({ page }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await drop(page, 'map.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dropped}\n');
  await expect.poll(() => page.evaluate(() => loopscope.manifest())).toContain('name: dropped');
});
