// Debian's Firefox, driven through WebDriver BiDi: the single file plays a lesson to its end from a disk, with the network off.
import { expect, test } from '@playwright/test';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const path = [process.env.FIREFOX, '/usr/bin/firefox-esr'].find((one) => one && existsSync(one));
test.skip(!path, 'Firefox is not at hand: install firefox-esr, or set FIREFOX to its path.');

test('a lesson saved as one file is taken to its end in Firefox, without a network', async ({ page }, info) => {
  test.setTimeout(180_000);
  await page.goto('index.html?lesson=control-loop');
  await expect(page.locator('#lesson')).toBeVisible();
  await page.getByRole('button', { name: 'Embed' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#single').click()]);
  const file = info.outputPath('lesson.html');
  await download.saveAs(file);

  const { default: puppeteer } = await import('puppeteer-core');
  const firefox = await puppeteer.launch({
    browser: 'firefox', executablePath: path, headless: true,
    // The window has the size: not every kept Firefox knows all that `setViewport` sends.
    defaultViewport: null, args: ['--width=1280', '--height=800'],
    // Every request goes to a port where nobody listens. Motion is unwanted: the lesson is commanded many times a second.
    extraPrefsFirefox: { 'ui.prefersReducedMotion': 1, 'network.proxy.type': 1, 'network.proxy.http': '127.0.0.1', 'network.proxy.http_port': 9, 'network.proxy.ssl': '127.0.0.1', 'network.proxy.ssl_port': 9, 'network.proxy.allow_hijacking_localhost': true },
  });
  try {
    const other = await firefox.newPage();
    const problems = [];
    const asked = [];
    other.on('pageerror', (error) => problems.push(error.message));
    other.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()); });
    await other.goto(pathToFileURL(file).href);
    // Asked again and again: puppeteer's own waiting makes functions of text within the page, which the page's policy forbids.
    const until = (is) => expect.poll(() => other.evaluate(is), { timeout: 60_000 }).toBe(true);
    await until(() => Boolean(window.loopscope?.ready && document.querySelector('#lesson')));
    const lesson = () => other.evaluate(() => window.loopscope.lesson());
    for (let step = 1; !(await lesson()).over; step++) {
      const { phase } = await lesson();
      if (phase === 'asking') await other.evaluate(() => document.querySelector('.choice:nth-of-type(2)')?.click());
      else if (phase === 'task') await other.evaluate(() => { window.loopscope.kubectl('scale deployment web --replicas=4'); });
      else await other.evaluate((word) => { window.loopscope.teach(word); }, phase === 'playing' ? 'hurry' : 'next');
      await new Promise((go) => setTimeout(go, 50));
      expect(step).toBeLessThan(400);
    }
    expect(await lesson()).toMatchObject({ lesson: 'control-loop', right: 2, asked: 2, results: ['read', 'read', 'right', 'solved'] });
    // It is drawn, and speaks the other language too.
    expect(await other.evaluate(() => [...document.querySelectorAll('.world .item')].filter((one) => one.getBoundingClientRect().width > 0).length)).toBeGreaterThan(0);
    await other.evaluate(() => [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === '中文').click());
    await until(() => document.querySelector('#lesson').textContent.includes('已完成'));
    expect([problems, asked]).toEqual([[], []]);
    // The network is off indeed.
    const wants = await firefox.newPage();
    await expect(wants.goto(info.project.use.baseURL)).rejects.toThrow();
  } finally {
    await firefox.close();
  }
});
