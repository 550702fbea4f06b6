// Random clicks, keys, commands, edits and seeks. After each round the picture, the list and the console agree with the objects
// themselves, and the clock runs. A failure prints its seed; MONKEY_SEED repeats it, and MONKEY_SECONDS makes it longer.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { numbers } from './random.mjs';
import { settled } from './wait.mjs';

const seconds = Number(process.env.MONKEY_SECONDS ?? 20);
const seed = Number(process.env.MONKEY_SEED ?? 1);
const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');

const keys = [' ', '.', '.', ',', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'Home', 'End', '1', '2', '3', '4', '5', '6', 'Escape', '+', '-', '0', 'a', 'b', '[', ']', '<', '>', '?', '`', 'Enter', 'F6'];
const deployment = 'deployment/nginx-deployment';
const commands = [
  (n) => `scale ${deployment} --replicas=${n % 7}`, (n) => `set image ${deployment} nginx=nginx:1.${20 + (n % 4)}`, () => `set image ${deployment} nginx=nginx:broken`,
  () => `rollout undo ${deployment}`, () => `rollout restart ${deployment}`, () => 'delete pod --all --wait=false', (n) => `cordon node-${1 + (n % 3)}`, (n) => `uncordon node-${1 + (n % 3)}`,
  () => `rollout pause ${deployment}`, () => `rollout resume ${deployment}`, (n) => `scale statefulset/web --replicas=${n % 4}`, () => 'get pods', () => 'delete replicaset --all --wait=false',
];
const faults = [() => 'node-down node-1', () => 'node-up node-1', (n) => `slow deployment ${n % 4}`, () => 'restart scheduler'];

/** Clicks a button, a tab or an item that is in sight; not one that leaves the page, or the manifest that the checks are about. */
function click(page, at) {
  return page.evaluate((at) => {
    const apart = '#export, [aria-haspopup], a[href], .brand, select, [id*="share" i], [id*="embed" i], .menu *, .seg.lang *';
    const all = [...document.querySelectorAll('button, [role="tab"], .item')].filter((one) => {
      const box = one.getBoundingClientRect();
      return box.width > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight && !one.disabled && !one.matches(apart) && !one.closest('header');
    });
    all[Math.floor(at * all.length)]?.click();
  }, at);
}

const act = {
  key: (page, random) => page.keyboard.press(keys[Math.floor(random() * keys.length)]),
  click: (page, random) => click(page, random()),
  command: (page, random) => page.evaluate((line) => loopscope.kubectl(line), commands[Math.floor(random() * commands.length)](Math.floor(random() * 100))),
  fault: (page, random) => page.evaluate((line) => loopscope.fault(line), faults[Math.floor(random() * faults.length)](Math.floor(random() * 100))),
  seek: (page, random) => page.evaluate((share) => { loopscope.seek(loopscope.now() * share); }, random() * 1.5),
  edit: (page, random) => page.evaluate(([text, n]) => { loopscope.apply(text.replace(/replicas: \d+/, `replicas: ${n}`)); }, [example('deployment'), 1 + Math.floor(random() * 5)]),
  size: (page, random) => page.setViewportSize([{ width: 1440, height: 900 }, { width: 1100, height: 700 }, { width: 1300, height: 1000 }][Math.floor(random() * 3)]),
  play: (page) => page.evaluate(() => { loopscope.play(); }),
};
const weights = ['key', 'key', 'key', 'click', 'click', 'command', 'command', 'fault', 'seek', 'edit', 'size', 'play'];

/** Pauses, closes what is open, and shows all of Ownership. */
async function rest(page) {
  await page.evaluate(() => { loopscope.pause(); document.activeElement?.blur(); });
  for (let i = 0; i < 4; i++) await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement?.blur());
  await page.evaluate(() => { const filter = document.querySelector('.filter'); if (filter?.value) { filter.value = ''; filter.dispatchEvent(new Event('input', { bubbles: true })); } });
  await page.keyboard.press('1');
  await page.evaluate(() => document.querySelector('.c-head [aria-pressed="true"]')?.click());
  await page.keyboard.press('0');
  await settled(page);
}

/** What the page shows, and what its objects say, read anew. */
function both(page) {
  return page.evaluate(() => {
    const names = (kinds) => loopscope.kubectl(`get ${kinds} -o name`).split('\n').filter((line) => line.includes('/')).map((line) => line.split('/').at(-1)).sort();
    // Beside this branch another one may be drawn.
    const own = (item) => !item.closest('#stage-beside');
    const items = (kind) => [...document.querySelectorAll(`.stagebox .item[data-kind="${kind}"]:not(.ghost), .stage .item[data-kind="${kind}"]:not(.ghost)`)].filter(own);
    const shown = (kind) => [...new Set(items(kind).map((item) => item.dataset.name))].sort();
    const leaves = (name) => {
      const pod = loopscope.get('Pod', 'default', name);
      if (!pod) return 'gone';
      if (pod.metadata.deletionTimestamp) return 'terminating';
      return pod.status?.phase === 'Running' && pod.status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ? 'ready' : 'other';
    };
    const drawn = (item) => (['terminating', 'ready'].includes(item.dataset.state) ? item.dataset.state : 'other');
    // Where there is no room for all, some are one item with their number.
    const labels = [...document.querySelectorAll('.item[aria-label]')].filter(own).map((item) => /^(\d+) Pods: /.exec(item.getAttribute('aria-label')));
    const pods = items('Pod').map((item) => [item.dataset.name, drawn(item), leaves(item.dataset.name)]);
    return {
      wrong: pods.filter(([, drawn, real]) => drawn !== real),
      pods: [shown('Pod'), names('pods')],
      bundled: labels.reduce((sum, label) => sum + Number(label?.[1] ?? 0), 0),
      owners: [[...shown('Deployment'), ...shown('StatefulSet')].sort(), names('deployments,statefulsets')],
      clock: [document.querySelector('#clock')?.textContent.trim(), loopscope.now()],
    };
  });
}

test('whatever is done to it, the page shows what there is, and its clock runs', async ({ page }) => {
  test.setTimeout((seconds + 90) * 1000);
  const problems = [];
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('index.html');
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate((text) => loopscope.load(text), `${example('deployment')}\n---\n${example('statefulset')}`);
  const [random, ends, done] = [numbers(seed), Date.now() + seconds * 1000, []];
  const said = () => `seed ${seed}: ${done.slice(-24).join(', ')}`;
  while (Date.now() < ends) {
    for (let i = 0; i < 10; i++) {
      const what = weights[Math.floor(random() * weights.length)];
      done.push(what);
      await act[what](page, random);
    }
    await rest(page);
    await expect.poll(async () => {
      const { wrong, pods: [drawn, real], bundled, owners } = await both(page);
      const [missing, extra] = [real.filter((name) => !drawn.includes(name)), drawn.filter((name) => !real.includes(name))];
      return { wrong, pods: missing.length === bundled ? extra : [...missing, ...extra, `${bundled} bundled`], owners: owners[0].join() === owners[1].join() ? [] : owners };
    }, { message: said(), timeout: 5_000 }).toEqual({ wrong: [], pods: [], owners: [] });
    const { clock: [words, now] } = await both(page);
    const [minutes, rest_] = words.split(':').slice(-2);
    expect(Number(minutes) * 60 + Number(rest_), said()).toBeCloseTo(now % 3600, 2);
    // It goes on when it is told to, from the newest instant; by cause, many writes may be of one millisecond.
    await page.evaluate(() => { loopscope.live(); loopscope.pace('time'); loopscope.speed(1); loopscope.play(); });
    const before = await page.evaluate(() => loopscope.now());
    await expect.poll(() => page.evaluate(() => loopscope.now()), { message: said(), timeout: 5_000 }).toBeGreaterThan(before);
    done.push('|');
  }
  expect(problems, said()).toEqual([]);
});
