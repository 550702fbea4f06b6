// The documentation: its links lead somewhere, its embeds are what the element understands, and the built site (`make docs`) plays them.
import { expect, test } from '@playwright/test';
import AxeBuilder from '@axe-core/playwright';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';

const docs = 'docs/';
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const read = (name) => readFileSync(docs + name, 'utf8');
// What stands in code is no link and no element.
const prose = (name) => read(name).replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
const anchor = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
const anchors = (name) => [...read(name).matchAll(/^#+ (.*)$/gm)].map((found) => anchor(found[1]));
const attributes = readFileSync('static/embed.d.ts', 'utf8').match(/interface LoopScopeAttributes \{([^]*?)\n\}/)[1].match(/[\w-]+(?='?\?:)/g);
const lessons = readdirSync('static/lessons').map((name) => name.replace('.yaml', ''));
const listed = [...read('SUMMARY.md').matchAll(/\]\((.*?)\)/g)].map((found) => found[1]);

test('every link of the documentation leads to a page, a heading or a file', () => {
  const lost = [];
  for (const name of pages) {
    for (const [, to] of prose(name).matchAll(/(?:\]\(|(?:href|src|poster)=")([^)"\s]+)[)"]/g)) {
      if (/^(https?:|mailto:)/.test(to)) continue;
      const [file, heading] = to.split('#');
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

test('the embeds of the documentation use what the element knows', () => {
  for (const name of listed) {
    for (const [, inside] of prose(name).matchAll(/<loop-scope([^>]*)>/g)) {
      const used = [...inside.matchAll(/([\w-]+)(?:="([^"]*)")?/g)];
      for (const [, key, value] of used) {
        expect(attributes, name).toContain(key);
        if (key === 'lesson') expect(lessons, name).toContain(value);
        if (key === 'poster') expect(existsSync(docs + value), value).toBe(true);
      }
      expect(used.some(([, key]) => key === 'title'), `${name}: ${inside} has a title`).toBe(true);
    }
  }
});

test('the gallery has every lesson and example, with small pictures that wait until they are near', () => {
  const gallery = read('gallery.md');
  const pictures = [...gallery.matchAll(/<img src="([^"]+)"[^>]*>/g)];
  for (const lesson of lessons) expect(gallery).toContain(`../index.html?lesson=${lesson}`);
  expect(pictures.length).toBeGreaterThanOrEqual(lessons.length + readdirSync('src/session/examples').length);
  for (const [tag, file] of pictures) {
    expect(tag).toMatch(/loading="lazy"/);
    expect(tag).toMatch(/ width="\d+" height="\d+"/);
    expect(statSync(docs + file).size, file).toBeLessThan(40_000);
  }
});

test.describe('the built site', () => {
  test.skip(!existsSync('dist/docs/index.html'), 'The documentation site is not built: `make docs` needs mdBook, which `make test` does not.');

  test('its embeds play, and its links lead somewhere', async ({ page, request }) => {
    test.setTimeout(120_000);
    const failed = [];
    page.on('response', (response) => { if (response.status() >= 400) failed.push(response.url()); });
    // A diagram that the recorded openings do not have begins again once the rest of the module is there (scripts/split.mjs).
    page.on('pageerror', (error) => { if (!/function of rest\.wasm/.test(error.message)) failed.push(error.message); });
    // Nothing is asked of other sites.
    page.on('request', (asked) => { if (!/^(http:\/\/127\.0\.0\.1|data:|blob:)/.test(asked.url())) failed.push(asked.url()); });
    const seen = new Set();
    for (const name of listed) {
      await page.goto(`docs/${name.replace('README.md', 'index.html').replace('.md', '.html')}`);
      for (const to of await page.locator('main a[href]').evaluateAll((all) => all.map((one) => one.href.split('#')[0]))) {
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
      // The site's own search loads its words late.
      await page.waitForLoadState('networkidle');
    }
    expect(seen.size).toBeGreaterThan(10);
    expect(failed).toEqual([]);
  });

  test('what we wrote of it has no accessibility violations', async ({ page }) => {
    for (const name of ['index.html', 'learning.html', 'gallery.html']) {
      await page.goto(`docs/${name}`);
      const { violations } = await new AxeBuilder({ page }).include('main').withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).exclude('loop-scope').analyze();
      expect(violations.map((one) => `${name} ${one.id}: ${one.nodes.map((node) => node.html).join(' ').slice(0, 300)}`)).toEqual([]);
    }
  });
});
