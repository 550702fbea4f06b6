// What drawing costs: `drawing [PODS…]` prints, while nothing happens but time and while all Pods are updated, how many nodes the
// document has, what changes in it in a frame, and how long the page's thread works for a frame. Of a page that was built with
// `--features renders` (make drawing) it also prints how often each component is rendered in ten frames.
import { tasks } from '../../tests/browser/tasks.mjs';
import { counts, leaveFields, open, withBrowser } from './page.mjs';
import { addNodes, manifest, ready } from './pods.mjs';

/** Changes of the document and renders of components in 120 frames. */
const changes = (page) => page.evaluate(() => new Promise((resolve) => {
  loopscope.renders = {};
  let [frames, changes] = [0, 0];
  const observer = new MutationObserver((all) => { changes += all.length; });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  const count = () => {
    frames += 1;
    if (frames < 120) return requestAnimationFrame(count);
    observer.disconnect();
    resolve({ frames, changes, renders: loopscope.renders });
  };
  requestAnimationFrame(count);
}));

export const measure = (given) => withBrowser(async (browser, address) => {
  console.log('    Pods  while   view         nodes  changes a frame  ms a frame  rendered in ten frames');
  for (const pods of counts(given, [100, 1000, 5000])) {
    const page = await open(browser, `${address}?editor=plain`);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    await addNodes(page, pods);
    await page.evaluate((text) => loopscope.apply(text), manifest(pods));
    await ready(page, pods);
    await leaveFields(page);
    let image = 25;
    for (const [key, view] of [['1', 'Ownership'], ['2', 'Nodes'], ['6', 'Loops']]) {
      for (const word of ['quiet', 'update']) {
        if (word === 'update') await page.evaluate((text) => loopscope.apply(text), manifest(pods, `nginx:1.${++image}`));
        await page.keyboard.press(key);
        await page.waitForTimeout(word === 'quiet' ? 1500 : 500);
        await devtools.send('HeapProfiler.collectGarbage');
        let seen;
        const all = await tasks(browser, page, async () => (seen = await changes(page)));
        const spent = all.reduce((sum, task) => sum + task, 0);
        const { metrics } = await devtools.send('Performance.getMetrics');
        const nodes = metrics.find((metric) => metric.name === 'Nodes').value;
        const renders = Object.entries(seen.renders).map(([what, times]) => `${what} ${(times * 10 / seen.frames).toFixed(1)}`).join(', ');
        console.log(`${String(pods).padStart(8)}  ${word.padEnd(8)}${view.padEnd(10)}${String(nodes).padStart(8)}${(seen.changes / seen.frames).toFixed(1).padStart(17)}${(spent / seen.frames).toFixed(1).padStart(12)}  ${renders}`);
        if (word === 'update') await ready(page, pods);
      }
    }
    await page.close();
  }
});
