// Pages with several embeds, and what they cost: for tests/browser/many.spec.mjs and scripts/measure/embeds.mjs.
import { createServer } from 'node:http';
import { serve } from './server.mjs';

/** A course page of another site than Loopscope's, which is served as static hosts do: compressed, and kept for a while. */
export async function course() {
  let bytes = 0;
  const lib = await serve(0, { brotli: true, keeps: true, sent: (size) => { bytes += size; } });
  const home = `http://127.0.0.1:${lib.address().port}/loopscope/`;
  const site = createServer((asked, answer) => {
    const query = new URL(asked.url, 'http://localhost').searchParams;
    const one = `<p style="height:${query.get('gap') ?? 0}px">Text</p><loop-scope preload="${query.get('preload') ?? 'auto'}" autoplay height="300"></loop-scope>`;
    answer.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><html lang="en"><title>Course</title><script src="${home}embed.js"></script><body>${one.repeat(Number(query.get('n')))}`);
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

/** The processor time of all renderers. */
async function processors(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter((one) => one.type === 'renderer').reduce((sum, one) => sum + one.cpuTime, 0);
}

/** What share of a processor a page takes whose only embed plays and is out of sight, and how far the embed's clock moves. */
export async function used(browser, site, seconds = 5) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.address(1));
  await all(page);
  const scope = page.locator('loop-scope');
  const now = () => scope.evaluate((element) => element.getCurrentTime());
  await page.evaluate(() => {
    document.body.style.minHeight = '30000px';
    scrollTo(0, 20_000);
  });
  await page.waitForTimeout(2_000);
  const from = await now();
  const before = await processors(browser);
  await page.waitForTimeout(seconds * 1000);
  const share = (await processors(browser) - before) / seconds;
  const moved = await now() - from;
  await context.close();
  return { share, moved };
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

/** Scrolls from top to bottom; the median of the frames' milliseconds, and the share of frames that were later than 34. */
export async function scrolled(page) {
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
  return { median: gaps[gaps.length >> 1], late: gaps.filter((gap) => gap > 34).length / gaps.length, frames: gaps.length };
}
