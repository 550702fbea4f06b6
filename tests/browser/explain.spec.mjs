// kubectl explain: the descriptions of fields are loaded when they are asked for first, and the answer waits for them.
import { expect, test } from '@playwright/test';
import { problemsOf, sandboxed } from './wait.mjs';

const output = (page) => page.getByRole('log', { name: 'Output' });

async function type(page, text) {
  const line = page.getByRole('textbox', { name: 'kubectl command' });
  await line.fill(text);
  await line.press('Enter');
}

async function open(page) {
  const problems = problemsOf(page);
  const asked = [];
  page.on('request', (request) => { if (request.url().endsWith('/explain.js')) asked.push(request.url()); });
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  return { asked, problems };
}

test('a field is described, and the file with the descriptions is requested only then', async ({ page }) => {
  const { asked, problems } = await open(page);
  await type(page, 'kubectl get deployments');
  await expect(output(page)).toContainText('UP-TO-DATE');
  expect(asked).toEqual([]);
  await type(page, 'kubectl explain deployment.spec.strategy');
  await expect(output(page)).toContainText('The deployment strategy to use to replace existing pods with new ones.');
  await expect(output(page)).toContainText('enum: Recreate, RollingUpdate');
  await type(page, 'kubectl explain clusterrole.rules.verbs | tail -5');
  await expect(output(page)).toContainText('Verbs is a list of Verbs that apply to ALL');
  expect(asked).toHaveLength(1);
  expect(problems).toEqual([]);
});

test('what cannot be loaded is explained without descriptions, and asked for again', async ({ page }) => {
  const { asked } = await open(page);
  await page.route('**/explain.js', (route) => route.abort());
  await type(page, 'kubectl explain deployment.spec');
  await expect(output(page)).toContainText('<no description>');
  await page.unroute('**/explain.js');
  await type(page, 'kubectl explain deployment.spec');
  await expect(output(page)).toContainText('Indicates that the deployment is paused.');
  expect(asked).toHaveLength(2);
});

test('in a sandboxed frame a field is described as well', async ({ page }) => {
  const frame = await sandboxed(page, 'index.html', 1300, 800);
  await expect(frame.locator('.item[data-kind="Pod"]').first()).toBeVisible();
  await type(frame, 'kubectl explain pod.spec.containers.livenessProbe');
  await expect(output(frame)).toContainText('Periodic probe of container liveness.');
});
