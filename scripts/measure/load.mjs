// What many objects cost the page: `load [WORKLOADS…]` pastes so many small workloads, applies them and plays until all are ready;
// `load pods [PODS…]` does the same with the Pods of one Deployment, and then updates them all. Prints for each part how long it took,
// the longest task and how many took over 50 ms, frames a second and the module's memory.
import { copied, paste } from '../../tests/browser/clipboard.mjs';
import { tasks } from '../../tests/browser/tasks.mjs';
import { counts, frameRate, keepMemory, leaveFields, open, withBrowser } from './page.mjs';
import { addNodes } from './pods.mjs';

/** A Deployment, and one document that goes with it: the editor takes ten thousand. Eight of ten have a Service, one a claim, one a budget. */
const workload = (at) => {
  const name = nameOf(at);
  const labels = `{app: ${name}}`;
  const mounts = at % 10 === 8 ? `\n      volumes: [{name: data, persistentVolumeClaim: {claimName: ${name}}}]` : '';
  const beside = at % 10 === 8
    ? `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`
    : at % 10 === 9
      ? `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: ${name}}
spec: {minAvailable: 1, selector: {matchLabels: ${labels}}}`
      : `apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {selector: ${labels}, ports: [{port: 80}]}`;
  return `${deployment(name, 2, 'nginx:1.25')}${mounts}\n---\n${beside}\n`;
};

const nameOf = (at) => `app-${String(at).padStart(5, '0')}`;

const deployment = (name, replicas, image) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers: [{name: web, image: "${image}"}]`;

export const measure = (given) => withBrowser(async (browser, address) => {
  console.log(`${'input'.padEnd(18)}${'part'.padEnd(8)}${'time'.padStart(8)}${'longest task'.padStart(14)}${'over 50'.padStart(9)}${'frames/s'.padStart(10)}${'wasm'.padStart(10)}`);
  if (given[0] === 'pods') {
    for (const pods of counts(given.slice(1), [150_000])) await one(browser, address, pods);
  } else {
    for (const workloads of counts(given, [100, 1000, 5000])) await small(browser, address, workloads);
  }
});

async function small(browser, address, workloads) {
  const { page, part } = await begin(browser, address, workloads * 2, `${workloads} workloads`);
  await part('paste', await copied(page, Array.from({ length: workloads }, (_, at) => workload(at)).join('---\n')), 3000);
  const wanted = Array.from({ length: workloads }, (_, at) => [nameOf(at), 2, 'nginx:1.25']);
  await part('start', () => page.keyboard.press('Control+Enter'), 3000, allReady(page, wanted));
  await page.close();
}

async function one(browser, address, pods) {
  const { page, part } = await begin(browser, address, pods, `${pods} Pods`);
  for (const [word, image] of [['start', 'nginx:1.25'], ['update', 'nginx:1.26']]) {
    await paste(page, deployment('many', pods, image));
    await page.waitForTimeout(1000);
    await part(word, () => page.keyboard.press('Control+Enter'), 10_000, allReady(page, [['many', pods, image]]));
    await leaveFields(page);
  }
  await page.close();
}

/** Opens the page with nodes enough. `part` does something and prints what it cost, measured in windows of some milliseconds until `done`. */
async function begin(browser, address, pods, input) {
  const page = await open(browser, address, keepMemory);
  await page.waitForTimeout(1000);
  await addNodes(page, pods);
  await page.waitForTimeout(2000);
  await page.evaluate((fast) => loopscope.speed(fast), pods > 50_000 ? 20 : 1);
  const part = async (word, what, ms, done = async () => true) => {
    const [from, all, rates] = [Date.now(), [], []];
    let over = false;
    for (let first = true; !over; first = false) {
      // A loop, since the whole of it would be more trace than can be read at once.
      all.push(...await tasks(browser, page, async () => {
        if (first) await what();
        rates.push(await frameRate(page, ms));
      }));
      over = await done();
    }
    const mb = await page.evaluate(() => window.memory.buffer.byteLength / 1e6);
    const long = all.filter((task) => task > 50);
    const rate = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    console.log(`${input.padEnd(18)}${word.padEnd(8)}${`${((Date.now() - from) / 1000).toFixed(0)} s`.padStart(8)}${`${all.reduce((most, task) => Math.max(most, task), 0).toFixed(0)} ms`.padStart(14)}${String(long.length).padStart(9)}${rate.toFixed(0).padStart(10)}${`${mb.toFixed(0)} MB`.padStart(10)}`);
  };
  return { page, part };
}

/** Whether all Deployments have these replicas of this image ready: a few are asked about at a time, which costs the page next to nothing. */
const allReady = (page, wanted) => {
  let ready = 0;
  return async () => {
    for (let more = true; more && ready < wanted.length; ) {
      const count = await page.evaluate((some) => some.findIndex(([name, replicas, image]) => {
        const found = loopscope.get('Deployment', 'default', name);
        return found?.status?.readyReplicas !== replicas || found.status.updatedReplicas !== replicas || found.status.replicas !== replicas
          || found.spec.template.spec.containers[0].image !== image;
      }), wanted.slice(ready, ready + 20));
      more = count < 0;
      ready += count < 0 ? 20 : count;
    }
    return ready >= wanted.length;
  };
};
