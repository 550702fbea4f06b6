// Builds small course pages with the tools that teachers use, from the snippets of docs/hosts.md: `node scripts/hosts.mjs ADDRESS` writes
// target/hosts/TOOL for each tool that is at hand, with frames of the Loopscope at that address. Prints which were built, as JSON.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'target/hosts');
const env = {
  ...process.env,
  PATH: [join(root, 'target/tools/bin'), process.env.PATH].join(delimiter),
  PYTHONPATH: join(root, 'target/tools/sphinx'),
};

/** The snippets of the document, each under the name of its file. */
export function snippets(home) {
  const text = readFileSync(join(root, 'docs/hosts.md'), 'utf8');
  const all = [...text.matchAll(/^```\w+ file=(\S+)\n([^]*?)^```$/gm)].map(([, name, body]) => [name, body.replaceAll('https://your.site/loopscope/', home)]);
  return Object.fromEntries(all);
}

const run = (command, ...args) => execFileSync(command, args, { env, cwd: root, stdio: 'pipe' });

// What each tool needs besides the snippets, how its presence is seen, and how it is run.
const tools = {
  mdbook: {
    files: { 'book.toml': '[book]\ntitle = "Course"\n', 'src/SUMMARY.md': '- [Embed](embed.md)\n' },
    has: () => run('mdbook', '--version'),
    build: (from, to) => run('mdbook', 'build', from, '--dest-dir', to),
  },
  sphinx: {
    files: { 'index.rst': 'Course\n======\n\n.. toctree::\n\n   embed\n' },
    fix: { 'embed.rst': (text) => `Embed\n=====\n\n${text}` },
    has: () => run('python3', '-c', 'import sphinx'),
    build: (from, to) => run('python3', '-m', 'sphinx', '-q', '-W', '-b', 'html', from, to),
  },
  reveal: {
    files: {},
    has: () => { if (!existsSync(join(root, 'node_modules/reveal.js/dist/reveal.js'))) throw new Error('the npm package reveal.js is missing'); },
    build: (from, to) => {
      const text = (name) => readFileSync(join(from, name), 'utf8');
      cpSync(join(root, 'node_modules/reveal.js/dist'), join(to, 'dist'), { recursive: true });
      writeFileSync(join(to, 'embed.html'), `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Course</title><link rel="stylesheet" href="dist/reveal.css"><link rel="stylesheet" href="dist/theme/white.css">${text('head.html')}</head>
<body><div class="reveal"><div class="slides"><section><h2>Controllers</h2></section>${text('slide.html')}<section><h2>Playing by itself</h2><loop-scope autoplay="0" title="Played by the slide"></loop-scope></section></div></div>
<script src="dist/reveal.js"></script><script>Reveal.initialize({ transition: 'none' });\n${text('play.js')}</script></body></html>\n`);
    },
  },
  hugo: {
    files: { 'config.toml': 'baseURL = "/"\ntitle = "Course"\ndisableKinds = ["taxonomy", "term", "RSS", "sitemap"]\n', 'layouts/_default/single.html': '<!doctype html><html lang="en"><title>Course</title><body>{{ .Content }}</body></html>\n' },
    fix: { 'content/embed.md': (text) => `---\ntitle: Embed\nurl: embed.html\n---\n${text}` },
    has: () => run('hugo', 'version'),
    build: (from, to) => run('hugo', '--quiet', '--source', from, '--destination', to),
  },
  jekyll: {
    files: { '_config.yml': 'title: Course\n' },
    fix: { 'embed.md': (text) => `---\ntitle: Embed\n---\n${text}` },
    has: () => run('jekyll', '--version'),
    build: (from, to) => run('jekyll', 'build', '--quiet', '--source', from, '--destination', to, '--disable-disk-cache'),
  },
};

/** Builds what can be built; for each tool true, or why it could not be had. */
export function build(home) {
  const all = snippets(home);
  const built = {};
  for (const [name, tool] of Object.entries(tools)) {
    try {
      tool.has();
    } catch (error) {
      built[name] = `${name} is not at hand (${String(error.message).split('\n')[0]})`;
      continue;
    }
    const [from, to] = [join(out, 'src', name), join(out, name)];
    rmSync(from, { recursive: true, force: true });
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { recursive: true });
    const own = Object.entries(all).filter(([file]) => file.startsWith(`${name}/`)).map(([file, text]) => [file.slice(name.length + 1), text]);
    if (!own.length) throw new Error(`docs/hosts.md has no snippet for ${name}`);
    for (const [file, text] of [...Object.entries(tool.files), ...own]) {
      mkdirSync(dirname(join(from, file)), { recursive: true });
      writeFileSync(join(from, file), tool.fix?.[file]?.(text) ?? text);
    }
    tool.build(from, to);
    built[name] = true;
  }
  return built;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(build(process.argv[2]), null, 2));
