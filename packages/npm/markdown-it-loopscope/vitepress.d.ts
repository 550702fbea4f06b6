import type { UserConfig } from 'vitepress';

/** Adds the plugin, the page beside the site, and the script on each page to a configuration. */
export function withLoopscope<Theme>(config: UserConfig<Theme>, options?: { folder?: string; command?: string | false }): UserConfig<Theme>;
