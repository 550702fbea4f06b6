import type { PictureOptions } from 'loopscope/picture';

/** Turns fenced blocks of a `MarkdownIt` into `<loop-scope>` elements; `extra` is written into the tag of each. */
export default function markdownItLoopscope(md: { renderer: { rules: object } }, options?: PictureOptions & { extra?: string }): void;
