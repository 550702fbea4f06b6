// The schema that editors check lessons with (static/lesson.schema.json) and the lessons themselves agree. `tests/command/lesson_schema.rs` holds it to
// the fields that lessons are read by.
import { expect, test } from '@playwright/test';
import Ajv from 'ajv/dist/2020.js';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

const schema = JSON.parse(readFileSync('static/lesson.schema.json', 'utf8'));
const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false }).compile(schema);
const wrong = (lesson) => (validate(lesson) ? [] : validate.errors.map((error) => `${error.instancePath} ${error.message}`));

test('every lesson of the page and of the document fits the schema', () => {
  for (const name of readdirSync('static/lessons')) expect(wrong(parse(readFileSync(`static/lessons/${name}`, 'utf8'))), name).toEqual([]);
  const examples = [...readFileSync('docs/lessons.md', 'utf8').matchAll(/^```yaml\n([^]*?)^```$/gm)].map((found) => parse(found[1])).filter((one) => one.lesson);
  expect(examples.length).toBeGreaterThan(0);
  for (const lesson of examples) expect(wrong(lesson)).toEqual([]);
});

test('what a lesson may not have is refused', () => {
  const lesson = () => ({ lesson: 1, title: 'T', steps: [{ say: 'S' }] });
  expect(wrong(lesson())).toEqual([]);
  const broken = [
    (one) => { one.lesson = 2; },
    (one) => { delete one.title; },
    (one) => { one.steps = []; },
    (one) => { one.steps[0].sya = 'S'; },
    (one) => { one.steps[0].view = 'pods'; },
    (one) => { one.steps[0].loop = 'Deployment controller'; },
    (one) => { one.title = { zh: '标题' }; },
    (one) => { one.steps[0].predict = { ask: 'A' }; },
    (one) => { one.steps[0].predict = { ask: 'A', choices: [{ say: 'x', if: '1 == 1' }] }; },
    (one) => { one.steps[0].predict = { ask: 'A', number: 'pods(web)', choices: [{ say: 'x', if: '1' }, { say: 'y', if: '2' }] }; },
    (one) => { one.steps[0].do = [{ wait: 'soon' }]; },
    (one) => { one.steps[0].do = [{ run: 'x' }]; },
    (one) => { one.steps[0].task = { goal: 'G', check: '1 == 1' }; },
  ];
  for (const change of broken) {
    const one = lesson();
    change(one);
    expect(wrong(one), String(change)).not.toEqual([]);
  }
});
