import { chromium as bt } from '@playwright/test';
import { chromium } from './tests/browser/chromium.mjs';
import { serve } from './tests/browser/server.mjs';
import { readFileSync } from 'node:fs';
const server = await serve(0, { brotli: true, dist: process.env.DIST ?? '/tmp/walkdist/' });
const base = `http://127.0.0.1:${server.address().port}/loopscope/`;
const browser = await bt.launch(chromium);
const ex = (n) => readFileSync(`/work/main/src/session/examples/${n}.yaml`, 'utf8');
async function shot(name, w, h, query, what) {
  const page = await (await browser.newContext({ viewport: { width: w, height: h } })).newPage();
  await page.goto(base + query); await page.waitForFunction(() => window.loopscope?.ready);
  await what(page);
  await page.screenshot({ path: `/tmp/m-${name}.png` });
  await page.close();
}
const run = async (page, kubectl, ms) => { for (const k of kubectl) await page.evaluate((k) => loopscope.kubectl(k), k); await page.waitForTimeout(ms); };
const load = async (page, text, ms = 4000) => { await page.evaluate((t) => loopscope.load(t), text); await page.evaluate(() => loopscope.play()); await page.waitForTimeout(ms); };
await shot('rollout', 1440, 900, '', async (p) => { await load(p, ex('rollout'), 5000); await run(p, ['set image deployment/web web=nginx:1.27', 'set image deployment --all *=nginx:1.27'], 1800); await p.evaluate(() => loopscope.pause()); });
await shot('nodes', 1440, 900, '?view=nodes', async (p) => { await load(p, ex('unschedulable'), 5000); });
await shot('network', 1440, 900, '?view=network', async (p) => { await load(p, ex('network'), 6000); });
await shot('storage', 1440, 900, '?view=storage', async (p) => { await load(p, ex('statefulset'), 9000); });
await shot('loops', 1440, 900, '?view=loops', async (p) => { await load(p, ex('rollout'), 4000); await run(p, ['scale deployment --all --replicas=5'], 700); await p.evaluate(() => loopscope.pause()); });
await shot('embed', 720, 420, '?embed&autoplay=1', async (p) => { await p.waitForTimeout(3000); });
await shot('lesson', 1440, 900, '?lesson=rolling-update', async (p) => { await p.waitForTimeout(3000); });
await browser.close(); server.close();
