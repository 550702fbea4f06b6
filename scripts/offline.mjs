// Near the end of a release build, and again after `make docs`: a service worker with the files of this build (static/sw.js), so that the page opens without a network;
// and, where the documentation was built beside the page (make docs), the way to it. A development build has no service worker: it would
// show the last build but one.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const source = new URL('../static/', import.meta.url);
const index = new URL('index.html', dist);
const links = ['<link rel="manifest" href="manifest.webmanifest">', existsSync(new URL('docs/index.html', dist)) ? '<link rel="help" href="docs/">' : ''];
const bare = readFileSync(index, 'utf8').replace(/<link rel="(manifest|help)"[^>]*>/g, '');
writeFileSync(index, bare.replace('</title>', `</title>${links.join('')}`));
copyFileSync(new URL('manifest.webmanifest', source), new URL('manifest.webmanifest', dist));

// What only pages of other sites load stays out: they have no service worker.
const apart = /^(sw\.js|single\.html|licences\.txt|embed\.m?js|lesson\.schema\.json|follow\.js|host\.js|course-page\.html|docs\/.*|.*\.wasm\.js|lessons\/.*\.yaml)$/;
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(dist.pathname.length).replace(/^\//, ''))
  .filter((name) => !apart.test(name))
  .sort();
const version = createHash('sha256');
for (const name of files) version.update(name).update(readFileSync(new URL(name, dist)));
const text = readFileSync(new URL('sw.js', source), 'utf8')
  .replace("['{{files}}']", JSON.stringify(files))
  .replace('{{version}}', version.digest('hex').slice(0, 16));
writeFileSync(new URL('sw.js', dist), text);
