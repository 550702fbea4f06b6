// The diagrams, the past, filters and faults: what a person does with them.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { readFileSync } from 'node:fs';
import { frames, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const item = (page, kind, name) => page.locator(`.item[data-kind="${kind}"][data-name="${name}"]:not(.ghost)`);
const scope = (page, f, argument) => page.evaluate(f, argument);

async function open(page, text, seconds = 12) {
  await page.goto('index.html');
  await expect(page.locator('.item[data-kind="Pod"]').first()).toBeVisible();
  await page.waitForFunction(() => loopscope.ready);
  await scope(page, () => loopscope.pause());
  if (text) await scope(page, (text) => loopscope.load(text), text);
  await scope(page, () => loopscope.pause());
  await on(page, seconds);
}

/** Presses the key that lets a second pass so many times; a busy page may hear it a little later. */
async function on(page, seconds) {
  const from = await scope(page, () => loopscope.now());
  for (let i = 0; i < seconds; i++) await page.keyboard.press('.');
  await expect.poll(() => scope(page, () => loopscope.now())).toBeGreaterThan(from + seconds - 0.01);
}

test('Loops: a loop turns to its panel with Observe, Diff and Act, and is let go again', async ({ page }) => {
  await open(page);
  await page.keyboard.press('6');
  await expect(item(page, 'Loop', 'scheduler').or(item(page, 'Loop', 'default-scheduler'))).toBeVisible();
  await item(page, 'Loop', 'replicaset-controller').click();
  await expect(page.locator('.loop.big')).toHaveAttribute('data-name', 'replicaset-controller');
  await expect(page.locator('.pass')).toContainText('default/nginx-deployment-');
  await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  for (let i = 0; i < 4; i++) await scope(page, () => loopscope.step());
  await expect(page.locator('.pass .steps')).toContainText('create');
  await expect(page.locator('.pass .pseudo .lit')).toContainText('create(-diff, rs.Template)');
  // Escape lets go of it, and so does a second click.
  await page.keyboard.press('Escape');
  await expect(page.locator('.loop.big')).toHaveCount(0);
  await item(page, 'Loop', 'replicaset-controller').click();
  await expect(page.locator('.loop.big')).toHaveCount(1);
  await item(page, 'Loop', 'replicaset-controller').click();
  await expect(page.locator('.loop.big')).toHaveCount(0);
});

test('Network: a name answers while its Pod is ready, and again when the Pod is replaced', async ({ page }) => {
  await open(page, example('network'), 20);
  await page.keyboard.press('3');
  const dns = page.locator('.table').filter({ hasText: 'Cluster DNS' });
  await expect(dns.locator('.tr').filter({ hasText: 'web-0.nginx' })).toContainText('10.244.');
  const before = await dns.locator('.tr').filter({ hasText: 'web-0.nginx' }).textContent();
  await scope(page, () => loopscope.kubectl('delete pod web-0 --wait=false'));
  await page.keyboard.press('.');
  await expect(dns.locator('.tr').filter({ hasText: 'web-0.nginx' }).filter({ hasText: '10.244.' })).toHaveCount(0);
  await on(page, 5);
  await expect(dns.locator('.tr').filter({ hasText: 'web-0.nginx' })).toContainText('10.244.');
  expect(await dns.locator('.tr').filter({ hasText: 'web-0.nginx' }).textContent()).not.toBe(before);
  expect(await scope(page, () => loopscope.kubectl('exec busybox -- nslookup web-0.nginx'))).toContain('web-0.nginx.default.svc.cluster.local');
  await expect(page.locator('.term').first()).toContainText('busybox');
});

test('Network: a Service without endpoints says which label differs', async ({ page }) => {
  await open(page, example('deployment') + '\n---\napiVersion: v1\nkind: Service\nmetadata: {name: lost}\nspec: {selector: {app: ngin}, ports: [{port: 80}]}\n');
  await page.keyboard.press('3');
  await expect(page.locator('.lbl.hint')).toContainText('no Pod has app=ngin');
  await expect(page.locator('.lbl.hint')).toContainText('has app=nginx');
});

test('Rollout: each revision has its layer, and the past shows the past', async ({ page }) => {
  await open(page);
  await scope(page, () => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.9.1'));
  await on(page, 6);
  await page.keyboard.press('5');
  const rows = page.locator('.keys-of tbody tr');
  await expect(rows).toHaveCount(2);
  await expect(rows.last()).toContainText('nginx:1.9.1');
  await scope(page, () => loopscope.seek(5));
  await expect(rows).toHaveCount(1);
});

test('Rollout: any instant tells its counts, by pointer and by keyboard, and another workload can be chosen', async ({ page }) => {
  await open(page, example('network'), 10);
  await page.keyboard.press('5');
  const [rows, probe] = [page.locator('.keys-of tbody tr'), page.getByRole('slider', { name: 'Values at a point in time' })];
  await page.getByLabel('Workload').selectOption('Deployment shop');
  await expect(page.locator('.keys-of p')).toContainText('Deployment shop3 desired');
  await expect(rows).toHaveText(/shop:1.0.* · newest30$/);
  // At the beginning no Pod is ready, and nothing lies over the chart.
  const box = await probe.boundingBox();
  await page.mouse.move(box.x + 4, box.y + box.height - 8);
  await expect(rows).toHaveText(/newest03$/);
  await expect(page.locator('.keys-of .at')).toHaveText(/^00:00\./);
  await frames(page, 15);
  await expect(page.locator('.hover')).toHaveCount(0);
  await page.mouse.move(5, 5);
  await expect(rows).toHaveText(/newest30$/);
  // By keyboard from change to change; the clock stays where it is.
  const now = await scope(page, () => loopscope.now());
  await probe.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(probe).toHaveAttribute('aria-valuetext', /^00:0[0-4]\..*3 ready, 0 not ready$/);
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowLeft');
  await expect(probe).toHaveAttribute('aria-valuetext', /0 ready, \d not ready$/);
  expect(await scope(page, () => loopscope.now())).toBe(now);
  await page.keyboard.press('Escape');
  await expect(rows).toHaveText(/newest30$/);
  await page.getByLabel('Workload').selectOption('StatefulSet web');
  await expect(page.locator('.keys-of p')).toContainText('StatefulSet web');
  await expect(page.locator('.i-head')).toContainText('web');
});

test('Storage: what a Pod wrote is still there for the next one', async ({ page }) => {
  await open(page, example('statefulset'), 20);
  await scope(page, () => loopscope.kubectl("exec web-0 -- sh -c 'echo hello $(hostname) > /usr/share/nginx/html/index.html'"));
  await scope(page, () => loopscope.kubectl('delete pod web-0 --wait=false'));
  await on(page, 6);
  expect(await scope(page, () => loopscope.kubectl('exec web-0 -- curl localhost'))).toBe('hello web-0');
  await page.keyboard.press('4');
  await expect(page.locator('.cylinder').filter({ hasText: 'hello web-0' })).toHaveCount(1);
});

test('Storage: three columns stand whole on a small screen, and a claim that outlives its Pod is told of', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, example('statefulset').replace('replicas: 2', 'replicas: 3'), 15);
  await page.keyboard.press('4');
  await expect(page.locator('.zoom .pc')).toHaveText('100%');
  const [foot, bar] = [await page.locator('.zoom').boundingBox(), await item(page, 'StatefulSet', 'web').boundingBox()];
  await expect(page.locator('.cylinder')).toHaveCount(3);
  for (const box of await page.locator('.cylinder').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()))) {
    expect(box.bottom).toBeLessThan(foot.y);
    expect(box.right).toBeLessThanOrEqual(bar.x + bar.width + 1);
  }
  await scope(page, () => loopscope.kubectl('delete pod web-1 --wait=false'));
  await expect(page.locator('.lbl.kept')).toHaveText('You deleted Pod web-1, not its claim: www-web-1 keeps its 1Gi');
  const kept = await page.locator('.lbl.kept').boundingBox();
  expect(kept.y + kept.height).toBeLessThanOrEqual(foot.y);
});

test('the state at an instant is the state when that instant was the newest', async ({ page }) => {
  await open(page, example('statefulset'), 1);
  const state = () => scope(page, () => JSON.stringify(['web-0', 'web-1', 'web-2'].map((name) => loopscope.get('Pod', 'default', name))));
  const at = await scope(page, () => loopscope.now());
  const then = await state();
  await on(page, 10);
  expect(await state()).not.toBe(then);
  // A seek shows a whole millisecond; the one before ends where this state began.
  await scope(page, (at) => loopscope.seek(at - 0.001), at);
  expect(await state()).toBe(then);
  expect(await scope(page, () => loopscope.kubectl('get pods'))).toContain('web-0');
  await expect(page.getByText('You are viewing the past')).toBeVisible();
});

test('a change in the past forks the history, and both branches can be visited', async ({ page }) => {
  await open(page);
  await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=5'));
  await on(page, 5);
  await scope(page, () => loopscope.seek(8));
  await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=1'));
  await on(page, 5);
  const pods = page.locator('.item[data-kind="Pod"]:not(.ghost)');
  await expect(pods).toHaveCount(1);
  const choose = async (name) => {
    await page.getByRole('button', { name: 'History', exact: true }).click();
    await page.getByRole('button', { name }).click();
  };
  await choose('Branch 1');
  await expect(pods).toHaveCount(5);
  await choose('Branch 2');
  await expect(pods).toHaveCount(1);
});

test('a filter says what it hides', async ({ page }) => {
  await open(page, example('network'));
  await page.getByRole('searchbox').fill('web');
  await expect(page.locator('.item[data-kind="Deployment"]:not(.ghost)')).toHaveCount(0);
  await expect(item(page, 'StatefulSet', 'web')).toBeVisible();
  await page.getByRole('button', { name: /hidden/ }).click();
  await expect(item(page, 'Deployment', 'shop')).toBeVisible();
});

test('a node is powered off and on by its buttons, and its Pods say so', async ({ page }) => {
  await open(page, example('daemonset'));
  await page.keyboard.press('2');
  await item(page, 'Node', 'node-2').click();
  await page.locator('.faults summary').click();
  await page.getByRole('button', { name: 'Power off' }).click();
  await expect(page.locator('.toast')).toContainText('Its kubelet stops responding');
  // The menu closes after a choice, and gives the focus back.
  await expect(page.locator('.faults')).not.toHaveAttribute('open');
  await expect(page.locator('.faults summary')).toBeFocused();
  // Escape closes the menu and nothing else.
  await page.locator('.faults summary').click();
  await page.keyboard.press('Escape');
  await expect(page.locator('.faults')).not.toHaveAttribute('open');
  await expect(page.locator('.i-head')).toContainText('node-2');
  await on(page, 60);
  await expect(item(page, 'Node', 'node-2')).toHaveAttribute('data-state', 'notready');
  await page.locator('.faults summary').click();
  await page.locator('.faults').getByRole('button', { name: /^Power on/ }).click();
  await on(page, 15);
  await expect(item(page, 'Node', 'node-2')).toHaveAttribute('data-state', 'ready');
});

test('a lost event is made up for by the next list of everything, and stays lost without one', async ({ page }) => {
  const pods = page.locator('.item[data-kind="Pod"]:not(.ghost)');
  for (const [lists, left] of [[true, 3], [false, 2]]) {
    await open(page);
    if (!lists) {
      await item(page, 'Deployment', 'nginx-deployment').click();
      await page.locator('.faults summary').click();
      await page.getByRole('button', { name: /^Disable relisting/ }).click();
      await expect(page.locator('.toast')).toHaveText(/^Disable relisting: Components no longer relist/);
    }
    await scope(page, () => loopscope.fault('lose deployment/nginx-deployment'));
    await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
    await on(page, 40);
    await expect(pods).toHaveCount(left);
  }
});

test('a late event and a slow loop are made by their buttons, and taken back', async ({ page }) => {
  const pods = page.locator('.item[data-kind="Pod"]:not(.ghost)');
  await open(page);
  await item(page, 'Deployment', 'nginx-deployment').click();
  await page.locator('.faults summary').click();
  await page.getByRole('button', { name: /^Delay its next event/ }).click();
  await expect(page.locator('.toast')).toHaveText(/^Delay its next event: Its next change reaches kube-controller-manager ten seconds late/);
  await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=3'));
  await on(page, 8);
  await expect(pods).toHaveCount(2);
  await page.locator('.faults summary').click();
  await page.locator('.faults').getByRole('button', { name: /^Deliver its delayed event/ }).click();
  await on(page, 1);
  await expect(pods).toHaveCount(3);
  // A loop is chosen on the ring.
  await page.keyboard.press('6');
  await expect(page.locator('#pace')).toHaveCount(0);
  await item(page, 'Loop', 'replicaset-controller').click();
  await page.locator('#pace').click();
  await expect(page.locator('.toast')).toHaveText(/^Slow down: Each reconcile takes two seconds/);
  await scope(page, () => loopscope.kubectl('scale deployment nginx-deployment --replicas=5'));
  await on(page, 1);
  expect(await scope(page, () => loopscope.kubectl('get rs --no-headers'))).toMatch(/ 5 +3 /);
  await expect(page.locator('#pace')).toHaveText('Full speed again');
  await page.locator('#pace').click();
  await on(page, 1);
  expect(await scope(page, () => loopscope.kubectl('get rs --no-headers'))).toMatch(/ 5 +5 /);
  await expect(page.locator('#pace')).toHaveText('Slow down');
});

test('Run until stable runs until nothing changes any more', async ({ page }) => {
  await open(page, example('statefulset'), 0);
  await page.locator('#settle').click();
  await expect(page.locator('#notice')).toHaveText('Stable: nothing left to reconcile');
  expect(await scope(page, () => loopscope.kubectl('get sts web'))).toContain('2/2');
});

for (const view of ['ownership', 'nodes', 'network', 'storage', 'rollout', 'loops']) {
  for (const [scheme, language] of [['light', 'en'], ['dark', 'zh']]) {
    test(`axe finds nothing serious in ${view}, ${scheme}, ${language}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.goto(`index.html?view=${view}&lang=${language}`);
      await page.waitForFunction(() => window.loopscope?.ready);
      await scope(page, (text) => loopscope.load(text), example(view === 'storage' ? 'statefulset' : 'network'));
      await scope(page, () => loopscope.pause());
      await on(page, 8);
      await expect(page.locator('.item').first()).toBeVisible();
      await settled(page);
      const found = await new AxeBuilder({ page }).analyze();
      expect(found.violations.filter((v) => ['serious', 'critical'].includes(v.impact) || v.id === 'heading-order').map((v) => `${v.id}: ${v.nodes[0].html}`)).toEqual([]);
    });
  }
}

test('Nodes: a Pod says why it is on its node, and one that fits nowhere why on none', async ({ page }) => {
  await open(page);
  await page.keyboard.press('2');
  await page.locator('.item[data-kind="Pod"]:not(.ghost)').first().click();
  await page.getByRole('tab', { name: 'Why' }).click();
  const bound = page.locator('.why > li').filter({ hasText: 'default-scheduler' });
  await expect(bound).toContainText(/3 of 3 nodes fit; this node scored highest \(\d+\)/);
  // Its instant shows the filters and the scores.
  await bound.getByRole('button').click();
  await expect(page.locator('.why > li').first()).toContainText('bound to');
  await expect(page.locator('.why > li').first().locator('.saw > div')).not.toHaveCount(0);
  await open(page, example('unschedulable'));
  await page.keyboard.press('2');
  await page.locator('.item[data-kind="Pod"]:not(.ghost)').first().click();
  await expect(page.locator('.standing')).toContainText('The Pod fits on no node');
  await expect(page.locator('.found .saw')).toContainText('requests 6 CPU, 4 free');
});

test('Nodes: fifty nodes and two thousand Pods stand as large as few, as many in a row as fit', async ({ page }) => {
  await open(page, null, 0);
  await scope(page, () => { for (let i = 4; i <= 50; i++) loopscope.fault(`add-node node-${i}`); });
  await scope(page, (text) => loopscope.apply(text), example('deployment').replace('nginx-deployment', 'many').replace('replicas: 2', 'replicas: 2000'));
  await on(page, 15);
  await page.keyboard.press('2');
  const nodes = page.locator('.item[data-kind="Node"]');
  await expect(nodes).toHaveCount(50);
  await settled(page);
  const stage = await page.locator('#stage').boundingBox();
  for (const box of await nodes.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()))) {
    expect(box.right).toBeLessThanOrEqual(stage.x + stage.width + 1);
  }
  await expect(page.locator('.zoom .pc')).toHaveText('100%');
  await expect(page.locator('.cells .counts')).toHaveCount(0);
  await expect(nodes.first()).toContainText('node-1');
});

test('Nodes: a silent node counts down to the eviction of its Pods', async ({ page }) => {
  await open(page);
  await page.keyboard.press('2');
  const node = await scope(page, () => loopscope.kubectl('get pods -o wide').match(/node-\d/)[0]);
  await scope(page, (node) => loopscope.fault(`node-down ${node}`), node);
  await on(page, 80);
  const note = item(page, 'Node', node).locator('.note');
  await expect(note).toContainText(/Pods are evicted in 04:[0-5]\d/);
  const before = await note.textContent();
  await on(page, 5);
  await expect(note).not.toHaveText(before);
  // All of it is in sight.
  expect(await note.evaluate((box) => box.scrollHeight - box.clientHeight)).toBeLessThanOrEqual(0);
});

test('the head has one menu where its controls have no room, and it closes by itself', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, undefined, 5);
  const head = page.locator('.c-head');
  // Among one namespace there is nothing to choose.
  await expect(head.getByLabel('Namespace')).toHaveCount(0);
  for (const line of ['create namespace shop', 'create deployment cart --image=nginx -n shop']) await page.evaluate((line) => window.loopscope.kubectl(line), line);
  await expect(head.getByLabel('Namespace')).toHaveCount(1);
  const opens = head.getByRole('button', { name: 'View', exact: true });
  await expect(head.getByLabel('Namespace')).toBeHidden();
  await opens.click();
  await expect(opens).toHaveAttribute('aria-expanded', 'true');
  await head.getByLabel('Namespace').selectOption('default');
  await page.keyboard.press('Escape');
  await opens.click();
  await page.getByRole('button', { name: 'Show as list' }).click();
  await expect(page.locator('.aslist')).toBeVisible();
  await expect(opens).toHaveAttribute('aria-expanded', 'false');
  await opens.click();
  await page.locator('.filter').focus();
  await expect(head.getByLabel('Namespace')).toBeHidden();
  // With room there is none.
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(opens).toBeHidden();
  await expect(head.getByLabel('Namespace')).toBeVisible();
});

test('Network: requests are spread over the ready endpoints', async ({ page }) => {
  await open(page, example('network'), 10);
  await page.keyboard.press('3');
  const shop = page.locator('.table').filter({ hasText: 'share per Pod' });
  await expect(shop).toContainText('1/3');
  const name = await scope(page, () => loopscope.kubectl('get pods -l app=shop -o name').split('\n')[0].replace('pod/', ''));
  await scope(page, (name) => loopscope.fault(`unready pod/${name}`), name);
  await on(page, 2);
  await expect(shop).toContainText('1/2');
  await expect(page.locator('.lbl').filter({ hasText: 'not ready: gets no traffic' })).toHaveCount(1);
});

test('Storage: a claim is waited for, bound, and its volume mounted', async ({ page }) => {
  await open(page, example('statefulset'), 0);
  await page.keyboard.press('4');
  const seen = new Set();
  for (let i = 0; i < 30; i++) {
    for (const text of await page.locator('.lbl.onedge').allTextContents()) seen.add(text);
    await scope(page, () => loopscope.step());
  }
  for (const text of await page.locator('.lbl.onedge').allTextContents()) seen.add(text);
  const words = [...seen].join(' | ');
  expect(words).toContain('no volume yet');
  expect(words).toMatch(/waiting for the claim|waiting to be mounted/);
  expect(words).toContain('Bound');
  await expect(page.locator('.item[data-kind="PersistentVolumeClaim"][data-name="www-web-0"]')).toHaveAttribute('data-state', 'bound');
});

test('Ownership: old revisions fold into a line with their count', async ({ page }) => {
  await open(page);
  for (const tag of ['1.9.1', '1.10.1', '1.11.1']) {
    await scope(page, (tag) => loopscope.kubectl(`set image deployment/nginx-deployment nginx=nginx:${tag}`), tag);
    await on(page, 10);
  }
  await page.keyboard.press('1');
  await expect(page.locator('.item[data-kind="ReplicaSet"]:not(.ghost)')).toHaveCount(1);
  // A click unfolds them.
  await page.getByRole('button', { name: '+3 old revisions' }).click();
  await expect(page.locator('.item[data-kind="ReplicaSet"]:not(.ghost)')).toHaveCount(4);
  await page.keyboard.press('0');
  await settled(page);
  await page.getByRole('button', { name: '3 old revisions' }).click();
  await expect(page.locator('.item[data-kind="ReplicaSet"]:not(.ghost)')).toHaveCount(1);
});

test('Ownership: what Pods name stands beside them, once for all who name it, and is missed when it goes', async ({ page }) => {
  const deployment = (name) => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers: [{name: c, image: nginx, envFrom: [{configMapRef: {name: of-${name}}}, {secretRef: {name: shared}}]}]
`;
  const stored = ['ConfigMap of-web', 'ConfigMap of-db', 'Secret shared', 'ConfigMap unused'].map((of) => of.split(' '));
  const objects = stored.map(([kind, name]) => `{apiVersion: v1, kind: ${kind}, metadata: {name: ${name}}}\n---\n`).join('');
  await open(page, objects + deployment('web') + deployment('db'), 5);
  await page.keyboard.press('1');
  const edges = page.locator('svg.edges path.provides');
  await expect(edges).toHaveCount(4);
  await expect(item(page, 'Secret', 'shared')).toHaveAttribute('aria-label', /used by Deployment \w+, Deployment \w+/);
  await expect(item(page, 'ConfigMap', 'unused')).toHaveAttribute('aria-label', /accepted, not simulated/);
  await item(page, 'Secret', 'shared').click();
  await expect(page.locator('svg.edges path.on')).toHaveCount(2);
  await scope(page, () => loopscope.kubectl('delete configmap of-web'));
  await expect(item(page, 'ConfigMap', 'of-web')).toHaveAttribute('data-state', 'missing');
  await expect(page.locator('svg.edges path.wait')).toHaveCount(1);
  const axe = await new AxeBuilder({ page }).include('.stage').analyze();
  expect(axe.violations).toEqual([]);
});

test('where both sides have no room the manifest gives way, nothing is covered, and the tabs stay where they are', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await open(page, undefined, 5);
  const places = () => page.locator('.topbar [role=tab]').evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().x));
  const before = await places();
  await page.keyboard.press('3');
  expect(await places()).toEqual(before);
  await page.keyboard.press('1');
  await page.keyboard.press('Escape');
  await page.locator('#stage .item[data-kind="Pod"]').first().click();
  const inspector = await page.locator('.panel.right').boundingBox();
  for (const part of ['.c-head .filter', '.c-head .opens', '.zoom']) {
    const box = await page.locator(part).first().boundingBox();
    expect(box.x + box.width, part).toBeLessThanOrEqual(inspector.x);
  }
  await expect(page.locator('#manifest')).toHaveCount(0);
  await page.getByRole('button', { name: 'Hide the inspector' }).click();
  await expect(page.locator('#manifest')).toBeVisible();
});

test('a frame opens at the top, and what is chosen in it is in sight', async ({ page }) => {
  await page.setViewportSize({ width: 480, height: 430 });
  await page.goto('index.html?embed&view=nodes');
  await page.waitForFunction(() => window.loopscope?.ready);
  await scope(page, (text) => { loopscope.load(text); loopscope.pause(); for (let i = 0; i < 60; i++) loopscope.step(); }, example('rollout'));
  const first = page.locator('.item[data-kind="Node"][data-name="node-1"]:not(.ghost)');
  await expect(page.locator('.item[data-kind="Pod"]:not(.ghost)').first()).toBeVisible();
  await settled(page);
  const top = async () => (await first.boundingBox()).y;
  expect(await top()).toBeGreaterThanOrEqual(0);
  // What is chosen comes into sight, and the head comes back with what is near it.
  const last = page.locator('.item[data-kind="Node"][data-name="node-3"]:not(.ghost)');
  const stage = await page.locator('#stage').boundingBox();
  const at = await last.boundingBox();
  await page.mouse.click(at.x + 20, at.y + 20);
  await expect.poll(async () => { const box = await last.boundingBox(); return box.y + box.height; }).toBeLessThanOrEqual(stage.y + stage.height);
  const left = await first.boundingBox();
  await page.mouse.click(left.x + 20, left.y + left.height - 8);
  await expect.poll(top).toBeGreaterThanOrEqual(0);
});

test('the word of a state is whole on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('index.html?view=storage');
  await page.waitForFunction(() => window.loopscope?.ready);
  await scope(page, (text) => { loopscope.load(text); loopscope.pause(); }, example('statefulset').replace('replicas: 2', 'replicas: 3'));
  const words = page.locator('.pod .w5:not(.mono)');
  const cut = () => words.evaluateAll((all) => all.filter((one) => {
    const [word, card] = [one.getBoundingClientRect(), one.closest('.pod').getBoundingClientRect()];
    const line = one.closest('.txt');
    return line.scrollWidth > line.clientWidth + 1 || word.bottom > card.bottom;
  }).map((one) => one.textContent));
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    await scope(page, () => loopscope.step());
    await frames(page, 2);
    for (const text of await page.locator('.pod').allTextContents()) seen.add(/ContainerCreating/.exec(text)?.[0]);
    expect(await cut()).toEqual([]);
  }
  await on(page, 6);
  await scope(page, () => loopscope.kubectl('delete pod web-1 --wait=false'));
  await expect(words.getByText('Terminating')).toBeVisible();
  expect(await cut()).toEqual([]);
  expect([...seen]).toContain('ContainerCreating');
});

// The size of the smallest letters in a picture.
const smallest = (page) => page.locator('.world *').evaluateAll((all) => {
  const scale = new DOMMatrix(getComputedStyle(document.querySelector('.world')).transform).a;
  const said = all.filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return Math.min(...said.map((one) => parseFloat(getComputedStyle(one).fontSize) * scale));
});

test('the letters of each view can be read in a small frame', async ({ page }) => {
  await page.setViewportSize({ width: 480, height: 360 });
  for (const view of ['nodes', 'network', 'storage', 'rollout', 'loops']) {
    await page.goto(`index.html?embed&view=${view}`);
    await page.waitForFunction(() => window.loopscope?.ready);
    await scope(page, (text) => { loopscope.load(text); loopscope.pause(); for (let i = 0; i < 60; i++) loopscope.step(); }, example('statefulset'));
    await expect(page.locator('.world .item').first()).toBeVisible();
    // The times below a chart are the smallest.
    await expect.poll(() => smallest(page), view).toBeGreaterThanOrEqual(view === 'rollout' ? 10 : 11);
  }
});

for (const [width, height] of [[480, 320], [480, 360], [720, 420]]) {
  test(`a frame of ${width}x${height} shows an update as a whole, in letters that can be read`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await page.goto('index.html?embed');
    await page.waitForFunction(() => window.loopscope?.ready);
    await scope(page, (text) => { loopscope.load(text); loopscope.pause(); }, example('rollout'));
    await on(page, 12);
    await scope(page, () => loopscope.kubectl('set image deployment/nginx nginx=nginx:1.27'));
    await on(page, 2);
    await expect(page.locator('.item[data-kind="ReplicaSet"]:not(.ghost)')).toHaveCount(2);
    await settled(page);
    const stage = await page.locator('#stage').boundingBox();
    for (const one of await page.locator('#stage .item:not(.ghost)').all()) {
      const box = await one.boundingBox();
      expect(box.x, await one.getAttribute('aria-label')).toBeGreaterThanOrEqual(stage.x);
      expect(box.x + box.width).toBeLessThanOrEqual(stage.x + stage.width);
      expect(box.y).toBeGreaterThanOrEqual(stage.y);
      expect(box.y + box.height).toBeLessThanOrEqual(stage.y + stage.height);
    }
    expect(await smallest(page)).toBeGreaterThanOrEqual(11);
    const cut = await page.locator('.card .txt, .pod .txt').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent));
    expect(cut).toEqual([]);
    // The line below tells of what is there, or has just gone.
    await expect(page.locator('.cap .mid')).not.toContainText(/Endpoint|status written/);
  });
}

test('the list says where those stand that are stuck; keys show it, run until stable and begin again', async ({ page }) => {
  await open(page);
  await scope(page, () => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:nonexistent'));
  await on(page, 15);
  await page.keyboard.press('l');
  const list = page.locator('.aslist').first();
  await expect(list.locator('li', { has: page.getByRole('button', { name: /^Deployment nginx-deployment/ }) }).locator('.stands'))
    .toContainText('Image nginx:nonexistent cannot be pulled');
  await page.keyboard.press('l');
  await expect(list).toBeHidden();
  await scope(page, () => loopscope.kubectl('set image deployment/nginx-deployment nginx=nginx:1.27'));
  await page.keyboard.press('s');
  await expect(item(page, 'Deployment', 'nginx-deployment')).toHaveAttribute('data-state', 'settled');
  await page.keyboard.press('r');
  await expect(page.getByRole('dialog')).toContainText('Start over');
});

const TRAFFIC = `
{apiVersion: v1, kind: Pod, metadata: {name: client}, spec: {containers: [{name: c, image: busybox, command: [sleep, '9999']}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: wall}, spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {role: guest}}}]}]}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: door}, spec: {ingressClassName: nginx, rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}
`;

test('Network: a policy denies the request until its peer has the label; an Ingress is served once its class exists', async ({ page }) => {
  await open(page, TRAFFIC);
  await page.keyboard.press('3');
  await expect(page.locator('.lbl', { hasText: '✕ client → web: denied by NetworkPolicy wall (Ingress)' })).toBeVisible();
  await page.keyboard.press('0');
  await settled(page);
  await item(page, 'NetworkPolicy', 'wall').click();
  await expect(page.locator('.panel.inspector, #inspector, aside').filter({ hasText: 'wall' }).first()).toContainText('Isolates 1 Pod (Ingress)');
  await scope(page, () => loopscope.kubectl('label pod client role=guest'));
  await on(page, 1);
  await expect(page.locator('.lbl', { hasText: 'client → web: allowed by NetworkPolicy wall, Ingress rule 1' })).toBeVisible();
  const door = item(page, 'Ingress', 'door');
  await expect(door).toContainText('not served');
  await door.click();
  await page.getByRole('button', { name: /Create IngressClass nginx/ }).first().click();
  await on(page, 2);
  await expect(door).toContainText('192.168.49.11');
  // The policy admits the client, and not yet the controller.
  await expect(door).toContainText('504: denied by policy');
  await page.getByRole('button', { name: 'Allow connections from ingress-nginx' }).first().click();
  await on(page, 2);
  await expect(door).toContainText('1 ready endpoint');
});

test('Ownership: workloads are grouped at will, and a group is folded by click, key and in the list', async ({ page }) => {
  const text = ['shop', 'ops'].map((name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n---\n${example('deployment').replaceAll('metadata:\n  name: nginx-deployment', `metadata:\n  name: nginx-${name}\n  namespace: ${name}`)}`).join('\n---\n');
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page, text);
  const head = page.locator('.c-head');
  const pods = page.locator('.item[data-kind="Pod"]:not(.ghost)');
  await expect(page.locator('.item.heading')).toHaveCount(0);
  const all = await pods.count();
  expect(all).toBeGreaterThan(2);
  await head.getByLabel('Group').selectOption('by namespace');
  const shop = page.getByRole('button', { name: 'Namespace shop' });
  await expect(shop).toHaveAttribute('aria-expanded', 'true');
  await expect(pods).toHaveCount(all);
  await shop.click();
  await expect(shop).toHaveAttribute('aria-expanded', 'false');
  await expect(item(page, 'Deployment', 'nginx-shop')).toHaveCount(0);
  await expect(item(page, 'Deployment', 'nginx-ops')).toBeVisible();
  expect((await new AxeBuilder({ page }).include('.stage').analyze()).violations).toEqual([]);
  await shop.focus();
  await page.keyboard.press('Enter');
  await expect(item(page, 'Deployment', 'nginx-shop')).toBeVisible();
  await page.keyboard.press('l');
  await page.locator('.aslist').getByRole('button', { name: 'Namespace ops' }).click();
  await expect(page.locator('.aslist').getByText('nginx-ops', { exact: true })).toHaveCount(0);
  await expect(page.locator('.aslist').getByText('nginx-shop', { exact: true })).toHaveCount(1);
});
