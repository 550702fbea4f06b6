// The documentation: its links lead somewhere, its embeds are what the element understands, and the built site (`make docs`) plays them.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const docs = 'docs/';
const markdown = (folder) => readdirSync(docs + folder).filter((name) => name.endsWith('.md')).map((name) => folder + name);
const pages = [...markdown(''), ...markdown('zh/')];
const read = (name) => readFileSync(docs + name, 'utf8');
// What stands in code is no link and no element.
const prose = (name) => read(name).replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
const anchor = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
const anchors = (name) => [...read(name).matchAll(/^#+ (.*)$/gm)].map((found) => anchor(found[1]));
const attributes = readFileSync('packages/npm/loopscope/embed.d.ts', 'utf8').match(/interface LoopScopeAttributes \{([^]*?)\n\}/)[1].match(/[\w-]+(?='?\?:)/g);
const lessons = readdirSync('static/lessons').map((name) => name.replace('.yaml', ''));
const summary = (folder) => [...read(`${folder}SUMMARY.md`).matchAll(/\]\((.*?)\)/g)].map((found) => folder + found[1]);
const chinese = summary('zh/');
const listed = [...summary(''), ...chinese];
const address = (name) => `docs/${name.replace('README.md', 'index.html').replace('.md', '.html')}`;

test('every link of the documentation leads to a page, a heading or a file', () => {
  const lost = [];
  for (const name of pages) {
    for (const [, to] of prose(name).matchAll(/(?:\]\(|(?:href|src|poster)=")([^)"\s]+)[)"]/g)) {
      if (/^(https?:|mailto:)/.test(to)) continue;
      const [path, heading] = to.split('#');
      const file = path && normalize(join(dirname(name), path));
      // The page itself is above the site.
      if (file.startsWith('../')) {
        const lesson = /^\.\.\/index\.html(?:\?lesson=([\w-]+))?$/.exec(file);
        if (!lesson || (lesson[1] && !lessons.includes(lesson[1]))) lost.push(`${name}: ${to}`);
      } else if (file && (!existsSync(docs + file) || (file.endsWith('.md') && listed.includes(name) && !listed.includes(file)))) lost.push(`${name}: ${to}`);
      else if (heading && !anchors(file || name).includes(heading)) lost.push(`${name}: ${to}`);
    }
  }
  expect(lost).toEqual([]);
});

test('a page in Chinese has the headings, tables, code and embeds of the English one', () => {
  expect(chinese.length).toBeGreaterThan(5);
  // The first cell of a row names what the row is about, if that is code; the attributes of an element, but for its title.
  const shape = (text) => ({
    headings: text.replace(/^```[^]*?^```$/gm, '').match(/^#+ /gm),
    code: text.match(/^```[^]*?^```$/gm),
    rows: [...text.matchAll(/^\| (.*?) \|.*$/gm)].map(([, cell]) => (cell.startsWith('`') ? cell : '')),
    embeds: [...text.matchAll(/<loop-scope([^>]*)>\n<pre>([^]*?)<\/pre>/g)].map(([, inside, manifest]) => [inside.replace(/ title="[^"]*"/, ''), manifest]),
    pictures: [...text.matchAll(/<img src="(?:\.\.\/)?([^"]*?)(?:\.zh)?\.webp"/g)].map((found) => found[1]),
    opens: [...text.matchAll(/\]\((?:\.\.\/)+(index\.html[^)]*)\)/g)].map((found) => found[1]),
  });
  for (const name of chinese) {
    expect(read(name), name).toMatch(/[一-鿿]/);
    expect(shape(read(name)), name).toEqual(shape(read(name.slice(3))));
  }
});

test('the embeds of the documentation use what the element knows', () => {
  for (const name of listed) {
    for (const [, inside] of prose(name).matchAll(/<loop-scope([^>]*)>/g)) {
      const used = [...inside.matchAll(/([\w-]+)(?:="([^"]*)")?/g)];
      for (const [, key, value] of used) {
        expect(attributes, name).toContain(key);
        if (key === 'lesson') expect(lessons, name).toContain(value);
        if (key === 'poster') expect(existsSync(join(docs, dirname(name), value)), value).toBe(true);
      }
      expect(used.some(([, key]) => key === 'title'), `${name}: ${inside} has a title`).toBe(true);
    }
  }
});

for (const folder of ['', 'zh/']) {
  test(`the gallery ${folder} has every lesson and example, with small pictures that wait until they are near`, () => {
    const gallery = read(`${folder}gallery.md`);
    const pictures = [...gallery.matchAll(/<img src="([^"]+)"[^>]*>/g)];
    for (const lesson of lessons) expect(gallery).toContain(`../index.html?lesson=${lesson}`);
    expect(pictures.length).toBeGreaterThanOrEqual(lessons.length + readdirSync('crates/session/src/examples').length);
    for (const [tag, file] of pictures) {
      expect(tag).toMatch(/loading="lazy"/);
      expect(tag).toMatch(/ width="\d+" height="\d+"/);
      expect(statSync(join(docs, folder, file)).size, file).toBeLessThan(40_000);
    }
  });
}

test.describe('the built site', () => {
  test.skip(!existsSync('dist/docs/index.html'), 'The documentation site is not built: `make docs` needs mdBook.');

  test('its embeds play, and its links lead somewhere', async ({ page, request }) => {
    test.setTimeout(120_000);
    const failed = [];
    page.on('response', (response) => { if (response.status() >= 400) failed.push(response.url()); });
    // A diagram that the recorded openings do not have begins again once the rest of the module is there (scripts/split.mjs).
    page.on('pageerror', (error) => { if (!/before its part of the module/.test(error.message)) failed.push(error.message); });
    // Nothing is asked of other sites.
    page.on('request', (asked) => { if (!/^(http:\/\/127\.0\.0\.1|data:|blob:)/.test(asked.url())) failed.push(asked.url()); });
    const seen = new Set();
    for (const name of listed) {
      await page.goto(address(name));
      await expect(page.locator('html')).toHaveAttribute('lang', name.startsWith('zh/') ? 'zh-CN' : 'en');
      await expect(page).toHaveTitle(/./);
      for (const to of await page.locator('a[href]').evaluateAll((all) => all.map((one) => one.href.split('#')[0]))) {
        if (seen.has(to) || !to.startsWith('http://127.0.0.1')) continue;
        seen.add(to);
        expect((await request.get(to)).status(), to).toBe(200);
      }
      const scopes = page.locator('main loop-scope');
      for (let at = 0; at < await scopes.count(); at++) {
        const scope = scopes.nth(at);
        await scope.scrollIntoViewIfNeeded();
        const cover = scope.getByRole('button');
        if (await scope.getAttribute('preload') === 'none') await cover.click();
        expect(await scope.evaluate((element) => element.getDuration()), name).toBeGreaterThanOrEqual(0);
      }
    }
    expect(seen.size).toBeGreaterThan(10);
    expect(failed).toEqual([]);
  });

  test('the page leads to it, in its language', async ({ page }) => {
    for (const [lang, help, guide] of [['en', 'Help', 'Guide and reference'], ['zh', '帮助', '指南与参考']]) {
      await page.goto(`index.html?lang=${lang}`);
      await page.waitForFunction(() => window.loopscope?.ready);
      await page.getByRole('button', { name: help, exact: true }).click();
      const [opened] = await Promise.all([page.waitForEvent('popup'), page.getByRole('link', { name: guide }).click()]);
      await expect(opened.locator('html')).toHaveAttribute('lang', lang === 'zh' ? 'zh-CN' : 'en');
      await expect(opened).toHaveTitle(/Loopscope/);
      await opened.close();
    }
  });

  test('each page links to itself in the other language, or to its start', async ({ page }) => {
    for (const name of listed) {
      await page.goto(address(name));
      const link = page.locator('header a.language');
      await expect(link).toBeVisible();
      const other = name.startsWith('zh/') ? name.slice(3) : chinese.includes(`zh/${name}`) ? `zh/${name}` : 'zh/README.md';
      await expect(link).toHaveText(name.startsWith('zh/') ? 'English' : '简体中文');
      expect(await link.evaluate((one) => one.href)).toBe(new URL(address(other), page.url().replace(/docs\/.*/, '')).href);
    }
  });

  test('an embed of a page in Chinese speaks Chinese', async ({ page }) => {
    await page.goto('docs/zh/learning.html');
    await page.locator('loop-scope').getByRole('button').click();
    await expect(page.frameLocator('iframe').locator('html')).toHaveAttribute('lang', 'zh-CN');
  });

  for (const [width, colorScheme] of [[1440, 'light'], [390, 'dark']]) {
    test(`it has no accessibility violations, ${colorScheme}, ${width}`, async ({ page }) => {
      test.setTimeout(180_000);
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      for (const name of listed) {
        await page.goto(address(name));
        const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).exclude('loop-scope').analyze();
        expect(violations.map((one) => `${name} ${one.id}: ${one.nodes.map((node) => node.html).join(' ').slice(0, 300)}`)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${name} fits`).toBeLessThanOrEqual(0);
      }
    });
  }
});
