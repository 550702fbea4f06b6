// A plugin of Docusaurus: the page beside the site, and the script of the element. Blocks are turned into elements by `remark`, which the
// preset's `docs`, `blog` and `pages` take as one of their `remarkPlugins`.
import { join } from 'node:path';
import { copyTo, directory } from 'loopscope/assets';
import remarkLoopscope from 'remark-loopscope';

/** The entry for `remarkPlugins`. */
export const remark = [remarkLoopscope, { mdx: true }];

export default function loopscopePlugin({ baseUrl }, { folder = 'loopscope' } = {}) {
  const path = `${baseUrl}${folder}/`;
  return {
    name: 'docusaurus-plugin-loopscope',
    injectHtmlTags: () => ({
      headTags: [
        { tagName: 'style', innerHTML: 'loop-scope{display:block;margin:0 0 var(--ifm-leading)}loop-scope:not(:defined){min-height:420px}' },
        { tagName: 'script', attributes: { src: `${path}embed.js`, defer: true } },
      ],
    }),
    configureWebpack: (_, isServer) => (isServer ? {} : { devServer: { static: [{ directory, publicPath: path }] } }),
    postBuild: ({ outDir }) => copyTo(join(outDir, folder)),
  };
}
