// Run after a build, where the npm packages are: the titles and summaries of the lessons, into the page, which says them while the
// simulator loads (static/start.js).
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const dir = process.argv[2];

/** Minutes that a learner needs: to read at 180 words a minute, a quarter of a minute to watch each step and to answer a question, one and a half for a task. */
function minutes(steps) {
  const words = steps.flatMap(({ say, predict }) => [say, predict?.ask, predict?.because]).map((text) => (text?.en ?? text ?? '').split(/\s+/).length);
  const read = words.reduce((sum, count) => sum + count, 0) / 180;
  const time = steps.map(({ predict, task }) => 0.25 + (predict ? 0.25 : 0) + (task ? 1.5 : 0)).reduce((sum, one) => sum + one, read);
  return Math.max(1, Math.round(time));
}

const summaries = {};
for (const file of readdirSync(`${dir}/lessons`).filter((name) => name.endsWith('.yaml'))) {
  const { title, summary, steps } = parse(readFileSync(`${dir}/lessons/${file}`, 'utf8'));
  const texts = Object.fromEntries(Object.keys(title).map((language) => [language, { title: title[language], summary: summary[language] }]));
  summaries[file.replace('.yaml', '')] = { ...texts, steps: steps.length, minutes: minutes(steps) };
}
const json = JSON.stringify(summaries).replace(/</g, '\\u003c');
const page = readFileSync(`${dir}/index.html`, 'utf8').replace('<div id="app">', (app) => `<script type="application/json" id="summaries">${json}</script>\n  ${app}`);
writeFileSync(`${dir}/index.html`, page);
