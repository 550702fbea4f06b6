// A page that follows a cluster which `loopscope serve --page` serves.
import { expect, test } from '@playwright/test';
import { existsSync } from 'node:fs';
import { command, serve } from './served.mjs';

const pods = (page) => page.locator('.item[data-kind="Pod"][data-state="ready"]');

const deployment = {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' },
  spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } } },
};

test.skip(!existsSync(command), 'the command is not built (cargo build)');

test('what a client does is seen on the page, and what the page does reaches the server', async ({ page }) => {
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  const { address, end, post } = await serve('--speed', '5');
  try {
    await page.goto(`${address}/page/?follow`);
    await page.waitForFunction(() => window.loopscope?.ready);
    await expect(page.locator('.item[data-kind="Pod"]')).toHaveCount(0);
    expect((await post('/apis/apps/v1/namespaces/default/deployments', deployment)).status).toBe(201);
    await expect(pods(page)).toHaveCount(3);
    const replicas = async () => (await (await fetch(`${address}/apis/apps/v1/namespaces/default/deployments/web`)).json()).spec.replicas;
    // What is said is soon followed by what comes of it.
    await page.evaluate(() => {
      window.heard = [];
      const notice = document.querySelector('#notice');
      new MutationObserver(() => window.heard.push(notice.textContent)).observe(notice, { childList: true, characterData: true, subtree: true });
    });
    await page.evaluate(() => loopscope.kubectl('scale deployment web --replicas=5'));
    await expect.poll(replicas).toBe(5);
    await expect(pods(page)).toHaveCount(5);
    await expect.poll(() => page.evaluate(() => window.heard.join())).toContain('deployment.apps/web scaled');
    // Back in time, and a command from there: it is done now.
    await page.evaluate(() => loopscope.seek(1));
    await expect(pods(page)).toHaveCount(0);
    await page.evaluate(() => loopscope.kubectl('scale deployment web --replicas=2'));
    await expect.poll(replicas).toBe(2);
    await expect(pods(page)).toHaveCount(2);
    // Names and uids are the server's.
    const own = await page.evaluate(() => loopscope.get('Deployment', 'default', 'web').metadata.uid);
    const theirs = (await (await fetch(`${address}/apis/apps/v1/namespaces/default/deployments/web`)).json()).metadata.uid;
    expect(own).toBe(theirs);
    // A manifest that the page applies.
    await page.evaluate(() => loopscope.apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-page}\ndata: {a: b}\n'));
    await expect.poll(async () => (await fetch(`${address}/api/v1/namespaces/default/configmaps/from-page`)).status).toBe(200);
    expect(errors).toEqual([]);
  } finally {
    end();
  }
});

test('a server that is gone is told, and the page keeps what it has', async ({ page }) => {
  const { address, end, post } = await serve('--jump');
  try {
    await page.goto(`${address}/page/?follow`);
    await page.waitForFunction(() => window.loopscope?.ready);
    await post('/apis/apps/v1/namespaces/default/deployments', deployment);
    await expect(pods(page)).toHaveCount(3);
    end();
    await expect(page.locator('#notice')).toContainText('not reached');
    await expect(pods(page)).toHaveCount(3);
  } finally {
    end();
  }
});
