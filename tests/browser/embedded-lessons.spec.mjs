// Lessons and manifests in frames: tasks can be done there, whatever the size, and nothing that is wrong vanishes.
import { expect, test } from '@playwright/test';
import { deflateSync } from 'node:zlib';
import { course } from './course.mjs';
import { open, panel, phase, played, next } from './lesson-play.mjs';
import { serve } from './server.mjs';

const OWN = 'lessons/control-loop.yaml';

/** Leads the control-loop lesson to its task. */
async function toTask(page) {
  for (let at = 0; await phase(page) !== 'task'; at++) {
    const now = await phase(page);
    if (now === 'asking') await page.locator('.choice').first().click();
    else if (now === 'playing') await played(page);
    else await next(page).click();
    expect(at).toBeLessThan(60);
  }
}

/** Boxes within the frame that do not overlap. */
async function apart(page, selectors) {
  const size = page.viewportSize();
  const boxes = await Promise.all(selectors.map((selector) => page.locator(selector).first().boundingBox()));
  for (const [at, box] of boxes.entries()) {
    expect(box, selectors[at]).not.toBeNull();
    expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= size.width + 0.5 && box.y + box.height <= size.height + 0.5, `${selectors[at]} ${JSON.stringify(box)}`).toBe(true);
    for (const other of boxes.slice(at + 1)) {
      const gap = Math.max(other.x - box.x - box.width, box.x - other.x - other.width, other.y - box.y - box.height, box.y - other.y - other.height);
      expect(gap, `${selectors[at]} ${JSON.stringify([box, other])}`).toBeGreaterThanOrEqual(4);
    }
  }
}

for (const [width, height] of [[760, 420], [480, 420], [360, 420], [360, 560]]) {
  test(`the task of an embedded lesson is done by button and by console, ${width} by ${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page, '?embed&lesson=control-loop');
    await toTask(page);
    await apart(page, ['.lesson .acts button:nth-of-type(1)', '.lesson .again', '.lesson .full', '.lesson .replicas', '.lesson .task-tools textarea']);
    expect(await page.locator('.lesson .full').getAttribute('href')).toContain('?lesson=control-loop');
    const more = page.locator('.lesson .replicas').getByRole('button').last();
    await more.click();
    await expect(page.locator('.lesson .replicas b')).toHaveText('3');
    await page.locator('.lesson .task-tools textarea').fill('kubectl get deployment web');
    await page.keyboard.press('Enter');
    await expect(page.locator('.lesson .task-tools pre')).toContainText('web');
    await more.click();
    await expect(panel(page)).toHaveAttribute('data-phase', 'done', { timeout: 30_000 });
  });
}

const manifest = (text) => `<script type="text/yaml">${text}</script>`;
const DEPLOYMENT = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: api}}\n    spec: {containers: [{name: c, image: nginx}]}\n';
const LISTEN = '<script>window.heard = []; document.querySelector("#one").addEventListener("error", (event) => window.heard.push(event.detail));</script>';
const element = (attributes, inner = '') => `<script src="HOMEembed.js"></script><loop-scope id="one" ${attributes}>${inner}</loop-scope>${LISTEN}`;
const heard = (page) => page.evaluate(() => window.heard.map((one) => one.code));

for (const [name, code, attributes, inner, words] of [
  ['a manifest that is no YAML', 'manifest', '', 'kind: Pod\n  metadata: [\n', 'Line '],
  ['a manifest that is refused', 'manifest', '', DEPLOYMENT, '`selector` does not match template `labels`'],
  ['a broken lesson', 'lesson', '', 'lesson: 1\ntitle: T\nsteps:\n- sya: Hello\n', 'Line 4'],
  ['a diagram that does not exist', 'view', 'view="storag"', DEPLOYMENT.replace('app: api', 'app: web'), 'storag'],
]) {
  test(`${name} is told in the frame and as an event`, async ({ page, baseURL }) => {
    await course(page, baseURL, element(attributes, manifest(inner)));
    const fault = page.frameLocator('iframe').locator(`.fault[data-code="${code}"]`);
    await expect(fault).toContainText(words, { timeout: 20_000 });
    await expect.poll(() => heard(page)).toContain(code);
    // It stays.
    await page.waitForTimeout(1_500);
    await expect(fault).toBeVisible();
    expect((await heard(page)).filter((one) => one === code)).toHaveLength(1);
  });
}

test('what no frame can tell stands in the place of the element, with a link and the manifest', async ({ page, baseURL }) => {
  await course(page, baseURL, element('src="nowhere.yaml"'));
  const alert = page.locator('#one').getByRole('alert');
  await expect(alert).toContainText('nowhere.yaml: the server answered 404');
  await expect(page.locator('#one').getByRole('link')).toHaveAttribute('href', /index\.html\?src=http.*nowhere\.yaml$/);
  expect(await heard(page)).toEqual(['source']);
  await expect(page.locator('#one').evaluate((scope) => scope.play())).rejects.toThrow('404');
  // A server that does not answer.
  await page.evaluate(() => {
    customElements.get('loop-scope').home = 'http://127.0.0.1:9/loopscope/';
    const other = document.createElement('loop-scope');
    other.id = 'two';
    other.innerHTML = '<pre>kind: Pod # mine</pre>';
    window.two = [];
    other.addEventListener('error', (event) => window.two.push(event.detail.code));
    document.body.prepend(other);
  });
  const two = page.locator('#two');
  await expect(two.getByRole('alert')).toContainText('127.0.0.1:9', { timeout: 30_000 });
  await expect(two.locator('div pre')).toHaveText('kind: Pod # mine');
  expect(await page.evaluate(() => window.two)).toEqual(['frame']);
});

test('a misspelled attribute is named', async ({ page, baseURL }) => {
  await course(page, baseURL, element('veiw="storage"'));
  await expect(page.locator('#one').getByRole('alert')).toContainText('veiw; did you mean view?');
  expect(await heard(page)).toEqual(['attribute']);
});

test('WebAssembly that a policy forbids is told in the frame and as an event', async ({ page, baseURL }) => {
  await page.route('**/index.html*', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace("'wasm-unsafe-eval'", '') });
  });
  await course(page, baseURL, element(''));
  await expect(page.frameLocator('iframe').getByRole('alert')).toContainText('cannot start', { timeout: 20_000 });
  await expect.poll(() => heard(page)).toEqual(['start']);
});

test('without JavaScript the pasted snippet is a link and the manifest', async ({ page, browser }) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.getByRole('button', { name: 'Embed' }).click();
  const snippet = await page.getByRole('textbox', { name: 'Snippet' }).inputValue();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const other = await context.newPage();
  await other.setContent(`<!doctype html><title>Course</title>${snippet}`);
  await expect(other.getByRole('link', { name: 'Open the simulation' })).toHaveAttribute('href', /index\.html#pako:/);
  await expect(other.locator('pre')).toContainText('kind: Deployment');
  await context.close();
});

test('lessons and manifests at an address open on the page and in a frame, and what cannot be loaded is told', async ({ page }) => {
  await open(page, `?lesson=${OWN}`);
  await expect(panel(page)).toContainText('The control loop');
  // A learner has the manifest of the step, not the source with its solutions.
  await played(page);
  await next(page).click();
  await expect.poll(() => page.evaluate(() => window.loopscope.manifest())).toContain('kind: Deployment');
  expect(await page.evaluate(() => window.loopscope.manifest())).not.toMatch(/solution|predict/);
  await open(page, `?embed&lesson=${OWN}`);
  await expect(panel(page)).toContainText('The control loop');
  // It plays as those of the page do.
  expect(await page.evaluate(() => window.loopscope.now())).toBeGreaterThan(0);
  await expect(page.locator('.lesson .full')).toHaveAttribute('href', /\?learn=1#pako:/);
  const site = await serve(0, { cors: true, extra: { 'own/pod.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: mine}\nspec: {containers: [{name: c, image: nginx}]}\n' } });
  try {
    const home = `http://127.0.0.1:${site.address().port}/loopscope/index.html`;
    for (const query of ['?embed&src=own/pod.yaml', '?src=own/pod.yaml']) {
      await page.goto(home + query);
      await expect(page.locator('.item[data-name="mine"]').first()).toBeVisible();
    }
    // A sandboxed frame may load what the server lets any site have.
    await page.setContent(`<!doctype html><title>Course</title><iframe sandbox="allow-scripts" width="700" height="400" src="${home}?embed&src=own/pod.yaml"></iframe>`);
    await expect(page.frameLocator('iframe').locator('.item[data-name="mine"]').first()).toBeVisible({ timeout: 20_000 });
    await page.goto(`${home}?embed&src=own/missing.yaml`);
    await expect(page.locator('.fault[data-code="source"]')).toContainText('own/missing.yaml');
  } finally {
    site.close();
  }
});

test('theme and view of an element can be changed', async ({ page, baseURL }) => {
  await course(page, baseURL, element('theme="light"', manifest(DEPLOYMENT.replace('app: api', 'app: web'))));
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('.item').first()).toBeVisible({ timeout: 20_000 });
  await page.locator('#one').evaluate((scope) => { scope.setAttribute('view', 'nodes'); scope.setAttribute('theme', 'dark'); });
  await expect(frame.locator('.item[data-kind="Node"]').first()).toBeVisible();
  await expect(frame.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.locator('#one').evaluate((scope) => scope.setAttribute('view', 'storag'));
  await expect(page.locator('#one').getByRole('alert')).toContainText('there is no diagram storag; there are ownership');
  expect(await heard(page)).toEqual(['view']);
  await page.locator('#one').evaluate((scope) => scope.setAttribute('view', 'storage'));
  await expect(page.locator('#one').getByRole('alert')).toHaveCount(0);
  await page.locator('#one').evaluate((scope) => scope.setAttribute('theme', 'light'));
  await expect(frame.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('a lesson in the address of a frame is taken by a learner, on the full page it is written', async ({ page, request, baseURL }) => {
  const text = await (await request.get(`${baseURL}${OWN}`)).text();
  const hash = `#pako:${deflateSync(JSON.stringify({ v: 1, manifest: text })).toString('base64url')}`;
  await open(page, `?embed${hash}`);
  expect(await page.evaluate(() => window.loopscope.manifest())).not.toContain('solution');
  await open(page, hash);
  expect(await page.evaluate(() => window.loopscope.manifest())).toContain('solution');
});
