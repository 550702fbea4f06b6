// Fenced blocks as elements: the core of the npm packages, on the cases that the command and the Python package share.
import { expect, test } from '@playwright/test';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attributeNames, embed, html, image } from '../../packages/npm/loopscope/block.mjs';
import { still } from '../../packages/npm/loopscope/picture.mjs';

const cases = JSON.parse(readFileSync('packages/blocks.json', 'utf8'));

test('a block becomes the shared HTML, stays code, or is refused', () => {
  for (const { info, text, svg, html: expected, error } of cases) {
    if (error) {
      expect(() => embed(info, text), info).toThrow(/loopscope: /);
      continue;
    }
    const found = embed(info, text);
    expect(found && html(found, '', svg && image(svg)), info).toBe(expected);
  }
});

test('a manifest has a picture where the command draws one, once, and otherwise none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loopscope-'));
  const command = join(folder, 'command');
  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n');
  writeFileSync(command, `#!/bin/sh
shift; echo "$*" >> '${folder}/runs'
for file; do :; done
grep -q broken "$file" && exit 1
echo "<svg><title>$(head -n 1 "$file")</title><text/></svg>"\n`);
  chmodSync(command, 0o755);
  const picture = (info, text, options = {}) => still(embed(info, text), { command, ...options });
  expect(picture('loopscope view=nodes theme=dark', 'kind: Pod\n', { lang: 'zh-CN' })?.alt).toBe('kind: Pod');
  expect(picture('loopscope view=nodes theme=dark height=500', 'kind: Pod', { lang: 'zh' })?.src).toMatch(/^data:image\/svg\+xml,%3Csvg/);
  expect(runs()).toEqual([expect.stringMatching(/^--lang=zh --view=nodes --dark .*manifest\.yaml$/)]);
  for (const [info, text] of [['loopscope poster=a.svg', 'kind: Pod'], ['loopscope', 'lesson: 1'], ['loopscope lesson=undo', '']]) {
    expect(picture(info, text), info).toBe(null);
  }
  expect(runs()).toHaveLength(1);
  expect(picture('loopscope', 'broken')).toBe(null);
  expect(picture('loopscope', 'kind: Pod', { command: false })).toBe(null);
  expect(picture('loopscope', 'kind: Pod', { command: join(folder, 'missing') })).toBe(null);
  expect(runs()).toHaveLength(2);
});

test('a block may use the attributes that the element has, in each language', () => {
  const types = readFileSync('packages/npm/loopscope/embed.d.ts', 'utf8').match(/interface LoopScopeAttributes \{([^]*?)\n\}/)[1];
  const attributes = [...types.matchAll(/^ {2}'?([\w-]+)'?\?:/gm)].map((found) => found[1]);
  const listed = (file, pattern) => [...readFileSync(file, 'utf8').match(pattern)[1].matchAll(/["']([\w-]+)["']/g)].map((found) => found[1]);
  expect(attributeNames).toEqual(attributes);
  expect(listed('src/command/block.rs', /const ATTRIBUTES[^=]*= \[([^\]]*)\]/)).toEqual(attributes);
  expect(listed('packages/python/src/loopscope/block.py', /ATTRIBUTES = \(([^)]*)\)/)).toEqual(attributes);
});
