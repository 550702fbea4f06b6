// Pictures of blocks, for readers without JavaScript, drawn by the native command `loopscope picture` where it is installed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { image, isDrawn } from './block.mjs';

const TIMEOUT_MS = 30_000;
// Pictures of this build by command, options and content; null for one that could not be drawn.
const drawn = new Map();
// Commands that are not there.
const missing = new Set();

/** The environment without the folders where npm puts this package's own command of the same name. */
function environment() {
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (process.env[name] ?? '').split(delimiter).filter((folder) => !/node_modules[\\/]\.bin[\\/]?$/.test(folder));
  return { ...process.env, [name]: folders.join(delimiter) };
}

function run(command, options, text) {
  const folder = mkdtempSync(join(tmpdir(), 'loopscope-'));
  try {
    const file = join(folder, 'manifest.yaml');
    writeFileSync(file, text);
    const ran = spawnSync(command, ['picture', ...options, file], { encoding: 'utf8', env: environment(), timeout: TIMEOUT_MS, maxBuffer: 1 << 24 });
    if (ran.error?.code === 'ENOENT') missing.add(command);
    // Where nothing runs there is nothing to see.
    return ran.status === 0 && ran.stdout.includes('<text') ? image(ran.stdout) : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the picture of a block, or null if it has none or cannot be drawn: a build never fails for it.
 * @param {import('./block.mjs').Embed} embed
 * @param {{ command?: string | false, lang?: string }} options `command`: the native command, `loopscope` on the PATH by default, `false` for
 *   no pictures; `lang`: the language of the page
 */
export function still(embed, { command = 'loopscope', lang = 'en' } = {}) {
  if (!command || missing.has(command) || !isDrawn(embed)) return null;
  const { view, theme } = Object.fromEntries(embed.attributes);
  const options = [`--lang=${/^zh/i.test(lang) ? 'zh' : 'en'}`];
  if (view) options.push(`--view=${view}`);
  if (theme === 'dark') options.push('--dark');
  const key = JSON.stringify([command, options, embed.text]);
  if (!drawn.has(key)) {
    let picture = null;
    try {
      picture = run(command, options, embed.text);
    } catch { /* the manifest stays */ }
    drawn.set(key, picture);
  }
  return drawn.get(key);
}
