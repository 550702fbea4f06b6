// A page to measure: server, browser and the page itself, opened and closed in one place.
import { chromium as browserType } from '@playwright/test';
import { chromium } from '../../tests/browser/chromium.mjs';
import { serve } from '../../tests/browser/server.mjs';

/** Runs `what` with a browser and the address of the page, and closes both. */
export async function withBrowser(what, { args = [], ...options } = {}) {
  const server = await serve(0, options);
  const browser = await browserType.launch({ ...chromium, args: [...chromium.args, ...args] });
  try {
    await what(browser, `http://127.0.0.1:${server.address().port}/loopscope/`);
  } finally {
    await browser.close();
    server.close();
  }
}

/** Opens the page and waits until it takes commands. */
export async function open(browser, address, before = async () => {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  // The opening example rests, as for a reader who has been here before.
  await page.addInitScript(() => { try { localStorage.setItem('loopscope.offers', '1'); } catch { /* a frame */ } });
  await before(page);
  await page.goto(address);
  await page.waitForFunction(() => window.loopscope.ready);
  return page;
}

/** The counts given on the command line, or the usual ones. */
export const counts = (given, usual) => (given.length ? given.map(Number) : usual);

/** Takes the focus out of text fields, so that keys are the page's. */
export const leaveFields = (page) => page.evaluate(() => document.activeElement?.blur());

/** Keeps the module's memory where the measurement finds it. */
export const keepMemory = (page) => page.addInitScript(() => {
  for (const name of ['instantiate', 'instantiateStreaming']) {
    const made = WebAssembly[name];
    WebAssembly[name] = async (...given) => {
      const result = await made(...given);
      window.memory ??= (result.instance ?? result).exports.memory;
      return result;
    };
  }
});

/** Frames a second, counted in the page for some seconds. */
export const frameRate = (page, ms = 6000) => page.evaluate((ms) => new Promise((resolve) => {
  let frames = 0;
  const from = performance.now();
  const count = () => {
    frames += 1;
    const spent = performance.now() - from;
    if (spent < ms) requestAnimationFrame(count);
    else resolve((frames * 1000) / spent);
  };
  requestAnimationFrame(count);
}), ms);
