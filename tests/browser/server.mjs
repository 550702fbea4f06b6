// A small static server for dist/, under a sub-path as a project site has it. It sends no CORS headers, as many servers do not,
// unless `cors` is set; `brotli`, a quality from 1 to 11, compresses: at 11 as a static host with precompressed files does, which takes
// seconds for the module.
import { createServer } from 'node:http';
import { readFileSync, statSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const built = fileURLToPath(new URL('../../dist/', import.meta.url));
const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml', '.webp': 'image/webp', '.png': 'image/png', '.json': 'application/json', '.yaml': 'text/yaml',
};

export const brotli = (bytes, quality = 11) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });

const compressed = new Map();

/** A file compressed once for each of its versions. */
function cached(file, bytes, quality) {
  const key = `${file} ${statSync(file).mtimeMs} ${quality}`;
  if (!compressed.has(key)) compressed.set(key, brotli(bytes, quality));
  return compressed.get(key);
}

/** Serves `dist`; `extra` holds further pages by name; `keeps`: browsers may keep what they got; `sent` hears of the bytes of each answer. */
export function serve(port, { base = '/loopscope/', dist = built, brotli: quality = 0, cors = false, keeps = false, sent, extra = {} } = {}) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const name = normalize(path.slice(base.length).replace(/(^|\/)$/, '$1index.html'));
    if (path === '/') return response.writeHead(302, { location: base }).end();
    if (!path.startsWith(base)) return response.writeHead(404).end();
    if (name.startsWith('..')) return response.writeHead(403).end();
    try {
      const file = join(dist, name);
      const bytes = name in extra ? Buffer.from(extra[name]) : readFileSync(file);
      const headers = { 'content-type': types[extname(name)] ?? 'application/octet-stream', 'cache-control': keeps ? 'max-age=600' : 'no-cache' };
      if (cors) headers['access-control-allow-origin'] = '*';
      const packed = quality > 0 && !(name in extra) && /\bbr\b/.test(request.headers['accept-encoding'] ?? '');
      if (packed) headers['content-encoding'] = 'br';
      response.writeHead(200, headers);
      const body = packed ? cached(file, bytes, quality) : bytes;
      sent?.(body.length);
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 4173);
  await serve(port, { cors: process.argv.includes('--cors') });
  console.log(`http://127.0.0.1:${port}/loopscope/`);
}
