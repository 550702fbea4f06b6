// Run after a build, where the npm packages are: the titles and summaries of the lessons, into the page, which says them while the
// simulator loads (static/start.js).
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const dir = process.argv[2];
const summaries = {};
for (const file of readdirSync(`${dir}/lessons`).filter((name) => name.endsWith('.yaml'))) {
  const { title, summary } = parse(readFileSync(`${dir}/lessons/${file}`, 'utf8'));
  summaries[file.replace('.yaml', '')] = Object.fromEntries(Object.keys(title).map((language) => [language, { title: title[language], summary: summary[language] }]));
}
const json = JSON.stringify(summaries).replace(/</g, '\\u003c');
const page = readFileSync(`${dir}/index.html`, 'utf8').replace('<div id="app">', (app) => `<script type="application/json" id="summaries">${json}</script>\n  ${app}`);
writeFileSync(`${dir}/index.html`, page);
