import type { Embed, Picture } from './block.mjs';

/** Who draws pictures, and how. */
export interface PictureOptions {
  /** The native command, `loopscope` on the PATH by default; `false` for no pictures. */
  command?: string | false;
  /** The language of the page: English unless it begins with `zh`. */
  lang?: string;
}

/** Returns the picture of a block, or null if it has none or cannot be drawn: a build never fails for it. */
export function still(embed: Embed, options?: PictureOptions): Picture | null;
