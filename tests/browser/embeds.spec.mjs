// Frames in the pages of others: what the page around may say and hears, in all its forms, and what it may not.
import { expect, test } from '@playwright/test';
import { deflateSync } from 'node:zlib';
import { course } from './course.mjs';
import { frames } from './wait.mjs';

const element = (attributes, inner = '') => `<script src="HOMEembed.js"></script><loop-scope id="one" ${attributes}>${inner}</loop-scope>`;
const one = '#one';
// Written into the page behind the element: a frame that plays at once may tell things before `course` returns.
const listening = (...names) => `<script>window.heard = [];
for (const name of ${JSON.stringify(names)}) document.querySelector('#one').addEventListener(name, (event) => window.heard.push([name, event.detail]));</script>`;
const call = (page, method, ...args) => page.locator(one).evaluate((element, [method, args]) => element[method](...args), [method, args]);

test('a page of another site plays a frame with methods and hears its events', async ({ page, baseURL }) => {
  await course(page, baseURL, element('view="ownership"') + listening('ready', 'play', 'pause', 'height'));
  // What is asked before the frame is ready waits.
  expect(await call(page, 'getCurrentTime')).toBeLessThan(1);
  await call(page, 'play');
  await expect.poll(() => call(page, 'getCurrentTime')).toBeGreaterThan(1);
  await call(page, 'pause');
  await expect.poll(() => page.evaluate(() => window.heard.map((one) => one[0]).filter((name) => /play|pause/.test(name)))).toEqual(['play', 'pause']);
  expect(await call(page, 'getManifest')).toContain('nginx-deployment');
  expect(await call(page, 'kubectl', 'get deployments')).toContain('nginx-deployment');
  await call(page, 'setView', 'nodes');
  await expect(page.frameLocator('iframe').locator('.item[data-kind="Node"]').first()).toBeVisible();
  const end = await call(page, 'getDuration');
  await call(page, 'seek', 0);
  expect([await call(page, 'getCurrentTime') < 0.1, await call(page, 'getDuration')]).toEqual([true, end]);
  await expect.poll(() => page.evaluate(() => window.heard.filter((one) => one[0] === 'height' && one[1].height > 100).length)).toBeGreaterThan(0);
  await call(page, 'dispose');
  await expect(page.locator('iframe')).toHaveCount(0);
});

test('the script of the element names nothing in the page around it', async ({ page, baseURL }) => {
  const globals = () => Object.getOwnPropertyNames(window).filter((name) => !/^\d+$/.test(name));
  // Names that minified scripts use, declared so that a second declaration is an error.
  const taken = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$'].join(', ');
  await course(page, baseURL, `<script>let ${taken}; window.before = (${globals})()</script>` + element('view="ownership" autoplay'));
  await expect(page.frameLocator('iframe').locator('.item[data-kind="Pod"]').first()).toBeVisible();
  const now = await page.evaluate(`(${globals})()`);
  expect(now.filter((name) => !['before', 'one', 'loopscopeParts'].includes(name))).toEqual((await page.evaluate('before')).filter((name) => name !== 'before'));
});

test('a lesson tells the page around it how far it was taken', async ({ page, baseURL }) => {
  // Each command would hold the causal pace of a lesson anew.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await course(page, baseURL, element('lesson="control-loop" fit="content"') + listening('step', 'lesson', 'ended'));
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('#lesson')).toBeVisible({ timeout: 15_000 });
  for (let step = 1; ; step++) {
    const phase = await frame.locator('#lesson').getAttribute('data-phase');
    if (phase === 'asking') await frame.locator('.choice').nth(1).click();
    else if (phase === 'task') await call(page, 'kubectl', 'scale deployment web --replicas=4');
    if (await frame.locator('.finish').count()) break;
    if (phase === 'playing' || phase === 'done') await call(page, phase === 'done' ? 'next' : 'hurry');
    await page.waitForTimeout(50);
    expect(step).toBeLessThan(400);
  }
  const over = await page.evaluate(() => window.heard.filter((one) => one[0] === 'ended').map((one) => one[1]));
  expect(over).toHaveLength(1);
  expect(over[0]).toMatchObject({ lesson: 'control-loop', title: 'The control loop', step: 4, steps: 4, right: 2, asked: 2, over: true, results: ['read', 'read', 'right', 'solved'] });
  expect(await page.evaluate(() => window.heard.some((one) => one[0] === 'step' && one[1].step === 2))).toBe(true);
  // The frame is as high as what it shows.
  await expect.poll(async () => (await page.locator(one).boundingBox()).height).not.toBe(420);
});

test('a plain frame understands the same names, and answers a handshake', async ({ page, baseURL }) => {
  await course(page, baseURL, `<iframe sandbox="allow-scripts" width="720" height="420" title="x" src="HOMEindex.html?embed&view=storage&t=5&autoplay=0&controls=false"></iframe>`);
  const answers = await page.evaluate(async () => {
    const frame = document.querySelector('iframe');
    const heard = [];
    addEventListener('message', (event) => { if (event.source === frame.contentWindow) heard.push(event.data); });
    const ask = async (message) => {
      for (let i = 0; i < 200; i++) {
        frame.contentWindow.postMessage(message, '*');
        await new Promise((resolve) => setTimeout(resolve, 100));
        const found = heard.find((one) => one.id === message.id && one.type !== 'ping');
        if (found) return found;
      }
      return null;
    };
    return [await ask({ loopscope: 1, type: 'ping', id: 'a' }), await ask({ loopscope: 1, type: 'call', id: 'b', method: 'getCurrentTime' })];
  });
  expect(answers[0]).toMatchObject({ loopscope: 1, type: 'pong', ready: true });
  expect(answers[0].methods).toContain('getDuration');
  expect(answers[1].value).toBeCloseTo(5, 1);
  await expect(page.frameLocator('iframe').locator('.pb')).toBeHidden();
});

test('forged, wrong and flooding messages change nothing', async ({ page, baseURL }) => {
  await course(page, baseURL, element('autoplay') + '<iframe id="other" src="HOMEcourse-page.html"></iframe>');
  await call(page, 'pause');
  const before = await call(page, 'getManifest');
  const told = await page.evaluate(async () => {
    const frame = document.querySelector('#one').frame.contentWindow;
    const heard = [];
    addEventListener('message', (event) => { if (event.source === frame && event.data && event.data.id) heard.push(event.data); });
    const odd = [null, 1, 'play', [], {}, { loopscope: 2, type: 'call', id: 'v', method: 'play' }, { loopscope: 1, type: 'call', id: 'c', method: 'constructor' },
      { loopscope: 1, type: 'call', id: 'p', method: '__proto__' }, { loopscope: 1, type: 'call', id: 'n', method: 'seek', args: ['<b>'] },
      { loopscope: 1, type: 'call', id: 'l', method: 'load', args: [{ toString: 1 }] }, { loopscope: 1, type: 'call', id: 'x', method: 'apply', args: 'text' }];
    odd.forEach((message) => frame.postMessage(message, '*'));
    for (let i = 0; i < 500; i++) frame.postMessage({ loopscope: 1, type: 'call', id: `f${i}`, method: 'getCurrentTime' }, '*');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return heard;
  });
  const error = (id) => told.find((one) => one.id === id)?.message;
  expect([error('v'), error('c'), error('p'), error('n'), error('l'), error('x')]).toEqual([undefined, 'no such method', 'no such method', 'a number is expected', 'a text is expected', 'a text is expected']);
  expect(told.filter((one) => one.type === 'error' && one.message.startsWith('too many')).length).toBeGreaterThan(400);
  // A frame beside it is not its host.
  const sibling = page.frames().find((frame) => frame.url().endsWith('course-page.html'));
  await sibling.evaluate(() => parent.frames[0].postMessage({ loopscope: 1, type: 'call', id: 's', method: 'play' }, '*'));
  await page.waitForTimeout(1_100);
  const time = await call(page, 'getCurrentTime');
  await page.waitForTimeout(300);
  expect([await call(page, 'getCurrentTime'), await call(page, 'getManifest')]).toEqual([time, before]);
});

test('a frame that is not to be loaded yet loads nothing, and plays when it is asked to', async ({ page, baseURL }) => {
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await course(page, baseURL, element('preload="none" title="A Deployment"', '<script type="text/yaml">apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: <b>x</b>}\n</script>'));
  await page.waitForTimeout(500);
  expect(asked.some((url) => url.includes('index.html'))).toBe(false);
  await page.locator(one).getByRole('button', { name: 'A Deployment' }).click();
  await expect(page.locator('iframe')).toHaveCount(1);
  await expect.poll(() => call(page, 'getCurrentTime')).toBeGreaterThan(0.2);
});

test('a lesson of the course itself, from its address or between the tags; what cannot be had is an event', async ({ page, baseURL }) => {
  const lesson = 'lesson: 1\ntitle: <img src=x onerror=alert(1)>\nsteps:\n- say: Hello <b>there</b>\n';
  await course(page, baseURL, element('', `<script type="text/yaml">${lesson}</script>`));
  let alerted = false;
  page.on('dialog', (dialog) => { alerted = true; dialog.dismiss(); });
  await expect(page.frameLocator('iframe').locator('#lesson')).toContainText('Hello <b>there</b>', { timeout: 15_000 });
  await expect(page.frameLocator('iframe').locator('#lesson h2')).toHaveText('<img src=x onerror=alert(1)>');
  expect(alerted).toBe(false);
  await page.evaluate(() => {
    window.failed = new Promise((resolve) => {
      const other = document.createElement('loop-scope');
      other.setAttribute('lesson', '/nowhere/lesson.yaml');
      other.addEventListener('error', (event) => resolve(event.detail.message));
      document.body.append(other);
    });
  });
  expect(await page.evaluate(() => window.failed)).not.toBe('');
});

test('what an element is asked is answered also when it is moved, and refused when it is gone', async ({ page, baseURL }) => {
  await course(page, baseURL, '<div id="other"></div>' + element('view="ownership"'));
  const moved = await page.locator(one).evaluate(async (scope) => {
    const asked = scope.getManifest();
    document.querySelector('#other').append(scope);
    return asked;
  });
  expect(moved).toContain('nginx-deployment');
  expect(await page.locator('#other iframe').count()).toBe(1);
  // The frame that was there is ready: it is asked, and goes before it answers.
  await page.locator(one).evaluate((scope) => scope.getManifest());
  const again = await page.locator(one).evaluate((scope) => {
    const asked = scope.getManifest();
    document.body.append(scope);
    return asked;
  });
  expect(again).toContain('nginx-deployment');
  const refused = await page.locator(one).evaluate((scope) => {
    const asked = scope.getManifest();
    scope.remove();
    return asked.catch((error) => String(error));
  });
  expect(refused).toContain('the element was removed');
});

test('markers are told, named in the caption, and the clock stops at them', async ({ page, baseURL }) => {
  await course(page, baseURL, element('autoplay pause-on-markers speed="4" markers="2:The Pods are starting, 6:<b>Ready</b>"') + listening('marker'));
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('.chapter')).toHaveText('The Pods are starting');
  await expect.poll(() => page.evaluate(() => window.heard)).toEqual([['marker', { time: 2, label: 'The Pods are starting', index: 0 }]]);
  await page.waitForTimeout(500);
  expect(await call(page, 'getCurrentTime')).toBe(2);
  await call(page, 'play');
  await expect(frame.locator('.chapter')).toHaveText('<b>Ready</b>');
  await expect.poll(() => call(page, 'getCurrentTime')).toBe(6);
  // A presenter's clicker leads from one to the next, and back; the clock rests there.
  await frame.locator('.stage').click({ position: { x: 5, y: 5 } });
  await page.keyboard.press('PageUp');
  await expect.poll(() => call(page, 'getCurrentTime')).toBe(2);
  await expect(frame.locator('.chapter')).toHaveText('The Pods are starting');
  await page.keyboard.press('PageDown');
  await expect.poll(() => call(page, 'getCurrentTime')).toBe(6);
  await expect(frame.getByRole('button', { name: 'Play' })).toBeVisible();
  // They are marked on the bar: more of its colour than the line that has been played.
  await call(page, 'seek', 0);
  const marked = await frame.locator('.pb canvas').evaluate((canvas) => {
    const wanted = getComputedStyle(canvas).getPropertyValue('--accent').trim();
    const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    context.fillStyle = wanted;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    const row = canvas.getContext('2d').getImageData(0, Math.round(18 * devicePixelRatio), canvas.width, 1).data;
    let columns = 0;
    for (let at = 40; at < canvas.width; at++) columns += Number(row[at * 4] === r && row[at * 4 + 1] === g && row[at * 4 + 2] === b);
    return columns;
  });
  expect(marked).toBeGreaterThanOrEqual(2);
});

test('a stretch without a change is skipped, and with loop it begins again', async ({ page, baseURL }) => {
  const slow = 'apiVersion: v1\nkind: Pod\nmetadata: {name: slow}\nspec: {containers: [{name: c, image: nginx, readinessProbe: {httpGet: {port: 80}, initialDelaySeconds: 300}}]}\n';
  await course(page, baseURL, element('autoplay loop idle-time-limit="0.5"', `<script type="text/yaml">${slow}</script>`) + listening('ended'));
  // Five minutes of waiting are over in seconds, and then it plays once more, and once more.
  await expect.poll(() => page.evaluate(() => window.heard.length), { timeout: 40_000 }).toBeGreaterThan(1);
  expect(await page.evaluate(() => window.heard[0][1].time)).toBeGreaterThan(300);
  expect(await page.evaluate(() => window.heard[1][1].time)).toBeGreaterThan(300);
  await expect.poll(() => call(page, 'getCurrentTime')).toBeLessThan(300);
});

test('a plain frame takes the same parameters', async ({ page, baseURL }) => {
  await course(page, baseURL, '<iframe id="one" sandbox="allow-scripts" width="720" height="420" title="x" src="HOMEindex.html?embed&autoplay&markers=1:One&pause-on-markers"></iframe>');
  await expect(page.frameLocator('iframe').locator('.chapter')).toHaveText('One');
  await expect(page.frameLocator('iframe').getByRole('button', { name: 'Play' })).toBeVisible();
  await expect(page.frameLocator('iframe').locator('#clock')).toHaveText(/0:01\.0/);
});

test('a wheel and a finger over a frame scroll the page around it', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 700 }, hasTouch: true });
  const page = await context.newPage();
  await course(page, baseURL, `<style>loop-scope { display: block; height: 420px; margin-top: 200px } body { height: 4000px }</style>${element('view="ownership" autoplay')}`);
  await expect(page.frameLocator('iframe').locator('.item[data-kind="Pod"]').first()).toBeVisible();
  const at = async (selector) => {
    const box = await page.frameLocator('iframe').locator(selector).first().boundingBox();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const devtools = await context.newCDPSession(page);
  const gestures = {
    wheel: async ({ x, y }) => {
      await page.mouse.move(x, y);
      await page.mouse.wheel(0, 150);
    },
    finger: async ({ x, y }) => {
      const touch = (type, ...touchPoints) => devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
      await touch('touchStart', { x, y });
      for (let by = 10; by <= 150; by += 10) {
        await touch('touchMove', { x, y: y - by });
        await frames(page, 1);
      }
      await touch('touchEnd');
    },
  };
  for (const [name, gesture] of Object.entries(gestures)) {
    for (const selector of ['.stage', '.item[data-kind="Pod"]']) {
      await page.evaluate(() => scrollTo(0, 0));
      await gesture(await at(selector));
      await expect.poll(() => page.evaluate(() => scrollY), `${name} on ${selector}`).toBeGreaterThan(40);
    }
  }
  await context.close();
});

test('what an element shows before its frame does: cards, the title of a lesson, or a picture of the course', async ({ page, baseURL }) => {
  // The frames do not come.
  await page.route('**/index.html?*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  const inline = (text) => `<script type="text/yaml">${text}</script>`;
  const bomb = deflateSync(Buffer.from(JSON.stringify({ v: 1, manifest: 'kind: Pod\n'.repeat(2_000_000) }))).toString('base64url');
  const many = `${'metadata:\n'.repeat(400_000)}kind: Pod\n`;
  await course(page, baseURL, `<div lang="zh-CN">${element('', inline('kind: Pod\nmetadata: {name: one}\n'))}
    <loop-scope>${inline('lesson: 1\ntitle: {en: "A lesson, of mine", zh: 我的课程}\nsteps: []\n')}</loop-scope>
    <loop-scope>${inline('lesson: 1\ntitle:\n  en: Mine\nsteps: []\n')}</loop-scope>
    <loop-scope>${inline('lesson: 1\ntitle: Only this, and that # not this\nsteps: []\n')}</loop-scope>
    <loop-scope>${inline('lesson: 1\ntitle: >-\n  Folded\n  over lines\nsummary: no\nsteps: []\n')}</loop-scope>
    <loop-scope>${inline('lesson: 1\ntitle:\n  en: >-\n    Not this\n  zh: |\n    折叠的\nsteps: []\n')}</loop-scope>
    <loop-scope poster="data:image/gif;base64,R0lGODlhAQABAAAAACw="></loop-scope>
    <loop-scope><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="Two Pods"><pre>kind: Pod</pre></loop-scope>
    <loop-scope hash="#pako:zzzzz"></loop-scope>
    <loop-scope hash="#base64:${Buffer.from('{"v":1,"manifest":{}}').toString('base64url')}"></loop-scope>
    <loop-scope hash="#pako:${bomb}"></loop-scope>
    <loop-scope>${inline(many)}</loop-scope>
    <loop-scope lesson="control-loop"></loop-scope>
    <loop-scope lesson="control-loop" preload="none"></loop-scope>
    <loop-scope lesson="control-loop" preload="none" title="What a control loop is"></loop-scope>`);
  const stills = () => page.evaluate(() => [...document.querySelectorAll('loop-scope')].map((scope) => {
    const still = scope.shadowRoot?.querySelector('svg, img, p');
    return `${scope.frame ? 'frame' : 'no frame'}, ${still ? (still.getAttribute('aria-label') ?? (still.alt || still.textContent)) || still.localName : 'nothing'}`;
  }));
  await expect.poll(stills).toEqual([
    'frame, Pod one', 'frame, 我的课程', 'frame, Mine', 'frame, Only this, and that', 'frame, Folded over lines', 'frame, 折叠的', 'frame, img', 'frame, Two Pods', 'frame, nothing', 'frame, Loopscope', 'frame, nothing', 'frame, Loopscope',
    'frame, nothing', 'no frame, control-loop', 'no frame, What a control loop is',
  ]);
});

test('a lesson of the page shows its title and summary before it runs', async ({ page, baseURL }) => {
  await page.route('**/loopscope_bg.wasm*', () => {});
  await course(page, baseURL, `<div lang="zh">${element('lesson="control-loop"')}</div>`);
  const what = page.frameLocator('iframe').locator('#boot-what');
  await expect(what).toBeVisible();
  await expect(what.locator('b')).toHaveText('控制循环');
});

test('a learning platform hears the height of its frame', async ({ page, baseURL }) => {
  await course(page, baseURL, `<script>window.heard = []; addEventListener('message', (event) => heard.push(event.data));</script>
    <iframe id="one" width="720" height="420" title="x" src="HOMEindex.html?embed&lti&lesson=control-loop"></iframe>`);
  const frame = page.frameLocator('iframe');
  await expect(frame.locator('#lesson')).toBeVisible({ timeout: 15_000 });
  const heights = () => page.evaluate(() => window.heard.filter((one) => one.subject === 'lti.frameResize').map((one) => one.height));
  await expect.poll(async () => (await heights()).length).toBeGreaterThan(0);
  expect((await heights()).every((height) => height >= 200 && height < 5000)).toBe(true);
});

test('a course page plays from a folder, without a server', async ({ browser }) => {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  await page.goto(new URL('../../dist/course-page.html', import.meta.url).href);
  for (const at of [0, 1]) {
    const element = page.locator('loop-scope').nth(at);
    await element.scrollIntoViewIfNeeded();
    await expect(element.locator('iframe').contentFrame().locator('.item[data-kind="Pod"]').first()).toBeVisible();
    await element.evaluate((scope) => scope.kubectl('get pods'));
  }
  await context.close();
});
