// Run after a build, where the npm packages are: the script of each lesson also holds its title and summary, which are on the screen
// while the simulator loads (static/start.js).
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

const dir = process.argv[2];
for (const file of readdirSync(`${dir}/lessons`).filter((name) => name.endsWith('.yaml'))) {
  const name = file.replace('.yaml', '');
  const { title, summary } = parse(readFileSync(`${dir}/lessons/${file}`, 'utf8'));
  const words = Object.fromEntries(Object.keys(title).map((language) => [language, { title: title[language], summary: summary[language] }]));
  appendFileSync(`${dir}/lessons/${name}.js`, `(window.loopscopeSummaries = window.loopscopeSummaries || {})["${name}"] = ${JSON.stringify(words)};\n`);
}
