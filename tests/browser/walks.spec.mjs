// What people stopped at who walked through docs/walks.md.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { forward, frames, isProblem, settled } from './wait.mjs';

const kubectl = (page, line) => page.evaluate((line) => loopscope.kubectl(line), line);
const pods = (page) => page.locator('.item[data-kind="Pod"]:not(.ghost)');

async function open(page, query = '?editor=plain') {
  const problems = [];
  page.on('console', (message) => { if (isProblem(message)) problems.push(message.text()); });
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => loopscope.pause());
  await page.evaluate(() => document.activeElement?.blur());
  await forward(page, 5);
  return problems;
}

test('what an action did stays in sight while loops go on', async ({ page }) => {
  const problems = await open(page);
  await page.evaluate(() => loopscope.play());
  await page.getByRole('button', { name: 'Add one replica' }).click();
  const said = page.locator('.toast.said');
  await expect(said).toHaveText('deployment.apps/nginx-deployment scaled');
  await frames(page, 90);
  await expect(said).toHaveText('deployment.apps/nginx-deployment scaled');
  const text = await page.evaluate(() => loopscope.manifest());
  await page.locator('#manifest textarea').fill(text.replace(/image: \S+/, 'image: nginx:1.27'));
  await page.locator('#apply').click();
  await expect(said).toHaveText('deployment.apps/nginx-deployment configured: replicas 3 → 2, image nginx:1.7.9 → nginx:1.27');
  expect(problems).toEqual([]);
});

test('a deleted Pod and the one that took its place name each other', async ({ page }) => {
  await open(page);
  await pods(page).first().click();
  const old = await page.locator('.i-head b').textContent();
  await kubectl(page, `delete pod ${old} --wait=false`);
  await forward(page, 8);
  const by = page.locator('.replaced', { hasText: 'Replaced by' });
  await expect(by).toContainText('replicaset-controller');
  await by.getByRole('button').click();
  await expect(page.locator('.i-head b')).not.toHaveText(old);
  const back = page.locator('.replaced', { hasText: 'Replaces' });
  await expect(back).toContainText('user');
  await expect(back).toContainText(old.slice(-5));
  await back.getByRole('button').click();
  await expect(page.locator('.i-head b')).toHaveText(old);
});

test('every command is found again, at its time, and can be repeated', async ({ page }) => {
  await open(page);
  // A slow machine opens the page later.
  const at = await page.evaluate(() => `00:0${Math.floor(loopscope.now())}.`);
  await page.getByRole('button', { name: 'Add one replica' }).click();
  await forward(page, 3);
  const line = 'kubectl scale deployment/nginx-deployment --replicas=3';
  await page.getByRole('button', { name: 'History', exact: true }).click();
  const list = page.getByRole('list', { name: 'Commands' }).getByRole('listitem');
  await expect(list).toHaveCount(2);
  await expect(list.first()).toContainText(at);
  await expect(list.first()).toContainText(line);
  await expect(list.last()).toContainText('kubectl apply -f -');
  const again = await list.first().getByRole('button', { name: `Run again: ${line}` }).boundingBox();
  const menu = await page.getByRole('group', { name: 'History' }).boundingBox();
  expect(again.x + again.width).toBeLessThan(menu.x + menu.width);
  await list.first().getByRole('button', { name: line }).first().click();
  await expect(page.locator('#clock')).toHaveText(new RegExp(`^${at}`));
  await expect(page.getByText('You are viewing the past')).toBeVisible();
  // Replayed ten times as fast, to the newest instant.
  await page.getByRole('button', { name: 'Speed 1×' }).click();
  await page.getByRole('group', { name: 'Real time' }).getByRole('button', { name: '10×', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Speed 10×' })).toBeVisible();
  await page.locator('#play').click();
  await expect(page.getByText('You are viewing the past')).toHaveCount(0);
  // In the console too: by number, and by a click.
  const console = page.getByRole('textbox', { name: 'kubectl command' });
  await kubectl(page, 'scale deployment/nginx-deployment --replicas=1');
  await console.fill('history');
  await console.press('Enter');
  const output = page.locator('#console pre');
  await expect(output).toContainText(`2  ${at}`);
  await console.fill('!2');
  await console.press('Enter');
  await expect.poll(() => kubectl(page, 'get deployment nginx-deployment -o jsonpath={.spec.replicas}')).toBe('3');
  await output.getByRole('button', { name: '--replicas=1' }).click();
  await expect.poll(() => kubectl(page, 'get deployment nginx-deployment -o jsonpath={.spec.replicas}')).toBe('1');
  await console.fill('help');
  await console.press('Enter');
  await expect(output).toContainText('lists the commands you have run');
});

test('the past shows the manifest of its time, and the own text comes back', async ({ page }) => {
  await open(page);
  const area = page.locator('#manifest textarea');
  const first = (await area.inputValue()).match(/image: (\S+)/)[1];
  await area.fill((await area.inputValue()).replace(first, 'nginx:1.27'));
  await page.locator('#apply').click();
  await forward(page, 8);
  await area.fill(`${await area.inputValue()}# mine`);
  await page.evaluate(() => loopscope.seek(2));
  const then = page.locator('#then');
  await expect(then).toContainText('Applied at this point in time (read-only)');
  await expect(then).toContainText(first);
  await expect(area).toBeHidden();
  // In the place of the editor, as wide as that is.
  const [panel, shown] = await Promise.all(['#manifest', '#then'].map((of) => page.locator(of).boundingBox()));
  expect(shown.width).toBeGreaterThan(panel.width - 4);
  expect(shown.height).toBeGreaterThan(panel.height / 2);
  await expect(page.locator('#apply')).toBeDisabled();
  await page.getByRole('button', { name: 'Back to live' }).click();
  await expect(then).toHaveCount(0);
  await expect(area).toBeVisible();
  expect(await area.inputValue()).toContain('# mine');
  await page.evaluate(() => loopscope.seek(2));
  await then.getByRole('button', { name: 'Show your text' }).click();
  await expect(area).toBeVisible();
  expect(await area.inputValue()).toContain('nginx:1.27');
});

test('what is compared leaves the inspector free', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'History', exact: true }).click();
  await page.getByRole('group', { name: 'History' }).getByRole('button', { name: 'Compare two points in time' }).click();
  await settled(page);
  const [panel, inspector] = await Promise.all(['.tools', '#inspector'].map((of) => page.locator(of).boundingBox()));
  expect(panel.x + panel.width).toBeLessThanOrEqual(inspector.x);
});

test('a command of the history is compared with the instant before it', async ({ page }) => {
  await open(page);
  await page.getByRole('button', { name: 'History', exact: true }).click();
  await page.getByRole('button', { name: 'Compare with the instant before: kubectl apply -f -' }).click();
  const changes = page.getByRole('list', { name: 'Differences' });
  await expect(changes).toContainText('nginx-deployment');
  await expect(page.locator('.tools .sum')).toContainText('0 deleted');
});

test('kubectl edit opens the object, says what is refused, and saves what was changed', async ({ page }) => {
  const problems = await open(page);
  await page.keyboard.press('`');
  const prompt = page.locator('.console textarea');
  await prompt.fill('kubectl edit deployment nginx-deployment');
  await prompt.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'kubectl edit' });
  const text = dialog.getByRole('textbox');
  await expect(text).toBeFocused();
  const shows = (part) => expect.poll(() => text.inputValue()).toContain(part);
  await shows('# Please edit the object below.');
  await shows('replicas: 2');
  const change = async (from, to) => text.fill((await text.inputValue()).replace(from, to));
  await change(/replicas: \d/, 'replicas: -4');
  await text.press('Control+Enter');
  await shows('# * spec.replicas: Invalid value: -4: must be greater than or equal to 0');
  await change(/replicas: -4/, 'replicas: 4');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator('.console pre')).toContainText('deployment.apps/nginx-deployment edited');
  // Keys are the prompt's while it has the focus.
  await page.evaluate(() => document.activeElement?.blur());
  await forward(page, 5);
  await expect(pods(page)).toHaveCount(4);
  // Left alone it stays as it is.
  await prompt.fill('kubectl edit deployment nginx-deployment');
  await prompt.press('Enter');
  await expect(text).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.locator('.console pre')).toContainText('Edit cancelled, no changes made.');
  expect(problems).toEqual([]);
});

test('a drain waits beside other commands, and is stopped by its button', async ({ page }) => {
  await open(page);
  for (const line of ['create pdb web --selector=app=nginx --min-available=2', 'drain node-1 node-2 node-3 --ignore-daemonsets']) await kubectl(page, line);
  await forward(page, 6);
  const waits = page.locator('#console-waits');
  await expect(waits).toContainText('drain node-1 node-2 node-3');
  await kubectl(page, 'get nodes');
  await pods(page).first().click();
  await expect(waits).toContainText('drain node-1 node-2 node-3');
  await page.getByRole('button', { name: 'Stop it' }).click();
  await expect(waits).toHaveCount(0);
  // What a budget no longer forbids is carried out by one that still waits.
  await kubectl(page, 'drain node-1 node-2 node-3 --ignore-daemonsets');
  await kubectl(page, 'delete pdb web');
  await forward(page, 10);
  await expect(waits).toHaveCount(0);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('`');
  await expect(page.getByRole('log')).toContainText('node/node-1 drained');
});

test('a watch prints beside what is entered after it, and is stopped by its button', async ({ page }) => {
  const problems = await open(page);
  await kubectl(page, 'get pods -w');
  await kubectl(page, 'get nodes -o name');
  await page.keyboard.press('`');
  const output = page.locator('#console pre');
  const watch = page.getByRole('region', { name: 'kubectl get pods -w' });
  await expect(watch).toContainText('READY');
  await expect(output).toContainText('node/node-1');
  await expect(output).not.toContainText('READY');
  const pod = await kubectl(page, 'get pods -o jsonpath={.items[0].metadata.name}');
  await kubectl(page, `delete pod ${pod}`);
  // Out of the console's line, whose text a key would be.
  await page.evaluate(() => document.activeElement?.blur());
  await forward(page, 10);
  await expect(watch).toContainText('Terminating');
  await watch.getByRole('button', { name: 'Stop “kubectl get pods -w”' }).click();
  await expect(watch).toHaveCount(0);
  await expect(output).toContainText('Terminating');
  expect(problems).toEqual([]);
});

test('the Events of a Pod are not those of another of its name before it', async ({ page }) => {
  await open(page);
  await page.evaluate((text) => loopscope.apply(text), readFileSync(new URL('../../crates/session/src/examples/statefulset.yaml', import.meta.url), 'utf8'));
  await forward(page, 10);
  await kubectl(page, 'delete pod web-0');
  await forward(page, 10);
  await page.locator('.item[data-kind="Pod"]:not(.ghost)', { hasText: 'web-0' }).first().click();
  await page.getByRole('tab', { name: 'Events' }).click();
  const events = page.locator('.events li');
  await expect(events.filter({ hasText: 'Started' })).toHaveCount(1);
  await expect(events.filter({ hasText: 'Killing' })).toHaveCount(0);
});

test('a reload shows what was done, and the console has its lines again', async ({ page }) => {
  const problems = await open(page);
  await kubectl(page, 'kubectl scale deployment/nginx-deployment --replicas=4');
  await forward(page, 5);
  await expect(pods(page)).toHaveCount(4);
  const now = await page.evaluate(() => loopscope.now());
  await page.reload();
  await page.waitForFunction(() => window.loopscope?.ready);
  await expect(pods(page)).toHaveCount(4);
  await expect.poll(() => page.evaluate(() => loopscope.now())).toBe(now);
  await page.keyboard.press('`');
  const prompt = page.locator('.console textarea');
  await prompt.press('ArrowUp');
  await expect(prompt).toHaveValue('kubectl scale deployment/nginx-deployment --replicas=4');
  // Another tab begins anew.
  const other = await page.context().newPage();
  await other.goto('index.html');
  await other.waitForFunction(() => window.loopscope?.ready);
  expect(await other.evaluate(() => loopscope.get('Deployment', 'default', 'nginx-deployment').spec.replicas)).toBe(2);
  expect(problems).toEqual([]);
});

test('the load of an autoscaler is dragged while the clock runs, and its keys move it alone', async ({ page }) => {
  await open(page);
  await page.evaluate(() => { loopscope.kubectl('kubectl autoscale deployment nginx-deployment --cpu=50% --min=2 --max=6'); loopscope.play(); });
  const slider = page.getByRole('slider', { name: /CPU load/ });
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + 7, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await frames(page, 20);
  expect(Number(await slider.inputValue())).toBeGreaterThan(800);
  await page.mouse.up();
  await expect(page.locator('.load b')).toHaveText(/^(9|10|11)\d\dm$/);
  const [value, now] = [Number(await slider.inputValue()), await page.evaluate(() => { loopscope.pause(); return loopscope.now(); })];
  await slider.press('ArrowRight');
  expect(Number(await slider.inputValue())).toBe(value + 50);
  expect(await page.evaluate(() => loopscope.now())).toBe(now);
});

test('several lines are pasted into the console as they are', async ({ page }) => {
  await open(page);
  await page.keyboard.press('`');
  const prompt = page.locator('.console textarea');
  await expect(prompt).toBeFocused();
  await prompt.fill('cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: pasted}\ndata: {a: b}\nEOF\n');
  await prompt.press('Enter');
  await expect(page.locator('.console pre')).toContainText('configmap/pasted created');
  // The key that opens the console closes it, where it is not part of a line.
  await prompt.press('`');
  await expect(page.locator('.console pre')).toHaveCount(0);
});

test('arrows go from reconcile to reconcile on the timeline too, and into the diagram', async ({ page }) => {
  await open(page);
  await kubectl(page, 'kubectl scale deployment/nginx-deployment --replicas=4');
  const now = await page.evaluate(() => loopscope.now());
  await page.locator('.timeline canvas').focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => page.evaluate(() => loopscope.now())).toBeGreaterThan(now);
  expect(await page.evaluate(() => loopscope.now())).toBeLessThan(now + 0.5);
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('#stage .item:focus')).toHaveCount(1);
});
