// <loop-scope> as a module: of a page (`import 'https://your.site/loopscope/embed.mjs'`), or of a bundler, as the package loopscope.
import './embed.js';

/** The class of the element; undefined where there is no document, as on a server. */
export const LoopScope = globalThis.customElements?.get('loop-scope');

/** Says where Loopscope is served. A module of a page is beside it; one in a bundle is not, and has to be told before the first element is shown. */
export function serveFrom(address) {
  if (LoopScope) LoopScope.home = new URL('.', new URL(address, globalThis.document?.baseURI)).href;
}

// Where it is called otherwise, or is no file of a site, it was bundled.
const own = String(import.meta.url).split(/[?#]/)[0];
if (LoopScope && !LoopScope.home && /^https?:.*\/embed\.mjs$/.test(own)) serveFrom(own);
