// A plugin of Vite (and so of VitePress and Astro): serves the page under `BASE/loopscope/` while you write, and copies it into the built site.
import { createReadStream, statSync } from 'node:fs';
import { extname, join, resolve, sep } from 'node:path';
import { copyTo, directory } from './assets.mjs';

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.mjs': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.json': 'application/json', '.webmanifest': 'application/manifest+json', '.yaml': 'text/yaml', '.txt': 'text/plain; charset=utf-8',
};

/** The files of the page, as a middleware of a server; `under` is their path, such as `/loopscope/`. */
export function serve(under) {
  return (request, response, next) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (!path.startsWith(under)) return next();
    const file = join(directory, path.slice(under.length) || 'index.html');
    const isFile = resolve(file).startsWith(resolve(directory) + sep) && statSync(file, { throwIfNoEntry: false })?.isFile();
    if (!isFile) return next();
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    createReadStream(file).pipe(response);
  };
}

/** @param {{ folder?: string, script?: boolean }} options `script: false` leaves the script out of Vite's own HTML pages */
export default function loopscope({ folder = 'loopscope', script = true } = {}) {
  let config;
  return {
    name: 'loopscope',
    configResolved(resolved) { config = resolved; },
    configureServer(server) { server.middlewares.use(serve(`${config.base}${folder}/`)); },
    transformIndexHtml: () => (script ? [{ tag: 'script', attrs: { src: `${config.base}${folder}/embed.js`, defer: true }, injectTo: 'head' }] : []),
    // The part of a build that runs on a server has no files of its own.
    async closeBundle() {
      if (config.command === 'build' && !config.build.ssr) await copyTo(resolve(config.root, config.build.outDir, folder));
    },
  };
}
