// The configuration of a VitePress site with the plugin, the page beside the site, and the script on each page.
import loopscope from 'loopscope/vite';
import markdownItLoopscope from './index.mjs';

/** Adds Loopscope to a configuration: `export default withLoopscope(defineConfig({ … }))`. */
export function withLoopscope(config, { folder = 'loopscope', command } = {}) {
  const { base = '/', head = [], lang, markdown = {}, vite = {}, transformHead } = config;
  return {
    ...config,
    head: [...head, ['style', {}, 'loop-scope{display:block;margin:16px 0}loop-scope:not(:defined){min-height:420px}'], ['script', { src: `${base}${folder}/embed.js`, defer: '' }]],
    // A page with a block asks for the module while its own scripts are still on their way.
    async transformHead(context) {
      const own = (await transformHead?.(context)) ?? [];
      const preload = ['link', { rel: 'preload', as: 'fetch', crossorigin: '', href: `${base}${folder}/loopscope_bg.wasm` }];
      return /<loop-scope[ >]/.test(context.content) ? [...own, preload] : own;
    },
    markdown: {
      ...markdown,
      config(md) {
        markdown.config?.(md);
        // Vue leaves what is inside as it is: no component, no {{ expression }}.
        markdownItLoopscope(md, { extra: ' v-pre', command, lang });
      },
    },
    vite: { ...vite, plugins: [...(vite.plugins ?? []), loopscope({ folder, script: false })] },
  };
}
