// Fenced blocks as elements: the core of the npm packages, on the cases that the command and the Python package share.
import { expect, test } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { attributeNames, embed, html } from '../../packages/npm/loopscope/block.mjs';

const cases = JSON.parse(readFileSync('packages/blocks.json', 'utf8'));

test('a block becomes the shared HTML, stays code, or is refused', () => {
  for (const { info, text, html: expected, error } of cases) {
    if (error) {
      expect(() => embed(info, text), info).toThrow(/loopscope: /);
      continue;
    }
    const found = embed(info, text);
    expect(found && html(found), info).toBe(expected);
  }
});

test('a block may use the attributes that the element has, in each language', () => {
  const types = readFileSync('packages/npm/loopscope/embed.d.ts', 'utf8').match(/interface LoopScopeAttributes \{([^]*?)\n\}/)[1];
  const attributes = [...types.matchAll(/^ {2}'?([\w-]+)'?\?:/gm)].map((found) => found[1]);
  const listed = (file, pattern) => [...readFileSync(file, 'utf8').match(pattern)[1].matchAll(/["']([\w-]+)["']/g)].map((found) => found[1]);
  expect(attributeNames).toEqual(attributes);
  expect(listed('src/command/block.rs', /const ATTRIBUTES[^=]*= \[([^\]]*)\]/)).toEqual(attributes);
  expect(listed('packages/python/src/loopscope/block.py', /ATTRIBUTES = \(([^)]*)\)/)).toEqual(attributes);
});
