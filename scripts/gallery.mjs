// Makes docs/gallery.md, docs/zh/gallery.md and their pictures (docs/gallery/): each lesson and each example of the page, as it looks when it
// has been played.
// Needs the built page: `make gallery`.
import { chromium as browsers } from '@playwright/test';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { parse } from 'yaml';
import { chromium } from '../tests/browser/chromium.mjs';
import { serve } from '../tests/browser/server.mjs';

const root = new URL('../', import.meta.url);
const read = (name) => readFileSync(new URL(name, root), 'utf8');
// On the page a picture is smaller than it is, for sharp screens.
const [WIDTH, HEIGHT, QUALITY] = [640, 400, 0.72];
const [SHOWN_WIDTH, SHOWN_HEIGHT] = [480, 300];

// In the order of the page.
const lessons = [...read('crates/lesson/src/library.rs').matchAll(/name: "([\w-]+)"/g)].map((found) => found[1]);
const catalogue = (lang) => Object.fromEntries(read(`crates/i18n/src/${lang}.txt`).split('\n').filter((line) => line.includes(' = ')).map((line) => line.split(/ = (.*)/)));
const many = (count, word) => `${count} ${word}${count > 1 ? 's' : ''}`;
/** What the two documents say around lessons and examples. */
const tongues = {
  en: {
    file: 'docs/gallery.md', up: '../', suffix: '', names: catalogue('en'),
    head: '# Lessons and examples\n\nMade by `make gallery` from the lessons and examples of the page.\n', lessons: '## Lessons\n',
    examples: '## Examples\n\nThey are in the picker of the page as well.\n',
    open: (title) => `Open ${title}`, kinds: (kinds) => `${kinds.join(', ')}. `,
    counts: (steps, asked, tasks) => ` ${[many(steps, 'step'), asked && many(asked, 'prediction'), tasks && many(tasks, 'task')].filter(Boolean).join(', ')}. `,
  },
  zh: {
    file: 'docs/zh/gallery.md', up: '../../', suffix: '.zh', names: catalogue('zh'),
    head: '# 课程与示例\n\n由 `make gallery` 根据页面自带的课程与示例生成。\n', lessons: '## 课程\n',
    examples: '## 示例\n\n在页面的示例菜单中也可以找到它们。\n',
    open: (title) => `打开“${title}”`, kinds: (kinds) => `${kinds.join('、')}。`,
    counts: (steps, asked, tasks) => `${[`${steps} 个步骤`, asked && `${asked} 次预测`, tasks && `${tasks} 个任务`].filter(Boolean).join('，')}。`,
  },
};
const pattern = /title: \|\| (?:Message::name\("([^"]+)"\)|msg::(\w+)\(\)),[^]*?include_str!\("examples\/([\w-]+)\.yaml"\),\s*view: "(\w+)"/g;
const examples = [...read('crates/session/src/examples.rs').matchAll(pattern)].map(([, name, id, file, view]) => ({ title: (lang) => name ?? tongues[lang].names[id], file, view }));
// What is done to an example before its picture is taken, and so many steps of control loops after it.
const done = { rollout: ['set image deployment/nginx nginx=nginx:1.27', 22], policy: ['label pod client role=guest', 3], autoscaler: ['get hpa', 0] };

const server = await serve(0);
const home = `http://127.0.0.1:${server.address().port}/loopscope/index.html`;
const browser = await browsers.launch(chromium);
const out = fileURLToPath(new URL('docs/gallery/', root));
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

/** A picture of the diagram, after `prepare` has brought the page to what it shows. */
async function picture(name, lang, query, prepare) {
  const page = await browser.newPage({ viewport: { width: 768, height: 480 }, colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(`${home}?embed&controls=false&theme=light&lang=${lang}${query}`);
  await page.waitForFunction(() => window.loopscope?.ready);
  await page.evaluate(() => window.loopscope.pause());
  await prepare(page);
  await page.waitForTimeout(600);
  const bytes = (await page.screenshot({ type: 'png' })).toString('base64');
  // Chromium takes no WebP by itself.
  const webp = await page.evaluate(async ([bytes, width, height, quality]) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))]));
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return canvas.toDataURL('image/webp', quality).split(',')[1];
  }, [bytes, WIDTH, HEIGHT, QUALITY]);
  writeFileSync(`${out}${name}${tongues[lang].suffix}.webp`, Buffer.from(webp, 'base64'));
  await page.close();
}

for (const [lang, tongue] of Object.entries(tongues)) {
  const entry = (name, title, words, link) => `### ${title}\n\n${words}[${tongue.open(title)}](${link})\n\n<img src="${tongue.up.slice(3)}gallery/${name}${tongue.suffix}.webp" width="${SHOWN_WIDTH}" height="${SHOWN_HEIGHT}" loading="lazy" alt="">\n`;
  const parts = [tongue.head, tongue.lessons];
  for (const name of lessons) {
    const lesson = parse(read(`static/lessons/${name}.yaml`));
    // Its steps are played up to the first task.
    await picture(name, lang, `&lesson=${name}`, async (page) => {
      await page.waitForFunction(() => window.loopscope.lesson());
      await page.evaluate(async (steps) => {
        for (let at = 0; at < steps; at++) {
          const { phase } = window.loopscope.lesson();
          if (phase === 'asking') window.loopscope.teach('0');
          window.loopscope.teach('hurry');
          for (let i = 0; i < 400 && window.loopscope.lesson().phase === 'playing'; i++) await new Promise((go) => setTimeout(go, 25));
          if (window.loopscope.lesson().phase === 'task' || at === steps - 1) break;
          window.loopscope.teach('next');
        }
      }, lesson.steps.length);
      // The diagram alone.
      await page.evaluate(() => { document.querySelector('#lesson').style.display = 'none'; });
      // A diagram that has nothing to show yet gives way to one that has.
      await page.evaluate(() => { if (!document.querySelector('.world .item')) window.loopscope.view('ownership'); });
      await page.waitForTimeout(300);
      await page.keyboard.press('0');
    });
    const count = (field) => lesson.steps.filter((step) => step[field]).length;
    const words = lesson.summary[lang] + tongue.counts(lesson.steps.length, count('predict'), count('task'));
    parts.push(entry(name, lesson.title[lang], words, `${tongue.up}index.html?lesson=${name}`));
  }
  parts.push(tongue.examples);
  for (const { title, file, view } of examples) {
    const manifest = read(`crates/session/src/examples/${file}.yaml`);
    const hash = `#pako:${deflateSync(JSON.stringify({ v: 1, manifest, view }), { level: 9 }).toString('base64url')}`;
    await picture(`example-${file}`, lang, `&view=${view}&t=20&autoplay=0${hash}`, async (page) => {
      await page.waitForFunction(() => window.loopscope.now() >= 19.9);
      const [line, steps] = done[file] ?? [];
      if (line) await page.evaluate(([line, steps]) => { window.loopscope.kubectl(line); for (let at = 0; at < steps; at++) window.loopscope.step(); }, [line, steps]);
    });
    const kinds = [...new Set([...manifest.matchAll(/^kind: (\w+)/gm)].map((found) => found[1]))];
    parts.push(entry(`example-${file}`, title(lang), tongue.kinds(kinds), `${tongue.up}index.html${hash}`));
  }
  writeFileSync(new URL(tongue.file, root), parts.join('\n'));
}
await browser.close();
server.close();
