// Everything by keyboard alone: no pointer is used in this file.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { reach, settled } from './wait.mjs';

const example = (name) => readFileSync(new URL(`../../crates/session/src/examples/${name}.yaml`, import.meta.url), 'utf8');
const focused = (page, what) => page.evaluate((what) => document.activeElement?.closest(what) !== null && document.activeElement !== document.body, what);
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };

/** F6 until the focus is in a panel. */
async function panel(page, what) {
  for (let i = 0; i < 8 && !(await focused(page, what)); i++) await page.keyboard.press('F6');
  expect(await focused(page, what), what).toBe(true);
}

async function open(page, query = '?editor=plain') {
  await page.goto(`index.html${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  // Until the picture is drawn, the diagram has nothing to take the focus.
  await page.locator('#stage .item').first().waitFor();
}

test('a whole visit without a pointer', async ({ page }) => {
  await open(page);
  // An example from the list.
  await reach(page, 'select[aria-label="Example"]');
  // On a busy machine the letters come so far apart that the browser takes each for a beginning: then they are typed again.
  await expect(async () => {
    await page.waitForTimeout(1200);
    await page.keyboard.type('StatefulSet');
    await expect.poll(() => page.evaluate(() => window.loopscope.manifest()), { timeout: 4000 }).toContain('kind: StatefulSet');
  }).toPass();
  await expect(page.getByRole('tab', { name: 'Storage' })).toHaveAttribute('aria-selected', 'true');

  // The editor: three replicas instead of two, applied from there.
  await panel(page, '#manifest');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(example('statefulset').replace('replicas: 2', 'replicas: 3'));
  await press(page, 'Control+Enter', 'Escape');
  await expect(page.locator('#manifest .pill')).toHaveText('Applied');

  // The clock: settled, by its button.
  await reach(page, '#settle');
  await page.keyboard.press('Enter');
  await expect(page.locator('#notice')).toContainText('Stable');

  // The diagram: another view, a Pod of it, why it is as it is.
  await page.keyboard.press('1');
  await expect(page.getByRole('tab', { name: 'Ownership' })).toHaveAttribute('aria-selected', 'true');
  await panel(page, '#stage');
  for (let i = 0; i < 12 && !(await focused(page, '[data-kind="Pod"][data-name="web-1"]')); i++) await page.keyboard.press('ArrowDown');
  expect(await focused(page, '[data-kind="Pod"][data-name="web-1"]')).toBe(true);
  await page.keyboard.press('Enter');
  await expect(page.locator('.i-head')).toContainText('web-1');
  await page.keyboard.press('w');
  await expect(page.getByRole('tab', { name: 'Why' })).toHaveAttribute('aria-selected', 'true');
  await expect(page.locator('.why > li').last()).toContainText('user');

  // The inspector's pages, and its buttons.
  await panel(page, '#inspector');
  await reach(page, '[role="tab"]#itab-Why', 'Shift+Tab');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Summary' })).toHaveAttribute('aria-selected', 'true');
  await reach(page, '#inspector .btn.danger');
  const before = await page.evaluate(() => window.loopscope.get('Pod', 'default', 'web-1').metadata.uid);
  await page.keyboard.press('Enter');
  await expect(page.locator('.item[data-kind="Pod"][data-name="web-1"]:not(.ghost)')).toHaveAttribute('data-state', 'terminating');
  for (let i = 0; i < 40 && (await page.evaluate(() => window.loopscope.get('Pod', 'default', 'web-1')?.metadata.uid)) === before; i++) await page.keyboard.press('.');
  expect(await page.evaluate(() => window.loopscope.get('Pod', 'default', 'web-1').metadata.uid)).not.toBe(before);

  // Back in time, and another future from there.
  await press(page, 'Shift+ArrowLeft', 'ArrowLeft');
  await expect(page.getByText('You are viewing the past')).toBeVisible();
  await panel(page, '#stage');
  await reach(page, '.past .btn');
  await page.keyboard.press('Enter');
  await expect(page.getByText('You are viewing the past')).toBeHidden();
  await reach(page, '#history');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'History' }).getByRole('button', { name: 'Branch 2' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Escape');

  // The console, and out of it.
  await page.keyboard.press('`');
  expect(await focused(page, '#console')).toBe(true);
  await page.keyboard.type('kubectl get st');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log', { name: 'Output' })).toContainText('web');
  await press(page, 'Escape');

  // Every view by its number, and by the arrows of the tabs.
  for (const [key, name] of [['2', 'Nodes'], ['3', 'Network'], ['4', 'Storage'], ['5', 'Rollout'], ['6', 'Loops'], ['1', 'Ownership']]) {
    await page.keyboard.press(key);
    await expect(page.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
  }
  await reach(page, '#tab-ownership', 'Shift+Tab');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Nodes' })).toBeFocused();
});

test('every diagram has one stop for Tab and F6, in the past too; what is deleted hands the focus on', async ({ page }) => {
  await open(page, '?editor=plain&paused');
  for (const kind of ['statefulset', 'rollout', 'network']) {
    await page.evaluate((yaml) => loopscope.load(yaml), example(kind));
    await page.keyboard.press('s');
    await expect(page.locator('#notice')).toContainText('Stable');
    for (const seek of [false, true]) {
      if (seek) await page.evaluate(() => loopscope.seek(1500));
      for (const key of ['1', '2', '3', '4', '5', '6']) {
        await page.evaluate(() => document.activeElement?.blur());
        await page.keyboard.press(key);
        // Of a chart that is its slider; an empty diagram takes the focus itself.
        await expect(page.locator("#stage[tabindex], #stage :is(.item, .probe)[tabindex='0']"), `${kind} ${key}`).toHaveCount(1);
        // The stop may still be one of the picture before.
        await settled(page);
        await panel(page, '#stage');
      }
    }
  }
  await page.keyboard.press('End');
  await page.keyboard.press('1');
  await page.locator('#stage .item[data-kind="Pod"]').first().focus();
  const pod = await page.evaluate(() => document.activeElement.dataset.name);
  await page.evaluate((pod) => loopscope.kubectl(`delete pod ${pod}`), pod);
  await page.keyboard.press('s');
  await expect(page.locator(`#stage .item[data-name="${pod}"]:not(.ghost)`)).toHaveCount(0);
  expect(await focused(page, '#stage .item')).toBe(true);
});

test('a dialog takes the focus, keeps it, and gives it back', async ({ page }) => {
  await open(page);
  await page.keyboard.press('1');
  await panel(page, '#stage');
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Help' });
  await expect(keys).toBeVisible();
  await expect(keys.getByRole('button', { name: 'Close' })).toBeFocused();
  // From its first stop back to its last, and on to the first again.
  await press(page, 'Shift+Tab', 'Tab');
  await expect(keys.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(keys).toHaveCount(0);
  expect(await focused(page, '#stage')).toBe(true);

  await reach(page, '.top-right .btn:last-child', 'Shift+Tab');
  await page.keyboard.press('Enter');
  const embed = page.getByRole('dialog', { name: 'Embed' });
  await expect(embed.getByRole('button', { name: 'Close' })).toBeFocused();
  await press(page, 'Shift+Tab');
  await expect(embed.getByRole('button', { name: 'Save as one file' })).toBeFocused();
  await press(page, 'Tab');
  await expect(embed.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Embed' })).toBeFocused();
});

test('what the pages of time offer is reached too', async ({ page }) => {
  await open(page);
  await page.evaluate(() => loopscope.pause());
  await press(page, '.', '.', '.');
  await reach(page, '#history');
  await page.keyboard.press('Enter');
  await reach(page, '#break');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Pause when' });
  await expect(panel).toBeVisible();
  await reach(page, '.tools input');
  await page.keyboard.type('pod not ready');
  await page.keyboard.press('Enter');
  await expect(panel.locator('.set li')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(panel).toHaveCount(0);
  await expect(page.locator('#history')).toBeFocused();
  // The timeline is a slider.
  await reach(page, '.timeline canvas');
  await press(page, 'Home');
  await expect(page.getByText('You are viewing the past')).toBeVisible();
  await press(page, 'ArrowRight');
  await expect(page.locator('#clock')).toContainText('00:00.00');
  await press(page, 'ArrowUp');
  await expect(page.locator('#clock')).toContainText('00:01');
  await press(page, 'End');
  await expect(page.getByText('You are viewing the past')).toBeHidden();
  // The picture is saved from its menu.
  await reach(page, '#export', 'Shift+Tab');
  await page.keyboard.press('Enter');
  const [download] = await Promise.all([page.waitForEvent('download'), (async () => { await reach(page, '[role="menuitem"]'); await page.keyboard.press('Enter'); })()]);
  expect(download.suggestedFilename()).toMatch(/\.svg$/);
});

// Between an event that a script dispatches and the script's next line nothing else of the page runs: as it is for a reader's keys while the
// page is busy. What is answered later comes after the browser's own action, and after the next key.
test('a key is answered while the browser dispatches it', async ({ page }) => {
  await open(page, '?editor=plain&paused');
  await page.evaluate(() => {
    window.dispatched = (what, event) => {
      const on = what === 'body' ? document.body : document.querySelector(what);
      if (event instanceof KeyboardEvent) what === 'body' ? document.activeElement.blur() : on.focus();
      let out = false;
      addEventListener('keydown', (heard) => { out = heard === event; }, { once: true });
      on.dispatchEvent(event);
      return [event.defaultPrevented ? 'prevented' : 'default', ...(event instanceof KeyboardEvent ? [out ? 'on' : 'stopped'] : [])].join(' ');
    };
    window.key = (what, key, more) => dispatched(what, new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    window.wheel = (what, more) => dispatched(what, new WheelEvent('wheel', { deltaY: 10, bubbles: true, cancelable: true, ...more }));
  });
  // The console: its key brings the focus there, Enter empties the line, Escape takes the focus away.
  expect(await page.evaluate(() => [key('body', '`'), document.activeElement.matches('#console textarea')])).toEqual(['prevented on', true]);
  expect(await page.evaluate(() => {
    const line = document.querySelector('#console textarea');
    const all = [];
    line.value = 'kubectl ge';
    all.push(key('#console textarea', 'Tab'), line.value);
    line.value = 'kubectl get nodes';
    all.push(key('#console textarea', 'Enter'), line.value, key('#console textarea', 's'), key('#console textarea', 'Escape'), document.activeElement === line);
    return all;
  })).toEqual(['prevented stopped', 'kubectl get ', 'prevented stopped', '', 'default stopped', 'default stopped', false]);
  await expect(page.locator('#console [role="log"]')).toHaveCount(0);
  await page.keyboard.press('`');
  await expect(page.locator('#console [role="log"]')).toContainText('node-1');
  await page.keyboard.press('Escape');
  // Two keys before anything else has run: the line is put away, and the second goes to the page.
  const before = await page.evaluate(() => {
    key('body', '`');
    key('#console textarea', 'Escape');
    key('body', '.');
    return loopscope.now();
  });
  await page.waitForFunction((before) => loopscope.now() >= before + 0.99, before);

  // The page, the lanes, the diagram, the text of the manifest.
  expect(await page.evaluate(() => [' ', 'ArrowRight', 'F6', '/', 'q'].map((one) => key('body', one)))).toEqual([...Array(4).fill('prevented on'), 'default on']);
  expect(await page.evaluate(() => ['ArrowUp', 'Home', '+', '0'].map((one) => key('.timeline canvas', one)))).toEqual(Array(4).fill('prevented stopped'));
  expect(await page.evaluate(() => [' ', 'ArrowDown', '+', 'w', 'q'].map((one) => key('#stage .item[tabindex]', one)))).toEqual([...Array(4).fill('prevented stopped'), 'default on']);
  expect(await page.evaluate(() => [key('#manifest textarea', 'Tab'), key('#manifest textarea', 'Escape'), key('#manifest textarea', 'Tab'), key('#manifest textarea', 'Enter', { ctrlKey: true })])).toEqual(['prevented stopped', 'default stopped', 'default stopped', 'prevented stopped']);
  // What is typed just before is applied; the browser's own zoom is not taken; marks that follow each other open the comparison once.
  await page.evaluate(() => {
    const text = document.querySelector('#manifest textarea');
    text.value = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typed}\n';
    text.dispatchEvent(new InputEvent('input', { bubbles: true }));
    key('#manifest textarea', 'Enter', { ctrlKey: true });
  });
  await page.waitForFunction(() => loopscope.get('ConfigMap', 'default', 'typed'));
  await expect(page.locator('#manifest .pill')).toHaveText('Applied');
  expect(await page.evaluate(() => ['+', '-', '0'].map((one) => key('.timeline canvas', one, { ctrlKey: true })))).toEqual(Array(3).fill('default on'));
  await page.evaluate(() => { key('body', 'a'); key('body', 'b'); });
  await expect(page.getByRole('dialog', { name: 'Compare two points in time' })).toBeVisible();
  // What the wheel moves here does not move the page.
  expect(await page.evaluate(() => [wheel('#stage'), wheel('.timeline canvas'), wheel('body')])).toEqual(['prevented', 'prevented', 'default']);
});
