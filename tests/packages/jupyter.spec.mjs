// The widgets of the wheel: a notebook that is executed and converted shows pictures without a network; in a notebook, whose part a page
// with a stand-in for its model plays, the page comes through the kernel and follows a cluster.
import { expect, test } from '@playwright/test';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { environment, wheel } from './environment.mjs';
import { note, root, run, seconds } from './trial.mjs';

let path;
let command;

test.beforeAll(() => {
  let pip;
  ({ path, command, pip } = environment('jupyter', join(root, 'tests/packages/sites/jupyter')));
  pip(wheel());
  // A test that cannot have Jupyter says so.
  let missing = '';
  try {
    pip('anywidget==0.11.0', 'nbconvert==7.17.2', 'nbclient==0.11.0', 'ipykernel==7.4.0');
  } catch (error) {
    missing = String(error.message).split('\n').findLast((line) => line.startsWith('ERROR')) ?? error.message;
  }
  test.skip(Boolean(missing), `Jupyter cannot be installed: ${missing}`);
});

test('a notebook, executed and converted, shows pictures without a network', async ({ page }) => {
  const took = await seconds(() => run(path, command('python'), ['notebook.py']));
  run(path, command('jupyter'), ['nbconvert', '--to', 'html', 'notebook.ipynb']);
  note('jupyter', { took });
  const { cells } = JSON.parse(readFileSync(join(path, 'notebook.ipynb'), 'utf8'));
  const kinds = cells.map(({ outputs }) => outputs.map(({ data }) => Object.keys(data).filter((kind) => /svg|widget/.test(kind)).join()));
  expect(kinds).toEqual([
    ['image/svg+xml', 'application/vnd.jupyter.widget-view+json'],
    ['image/svg+xml', 'application/vnd.jupyter.widget-view+json'],
    // Nothing to draw.
    ['application/vnd.jupyter.widget-view+json'],
    [],
  ]);
  // The page itself is not kept in the notebook.
  expect(readFileSync(join(path, 'notebook.ipynb')).length).toBeLessThan(300_000);
  await page.context().setOffline(true);
  await page.route(/^https?:/, (route) => route.abort());
  await page.goto(`file://${path}/notebook.html`, { waitUntil: 'domcontentloaded' });
  const pictures = page.locator('img[class^="loopscope-"]');
  await expect(pictures.first()).toBeVisible();
  await expect(pictures.first()).toHaveAttribute('alt', /^Deployment web, 2 desired, 2 current, 2 ready/);
  expect(await pictures.first().evaluate((image) => image.naturalWidth)).toBeGreaterThan(400);
  await expect(pictures.nth(1)).toBeVisible();
  await expect(pictures.nth(1)).toHaveAttribute('alt', /节点/);
  await page.screenshot({ path: join(root, 'target/packages/jupyter.png') });
  // The svg of other converters.
  run(path, command('jupyter'), ['nbconvert', '--to', 'markdown', 'notebook.ipynb']);
  expect(readFileSync(join(path, 'notebook.md'), 'utf8')).toContain('svg');
});

/** Shows a widget in a page: its script, and a model that speaks with a kernel. */
async function show(page, kind) {
  const kernel = spawn(command('python'), ['kernel.py', kind], { cwd: path, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: kernel.stdout })[Symbol.asyncIterator]();
  const state = JSON.parse((await lines.next()).value);
  const asked = [];
  const done = [];
  const failed = [];
  page.on('request', (request) => { if (!/^(data|blob):|^http:\/\/notebook\.test\/$/.test(request.url())) failed.push(request.url()); });
  page.on('pageerror', (error) => failed.push(error.message));
  await page.route('http://notebook.test/', (route) => route.fulfill({
    contentType: 'text/html', body: `<!doctype html><html><body><img class="${state.still}" alt="still"><div id="widget"></div></body></html>`,
  }));
  await page.exposeFunction('toKernel', (message) => {
    asked.push(message);
    kernel.stdin.write(`${JSON.stringify(message)}\n`);
  });
  await page.goto('http://notebook.test/');
  const script = readFileSync(run(path, command('python'), ['-c', 'import loopscope; print(loopscope.__path__[0])']).trim() + '/widget.mjs', 'utf8');
  await page.evaluate(async ([script, state]) => {
    const listeners = new Map();
    window.emit = (event, ...args) => [...listeners.get(event) ?? []].forEach((act) => act(...args));
    window.model = {
      get: (name) => state[name],
      set: (name, value) => { state[name] = value; window.emit(`change:${name}`); },
      on: (event, act) => listeners.set(event, [...listeners.get(event) ?? [], act]),
      off: (event, act) => listeners.set(event, (listeners.get(event) ?? []).filter((one) => one !== act)),
      send: (message) => window.toKernel(message),
    };
    const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
    window.show = () => widget.render({ model: window.model, el: document.querySelector('#widget') });
    window.leave = window.show();
  }, [script, state]);
  (async () => {
    for await (const line of lines) {
      const { content, buffers, done: ran } = JSON.parse(line);
      if (ran) done.push(ran);
      else await page.evaluate(([content, buffers]) => {
        window.emit('msg:custom', content, buffers.map((text) => new DataView(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer)));
      }, [content, buffers]).catch(() => { /* the page is closed */ });
    }
  })();
  const python = async (line) => {
    kernel.stdin.write(`${JSON.stringify({ python: line })}\n`);
    await expect.poll(() => done).toContain(line);
  };
  return { kernel, asked, failed, python };
}

const pods = (page) => page.frameLocator('#widget iframe').locator('.item[data-kind="Pod"]');

test('the widget of a manifest', async ({ page }) => {
  const { kernel, asked, failed } = await show(page, 'manifest');
  try {
    await expect(page.getByAltText('still')).toBeHidden();
    await expect(page.locator('#widget img')).toBeVisible();
    const first = await seconds(() => expect(pods(page)).toHaveCount(2));
    note('jupyter, the widget', { first });
    await expect(page.locator('#widget img')).toHaveCount(0);
    await page.screenshot({ path: join(root, 'target/packages/jupyter-widget.png') });
    // The traits can be changed.
    await page.evaluate(() => window.model.set('view', 'nodes'));
    await expect(page.frameLocator('#widget iframe').locator('.item[data-kind="Node"]').first()).toBeVisible();
    await page.evaluate(() => window.model.set('height', 300));
    await expect(page.locator('#widget iframe')).toHaveJSProperty('clientHeight', 300);
    // A second view has the page already.
    const before = asked.length;
    await page.evaluate(() => {
      window.leave();
      document.querySelector('#widget').replaceChildren();
      window.show();
    });
    await expect(page.frameLocator('#widget iframe').locator('.item[data-kind="Node"]').first()).toBeVisible();
    expect(asked.length).toBe(before);
    expect(failed).toEqual([]);
  } finally {
    kernel.stdin.end();
  }
});

test('the widget that follows a cluster', async ({ page }) => {
  const { kernel, asked, failed, python } = await show(page, 'follow');
  try {
    await expect.poll(() => asked.some(({ type }) => type === 'follow')).toBe(true);
    await python('cluster.apply(MANIFEST); cluster.settle()');
    await expect(pods(page)).toHaveCount(2);
    await python("cluster.kubectl('scale deployment web --replicas=3'); cluster.settle()");
    await expect(pods(page)).toHaveCount(3);
    // What is done on the page is done to the cluster.
    await page.frameLocator('#widget iframe').locator('body').evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=1'));
    await expect.poll(() => asked.find(({ type }) => type === 'send')?.path).toBe('kubectl');
    await python('cluster.settle()');
    await expect(pods(page)).toHaveCount(1);
    await python("assert len(cluster.get('/api/v1/pods')['items']) == 1");
    await page.screenshot({ path: join(root, 'target/packages/jupyter-follow.png') });
    expect(failed).toEqual([]);
  } finally {
    kernel.stdin.end();
  }
});
