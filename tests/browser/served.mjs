// A cluster that `loopscope serve` serves, for tests of the page with it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The command, where `cargo build` leaves it. */
export const command = join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/loopscope');

/** Starts the server with its page; gives its address, a folder of its own (`FOLDER` in flags) and what ends it. */
export async function serve(...flags) {
  const folder = mkdtempSync(join(tmpdir(), 'loopscope-'));
  const words = ['serve', '--page', '--kubeconfig', join(folder, 'config'), '--listen', '127.0.0.1:0', ...flags.map((flag) => flag.replace('FOLDER', folder))];
  const child = spawn(command, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
      const found = /serving at (\S+)[\s\S]*page:/.exec(said);
      if (found) resolve(found[1]);
    });
    child.on('exit', () => reject(new Error('the server has ended')));
  });
  const end = () => { child.kill(); rmSync(folder, { recursive: true, force: true }); };
  const post = (path, body) => fetch(`${address}${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  return { address, folder, end, post };
}
