// The last step of a release build: a service worker with the files of this build (static/sw.js), so that the page opens without a network.
// A development build has none: it would show the last build but one.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const source = new URL('../static/', import.meta.url);
const link = '<link rel="manifest" href="manifest.webmanifest">';
const index = readFileSync(new URL('index.html', dist), 'utf8');
if (!index.includes(link)) writeFileSync(new URL('index.html', dist), index.replace('</title>', `</title>${link}`));
copyFileSync(new URL('manifest.webmanifest', source), new URL('manifest.webmanifest', dist));

// What only pages of other sites load stays out: they have no service worker.
const apart = /^(sw\.js|single\.html|embed\.m?js|lesson\.schema\.json|follow\.js|host\.js|course-page\.html|docs\/.*|.*\.wasm\.js|lessons\/.*\.yaml)$/;
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
