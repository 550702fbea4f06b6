// The extension of VS Code, unpacked from its vsix into an empty folder and run against a stand-in for VS Code's API; its webview in Chromium,
// under the policy that it declares, in frames nested as VS Code nests them.
import { expect, test } from '@playwright/test';
import { strFromU8, unzipSync } from 'fflate';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { folder, note, packed, root, run, seconds } from './trial.mjs';

const vsix = () => packed(/^loopscope-\d.*\.vsix$/);
const deployment = readFileSync(join(root, 'tests/packages/sites/vitepress/index.md'), 'utf8').match(/^```loopscope.*\n([^]*?)^```/m)[1];
const lesson = readFileSync(join(root, 'docs/lessons.md'), 'utf8').match(/^```yaml\n([^]*?)^```/m)[1];
const lineOf = (text, word) => text.split('\n').findIndex((line) => line.includes(word));

/** The vsix, unpacked, with the stand-in beside it. */
function unpacked(name) {
  const path = folder(`vscode-${name}`);
  for (const [file, bytes] of Object.entries(unzipSync(readFileSync(vsix())))) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), bytes);
  }
  cpSync(join(root, 'tests/packages/vscode'), join(path, 'node_modules/vscode'), { recursive: true });
  return path;
}

/** The command: the one of the archive, or another one in LOOPSCOPE. */
function command(path) {
  if (process.env.LOOPSCOPE) return process.env.LOOPSCOPE;
  run(path, 'tar', ['-xzf', packed(/^loopscope-\d.*\.tar\.gz$/), '--strip-components=1']);
  return join(path, 'bin/loopscope');
}

let active;
/** Activates the extension in an editor with these settings. */
function activate(name, settings = {}) {
  const path = unpacked(name);
  const require = createRequire(join(path, 'extension/package.json'));
  const about = require('./package.json');
  const vscode = require('vscode');
  const { properties } = about.contributes.configuration;
  Object.assign(vscode.standIn.settings, Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, value.default])));
  Object.assign(vscode.standIn.settings, settings === 'command' ? { 'loopscope.path': command(path) } : settings);
  const extension = require(about.main);
  const context = { extensionUri: vscode.Uri.file(join(path, 'extension')), subscriptions: [] };
  extension.activate(context);
  active = { path, about, vscode, context, extension, standIn: vscode.standIn };
  return active;
}

test.afterEach(() => {
  active?.context.subscriptions.forEach((one) => one.dispose());
  active?.extension.deactivate();
  active = undefined;
});

const problemsOf = (standIn, document) => (standIn.problems.get(document.uri.toString()) ?? [])
  .map(({ range, severity, message }) => ({ line: range.start.line, severity, message }));

test('the vsix is what vsce makes of its files', () => {
  const path = unpacked('vsce');
  run(path, 'npm', ['install', '--no-fund', '--no-audit', '--ignore-scripts', '--omit=optional', '--prefix', 'tool', '@vscode/vsce@3.9.2']);
  const made = join(path, 'made.vsix');
  run(join(path, 'extension'), join(path, 'tool/node_modules/.bin/vsce'), ['package', '--allow-missing-repository', '--out', made]);
  const [ours, theirs] = [vsix(), made].map((file) => unzipSync(readFileSync(file)));
  expect(Object.keys(ours).sort()).toEqual(Object.keys(theirs).sort());
  const tags = (files, name) => [...strFromU8(files[name]).matchAll(/<\w[^>]*>/g)].map(([tag]) => tag.replace(/\s*\/?>$/, '>')).filter((tag) => !tag.includes('Value=""')).sort();
  for (const name of ['extension.vsixmanifest', '[Content_Types].xml']) expect(tags(ours, name)).toEqual(tags(theirs, name));
});

test('what it uses of the API is there in the oldest VS Code that it names', () => {
  const path = unpacked('types');
  const engine = JSON.parse(readFileSync(join(path, 'extension/package.json'), 'utf8')).engines.vscode.slice(1);
  writeFileSync(join(path, 'package.json'), '{}');
  // The types in place of the stand-in.
  rmSync(join(path, 'node_modules'), { recursive: true });
  run(path, 'npm', ['install', '--no-fund', '--no-audit', `@types/vscode@${engine}`, '@types/node@20']);
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { allowJs: true, checkJs: true, noEmit: true, module: 'commonjs', target: 'es2022', lib: ['es2022'], types: ['node', 'vscode'], skipLibCheck: true },
    files: ['extension/extension.js'],
  }));
  run(path, join(root, 'node_modules/.bin/tsc'), ['-p', '.']);
});

test('each command is there, and each word in both languages', async () => {
  note('vscode', { install: await seconds(() => unpacked('install')) });
  const { path, about, standIn } = activate('words');
  expect([...standIn.commands.keys()].sort()).toEqual(about.contributes.commands.map((one) => one.command).sort());
  const json = (file) => JSON.parse(readFileSync(join(path, 'extension', file), 'utf8'));
  const named = [...JSON.stringify(about).matchAll(/"%([\w.]+)%"/g)].map(([, name]) => name).sort();
  for (const file of ['package.nls.json', 'package.nls.zh-cn.json']) expect(Object.keys(json(file)).sort()).toEqual(named);
  const sources = ['command.js', 'extension.js', 'preview.js', 'problems.js', 'why.js'].map((file) => readFileSync(join(path, 'extension', file), 'utf8')).join('');
  const said = new Set([...sources.matchAll(/(?:\bt|l10n\.t)\(\s*'([^']+)'/g)].map(([, words]) => words));
  expect(Object.keys(json('l10n/bundle.l10n.zh-cn.json')).sort()).toEqual([...said].sort());
});

test('problems: the words of the API server at their lines, while somebody types', async () => {
  const { standIn, path } = activate('problems', 'command');
  const first = await seconds(async () => {
    const broken = standIn.open(join(path, 'web.yaml'), deployment.replace('replicas: 2', 'replicas: two'));
    await expect.poll(() => problemsOf(standIn, broken), { intervals: [20] }).toEqual([{
      line: lineOf(deployment, 'replicas'), severity: 0,
      message: 'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    }]);
  });
  note('vscode', { problems: first });
  const [document] = active.vscode.workspace.textDocuments;
  standIn.type(document, deployment);
  await expect.poll(() => problemsOf(standIn, document)).toEqual([]);
  standIn.type(document, `${deployment}---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Wrong\n`);
  await expect.poll(() => problemsOf(standIn, document).map(({ line, message }) => [line - lineOf(document.text, 'name: Wrong'), message.split(':')[0]]))
    .toEqual([[0, 'The ConfigMap "Wrong" is invalid']]);
  // Kinds that nobody defines are left alone, unless the setting says otherwise.
  const custom = standIn.open(join(path, 'custom.yaml'), 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n');
  standIn.settings['loopscope.ignoreUnknownKinds'] = false;
  standIn.on.save.fire(custom);
  await expect.poll(() => problemsOf(standIn, custom).map((one) => one.message).join()).toContain('Widget');
  standIn.settings['loopscope.ignoreUnknownKinds'] = true;
  standIn.on.configuration.fire({ affectsConfiguration: (name) => name === 'loopscope' });
  await expect.poll(() => problemsOf(standIn, custom)).toEqual([]);
  standIn.on.close.fire(document);
  expect(standIn.problems.has(document.uri.toString())).toBe(false);
  // What is no manifest is not asked about.
  const other = standIn.open(join(path, 'other.yaml'), 'a: [b\n');
  standIn.on.save.fire(other);
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  expect(problemsOf(standIn, other)).toEqual([]);
  expect(standIn.told).toEqual([]);
});

test('without the command that is said once', async () => {
  const { standIn, path } = activate('missing', { 'loopscope.path': '/nowhere/loopscope' });
  const document = standIn.open(join(path, 'web.yaml'), deployment);
  await expect.poll(() => standIn.told.map((one) => one.message).join()).toContain('/nowhere/loopscope was not found');
  standIn.on.save.fire(document);
  standIn.edit(document, 3);
  await standIn.commands.get('loopscope.why')();
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  expect(standIn.told).toHaveLength(1);
  expect(standIn.told[0].actions).toEqual(['Open Settings']);
});

test('Why: state, causes and remedies of the object under the cursor', async () => {
  const { standIn, path } = activate('why', 'command');
  // It waits for a claim in a namespace of its own; the second document is well.
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: waits
  namespace: prod
spec:
  containers:
  - name: app
    image: nginx:1.27
    envFrom: [{configMapRef: {name: settings}}]
---
${deployment}`;
  const document = standIn.open(join(path, 'why.yaml'), text);
  standIn.edit(document, lineOf(text, 'envFrom'));
  const first = await seconds(() => standIn.commands.get('loopscope.why')());
  note('vscode', { why: first });
  expect(standIn.told).toEqual([]);
  const [waiting] = standIn.shown;
  expect(waiting).toMatch(/^# Pod waits\n\n\*\*.*\n\n## Waits for\n/);
  expect(waiting).toMatch(/configmap "?settings"? not found|ConfigMap settings/i);
  expect(waiting).toMatch(/ {2}- ✓ tried: helps: .*\n {4}- `kubectl create configmap settings/);
  expect(waiting).toMatch(/\n## Causes\n\n\| s \| Who \| What \| Why \|\n\|--:\|---\|---\|---\|\n\| [\d.]+ \| .*kubelet/);
  standIn.edit(document, lineOf(text, 'replicas'));
  await standIn.commands.get('loopscope.why')();
  expect(standIn.shown[1]).toMatch(/^# Deployment web\n\n\*\*.*2/);
  expect(standIn.shown[1]).not.toContain('Waits for');
  // What a Deployment waits for ends at its Pods; a remedy of both stands once, at the root.
  const large = text.replace(/(spec: \{containers: \[\{name: nginx, )/, '$1resources: {requests: {cpu: 6}}, ');
  expect(large).not.toBe(text);
  standIn.type(document, large);
  await standIn.commands.get('loopscope.why')();
  expect(standIn.shown[2].match(/tried: helps/g)).toHaveLength(1);
  expect(standIn.shown[2]).toMatch(/- Pod web-[^]*The Pod fits on no node\n[^]*✓ tried: helps[^]*## Causes/);
  standIn.type(document, text);
  // The name has it as a hover, other lines have none.
  const [{ provider }] = standIn.hovers;
  const hover = await provider.provideHover(document, { line: lineOf(text, 'name: waits') });
  expect(hover.contents.value).toMatch(/^Pod waits: \*\*[^]*tried: helps/);
  expect(await provider.provideHover(document, { line: lineOf(text, 'image') })).toBeUndefined();
  // An object that is refused is not there to be asked about.
  standIn.type(document, text.replace('image: nginx:1.27', 'image: 1'));
  standIn.edit(document, 1);
  await standIn.commands.get('loopscope.why')();
  expect(standIn.shown[3]).toMatch(/^# Pod waits\n\nLine 9 is refused:\n\n> .*cannot unmarshal number/);
  // A line between objects has none.
  standIn.type(document, 'a: b\n');
  await standIn.commands.get('loopscope.why')();
  expect(standIn.told.map((one) => one.kind)).toEqual(['Information']);
});

/** Shows a panel in Chromium as VS Code does; fails on what the policy refuses and on requests elsewhere. */
async function show(page, { standIn, path }, open) {
  const failed = [];
  page.on('pageerror', (error) => failed.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error' && !message.location().url.endsWith('favicon.ico')) failed.push(message.text()); });
  const listen = (answer) => new Promise((resolve) => {
    const server = createServer((request, response) => {
      const { type, body, cors } = answer(new URL(request.url, 'http://localhost').pathname);
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, ...(cors ? { 'access-control-allow-origin': '*' } : {}) }).end(body);
    }).listen(0, '127.0.0.1', () => resolve(server));
  });
  const resources = await listen((name) => ({ type: 'text/html', cors: true, body: name === '/single.html' ? readFileSync(join(path, 'extension/page/single.html')) : undefined }));
  standIn.resources = `http://127.0.0.1:${resources.address().port}`;
  await open();
  const panel = standIn.panels.at(-1);
  const frame = 'sandbox="allow-same-origin allow-scripts allow-forms allow-pointer-lock allow-downloads" name="active-frame" src="/fake.html?id=1&swVersion=4"';
  const shown = `<!doctype html><style>html, body, iframe { margin: 0; border: 0; width: 100%; height: 100% }</style><iframe ${frame}></iframe><script>
    const frame = document.querySelector('iframe');
    frame.onload = async () => {
      frame.onload = null;
      const html = await (await fetch('/html')).text();
      const { contentDocument: inside, contentWindow: window } = frame;
      for (const name of ['parent', 'top', 'frameElement']) delete window[name];
      inside.open();
      inside.write(html);
      inside.close();
    };
  </script>`;
  const outside = await listen((name) => ({ type: 'text/html; charset=utf-8', body: { '/': shown, '/fake.html': '<!doctype html>', '/html': panel.webview.html }[name] }));
  const home = `http://localhost:${outside.address().port}`;
  page.on('request', (request) => { if (![home, standIn.resources].some((one) => request.url().startsWith(one)) && !/^(data|blob|about):/.test(request.url())) failed.push(request.url()); });
  await page.exposeFunction('heard', (message) => panel.webview.fromPage.fire(message));
  await page.addInitScript(() => {
    if (window.name === 'active-frame') window.acquireVsCodeApi = () => ({ postMessage: (message) => window.heard(message) });
  });
  panel.webview.toPage = (message) => page.frame('active-frame').evaluate((message) => window.postMessage(message, window.origin), message);
  await page.goto(home);
  const inside = page.frameLocator('iframe').frameLocator('iframe');
  const close = () => { standIn.panels.forEach((one) => one.dispose()); resources.close(); outside.close(); };
  return { panel, failed, inside, close, pods: inside.locator('.item[data-kind="Pod"]') };
}

test('a manifest plays beside its text, and follows it', async ({ page }) => {
  const editor = activate('play', { 'loopscope.problems': false });
  const { standIn, path, vscode } = editor;
  const text = `${deployment}---\napiVersion: v1\nkind: Pod\nmetadata: {name: alone, namespace: prod}\nspec:\n  containers: [{name: a, image: "nginx:1.27"}]\n`;
  const document = standIn.open(join(path, 'web.yaml'), text);
  standIn.edit(document);
  expect(standIn.contexts['loopscope.text']).toBe('manifest');
  const { panel, failed, inside, pods, close } = await show(page, editor, () => standIn.commands.get('loopscope.play')());
  try {
    expect(panel.column).toEqual({ viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
    const first = await seconds(() => expect(pods.first()).toBeVisible());
    note('vscode', { first });
    // That of a namespace which a new cluster does not have comes once the page is whole.
    await expect(pods).toHaveCount(3);
    await expect(inside.locator('html')).toHaveAttribute('data-theme', 'dark');
    // Nothing leads to this page.
    await expect(inside.getByRole('button', { name: 'Share' })).toBeHidden();
    await expect(inside.getByRole('button', { name: 'Embed' })).toBeHidden();
    const calls = () => panel.webview.posted.map((one) => [one.method, ...one.args]);
    const before = calls().length;
    standIn.type(document, text.replace('replicas: 2', 'replicas: 4'));
    await expect(pods).toHaveCount(5);
    // Typed at once, applied once; the cluster is the one that was there.
    expect(calls().slice(before).map(([method]) => method)).toEqual(['apply']);
    await page.screenshot({ path: join(root, 'target/packages/vscode.png') });
    // A text that is refused in part is applied in part, and deletes nothing that it does not name any more.
    standIn.type(document, text.replace('replicas: 2', 'replicas: four').replace('name: alone', 'name: other'));
    await expect.poll(() => calls().length).toBe(before + 2);
    await page.waitForTimeout(300);
    await expect(pods).toHaveCount(6);
    // What is taken out of the text is deleted.
    standIn.type(document, deployment);
    await expect(pods).toHaveCount(2);
    expect(calls().slice(before + 3)).toEqual(['other', 'alone'].map((name) => ['kubectl', `delete pod ${name} --namespace=prod --ignore-not-found --wait=false`]));
    vscode.window.activeColorTheme = { kind: vscode.ColorThemeKind.Light };
    standIn.on.theme.fire(vscode.window.activeColorTheme);
    await expect(inside.locator('html')).toHaveAttribute('data-theme', 'light');
    // The same text has one panel.
    await standIn.commands.get('loopscope.play')(document.uri);
    expect(standIn.panels).toHaveLength(1);
    expect(panel.reveals).toBe(1);
    panel.dispose();
    await standIn.commands.get('loopscope.play')(document.uri);
    expect(standIn.panels).toHaveLength(2);
    // One that is closed is sent nothing more.
    const sent = calls().length;
    standIn.type(document, text);
    await page.waitForTimeout(1_000);
    expect(calls()).toHaveLength(sent);
    expect(failed).toEqual([]);
  } finally {
    close();
  }
});

test('a manifest cannot run a script in the webview', async ({ page }) => {
  const editor = activate('script', { 'loopscope.problems': false });
  const { standIn, path, vscode } = editor;
  vscode.env.language = 'zh-cn';
  const hostile = `${deployment}\n# </script><script>parent.hacked = 1</script>"><img src=x onerror="parent.hacked = 1">\n`;
  const document = standIn.open(join(path, 'web.yaml'), hostile);
  standIn.edit(document);
  const { panel, failed, inside, pods, close } = await show(page, editor, () => standIn.commands.get('loopscope.play')());
  try {
    await expect(pods).toHaveCount(2);
    expect(panel.webview.html).not.toContain('hacked');
    // The page speaks the language of the editor.
    await expect(inside.locator('html')).toHaveAttribute('lang', 'zh-CN');
    // Neither the webview nor the page within runs what was not built.
    const script = (place) => place.evaluate(() => {
      const element = document.createElement('script');
      element.textContent = 'window.hacked = 1';
      document.head.append(element);
      return window.hacked;
    });
    const [outer, inner] = [page.frame('active-frame'), page.frames().at(-1)];
    expect(inner.parentFrame()).toBe(outer);
    expect([await script(outer), await script(inner)]).toEqual([undefined, undefined]);
    expect(failed.every((message) => /Content Security Policy/.test(message))).toBe(true);
    expect(failed).toHaveLength(2);
  } finally {
    close();
  }
});

test('a lesson: preview, problems, schema', async ({ page }) => {
  const editor = activate('lesson', 'command');
  const { standIn, path, about } = editor;
  const document = standIn.open(join(path, 'own.yaml'), lesson);
  standIn.edit(document);
  expect(standIn.contexts['loopscope.text']).toBe('lesson');
  const { failed, inside, panel, close } = await show(page, editor, () => standIn.commands.get('loopscope.lesson')());
  try {
    const title = inside.locator('#lesson h2');
    await expect(title).toHaveText('A Pod is deleted');
    await expect(inside.locator('#lesson')).toContainText('This Deployment asks for 2 Pods.');
    await expect.poll(() => problemsOf(standIn, document)).toEqual([]);
    const ready = () => panel.webview.posted.length;
    // On to the second step, which then changes in the text.
    await expect(inside.getByRole('button', { name: 'Next', exact: true })).toBeEnabled();
    await inside.getByRole('button', { name: 'Next', exact: true }).click();
    await inside.getByRole('button', { name: 'Skip the question' }).click();
    await expect(inside.locator('#lesson')).toContainText('One Pod was deleted');
    const before = ready();
    standIn.type(document, lesson.replace('One Pod was deleted.', 'Somebody deleted a Pod.').replace('A Pod is deleted', 'Deleted'));
    await expect(title).toHaveText('Deleted');
    await expect(inside.locator('#lesson')).toContainText('Step 2 of 3');
    expect(ready()).toBeGreaterThan(before);
    await page.screenshot({ path: join(root, 'target/packages/vscode-lesson.png') });
    // Mistakes in the text have their lines, those of the play the lines of their steps.
    standIn.type(document, lesson.replace('  look: web\n', '  lok: web\n'));
    await expect.poll(() => problemsOf(standIn, document).map((one) => [one.line, one.severity])).toEqual([[lineOf(lesson, '  look: web'), 0]]);
    const unsolved = lesson.replace('solution: [{kubectl: scale deployment web --replicas=4}', 'solution: [{kubectl: scale deployment web --replicas=3}');
    standIn.type(document, unsolved);
    await expect.poll(() => problemsOf(standIn, document)).toEqual([{ line: lineOf(lesson, 'Your turn'), severity: 0, message: 'step 3: the solution does not do the task' }]);
    standIn.type(document, lesson.replace('One Pod was deleted., zh: 一个 Pod 被删除了。', 'One Pod was deleted.'));
    await expect.poll(() => problemsOf(standIn, document).map((one) => [one.line, one.severity])).toEqual([[lineOf(lesson, 'One Pod was deleted'), 1]]);
    expect(failed).toEqual([]);
  } finally {
    close();
  }
  const [{ url }] = about.contributes.yamlValidation;
  expect(JSON.parse(readFileSync(join(path, 'extension', url), 'utf8'))).toEqual(JSON.parse(readFileSync(join(root, 'static/lesson.schema.json'), 'utf8')));
});

test('the schema is offered to the extension YAML for files that begin with lesson:', async () => {
  const first = activate('schema', { 'loopscope.problems': false });
  first.context.subscriptions.forEach((one) => one.dispose());
  const { standIn, path, extension, context } = first;
  let contributor;
  standIn.extensions['redhat.vscode-yaml'] = { activate: async () => ({ registerContributor: (...given) => { contributor = given; } }) };
  context.subscriptions = [];
  extension.activate(context);
  await expect.poll(() => contributor?.[0]).toBe('loopscope');
  const [, schemaOf, content] = contributor;
  const own = standIn.open(join(path, 'own.yaml'), `# mine\n---\n${lesson}`);
  const web = standIn.open(join(path, 'web.yaml'), deployment);
  expect(schemaOf(web.uri.toString())).toBeUndefined();
  expect(JSON.parse(content(schemaOf(own.uri.toString())))).toHaveProperty('$defs');
});
