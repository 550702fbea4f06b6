// Pages with several embeds, and what they cost: for tests/browser/many.spec.mjs and scripts/measure/embeds.mjs.
import { expect } from '@playwright/test';
import { createServer } from 'node:http';
import { serve } from './server.mjs';

/** A course page of another site than Loopscope's, which is served as static hosts do: compressed (`brotli`: how well), and kept for a while;
 * `cors`: that allows its files to be read, as the page knows. */
export async function many({ cors = false, brotli = 11 } = {}) {
  let bytes = 0;
  const lib = await serve(0, { brotli, keeps: true, cors, sent: (size) => { bytes += size; } });
  const home = `http://127.0.0.1:${lib.address().port}/loopscope/`;
  const site = createServer((asked, answer) => {
    const query = new URL(asked.url, 'http://localhost').searchParams;
    const one = `<p style="height:${query.get('gap') ?? 0}px">Text</p><loop-scope preload="${query.get('preload') ?? 'auto'}" autoplay height="300"></loop-scope>`;
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><html lang="en"><title>Course</title>${query.has('reversed') ? '<style>body { display: flex; flex-direction: column-reverse; }</style>' : ''}<script src="${home}embed.js"${cors ? ' crossorigin' : ''}></script><body>${one.repeat(Number(query.get('n')))}`);
  });
  await new Promise((go) => site.listen(0, '127.0.0.1', go));
  return {
    address: (n, more = '') => `http://127.0.0.1:${site.address().port}/?n=${n}${more}`,
    sent: () => { const sent = bytes; bytes = 0; return sent; },
    close: () => { lib.close(); site.close(); },
  };
}

/** Waits until each embed of a page is there. */
export const all = (page) => page.evaluate(() => Promise.all([...document.querySelectorAll('loop-scope')].map((scope) => scope.getManifest())));

/** The bytes of a first visit to a page with so many embeds, until all of them are there. */
export async function transfer(browser, site, n) {
  const context = await browser.newContext();
  const page = await context.newPage();
  site.sent();
  await page.goto(site.address(n));
  await all(page);
  await page.waitForTimeout(500);
  await context.close();
  return site.sent();
}

/** What a page and its frame did since they were last asked, in milliseconds. */
async function work(context, page) {
  // A frame in a sandbox has a process of its own.
  const sessions = await Promise.all([page, page.frames()[1]].map((one) => context.newCDPSession(one)));
  const read = async (session) => Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map((one) => [one.name, one.value * 1000]));
  for (const session of sessions) {
    // What opening it left behind is not swept up while it is measured.
    await session.send('HeapProfiler.collectGarbage');
    await session.send('Performance.enable');
  }
  let last = await Promise.all(sessions.map(read));
  return async () => {
    const now = await Promise.all(sessions.map(read));
    const sum = (name) => now.reduce((sum, one, at) => sum + one[name] - last[at][name], 0);
    const done = { script: sum('ScriptDuration'), task: sum('TaskDuration') };
    last = now;
    return done;
  };
}

/** What a page does whose only embed plays and is out of sight: milliseconds of scripts and of all tasks, what it asked for, and how far its clock moves. */
export async function used(browser, site, seconds = 5) {
  const context = await browser.newContext();
  const page = await context.newPage();
  // Before the frame's own scripts: an interval that goes on counts with each turn.
  await page.addInitScript(() => {
    window.asked = 0;
    const every = window.setInterval.bind(window);
    for (const name of ['requestAnimationFrame', 'setTimeout', 'setInterval']) {
      const plain = window[name].bind(window);
      window[name] = (...given) => { window.asked += 1; return plain(...given); };
    }
    window.setInterval = (turn, ...given) => every(() => { window.asked += 1; turn(); }, ...given);
  });
  await page.goto(site.address(1));
  await all(page);
  const scope = page.locator('loop-scope');
  const now = () => scope.evaluate((element) => element.getCurrentTime());
  await expect.poll(now).toBeGreaterThan(0.2);
  await page.evaluate(() => {
    document.body.style.minHeight = '30000px';
    scrollTo(0, 20_000);
  });
  await page.waitForTimeout(2_000);
  const from = await now();
  const frame = page.frames()[1];
  await frame.evaluate(() => { window.asked = 0; });
  const since = await work(context, page);
  await page.waitForTimeout(500);
  await since();
  await page.waitForTimeout(seconds * 1000);
  const { script, task } = await since();
  const asked = await frame.evaluate(() => window.asked);
  const moved = await now() - from;
  await context.close();
  return { script, task, asked, moved };
}

/** A page with so many embeds, all loaded. */
export async function crowd(browser, site, n) {
  const context = await browser.newContext({ viewport: { width: 900, height: 800 } });
  const page = await context.newPage();
  await page.goto(site.address(n, '&gap=120'));
  await all(page);
  await page.waitForTimeout(1_000);
  return page;
}

/** Scrolls from top to bottom; the median of the frames' milliseconds, the share that were later than 34, and what of them the busiest thread needed. */
export async function scrolled(page) {
  const sessions = await Promise.all(page.frames().map((one) => page.context().newCDPSession(one).catch(() => null)));
  const threads = () => Promise.all(sessions.filter(Boolean).map(async (session) => {
    await session.send('Performance.enable');
    return (await session.send('Performance.getMetrics')).metrics.find((one) => one.name === 'ThreadTime').value * 1000;
  }));
  const before = await threads();
  const gaps = await page.evaluate(async () => {
    const gaps = [];
    const end = document.body.scrollHeight - innerHeight;
    let last = await new Promise(requestAnimationFrame);
    for (let at = 0; at < end; at += 40) {
      scrollTo(0, at);
      const now = await new Promise(requestAnimationFrame);
      gaps.push(now - last);
      last = now;
    }
    return gaps.sort((a, b) => a - b);
  });
  const busiest = Math.max(...(await threads()).map((one, at) => one - before[at]));
  return { median: gaps[gaps.length >> 1], late: gaps.filter((gap) => gap > 34).length / gaps.length, frames: gaps.length, busy: busiest / gaps.length };
}
