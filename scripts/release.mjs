// Builds the packages into release/, all with the version of Cargo.toml: `node scripts/release.mjs [npm] [hugo] [vscode] [binary] [image] [python] [manifests]`,
// each of them by default. The page (`make dist`) has to be built. The same sources and tools make the same bytes.
//
// `binary`, `image` and `python` compile for this machine, or for the target in RELEASE_TARGET. `manifests` describes the archives that are in
// release/, and takes their address from RELEASE_URL.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { strToU8, zipSync } from 'fflate';
import { create } from 'tar';
import { crates, scripts } from './components.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');
const out = join(root, 'release');
const staging = join(root, 'target/packages');
// The time of every file: zip knows none before 1980.
const epoch = new Date('1980-01-01T00:00:00Z');
const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch.getTime() / 1000), TZ: 'UTC' };

const run = (command, args, options = {}) => execFileSync(command, args, { cwd: root, env, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'], ...options });
const read = (path) => readFileSync(join(root, path), 'utf8');
const version = JSON.parse(run('cargo', ['metadata', '--no-deps', '--format-version', '1'])).packages.find((one) => one.name === 'loopscope').version;
const host = () => /^host: (.*)$/m.exec(run('rustc', ['-vV']))[1];
const target = () => process.env.RELEASE_TARGET || host();
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** An empty folder for what becomes a package. */
function fresh(name) {
  const folder = join(staging, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Copies the page without the documentation site, which may be beside it. */
function copyPage(to) {
  const docs = join(root, 'dist/docs');
  cpSync(join(root, 'dist'), to, { recursive: true, filter: (path) => path !== docs });
}

const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/')).sort();

/** Makes an archive of a folder, whose only program is `program`. */
async function archive(folder, file, program) {
  const paths = files(folder);
  for (const path of paths) chmodSync(join(folder, path), join(folder, path) === program ? 0o755 : 0o644);
  await create({ file: join(out, file), cwd: folder, gzip: { level: 9 }, portable: true, mtime: epoch, noDirRecurse: true }, paths);
}

function npm() {
  for (const name of readdirSync(join(root, 'packages/npm')).sort()) {
    const folder = fresh(`npm/${name}`);
    cpSync(join(root, 'packages/npm', name), folder, { recursive: true });
    for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(join(root, licence), join(folder, licence));
    const about = read(`packages/npm/${name}/package.json`);
    writeFileSync(join(folder, 'package.json'), about.replaceAll('"0.0.0"', `"${version}"`));
    if (name === 'loopscope') copyPage(join(folder, 'dist'));
    run('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder });
  }
}

/** Compiles the command without the paths of this machine in it; returns its file. */
function compile(flags = '', folder = join(root, 'target/release-build')) {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo');
  const rustflags = `--remap-path-prefix=${root}=loopscope --remap-path-prefix=${cargoHome}=cargo ${flags}`.trim();
  const isHost = target() === host() && !flags;
  run('cargo', ['build', '--release', '--locked', '--bin', 'loopscope', ...(isHost ? [] : ['--target', target()])], {
    env: { ...env, CARGO_TARGET_DIR: folder, RUSTFLAGS: rustflags }, stdio: ['ignore', 'inherit', 'inherit'],
  });
  return join(folder, isHost ? '' : target(), 'release', /windows/.test(target()) ? 'loopscope.exe' : 'loopscope');
}

async function binary() {
  const name = `loopscope-${version}-${target()}`;
  const folder = fresh('binary');
  const inside = (path) => join(folder, name, path);
  const command = compile();
  const write = (path, args) => {
    mkdirSync(join(inside(path), '..'), { recursive: true });
    writeFileSync(inside(path), run(command, args));
  };
  write('share/man/man1/loopscope.1', ['man']);
  write('share/bash-completion/completions/loopscope', ['completions', 'bash']);
  write('share/zsh/site-functions/_loopscope', ['completions', 'zsh']);
  write('share/fish/vendor_completions.d/loopscope.fish', ['completions', 'fish']);
  write('share/powershell/loopscope.ps1', ['completions', 'powershell']);
  copyPage(inside('share/loopscope/page'));
  for (const file of ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md']) cpSync(join(root, file), inside(file));
  const program = inside(`bin/${/windows/.test(target()) ? 'loopscope.exe' : 'loopscope'}`);
  cpSync(command, program);
  chmodSync(program, 0o755);
  if (/windows/.test(target())) {
    const content = Object.fromEntries(files(folder).map((path) => [path, readFileSync(join(folder, path))]));
    writeFileSync(join(out, `${name}.zip`), zipSync(content, { mtime: epoch, level: 9 }));
  } else {
    await archive(folder, `${name}.tar.gz`, program);
  }
  writeFileSync(join(out, `${name}.cdx.json`), sbom());
}

/** The files of the container image (`Dockerfile`): the static command, the page, and folders to write into. Linux only. */
async function image() {
  if (!/linux/.test(target())) return console.log(`No image: it has a command for Linux, not for ${target()}.`);
  const folder = fresh('image');
  const program = join(folder, 'usr/bin/loopscope');
  // musl is linked statically anyway.
  const command = /musl/.test(target()) ? compile() : compile('-Ctarget-feature=+crt-static', join(root, 'target/release-static'));
  mkdirSync(join(program, '..'), { recursive: true });
  cpSync(command, program);
  copyPage(join(folder, 'usr/share/loopscope/page'));
  for (const path of files(folder)) chmodSync(join(folder, path), join(folder, path) === program ? 0o755 : 0o644);
  for (const name of ['tmp', 'work']) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), 0o777);
  }
  await create({ file: join(out, `loopscope-image-${version}-${target()}.tar.gz`), cwd: folder, gzip: { level: 9 }, mtime: epoch, noDirRecurse: true,
    filter: (_, stat) => { Object.assign(stat, { uid: 0, gid: 0, atime: undefined, ctime: undefined }); return true; } }, [...files(folder), 'tmp', 'work']);
}

/** What the archive is made of, as CycloneDX. */
function sbom() {
  const component = (kind, { name, version, licence }) => ({
    type: 'library', name, version, 'bom-ref': `pkg:${kind}/${name.replace('@', '%40')}@${version}`, purl: `pkg:${kind}/${name.replace('@', '%40')}@${version}`,
    licenses: [/^[\w. +()-]+$/.test(licence) ? { expression: licence } : { license: { name: licence } }],
  });
  // The command and the module of the page are made of different crates.
  const linked = [...crates(target()), ...crates('wasm32-unknown-unknown')];
  const all = [...linked.map((one) => component('cargo', one)), ...scripts().map((one) => component('npm', one))];
  const components = [...new Map(all.map((one) => [one.purl, one])).values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
  return `${JSON.stringify({
    bomFormat: 'CycloneDX', specVersion: '1.5', version: 1,
    metadata: { component: { type: 'application', name: 'loopscope', version, 'bom-ref': `pkg:cargo/loopscope@${version}`, licenses: [{ expression: 'MIT OR Apache-2.0' }] } },
    components,
    dependencies: [{ ref: `pkg:cargo/loopscope@${version}`, dependsOn: components.map((one) => one['bom-ref']) }],
  }, null, 2)}\n`;
}

function python() {
  // maturin takes the command from cargo, and what is beside the sources from here.
  const data = join(root, 'packages/python/loopscope.data');
  const folder = join(root, 'target/release-build');
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo');
  rmSync(data, { recursive: true, force: true });
  try {
    copyPage(join(data, 'data/share/loopscope/page'));
    const isHost = target() === host();
    const tool = ['bin/maturin', 'Scripts/maturin.exe'].map((path) => join(root, 'target/tools/maturin', path)).find(existsSync);
    if (!tool) throw new Error('maturin is missing: scripts/tools.sh maturin');
    run(tool, ['build', '--release', '--locked', '--out', out, ...(isHost ? [] : ['--target', target()])], {
      cwd: join(root, 'packages/python'), stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...env, CARGO_TARGET_DIR: folder, RUSTFLAGS: `--remap-path-prefix=${root}=loopscope --remap-path-prefix=${cargoHome}=cargo` },
    });
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** A theme of Hugo: the shortcode, the hook of code blocks, and the page. */
async function hugo() {
  const folder = fresh('hugo');
  cpSync(join(root, 'packages/hugo'), join(folder, 'loopscope'), { recursive: true });
  copyPage(join(folder, 'loopscope/static/loopscope'));
  await archive(folder, `loopscope-hugo-${version}.tar.gz`);
}

/**
 * The extension of VS Code: a zip file with two descriptions of what it holds. They are written here as `vsce package` writes them
 * (tests/packages/vscode.spec.mjs compares them): vsce brings 249 packages, most of them to publish, and needs the registry where it is
 * not installed.
 */
function vscode() {
  const folder = fresh('vscode');
  cpSync(join(root, 'packages/vscode'), folder, { recursive: true });
  const about = JSON.parse(read('packages/vscode/package.json').replace('"0.0.0"', `"${version}"`));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(join(root, licence), join(folder, licence));
  cpSync(join(root, 'static/lesson.schema.json'), join(folder, 'lesson.schema.json'));
  mkdirSync(join(folder, 'page'));
  for (const name of ['single.html', 'licences.txt']) cpSync(join(root, 'dist', name), join(folder, 'page', name));
  const content = { 'extension.vsixmanifest': strToU8(vsixManifest(about)), '[Content_Types].xml': strToU8(contentTypes) };
  for (const path of files(folder)) content[`extension/${path === 'README.md' ? 'readme.md' : path}`] = readFileSync(join(folder, path));
  writeFileSync(join(out, `loopscope-${version}.vsix`), zipSync(content, { mtime: epoch, level: 9 }));
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${Object.entries({
  html: 'text/html', js: 'application/javascript', json: 'application/json', md: 'text/markdown', png: 'image/png', txt: 'text/plain', vsixmanifest: 'text/xml',
}).map(([extension, type]) => `<Default Extension=".${extension}" ContentType="${type}"/>`).join('')}</Types>
`;

function vsixManifest(about) {
  const words = JSON.parse(read('packages/vscode/package.nls.json'));
  const escaped = (text) => text.replace(/%(\w+)%/g, (_, name) => words[name]).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const property = (name, value) => `      <Property Id="Microsoft.VisualStudio.${name}" Value="${escaped(value)}" />`;
  const asset = (name, path) => `    <Asset Type="Microsoft.VisualStudio.${name}" Path="extension/${path}" Addressable="true" />`;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
  <Metadata>
    <Identity Language="en-US" Id="${about.name}" Version="${about.version}" Publisher="${about.publisher}" />
    <DisplayName>${escaped(about.displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(about.description)}</Description>
    <Tags>${about.keywords.join(',')}</Tags>
    <Categories>${about.categories.join(',')}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
${property('Code.Engine', about.engines.vscode)}
${property('Code.ExtensionKind', 'workspace')}
${property('Code.ExecutesCode', 'true')}
${property('Services.GitHubFlavoredMarkdown', 'true')}
${property('Services.Content.Pricing', 'Free')}
    </Properties>
    <Icon>extension/${about.icon}</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code" />
  </Installation>
  <Dependencies />
  <Assets>
${asset('Code.Manifest', 'package.json')}
${asset('Services.Content.Details', 'readme.md')}
${asset('Services.Icons.Default', about.icon)}
  </Assets>
</PackageManifest>
`;
}

/** Manifests of package managers, for the archives that are there. */
function manifests() {
  const url = process.env.RELEASE_URL || `https://your.site/loopscope/v${version}`;
  const archiveOf = (name) => ['tar.gz', 'zip'].map((end) => `loopscope-${version}-${name}.${end}`).find((file) => existsSync(join(out, file)));
  for (const name of readdirSync(join(root, 'packages/templates')).sort()) {
    const lines = read(`packages/templates/${name}`).replaceAll('{{version}}', version);
    // A part between {{if TARGET}} and {{end}} stays if there is an archive for the target.
    const kept = lines.replace(/^.*\{\{if (\S+)\}\}.*\n([^]*?)^.*\{\{end\}\}.*\n/gm, (_, one, part) => {
      const file = archiveOf(one);
      return file ? part.replaceAll('{{url}}', `${url}/${file}`).replaceAll('{{sha256}}', sha256(join(out, file))) : '';
    });
    writeFileSync(join(out, name), kept);
  }
}

function sums() {
  const listed = readdirSync(out).filter((name) => name !== 'SHA256SUMS' && statSync(join(out, name)).isFile()).sort();
  writeFileSync(join(out, 'SHA256SUMS'), listed.map((name) => `${sha256(join(out, name))}  ${name}\n`).join(''));
  for (const name of listed) console.log(`${String(Math.ceil(statSync(join(out, name)).size / 1000)).padStart(7)} kB  ${name}`);
}

const parts = { npm, hugo, vscode, binary, image, python, manifests };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in parts));
if (unknown.length) throw new Error(`there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
if (!existsSync(join(root, 'dist/index.html'))) throw new Error('the page is not built: make dist');
mkdirSync(out, { recursive: true });
for (const [name, build] of Object.entries(parts)) if (!wanted.length || wanted.includes(name)) await build();
sums();
