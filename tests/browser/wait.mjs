// Waiting for the page, not for the clock of the machine.
import { inflateSync } from 'node:zlib';

/** So many animation frames of the page. */
export const frames = (page, count) => page.evaluate((count) => new Promise((resolve) => {
  const next = () => (count-- > 0 ? requestAnimationFrame(next) : resolve());
  next();
}), count);

/** Until nothing has moved for a quarter of a second of frames: no transition runs, and every item and panel stays where it is. */
export const settled = (page) => page.evaluate(() => new Promise((resolve) => {
  let [last, same, left] = ['', 0, 600];
  const look = () => {
    const places = [...document.querySelectorAll('.world, .world .item, .panel, .foot')].slice(0, 300).map((one) => {
      const box = one.getBoundingClientRect();
      return `${box.x},${box.y},${box.width},${box.height}`;
    }).join(';');
    const moves = document.getAnimations().some((one) => one.playState === 'running' && Number.isFinite(one.effect?.getComputedTiming().endTime));
    same = places === last && !moves ? same + 1 : 0;
    last = places;
    if (same >= 15 || --left === 0) resolve();
    else requestAnimationFrame(look);
  };
  look();
}));

/** So many seconds on, by the key for one second; a busy page hears keys late. */
export async function forward(page, seconds) {
  const from = await page.evaluate(() => window.loopscope.now());
  for (let i = 0; i < seconds; i++) await page.keyboard.press('.');
  await page.waitForFunction((to) => window.loopscope.now() >= to, from + seconds - 0.01);
}

/** Tab until the focus is on what a selector names. */
export async function reach(page, what, key = 'Tab', most = 60) {
  for (let i = 0; i < most; i++) {
    const [there, inside] = await page.evaluate((what) => [!!document.activeElement?.matches(what), !!document.activeElement?.closest('#manifest .host, textarea')], what);
    if (there) return;
    // In the editor Tab indents; Escape lets it out.
    if (inside) await page.keyboard.press('Escape');
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${what}`);
}

/** What the page's address holds. */
export async function link(page) {
  const hash = await page.evaluate(() => location.hash);
  return hash.startsWith('#pako:') ? JSON.parse(inflateSync(Buffer.from(hash.slice(6), 'base64url')).toString()) : {};
}

/** Whether the page has said something on the console that it should not: an error or a warning, but for what the tests themselves block. */
export const isProblem = (message) => ['error', 'warning'].includes(message.type()) && !message.text().includes('registration blocked by Playwright');

/** A list that grows by what the page says on the console that it should not, and by its exceptions. */
export function problemsOf(page) {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(error.message));
  return problems;
}

/** The page in a frame without an origin of its own, as a course page may hold it. */
export async function sandboxed(page, src, width, height) {
  // A page without anything of its own: Loopscope without its body may begin again, and the frame with it.
  const frame = `<iframe sandbox="allow-scripts" width="${width}" height="${height}" src="${src}"></iframe>`;
  await page.route('**/course.html', (route) => route.fulfill({ contentType: 'text/html', body: `<!doctype html><title>Course</title>${frame}` }));
  await page.goto('course.html');
  return page.frameLocator('iframe');
}
