import type { PictureOptions } from 'loopscope/picture';
import type { Root } from 'mdast';
import type { VFile } from 'vfile';

/** Options of the plugin. */
export interface RemarkLoopscopeOptions extends PictureOptions {
  /** True if MDX compiles the tree whatever the name of its file, as in Docusaurus; by default files named `.mdx` are. */
  mdx?: boolean;
}

/** Turns fenced blocks into `<loop-scope>` elements. */
export default function remarkLoopscope(options?: RemarkLoopscopeOptions): (tree: Root, file: VFile) => void;
