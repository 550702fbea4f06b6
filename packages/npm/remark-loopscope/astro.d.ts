import type { AstroIntegration } from 'astro';

/** The remark plugin, the page beside the site, and the script on each page that has an element. */
export default function loopscopeAstro(options?: { folder?: string; command?: string | false; lang?: string }): AstroIntegration;
