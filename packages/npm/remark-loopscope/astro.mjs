// An integration of Astro: the remark plugin, the page beside the site, and the script on each page.
import loopscope from 'loopscope/vite';
import remarkLoopscope from './index.mjs';

/** @param {{ folder?: string }} options the folder of the page within the site, `loopscope` by default */
export default function loopscopeAstro({ folder = 'loopscope' } = {}) {
  return {
    name: 'loopscope',
    hooks: {
      'astro:config:setup'({ config, injectScript, updateConfig }) {
        const script = `${config.base.replace(/\/?$/, '/')}${folder}/embed.js`;
        updateConfig({ markdown: { remarkPlugins: [remarkLoopscope] }, vite: { plugins: [loopscope({ folder, script: false })] } });
        // Pages without an element do not load it.
        injectScript('page', `if (document.querySelector('loop-scope')) document.head.append(Object.assign(document.createElement('script'), { src: ${JSON.stringify(script)} }));`);
      },
    },
  };
}
