// The page as one file: opened from a disk with the network off, it plays a lesson to its end, and brings a manifest back.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { strFromU8, unzipSync } from 'fflate';
import { validateXML } from 'xmllint-wasm';
import { serve } from './server.mjs';

// The schemas of SCORM 1.2 (IMS CP 1.1.2 and ADL's extension), which this package carries; nothing else of it is used.
const SCHEMAS = 'node_modules/node-scorm-packager/lib/schemas/definitionFiles/scorm12edition';

/** What is wrong with a package manifest by the schemas. */
async function refused(manifest) {
  const schema = (fileName) => ({ fileName, contents: readFileSync(`${SCHEMAS}/${fileName}`, 'utf8') });
  const { errors } = await validateXML({
    xml: { fileName: 'imsmanifest.xml', contents: manifest },
    schema: schema('adlcp_rootv1p2.xsd'),
    preload: ['imscp_rootv1p1p2.xsd', 'imsmd_rootv1p2p1.xsd', 'ims_xml.xsd'].map(schema),
  });
  return errors.map(({ message }) => message);
}

/** Saves the page as one file and opens it from the disk, without a network. */
async function saved(page, browser, info) {
  await page.getByRole('button', { name: 'Embed' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#single').click()]);
  const file = info.outputPath(download.suggestedFilename());
  await download.saveAs(file);
  const context = await browser.newContext({ reducedMotion: 'reduce', offline: true });
  const other = await context.newPage();
  const asked = [];
  other.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()); });
  const problems = [];
  other.on('pageerror', (error) => problems.push(error.message));
  other.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  await other.goto(pathToFileURL(file).href);
  await other.waitForFunction(() => window.loopscope?.ready);
  return { other, asked, problems, name: download.suggestedFilename() };
}

test('a lesson saved as one file is taken to its end from a disk', async ({ page, browser }, info) => {
  await page.goto('index.html?lesson=control-loop');
  await expect(page.locator('#lesson')).toBeVisible();
  const { other, asked, problems, name } = await saved(page, browser, info);
  expect(name).toBe('the-control-loop.html');
  const panel = other.locator('#lesson');
  await expect(panel).toContainText('The control loop');
  for (let step = 1; !(await panel.locator('.finish').count()); step++) {
    const phase = await panel.getAttribute('data-phase');
    if (phase === 'asking') await panel.locator('.choice').nth(1).click();
    else if (phase === 'task') await other.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=4'));
    // What is played may be over by then.
    else if (phase === 'playing') await other.evaluate(() => window.loopscope.teach('hurry'));
    else await other.locator('#lesson-next').click({ timeout: 1_000 }).catch(() => {});
    expect(step).toBeLessThan(200);
  }
  await expect(panel.locator('.task')).toContainText('Done:');
  // The panel is drawn as on the page.
  expect(await panel.evaluate((one) => getComputedStyle(one).display)).toBe('flex');
  await other.getByRole('button', { name: '中文' }).click();
  await expect(panel).toContainText('已完成');
  expect([asked, problems]).toEqual([[], []]);
});

test('a manifest saved as one file comes back with its text', async ({ page, browser }, info) => {
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: c, image: nginx}]}\n# </script><!-- `${x}`\n';
  await page.evaluate((text) => window.loopscope.apply(text), text);
  await expect(page.locator('.item[data-name="one"]').first()).toBeVisible();
  const { other, asked, problems } = await saved(page, browser, info);
  expect(await other.evaluate(() => window.loopscope.manifest())).toBe(text);
  await expect(other.locator('.item[data-name="one"]').first()).toBeVisible();
  await other.evaluate(() => window.loopscope.kubectl('explain pod.spec.nodeName'));
  await expect(other.getByRole('log', { name: 'Output' })).toContainText('NodeName indicates in which node this pod is scheduled.');
  expect([asked, problems]).toEqual([[], []]);
});

test('a lesson as a SCORM package tells a learning platform of completion and score', async ({ page, browser }, info) => {
  test.setTimeout(120_000);
  await page.goto('index.html?lesson=control-loop');
  await expect(page.locator('#lesson')).toBeVisible();
  await page.getByRole('button', { name: 'Embed' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#scorm').click()]);
  expect(download.suggestedFilename()).toBe('the-control-loop-scorm.zip');
  const file = info.outputPath('package.zip');
  await download.saveAs(file);
  const entries = unzipSync(readFileSync(file));
  expect(Object.keys(entries).sort()).toEqual(['imsmanifest.xml', 'index.html', 'scorm.js']);
  // What the manifest names is there, and it is XML.
  const manifest = strFromU8(entries['imsmanifest.xml']);
  const found = await page.evaluate((text) => {
    const document = new DOMParser().parseFromString(text, 'application/xml');
    const all = (name) => [...document.getElementsByTagName(name)];
    return {
      wrong: all('parsererror').length, version: all('schemaversion')[0].textContent, title: all('title')[0].textContent,
      item: all('item')[0].getAttribute('identifierref') === all('resource')[0].getAttribute('identifier'),
      type: all('resource')[0].getAttributeNS('http://www.adlnet.org/xsd/adlcp_rootv1p2', 'scormtype'),
      files: all('file').map((one) => one.getAttribute('href')),
      // The schemas allow other values, and elements of other namespaces.
      schema: all('schema')[0].textContent, spaces: [...new Set(all('*').map((one) => one.namespaceURI))], elements: all('*').length > 10,
      titled: all('title').every((one) => [...one.textContent].length <= 200),
    };
  }, manifest);
  expect(await refused(manifest)).toEqual([]);
  expect(await refused(manifest.replaceAll('organizations', 'organisations'))).not.toEqual([]);
  expect(await refused(manifest.replace('scormtype="sco"', 'scormtype="lesson"'))).not.toEqual([]);
  expect(found).toEqual({ wrong: 0, version: '1.2', title: 'The control loop', item: true, type: 'sco', files: ['index.html', 'scorm.js'], schema: 'ADL SCORM', spaces: ['http://www.imsproject.org/xsd/imscp_rootv1p1p2'], elements: true, titled: true });

  // A learning platform: its page has the API, and the package in a frame.
  const lms = '<!doctype html><title>Course</title><script src="scorm12.js"></script><script>window.API = new Scorm12API({ autocommit: false });</script><iframe id="sco" src="package/index.html" width="1200" height="800"></iframe>';
  const text = (bytes) => Buffer.from(bytes);
  const extra = { 'lms.html': lms, 'scorm12.js': readFileSync('node_modules/scorm-again/dist/scorm12.js'), ...Object.fromEntries(Object.entries(entries).map(([name, bytes]) => [`package/${name}`, text(bytes)])) };
  const server = await serve(0, { extra });
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  try {
    const course = await context.newPage();
    await course.goto(`http://127.0.0.1:${server.address().port}/loopscope/lms.html`);
    const frame = course.frameLocator('#sco');
    const panel = frame.locator('#lesson');
    await expect(panel).toContainText('The control loop');
    const told = () => course.evaluate(() => ({ status: API.cmi.core.lesson_status, score: API.cmi.core.score.raw, at: API.cmi.core.lesson_location }));
    await expect.poll(async () => (await told()).status).toBe('incomplete');
    const sco = course.frames().find((one) => one.url().includes('package/'));
    for (let step = 1; !(await panel.locator('.finish').count()); step++) {
      const phase = await panel.getAttribute('data-phase');
      // A wrong answer, and the task is done.
      if (phase === 'asking') await panel.locator('.choice').nth(2).click();
      else if (phase === 'task') await sco.evaluate(() => window.loopscope.kubectl('scale deployment web --replicas=4'));
      else if (phase === 'playing') await sco.evaluate(() => window.loopscope.teach('hurry'));
      else await panel.locator('#lesson-next').click({ timeout: 1_000 }).catch(() => {});
      expect(step).toBeLessThan(200);
    }
    await expect.poll(told).toEqual({ status: 'completed', score: '50', at: '4' });
    await course.evaluate(() => { document.querySelector('#sco').src = 'about:blank'; });
    await expect.poll(() => course.evaluate(() => API.isTerminated())).toBe(true);
    // An attempt that was left in the middle goes on there, with what came of the steps before.
    await course.evaluate(() => {
      API.reset();
      API.loadFromJSON({ cmi: { suspend_data: JSON.stringify({ lesson: 'control-loop', title: 'The control loop', step: 4, results: ['read', 'read', 'wrong', 'open'], answered: [false, false, false, false] }) } });
      document.querySelector('#sco').src = 'package/index.html';
    });
    await expect(panel.locator('.row .dim').first()).toContainText('4', { timeout: 30_000 });
    await expect(panel.locator('.dot.wrong')).toHaveCount(1);
    const again = course.frames().find((one) => one.url().includes('package/'));
    expect(await again.evaluate(() => window.loopscope.lesson())).toMatchObject({ step: 4, results: ['read', 'read', 'wrong', 'open'], right: 0 });
  } finally {
    await context.close();
    server.close();
  }
});

test('the file opens in a sandboxed frame that is written into a page, without an address', async ({ page }) => {
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  const opens = JSON.stringify({ hash: '', query: '?autoplay&lang=zh&view=nodes' });
  const file = readFileSync('dist/single.html', 'utf8').replace('window.loopscopeFile={"hash":"","query":""}', () => `window.loopscopeFile=${opens}`);
  await page.setContent('<iframe sandbox="allow-scripts" width="1200" height="800"></iframe>');
  await page.locator('iframe').evaluate((frame, file) => { frame.srcdoc = file; }, file);
  const inside = page.frameLocator('iframe');
  await expect(inside.getByText('node-1').first()).toBeVisible();
  await expect(inside.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(inside.getByRole('button', { name: '分享' })).toBeHidden();
  expect(problems).toEqual([]);
});

test('the file plays in a sandboxed frame made of a blob, which has no address to be relative to', async ({ page, baseURL }) => {
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.route('**/around.html', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><html lang="en"><title>Around</title><body></body></html>' }));
  await page.goto(new URL('around.html', baseURL).href);
  await page.evaluate(async () => {
    const text = await (await fetch('single.html')).text();
    const opening = JSON.stringify({ hash: '', query: '?embed&view=ownership&autoplay=1' });
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.src = URL.createObjectURL(new Blob([text.replace('{"hash":"","query":""}', () => opening)], { type: 'text/html' }));
    frame.width = 900;
    frame.height = 500;
    document.body.replaceChildren(frame);
  });
  await expect(page.frameLocator('iframe').locator('.item[data-kind="Pod"]').first()).toBeVisible({ timeout: 15_000 });
  expect(problems).toEqual([]);
});
