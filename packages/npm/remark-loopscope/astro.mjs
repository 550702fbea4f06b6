// An integration of Astro: the remark plugin, the page beside the site, and the script on each page.
import loopscope from 'loopscope/vite';
import remarkLoopscope from './index.mjs';

/**
 * @param {{ folder?: string, command?: string | false, lang?: string }} options `folder`: that of the page within the site, `loopscope` by default;
 *   the others are those of the remark plugin
 */
export default function loopscopeAstro({ folder = 'loopscope', command, lang } = {}) {
  return {
    name: 'loopscope',
    hooks: {
      'astro:config:setup'({ config, injectScript, updateConfig }) {
        const script = `${config.base.replace(/\/?$/, '/')}${folder}/embed.js`;
        updateConfig({ markdown: { remarkPlugins: [[remarkLoopscope, { command, lang }]] }, vite: { plugins: [loopscope({ folder, script: false })] } });
        // Pages without an element do not load it.
        injectScript('page', `if (document.querySelector('loop-scope')) document.head.append(Object.assign(document.createElement('script'), { src: ${JSON.stringify(script)} }));`);
      },
    },
  };
}
