// The archive: the command with its page, man page and completions, the preprocessor of mdBook, the action's script, and what the manifests of
// package managers say of it.
import { expect, test } from '@playwright/test';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { codeAndResting, drive } from './drive.mjs';
import { folder, note, packed, release, root, run, seconds } from './trial.mjs';

const archive = () => packed(/^loopscope-\d.*\.tar\.gz$/);
const deployment = readFileSync(join(root, 'tests/packages/sites/vitepress/index.md'), 'utf8').match(/^```loopscope.*\n([^]*?)^```/m)[1];

/** The archive, unpacked; the command is reached by a link, as package managers make one. */
function unpacked(name) {
  const path = folder(name);
  run(path, 'tar', ['-xzf', archive(), '--strip-components=1']);
  mkdirSync(join(path, 'links'));
  symlinkSync(join(path, 'bin/loopscope'), join(path, 'links/loopscope'));
  return { path, command: join(path, 'links/loopscope') };
}

test('the command finds its page, and has a man page and completions', async () => {
  let at;
  const install = await seconds(() => { at = unpacked('binary'); });
  const { path, command } = at;
  let html;
  writeFileSync(join(path, 'web.yaml'), deployment);
  const first = await seconds(() => { html = run(path, command, ['kubectl', '--setup', 'web.yaml', 'get', 'pods']); });
  expect(html).toMatch(/1\/1 +Running/);
  note('binary', { install, first });
  expect(run(path, command, ['export', 'web.yaml'])).toContain('<title>web</title>');
  run(path, command, ['page', 'copied/page']);
  expect(existsSync(join(path, 'copied/page/embed.js'))).toBe(true);
  expect(readFileSync(join(path, 'share/man/man1/loopscope.1'), 'utf8')).toMatch(/^\.SH SYNOPSIS[^]*serve[^]*validate/m);
  const bash = run(path, 'bash', ['-c', 'source share/bash-completion/completions/loopscope; COMP_WORDS=(loopscope val); COMP_CWORD=1; _loopscope loopscope val loopscope; echo "${COMPREPLY[@]}"']);
  expect(bash.trim()).toBe('validate');
  for (const file of ['zsh/site-functions/_loopscope', 'fish/vendor_completions.d/loopscope.fish', 'powershell/loopscope.ps1']) {
    expect(readFileSync(join(path, 'share', file), 'utf8')).toContain('validate');
  }
  // Nothing of the machine that made it.
  const program = readFileSync(join(path, 'bin/loopscope'), 'latin1');
  expect(program.includes(root)).toBe(false);
  expect(program.includes(process.env.CARGO_HOME ?? join(process.env.HOME, '.cargo'))).toBe(false);
});

test('checksums and manifests are those of the archive', () => {
  const sum = (file) => createHash('sha256').update(readFileSync(join(release, file))).digest('hex');
  const sums = Object.fromEntries(readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n').map((line) => line.split('  ').reverse()));
  expect(Object.keys(sums).sort()).toEqual(readdirSync(release).filter((name) => name !== 'SHA256SUMS').sort());
  for (const [file, expected] of Object.entries(sums)) expect(sum(file), file).toBe(expected);
  const name = archive().split('/').pop();
  for (const file of ['loopscope.rb', 'krew.yaml']) {
    const text = readFileSync(join(release, file), 'utf8');
    expect(text).toContain(`/${name}`);
    expect(text).toContain(sum(name));
    expect(text).not.toContain('{{');
  }
  expect(JSON.parse(readFileSync(join(release, 'scoop.json'), 'utf8')).bin).toBe('bin\\loopscope.exe');
  const components = JSON.parse(readFileSync(packed(/\.cdx\.json$/), 'utf8')).components.map((one) => one.purl);
  expect(components.some((one) => one.startsWith('pkg:cargo/clap@'))).toBe(true);
  expect(components.some((one) => one.startsWith('pkg:cargo/yew@'))).toBe(true);
  expect(components.some((one) => one.startsWith('pkg:npm/%40codemirror/view@'))).toBe(true);
});

test('validate: refusals with their lines, definitions and namespaces of other files', () => {
  const { path, command } = unpacked('validate');
  const file = (name, text) => { writeFileSync(join(path, name), text); return name; };
  const good = file('good.yaml', deployment.replace('name: web', 'name: web\n  namespace: elsewhere'));
  expect(run(path, command, ['validate', good])).toBe('');
  const bad = file('bad.yaml', deployment.replace('replicas: 2', 'replicas: two'));
  expect(() => run(path, command, ['validate', good, bad])).toThrow(/^bad\.yaml:8: error: .*replicas/m);
  const custom = file('custom.yaml', 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1}\n');
  expect(() => run(path, command, ['validate', custom])).toThrow(/custom\.yaml:\d: error: .*Widget/);
  expect(run(path, command, ['validate', '--ignore-unknown-kinds', custom])).toBe('');
  const definition = file('definition.yaml', `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}}}}}}}
`);
  expect(() => run(path, command, ['validate', custom, definition])).toThrow(/custom\.yaml:4: error: .*size/);
});

test('the script of the action: annotations, JUnit and the summary', () => {
  const { path, command } = unpacked('action');
  writeFileSync(join(path, 'bad.yaml'), deployment.replace('replicas: 2', 'replicas: two'));
  writeFileSync(join(path, 'holds.yaml'), 'name: holds\nsteps:\n- apply: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n- always: exists(cm/a)\n');
  writeFileSync(join(path, 'fails.yaml'), 'name: fails\nsteps:\n- apply: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n- never: exists(cm/a)\n');
  const env = { LOOPSCOPE: command, GITHUB_STEP_SUMMARY: join(path, 'summary.md'), SEEDS: '2' };
  const script = join(root, 'packages/action/check.sh');
  const fine = run(path, 'bash', [script], { ...env, SCENARIOS: 'holds.yaml\n' });
  expect(fine).not.toContain('::error');
  expect(readFileSync(join(path, 'loopscope-junit/holds.xml'), 'utf8')).toContain('<testsuite');
  let said = '';
  try { run(path, 'bash', [script], { ...env, MANIFESTS: 'bad.yaml', SCENARIOS: 'fails.yaml' }); } catch (error) { said = error.message; }
  expect(said).toMatch(/^::error file=bad\.yaml,line=8,title=loopscope::.*replicas/m);
  expect(said).toMatch(/^::error file=fails\.yaml,line=7,title=loopscope check::VIOLATED in 2 of 2 runs/m);
  const summary = readFileSync(join(path, 'summary.md'), 'utf8');
  expect(summary).toContain('### Manifests');
  expect(summary).toMatch(/index\.html#pako:/);
  expect(readFileSync(join(path, 'loopscope-junit/fails.svg'), 'utf8')).toContain('<svg');
});

test('mdBook: blocks, also in a list of a chapter below', async ({ page, browser }) => {
  const mdbook = join(root, 'target/tools/bin/mdbook');
  const { path, command } = unpacked('mdbook-tool');
  const book = folder('mdbook', join(root, 'tests/packages/sites/mdbook'));
  const env = { PATH: [join(path, 'links'), process.env.PATH].join(delimiter) };
  test.skip(!existsSync(mdbook), 'mdBook is not installed: scripts/tools.sh mdbook');
  run(book, command, ['page', 'src/loopscope']);
  const build = await seconds(() => run(book, mdbook, ['build'], env));
  const first = await drive(page, browser, { name: 'mdbook', pictured: true, built: join(book, 'book'), second: 'part/second.html', more: codeAndResting });
  note('mdbook', { build, first });
});
