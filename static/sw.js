// Keeps the files of one build of the page, so that it opens without a network. `scripts/offline.mjs` fills in the list and the version.
// A page never mixes two builds: a new one is loaded beside the old, and takes its place when a page is opened while no other is.
'use strict';
const VERSION = '{{version}}';
const FILES = ['{{files}}'];
const PREFIX = `loopscope ${new URL(self.registration.scope).pathname} `;

self.addEventListener('install', (event) => {
  // What the browser has already is asked for again only by its date.
  const wanted = FILES.map((name) => new Request(name, { cache: 'no-cache' }));
  event.waitUntil(caches.open(PREFIX + VERSION).then((cache) => cache.addAll(wanted)));
});

self.addEventListener('activate', (event) => {
  const old = (name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))));
});

self.addEventListener('message', (event) => {
  if (event.data === 'replace') self.skipWaiting();
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const scope = self.registration.scope;
  const address = request.url.split(/[?#]/)[0];
  if (request.method !== 'GET' || !address.startsWith(scope)) return;
  const name = address.slice(scope.length) || 'index.html';
  if (FILES.includes(name)) event.respondWith(answer(request, name));
});

async function answer(request, name) {
  const waiting = self.registration.waiting;
  // A page that is loaded again still counts as open.
  const own = request.cache === 'no-cache' ? 1 : 0;
  if (request.mode === 'navigate' && waiting && (await self.clients.matchAll()).length <= own) {
    waiting.postMessage('replace');
    // Asked for once more, the new build answers.
    return new Response('', { headers: { refresh: '0' } });
  }
  const cache = await caches.open(PREFIX + VERSION);
  return (await cache.match(name)) ?? fetch(request);
}
