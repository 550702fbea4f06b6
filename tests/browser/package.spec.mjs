// <loop-scope> as a module and as a package: its types, what it is made of, and that a bundled app plays.
import { expect, test } from '@playwright/test';
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { snippets } from '../../scripts/hosts.mjs';
import { serve } from './server.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name) => readFileSync(`${root}/${name}`, 'utf8');
const run = (command, ...args) => execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });

test('the types accept what the element understands and refuse what it does not', () => {
  test.setTimeout(120_000);
  let words = '';
  try {
    run('npx', 'tsc', '-p', 'tests/types');
  } catch (error) {
    words = error.stdout;
  }
  expect(words).toBe('');
});

test('types, element, frame and document name the same methods, attributes and events', () => {
  const [types, element, host, attributesPage, methodsPage] = ['packages/npm/loopscope/embed.d.ts', 'static/embed.js', 'static/host.js', 'docs/embedding.md', 'docs/javascript.md'].map(read);
  const document = attributesPage + methodsPage;
  const list = (text, pattern) => [...text.matchAll(pattern)].map((found) => found[1]).sort();
  const body = (name) => types.match(new RegExp(`interface ${name}[^{]*\\{([^]*?)\\n\\}`))[1];
  const table = (head) => document.split(`\n| ${head} |`)[1].split('\n\n')[0];
  const inner = (text, pattern) => list(text.split('\n').filter((line) => line.startsWith('| `')).map((line) => line.split('|')[1]).join(), pattern);

  const methods = list(body('LoopScopeElement'), /^ {2}(\w+)\([^<]*?\): Promise/gm);
  expect(list(element.match(/var calls = \[([^\]]*)\]/)[1], /'(\w+)'/g)).toEqual(methods);
  expect(list(host.match(/var methods = \{([^]*?)\n {2}\};/)[1], /^ {4}(\w+):/gm)).toEqual(methods);
  expect(inner(table('method'), /`(\w+)\(/g)).toEqual([...methods, 'dispose'].sort());
  expect(inner(table('event'), /`(\w+)`/g)).toEqual(list(body('LoopScopeEvents'), /^ {2}(\w+):/gm));

  const attributes = list(body('LoopScopeAttributes'), /^ {2}'?([\w-]+)'?\?:/gm);
  expect(inner(table('attribute'), /`([\w-]+)`/g)).toEqual(attributes);
  const understood = [...list(element.match(/var passed = \[([^\]]*)\]/)[1], /'([\w-]+)'/g), ...list(element, /(?:get|has)Attribute\('([\w-]+)'\)/g)];
  expect([...new Set(understood)].sort()).toEqual(attributes);
});

test('on a server, where there is no document, the module can be imported', async () => {
  expect(run(process.execPath, '--input-type=module', '-e', "import('./static/embed.mjs').then((all) => { all.serveFrom('https://your.site/'); process.stdout.write(String(all.LoopScope)); })")).toBe('undefined');
});

test('an app that bundles the package plays, with Loopscope on another site', async ({ page, baseURL }) => {
  const folder = `${root}/target/package`;
  const own = `${folder}/node_modules/loopscope`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${own}/dist`, { recursive: true });
  // As scripts/release.mjs lays it out; `make test-packages` installs the packed file.
  cpSync(`${root}/packages/npm/loopscope`, own, { recursive: true });
  for (const name of ['embed.js', 'embed.mjs']) cpSync(`${root}/dist/${name}`, `${own}/dist/${name}`);
  writeFileSync(`${folder}/app.js`, snippets(baseURL)['package/app.js']);
  writeFileSync(`${folder}/index.html`, '<!doctype html><html lang="en"><title>App</title><loop-scope view="nodes" autoplay></loop-scope><script src="bundle.js"></script></html>');
  await build({ entryPoints: [`${folder}/app.js`], bundle: true, format: 'iife', outfile: `${folder}/bundle.js`, logOverride: { 'empty-import-meta': 'silent' } });
  const site = await serve(0, { base: '/', dist: `${folder}/` });
  try {
    await page.goto(`http://127.0.0.1:${site.address().port}/index.html`);
    const scope = page.locator('loop-scope');
    await expect.poll(() => scope.evaluate((element) => element.getCurrentTime())).toBeGreaterThan(0.2);
    await expect(page.frameLocator('iframe').locator('.item[data-kind="Node"]').first()).toBeVisible();
  } finally {
    site.close();
  }
});

test('a module of the page finds Loopscope beside it; one that does not know where it is says so', async ({ page }) => {
  const body = (script) => `<!doctype html><html lang="en"><title>Page</title><loop-scope></loop-scope><script type="module">${script}</script></html>`;
  const extra = {
    'beside.html': body("import './embed.mjs';"),
    'lost.html': body("document.querySelector('loop-scope').addEventListener('error', (event) => { document.title = event.detail.message; }); import('./embed.js');"),
  };
  const site = await serve(0, { extra });
  try {
    const home = `http://127.0.0.1:${site.address().port}/loopscope`;
    await page.goto(`${home}/beside.html`);
    expect(await page.locator('loop-scope').evaluate((element) => element.getManifest())).toContain('nginx-deployment');
    await page.goto(`${home}/lost.html`);
    await expect(page).toHaveTitle(/serveFrom/);
    await expect(page.locator('iframe')).toHaveCount(0);
  } finally {
    site.close();
  }
});
