// Pictures for docs/: the page at the sizes that its design knows, light and dark.
// Every picture is taken at a paused instant, so that two runs give the same.
import { chromium as browsers } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from './chromium.mjs';
import { serve } from './server.mjs';

const port = 4174;
const server = await serve(port);
const browser = await browsers.launch(chromium);
const example = (name) => readFileSync(new URL(`../../src/app/examples/${name}.yaml`, import.meta.url), 'utf8');

async function picture(name, [width, height], scheme, query, prepare) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
  await page.goto(`http://127.0.0.1:${port}/loopscope/index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.pause());
  await prepare(page);
  await page.waitForTimeout(500);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/${name}.png`, import.meta.url)) });
  await page.close();
}

/** Runs the clock to a time, in seconds, by whole steps of the page. */
const until = (page, seconds) => page.evaluate(async (to) => {
  window.loopscope.speed(20);
  window.loopscope.play();
  while (window.loopscope.now() < to) await new Promise((next) => setTimeout(next, 20));
  window.loopscope.pause();
  window.loopscope.seek(to);
}, seconds);

async function rollout(page) {
  await page.evaluate((text) => window.loopscope.load(text), example('rollout'));
  await page.evaluate(() => window.loopscope.pause());
  await until(page, 3);
  await page.evaluate(() => window.loopscope.branch());
  await page.evaluate((text) => window.loopscope.apply(text), example('rollout').replace('nginx:1.25', 'nginx:1.27'));
  await until(page, 4.2);
  await page.evaluate(() => { window.loopscope.branch(); window.loopscope.speed(1); });
  await page.locator('.item[data-kind="ReplicaSet"]').first().click();
}

async function storage(page) {
  await page.evaluate((text) => window.loopscope.load(text), example('statefulset').replace('replicas: 2', 'replicas: 3'));
  await page.evaluate(() => window.loopscope.pause());
  await until(page, 9);
  await page.evaluate(() => { window.loopscope.branch(); window.loopscope.kubectl('delete pod web-1 --wait=false'); });
  await until(page, 9.2);
  await page.evaluate(() => { window.loopscope.branch(); window.loopscope.speed(1); });
  await page.locator('.item[data-kind="Pod"][data-name="web-1"]').click();
}

const wide = [1440, 900], frame = [720, 420], phone = [390, 844];
for (const scheme of ['light', 'dark']) {
  const end = scheme === 'dark' ? '-dark' : '';
  await picture(`ownership${end}`, wide, scheme, '', rollout);
  await picture(`storage${end}`, wide, scheme, '?view=storage', storage);
  await picture(`embed${end}`, frame, scheme, '?embed&view=storage', storage);
  await picture(`phone${end}`, phone, scheme, '', rollout);
}
await browser.close();
server.close();
