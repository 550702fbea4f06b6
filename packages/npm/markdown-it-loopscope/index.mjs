// Turns fenced blocks into <loop-scope> elements: ```loopscope view=nodes, ```yaml play.
import { embed, html } from 'loopscope/block';

/**
 * @param {import('markdown-it').default} md
 * @param {{ extra?: string }} options `extra` is written into the tag of each element
 */
export default function markdownItLoopscope(md, { extra = '' } = {}) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const found = embed(tokens[index].info, tokens[index].content);
    return found ? `${html(found, extra)}\n` : fence(tokens, index, options, env, self);
  };
}
