// Pictures for docs/: the page at the sizes that its design knows, light and dark.
// Every picture is taken at a paused instant, so that two runs give the same.
import { chromium as browsers } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from './chromium.mjs';
import { serve } from './server.mjs';
import { settled } from './wait.mjs';

const port = 4174;
const server = await serve(port);
const browser = await browsers.launch(chromium);
const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');

async function picture(name, [width, height], scheme, query, prepare) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
  // The opening example rests, as for a reader who has been here before.
  await page.addInitScript(() => { try { localStorage.setItem('loopscope.offers', '1'); } catch { /* a frame */ } });
  await page.goto(`http://127.0.0.1:${port}/loopscope/index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.pause());
  await prepare(page);
  await settled(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/${name}.png`, import.meta.url)) });
  await page.close();
}

/** Whole seconds on, then some reconciles. */
async function on(page, seconds, steps = 0) {
  for (let i = 0; i < seconds; i++) await page.keyboard.press('.');
  for (let i = 0; i < steps; i++) await page.evaluate(() => window.loopscope.step());
}

async function load(page, text) {
  await page.evaluate((text) => window.loopscope.load(text), text);
  await page.evaluate(() => window.loopscope.pause());
}

async function rollout(page) {
  await load(page, example('rollout'));
  await on(page, 3);
  await page.evaluate((text) => window.loopscope.apply(text), example('rollout').replace('nginx:1.25', 'nginx:1.27'));
  await on(page, 1, 14);
  await page.locator('.item[data-kind="ReplicaSet"]').first().click();
}

async function storage(page) {
  await load(page, example('statefulset').replace('replicas: 2', 'replicas: 3'));
  await on(page, 9);
  await page.evaluate(() => {
    for (const n of [0, 1, 2]) window.loopscope.kubectl(`exec web-${n} -- sh -c 'echo hello $(hostname) > /usr/share/nginx/html/index.html'`);
    window.loopscope.kubectl('delete pod web-1 --wait=false');
  });
  await on(page, 0, 4);
  await page.locator('.item[data-kind="Pod"][data-name="web-1"]').click();
}

async function network(page) {
  await load(page, example('network'));
  await on(page, 9);
  await page.locator('.item[data-kind="Service"][data-name="nginx"]').click();
}

async function revisions(page) {
  await load(page, example('deployment').replace('replicas: 2', 'replicas: 10'));
  await on(page, 4);
  await page.evaluate(() => window.loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.9.1'));
  await on(page, 2);
}

async function loops(page) {
  await load(page, example('deployment'));
  await on(page, 4);
  await page.locator('.item[data-kind="Loop"][data-name="replicaset-controller"]').click();
  await page.evaluate(() => window.loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  await on(page, 0, 2);
}

const wide = [1440, 900], frame = [720, 420], phone = [390, 844];
for (const scheme of ['light', 'dark']) {
  const end = scheme === 'dark' ? '-dark' : '';
  await picture(`ownership${end}`, wide, scheme, '', rollout);
  await picture(`storage${end}`, wide, scheme, '?view=storage', storage);
  await picture(`network${end}`, wide, scheme, '?view=network', network);
  await picture(`rollout${end}`, wide, scheme, '?view=rollout', revisions);
  await picture(`loops${end}`, wide, scheme, '?view=loops', loops);
  await picture(`embed${end}`, frame, scheme, '?embed&view=storage', storage);
  await picture(`phone${end}`, phone, scheme, '', rollout);
}
await browser.close();
server.close();
