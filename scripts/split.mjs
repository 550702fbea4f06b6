// Run by trunk after a build: splits the page's module in two. What the opening runs (the functions listed in
// scripts/wasm/opening.txt, which scripts/profile.mjs has recorded) comes first; the rest follows while the first Pods
// are already coming up. Names of functions are left out of both.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readOpening } from './wasm/names.mjs';
import { split } from './wasm/split.mjs';

const dir = process.env.TRUNK_STAGING_DIR ?? new URL('../dist', import.meta.url).pathname;
const whole = `${dir}/loopscope_bg.wasm`;
const kept = new URL('../target/page/', import.meta.url);
mkdirSync(kept, { recursive: true });
copyFileSync(whole, new URL('whole.wasm', kept));

const opening = readOpening(readFileSync(new URL('wasm/opening.txt', import.meta.url), 'utf8'));
const { first, rest } = split(readFileSync(whole), opening.runs, opening.reached);
writeFileSync(whole, first);
writeFileSync(`${dir}/rest.wasm`, rest);
