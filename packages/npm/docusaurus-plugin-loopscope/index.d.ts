import type { LoadContext, Plugin } from '@docusaurus/types';

/** The entry for `remarkPlugins` of the preset's `docs`, `blog` and `pages`. */
export const remark: [plugin: typeof import('remark-loopscope').default, options: { mdx: true }];

/** Serves the page beside the site, and loads the script of the element. */
export default function loopscopePlugin(context: LoadContext, options?: { folder?: string }): Plugin;
