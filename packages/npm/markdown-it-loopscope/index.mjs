// Turns fenced blocks into <loop-scope> elements: ```loopscope view=nodes, ```yaml play.
import { embed, html } from 'loopscope/block';
import { still } from 'loopscope/picture';

/**
 * @param {import('markdown-it').default} md
 * @param {{ extra?: string, command?: string | false, lang?: string }} options `extra` is written into the tag of each element; `command` draws
 *   pictures in a language, for readers without JavaScript: `loopscope` on the PATH by default, `false` for none
 */
export default function markdownItLoopscope(md, { extra = '', command, lang } = {}) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const found = embed(tokens[index].info, tokens[index].content);
    return found ? `${html(found, extra, still(found, { command, lang }))}\n` : fence(tokens, index, options, env, self);
  };
}
