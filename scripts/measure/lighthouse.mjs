// Lighthouse's mobile scores: `lighthouse [RUNS] [PAGE…]` (3 runs; the page, a lesson, the course page and the documentation), the run of median
// performance of each, with the processor slowed in proportion to its speed (speed.mjs). What counts against a page is printed below it.
// Network and processor are throttled while the page loads. Lighthouse's other way is to load it at full speed and to compute from that: there a
// module that is fetched from this machine has come before the first paint, which is then said to have waited for it.
// Lighthouse itself comes from npm when it is asked for.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from '../../tests/browser/chromium.mjs';
import { serve } from '../../tests/browser/server.mjs';
import { withBrowser } from './page.mjs';
import { processor } from './speed.mjs';

const LIGHTHOUSE = 'lighthouse@12.8.2';
const pages = ['index.html', 'index.html?lesson=control-loop', 'course-page.html',
  ...['index', 'learning', 'gallery', 'lessons', 'embedding', 'native'].map((name) => `docs/${name}.html`),
  ...['index', 'learning', 'gallery', 'lessons'].map((name) => `docs/zh/${name}.html`)];
const categories = ['performance', 'accessibility', 'best-practices'];

export async function measure([runs = '3', ...only]) {
  const server = await serve(0, { brotli: 11, keeps: true });
  const home = `http://127.0.0.1:${server.address().port}/loopscope/`;
  const folder = mkdtempSync(join(tmpdir(), 'lighthouse-'));
  const out = join(folder, 'report.json');
  const now = async () => {
    let speed;
    await withBrowser(async (browser) => (speed = await processor(browser)));
    return speed;
  };
  const one = async (page) => {
    const speed = await now();
    await promisify(execFile)('npx', ['--yes', LIGHTHOUSE, home + page, '--quiet', '--output=json', `--output-path=${out}`, `--only-categories=${categories}`,
      '--throttling-method=devtools', `--throttling.cpuSlowdownMultiplier=${speed.slowdown}`, `--chrome-flags=--headless=new ${chromium.args.join(' ')}`], { env: { ...process.env, CHROME_PATH: chromium.executablePath }, maxBuffer: 1 << 26 });
    return { ...JSON.parse(readFileSync(out, 'utf8')), speed, after: await now() };
  };
  /** The same, again where the processor was faster or slower meanwhile, by a fifth: it was slowed by the wrong measure. */
  const steady = async (page) => {
    for (let left = 4; ; left--) {
      const run = await one(page);
      const speeds = [run.speed.index, run.environment.benchmarkIndex, run.after.index];
      if (left === 0 || Math.max(...speeds) <= 1.2 * Math.min(...speeds)) return { ...run, isSteady: left > 0 };
      console.log(`  left out: BenchmarkIndex ${speeds.join(', ')} before, while and after, performance ${run.categories.performance.score}`);
    }
  };
  try {
    for (const page of only.length ? only : pages) {
      // What the server compresses is compressed before the first run.
      await one(page);
      const all = [];
      const load = loadavg()[0];
      for (let run = 0; run < Number(runs); run++) all.push(await steady(page));
      all.sort((a, b) => a.categories.performance.score - b.categories.performance.score);
      const report = all[all.length >> 1];
      const score = (name) => Math.round(report.categories[name].score * 100);
      const value = (name) => report.audits[name].displayValue;
      console.log(`${page}: ${categories.map((name) => `${name} ${score(name)}`).join(', ')}; first paint ${value('first-contentful-paint')}, largest ${value('largest-contentful-paint')}, blocked ${value('total-blocking-time')}, shift ${value('cumulative-layout-shift')}; BenchmarkIndex ${report.environment.benchmarkIndex}, slowed ${report.speed.slowdown} times; load ${load.toFixed(1)}; of runs ${all.map((run) => `${run.categories.performance.score}${run.isSteady ? '' : ' (not steady)'}`).join(', ')}`);
      for (const name of categories.slice(1)) {
        for (const { id, weight } of report.categories[name].auditRefs) {
          const { score, details } = report.audits[id];
          if (weight && score !== null && score < 1) console.log(`  ${id}: ${(details?.items ?? []).slice(0, 4).map((item) => item.node?.snippet ?? item.description ?? item.source ?? '').join(' ').slice(0, 400)}`);
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    server.close();
  }
}
