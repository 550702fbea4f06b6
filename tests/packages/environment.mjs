// Environments of Python with nothing in them.
import { join } from 'node:path';
import { folder, packed, run } from './trial.mjs';

/** The wheel of the release. */
export const wheel = () => packed(/^loopscope-.*\.whl$/);

/** A folder, and an environment with nothing in it. */
export function environment(name, from) {
  const [path, venv] = [folder(name, from), folder(`${name}-venv`)];
  run(venv, 'python3', ['-m', 'venv', '.']);
  const command = (name) => join(venv, 'bin', name);
  const pip = (...packages) => run(path, command('pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
  return { path, command, pip };
}
