// Empty folders in which packages are tried, and what was measured there.
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const release = join(root, 'release');
const version = /^version = "(.*)"$/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))[1];

/** An empty folder outside of the work tree, whose packages must not be found. */
export function folder(name, from) {
  const path = join(tmpdir(), 'loopscope-packages', name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  if (from) cpSync(from, path, { recursive: true });
  return path;
}

/** The file of a package in release/; a name may hold a pattern where the version is not all. */
export function packed(pattern) {
  const found = readdirSync(release).filter((name) => pattern.test(name) && name.includes(version));
  if (found.length !== 1) throw new Error(`release/ has ${found.length} files like ${pattern} of version ${version}: make release`);
  return join(release, found[0]);
}

/** Runs a command to its end; returns its output, and its error if it fails. */
export function run(cwd, command, args, env = {}) {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28, env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', ...env } });
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}: ${error.message}\n${error.stdout}\n${error.stderr}`);
  }
}

/** The folder of the command, where release/ has it for this machine; undefined otherwise. */
export function commandFolder() {
  const [archive] = existsSync(release) ? readdirSync(release).filter((name) => name.startsWith(`loopscope-${version}-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-`) && name.endsWith('linux-gnu.tar.gz')) : [];
  if (!archive || process.platform !== 'linux') return undefined;
  const path = folder('command');
  run(path, 'tar', ['-xzf', join(release, archive), '--strip-components=1']);
  return join(path, 'bin');
}

/** Seconds that something takes. */
export async function seconds(what) {
  const began = performance.now();
  await what();
  return (performance.now() - began) / 1000;
}

/** Keeps a row of the table in docs/packages.md: target/packages/measured.txt. */
export function note(name, values) {
  const words = Object.entries(values).map(([key, value]) => `${key} ${typeof value === 'number' ? value.toFixed(1) : value}`);
  mkdirSync(join(root, 'target/packages'), { recursive: true });
  appendFileSync(join(root, 'target/packages/measured.txt'), `${name}: ${words.join(', ')}\n`);
}

export const npmPackages = (...names) => names.map((name) => packed(new RegExp(`^${name}-\\d.*\\.tgz$`)));
