// What a reader waits for: `opening [RUNS] [DIST] [SLOWDOWN]` opens the page under Lighthouse's mobile throttling (1.6 Mbit/s down, 750 kbit/s
// up, 150 ms latency, processor slowed in proportion to its speed, four times on a fast desktop, see speed.mjs), served with brotli, and prints when
// the first Pod is drawn: of the page, of an embed that plays, and of an embed of a link; and when an embed shows its still picture.
// Milliseconds since the navigation began.
import { deflateSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { serve } from '../../tests/browser/server.mjs';
import { withBrowser } from './page.mjs';
import { processor } from './speed.mjs';

const example = readFileSync(new URL('../../static/course-page.html', import.meta.url), 'utf8').match(/<script type="text\/yaml">([^]*?)<\/script>/)[1];
const hash = `#pako:${deflateSync(JSON.stringify({ v: 1, manifest: example })).toString('base64url')}`;

const course = (home, element) => `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A course page</title><script src="${home}embed.js" async></script><p>A course page.</p>${element}`;

/** Course pages, with Loopscope at an address: beside them, or on another site. */
const extra = (home = '') => ({
  'embed.html': course(home, '<loop-scope view="ownership" autoplay="1"></loop-scope>'),
  'link.html': course(home, `<loop-scope view="ownership" autoplay="1" hash="${hash}"></loop-scope>`),
  'four.html': course(home, '<p>Text</p><loop-scope view="ownership" autoplay="1" height="420"></loop-scope>'.repeat(4)),
});

/** Notes in each frame when it first shows a Pod, a still picture, and a word of text. */
function watch() {
  const seen = (window.seenAt = {});
  const at = () => performance.timeOrigin + performance.now();
  const look = () => {
    if (!seen.pod && document.querySelector('.item[data-kind="Pod"]')) seen.pod = at();
    if (!seen.still && document.querySelector('loop-scope')?.shadowRoot?.querySelector('svg')) seen.still = at();
    if (!seen.pod) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** One visit with an empty cache. */
async function visit(browser, address, slowdown) {
  const speed = await processor(browser);
  const context = await browser.newContext({ viewport: { width: 1024, height: 768 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: Number(slowdown ?? speed.slowdown) });
  let received = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (received += encodedDataLength));
  await page.goto(address, { waitUntil: 'commit' });
  const began = await page.evaluate(() => performance.timeOrigin);
  const until = Date.now() + 40_000;
  let [pod, still] = [NaN, NaN];
  let bytes = NaN;
  while (Date.now() < until && Number.isNaN(pod)) {
    await page.waitForTimeout(50);
    for (const frame of page.frames()) {
      const seen = await frame.evaluate(() => window.seenAt).catch(() => undefined);
      if (seen?.still) still = seen.still - began;
      if (seen?.pod) [pod, bytes] = [seen.pod - began, received];
    }
  }
  await context.close();
  return { pod, still, bytes, ...speed };
}

const cases = [
  ['page', 'index.html'],
  ['embed that plays', 'embed.html'],
  ['embed of a link', 'link.html'],
  ['first of four embeds', 'four.html'],
];

const columns = (runs, of) => {
  const sorted = runs.map(of).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `${runs.map(of).map((ms) => (Number.isNaN(ms) ? 'none' : ms.toFixed(0)).padStart(7)).join('')}${sorted[0].toFixed(0).padStart(9)}${middle.toFixed(0).padStart(8)}`;
};

/** Of the site itself, and of course pages on another one whose host sends no CORS headers: its files come as scripts (static/embed.js). */
export async function measure([runs = 3, dist, slowdown]) {
  console.log(`${'ms until'.padEnd(44)}${'runs'.padStart(7)}${' '.repeat(7 * (runs - 1))}${'least'.padStart(9)}${'median'.padStart(8)}${'kB'.padStart(8)}${'BenchmarkIndex (slowdown)'.padStart(28)}`);
  const served = { brotli: 11, ...(dist ? { dist } : {}) };
  await withBrowser(async (browser, home) => {
    const other = await serve(0, { ...served, extra: extra(home) });
    for (const [address, where] of [[home, ''], [`http://127.0.0.1:${other.address().port}/loopscope/`, ', on another site']]) {
      for (const [name, path] of cases) {
        if (where && path === 'index.html') continue;
        const words = `${name}${where}`;
        await visit(browser, address + path, slowdown); // the server compresses what it is asked for first
        const found = [];
        for (let run = 0; run < runs; run++) found.push(await visit(browser, address + path, slowdown));
        console.log(`${`${words}: first Pod`.padEnd(44)}${columns(found, ({ pod }) => pod)}${(found[0].bytes / 1000).toFixed(0).padStart(8)}  ${found.map(({ index, slowdown: own }) => `${index} (${slowdown ?? own})`).join(' ').padStart(26)}`);
        if (path !== 'index.html') console.log(`${`${words}: still picture`.padEnd(44)}${columns(found, ({ still }) => still)}`);
      }
    }
    other.close();
  }, {
    ...served, extra: extra(),
    // A sandboxed frame stays in the page's process, where throttling reaches it.
    args: ['--disable-features=IsolateSandboxedIframes'],
  });
}
