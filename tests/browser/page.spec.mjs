import { expect, test } from '@playwright/test';
import { longest } from './tasks.mjs';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { frames, problemsOf, link, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const pod = (page, name) => page.locator(`.item[data-kind="Pod"][data-name="${name}"]`);
const pods = (page) => page.locator('.item[data-kind="Pod"]');
const manifest = (page) => page.getByRole('textbox', { name: /Manifest/ });
const text = (page) => page.evaluate(() => window.loopscope.manifest());

/** Problems the page reports: console errors, exceptions, requests to elsewhere. */
function watch(page) {
  const problems = problemsOf(page);
  page.on('request', (request) => {
    if (!request.url().startsWith('http://127.0.0.1:') && !request.url().startsWith('data:') && !request.url().startsWith('blob:')) problems.push(`request to ${request.url()}`);
  });
  return problems;
}

async function open(page, query = '') {
  const problems = watch(page);
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  return problems;
}

test('opens with the nginx Deployment applied and playing, and draws its Pods', async ({ page }) => {
  const problems = await open(page);
  expect(await text(page)).toContain('name: nginx-deployment');
  await expect(pods(page)).toHaveCount(2);
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  await expect(page.locator('.item[data-kind="ReplicaSet"]')).toHaveCount(1);
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
  expect(problems).toEqual([]);
});

test('from paste to the first Pod drawn takes less than 100 ms', async ({ page }) => {
  await open(page);
  await expect(pods(page)).toHaveCount(2);
  const took = await page.evaluate((text) => new Promise((resolve) => {
    const begun = performance.now();
    const seen = () => document.querySelector('.item[data-kind="Pod"][data-name="one"]');
    const observer = new MutationObserver(() => { if (seen()) { observer.disconnect(); resolve(performance.now() - begun); } });
    observer.observe(document.body, { childList: true, subtree: true, attributes: true });
    window.loopscope.apply(text);
  }), 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: one\nspec:\n  containers:\n  - name: a\n    image: nginx\n');
  expect(took).toBeLessThan(100);
});

test('a pasted StatefulSet: web-0 is Ready before web-1 exists', async ({ page }) => {
  const problems = await open(page);
  await page.evaluate(() => window.loopscope.speed(0.5));
  await manifest(page).fill(example('statefulset'));
  await expect(page.locator('#manifest .pill')).toHaveText('Edited');
  await manifest(page).press('Control+Enter');
  await expect(page.locator('#manifest .pill')).toHaveText('Applied');
  await page.evaluate(() => {
    window.order = [];
    const look = () => {
      const at = (name) => window.loopscope.get('Pod', 'default', name);
      const ready = (object) => !!object?.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
      window.order.push([ready(at('web-0')), at('web-1') !== null]);
      if (window.order.length < 2000) requestAnimationFrame(look);
    };
    look();
  });
  await expect(pod(page, 'web-1')).toHaveAttribute('data-state', 'ready');
  const order = await page.evaluate(() => window.order);
  expect(order.some(([ready, next]) => !ready && next)).toBe(false);
  expect(order.some(([ready, next]) => ready && next)).toBe(true);
  expect(problems).toEqual([]);
});

test('a typo is told in the server\'s words at its line, and nothing changes', async ({ page }) => {
  await open(page, '?editor=plain');
  await expect(pods(page)).toHaveCount(2);
  await manifest(page).fill(example('deployment').replace('replicas: 2', 'replica: 5'));
  await page.getByRole('button', { name: /^Apply/ }).click();
  const line = page.locator('.ln.bad');
  await expect(line.locator('i').first()).toHaveText('9');
  await expect(line).toContainText('unknown field "spec.replica"');
  await expect(page.locator('#manifest .pill')).toHaveText('Rejected');
  await expect(page.getByText('1 problem')).toBeVisible();
  await expect(pods(page)).toHaveCount(2);
  // One click puts it right.
  await line.getByRole('button', { name: 'replicas', includeHidden: true }).click();
  await expect(pods(page)).toHaveCount(5);
});

test('a deleted web-0 comes back bound to www-web-0', async ({ page }) => {
  await open(page);
  await page.getByRole('combobox', { name: 'Example' }).selectOption({ label: 'StatefulSet storage' });
  await page.evaluate(() => window.loopscope.speed(10));
  await expect(pod(page, 'web-1')).toHaveAttribute('data-state', 'ready');
  const before = await page.evaluate(() => ({
    pod: window.loopscope.get('Pod', 'default', 'web-0').metadata.uid,
    volume: window.loopscope.get('PersistentVolumeClaim', 'default', 'www-web-0').spec.volumeName,
  }));
  await page.evaluate(() => window.loopscope.speed(1));
  await pod(page, 'web-0').click();
  await page.getByRole('button', { name: 'Delete Pod' }).click();
  await expect(pod(page, 'web-0')).toHaveAttribute('data-state', 'terminating');
  await page.evaluate(() => window.loopscope.speed(20));
  await page.waitForFunction((old) => {
    const now = window.loopscope.get('Pod', 'default', 'web-0');
    return now && now.metadata.uid !== old && now.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
  }, before.pod);
  await expect(pod(page, 'web-0')).toHaveAttribute('data-state', 'ready');
  const after = await page.evaluate(() => ({
    claim: window.loopscope.get('Pod', 'default', 'web-0').spec.volumes.find((volume) => volume.persistentVolumeClaim)?.persistentVolumeClaim.claimName,
    volume: window.loopscope.get('PersistentVolumeClaim', 'default', 'www-web-0').spec.volumeName,
  }));
  expect(after).toEqual({ claim: 'www-web-0', volume: before.volume });
  await expect(page.locator('.item[data-kind="PersistentVolumeClaim"][data-name="www-web-0"]')).toHaveAttribute('data-state', 'bound');
});

test('pause freezes the clock, a step advances by one reconcile, the past can be visited', async ({ page }) => {
  await open(page);
  await expect(pods(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const frozen = await page.locator('#clock').textContent();
  await frames(page, 15);
  expect(await page.locator('#clock').textContent()).toBe(frozen);

  await page.evaluate(() => window.loopscope.seek(0));
  await expect(page.getByText('You are viewing the past')).toBeVisible();
  await page.getByRole('button', { name: 'Branch from here' }).click();
  await expect(page.getByText('You are viewing the past')).toBeHidden();
  // The person's own writes are done; the first pass is the deployment controller's.
  await page.evaluate((text) => window.loopscope.apply(text), example('deployment').replace('nginx-deployment', 'stepped'));
  const steps = [];
  for (let i = 0; i < 12; i++) {
    await page.getByRole('button', { name: 'Next reconcile' }).click();
    steps.push(await page.locator('#notice').textContent());
  }
  expect(new Set(steps).size).toBe(steps.length);
  expect(steps.join('\n')).toContain('deployment-controller: ReplicaSet');
  expect(steps.join('\n')).toContain('replicaset-controller: Pod');
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
});

// What the page's thread spends, not what the clock says: another program on the machine makes no task longer.
test('no task blocks the page while 100 Pods start', async ({ page, browser }) => {
  await open(page);
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  await settled(page);
  // Filling sends an input event a line within one task, which no person does; what counts is what follows Apply.
  await manifest(page).fill(example('deployment').replace('replicas: 2', 'replicas: 100'));
  await expect.poll(() => link(page)).toMatchObject({ manifest: expect.stringContaining('replicas: 100') });
  await settled(page);
  expect(await longest(browser, page, async () => {
    await page.getByRole('button', { name: /^Apply/ }).click();
    await expect(page.locator('.counts')).toHaveText(/100 Ready/);
    await frames(page, 15);
  })).toBeLessThan(50);
});

test('the chain of causes ends at the person', async ({ page }) => {
  await open(page);
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  await pods(page).first().click();
  await page.getByRole('tab', { name: 'Why' }).click();
  const items = page.locator('.why > li');
  await expect(items.first()).toContainText('became Ready');
  await expect(items.last()).toContainText('user');
  await expect(page.locator('.why')).toContainText('replicaset-controller');
  await page.getByRole('tab', { name: 'YAML' }).click();
  await expect(page.locator('.yaml')).toContainText('kind: Pod');
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.locator('.events')).toContainText('Scheduled');
  await page.getByRole('tab', { name: 'Summary' }).click();
  await expect(page.locator('.kv')).toContainText('nginx:1.7.9');
});

test('scaling and a new image from the inspector', async ({ page }) => {
  await open(page);
  await page.locator('.item[data-kind="Deployment"]').click();
  await page.getByRole('button', { name: 'Add one replica' }).click();
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(3);
  await page.getByRole('textbox', { name: 'Image' }).fill('nginx:1.9.1');
  await page.getByRole('button', { name: 'Set image' }).click();
  await expect(page.locator('.item[data-kind="ReplicaSet"]')).toHaveCount(2);
});

test('the console prints what kubectl prints, and a watch goes on with the clock', async ({ page }) => {
  await open(page);
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  const line = page.getByRole('textbox', { name: 'kubectl command' });
  const output = page.getByRole('log', { name: 'Output' });
  await line.fill('kubectl get deployments');
  await line.press('Enter');
  await expect(output).toContainText(/NAME +READY +UP-TO-DATE +AVAILABLE +AGE/);
  await expect(output).toContainText(/nginx-deployment +2\/2/);
  await line.fill('kubectl get pods -w');
  await line.press('Enter');
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  await expect(output).toContainText('deployment.apps/nginx-deployment scaled');
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(3);
  await line.fill('kubectl rollout status deployment/nginx-deployment');
  await line.press('Enter');
  await expect(output).toContainText('successfully rolled out');
  await line.fill('kubectl delete nothing');
  await line.press('Enter');
  await expect(output.locator('.err').last()).toContainText('error');
  await line.press('ArrowUp');
  await expect(line).toHaveValue('kubectl delete nothing');
});

test('the console is opened and answers at length, and the picture keeps its scale', async ({ page }) => {
  await open(page);
  await expect(page.locator('.item[data-kind="Pod"][data-state="ready"]')).toHaveCount(2);
  const scale = () => page.locator('.world').evaluate((world) => new DOMMatrix(getComputedStyle(world).transform).a);
  const before = await scale();
  const line = page.getByRole('textbox', { name: 'kubectl command' });
  const output = page.getByRole('log', { name: 'Output' });
  const pod = await page.locator('.item[data-kind="Pod"]').first().getAttribute('data-name');
  await line.fill('kubectl get pods');
  await line.press('Enter');
  await line.fill(`kubectl describe pod ${pod}`);
  await line.press('Enter');
  await expect(output).toContainText('Events:');
  expect(await scale()).toBe(before);
  // The question stands above its answer, of which the first line is in sight; a name in it leads to its object.
  const [box, asked] = [await output.boundingBox(), await output.locator('.cmdline').last().boundingBox()];
  expect(asked.y - box.y).toBeLessThan(4);
  expect(box.height).toBeGreaterThan(150);
  const name = output.getByRole('button', { name: pod, exact: true }).last();
  expect((await name.boundingBox()).y).toBeGreaterThan(asked.y + 10);
  await name.click();
  await expect(page.locator('.i-head')).toContainText(pod);
  await page.getByRole('button', { name: 'Close the console' }).click();
  expect(await scale()).toBe(before);
});

test('a link brings manifest and view back', async ({ page }) => {
  await open(page);
  await manifest(page).fill(example('statefulset'));
  await page.getByRole('tab', { name: 'Storage' }).click();
  await expect.poll(() => link(page)).toMatchObject({ manifest: example('statefulset'), view: 'storage' });
  const address = page.url();
  const other = await page.context().newPage();
  await other.goto(address);
  await other.waitForFunction(() => window.loopscope?.ready);
  expect(await text(other)).toBe(example('statefulset'));
  await expect(other.getByRole('tab', { name: 'Storage' })).toHaveAttribute('aria-selected', 'true');
  await expect(other.locator('.item[data-kind="PersistentVolumeClaim"]').first()).toBeVisible();
});

test('a damaged link is told in words and the page still opens', async ({ page }) => {
  await open(page, '#pako:zzzz');
  await expect(page.getByRole('alert').filter({ hasText: 'damaged' })).toBeVisible();
  await expect(pods(page)).toHaveCount(2);
});

test('the keyboard reaches everything, and the editor is no trap', async ({ page }) => {
  await open(page);
  await expect(pods(page)).toHaveCount(2);
  await expect(page.locator('.code.rich')).toBeVisible();
  await manifest(page).focus();
  await page.keyboard.press('Tab');
  await expect(manifest(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  await expect(manifest(page)).not.toBeFocused();
  await page.keyboard.press('F6');
  await page.locator('.item[data-kind="Deployment"]').focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.item[data-kind="ReplicaSet"]')).toBeFocused();
  await page.keyboard.press('w');
  await expect(page.locator('.i-head')).toContainText('ReplicaSet');
  await page.keyboard.press('4');
  await expect(page.getByRole('tab', { name: 'Storage' })).toHaveAttribute('aria-selected', 'true');
});

for (const [width, height, scheme, query] of [[1440, 900, 'light', ''], [1440, 900, 'dark', ''], [390, 844, 'light', ''], [720, 420, 'dark', '?embed&autoplay']]) {
  test(`axe finds nothing serious at ${width}x${height}, ${scheme}${query}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    await open(page, query);
    await expect(pods(page)).toHaveCount(2);
    await settled(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const bad = violations.filter((violation) => ['serious', 'critical'].includes(violation.impact));
    expect(bad.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(' ')).slice(0, 5).join('; ')}`)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
}

test('a course page with two sandboxed embeds', async ({ page }) => {
  const failed = [];
  page.on('pageerror', (error) => failed.push(error.message));
  // The server sends no CORS headers: a frame with an opaque origin asks for nothing that it may not have.
  page.on('console', (message) => { if (message.type() === 'error' && !message.location().url.endsWith('favicon.ico')) failed.push(message.text()); });
  await page.goto('course-page.html');
  const frames = page.locator('loop-scope iframe');
  await expect(frames).toHaveCount(2);
  await expect(frames.first()).toHaveAttribute('sandbox', 'allow-scripts allow-popups allow-popups-to-escape-sandbox');
  const first = page.frameLocator('loop-scope iframe >> nth=0');
  await expect(first.locator('.item[data-kind="Pod"]')).toHaveCount(2);
  await frames.nth(1).scrollIntoViewIfNeeded();
  const second = page.frameLocator('loop-scope iframe >> nth=1');
  await expect(second.locator('.item[data-kind="Pod"][data-name="web-0"]')).toHaveAttribute('data-state', 'ready');
  await expect(second.locator('.item[data-kind="PersistentVolumeClaim"][data-name="www-web-0"]')).toBeVisible();
  await second.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(second.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
  expect(failed).toEqual([]);
});

test('without WebAssembly the page says so', async ({ page }) => {
  await page.addInitScript(() => { delete window.WebAssembly; });
  await page.goto('index.html');
  await expect(page.getByRole('alert')).toContainText('WebAssembly is missing');
});

test('a manifest without an object is refused in kubectl\'s words, and what is newly applied is selected', async ({ page }) => {
  await open(page);
  const said = await page.evaluate(() => window.loopscope.apply('# only a comment\n'));
  expect(said).toBe('line 1: error: no objects passed to apply');
  await page.evaluate((text) => window.loopscope.apply(text), example('statefulset'));
  await expect(page.locator('.item[data-kind="StatefulSet"][data-name="web"]').first()).toHaveAttribute('data-state', /.+/);
  await expect(page.getByRole('complementary').last()).toContainText('web');
});
