// Turns fenced blocks into <loop-scope> elements: ```loopscope view=nodes, ```yaml play.
import { embed } from 'loopscope/block';
import { still } from 'loopscope/picture';
import { visit } from 'unist-util-visit';

/**
 * @param {{ mdx?: boolean, command?: string | false, lang?: string }} options `mdx`: the tree is compiled by MDX whatever the name of its file, as
 *   in Docusaurus; by default files named `.mdx` are; `command` draws pictures in a language, for readers without JavaScript: `loopscope` on the
 *   PATH by default, `false` for none
 */
export default function remarkLoopscope({ mdx, command, lang } = {}) {
  return (tree, file) => {
    const isMdx = mdx ?? file.extname === '.mdx';
    visit(tree, 'code', (node, index, parent) => {
      let found;
      try {
        found = embed([node.lang, node.meta].filter(Boolean).join(' '), node.value);
      } catch (error) {
        file.fail(error.message, node);
      }
      if (!found) return;
      const picture = still(found, { command, lang });
      parent.children[index] = isMdx ? jsx(found, picture, node.position) : element(found, picture, node.position);
    });
  };
}

/** A node that remark-rehype makes an element of: HTML need not be allowed. */
function element({ attributes, text }, picture, position) {
  // The empty text would leave out what HTML knows as a flag.
  const properties = Object.fromEntries(attributes.map(([name, value]) => [name, value ?? true]));
  const inner = [];
  if (picture) inner.push({ type: 'element', tagName: 'img', properties: picture, children: [] });
  if (text) inner.push({ type: 'element', tagName: 'pre', properties: {}, children: [{ type: 'text', value: `${text}\n` }] });
  return { type: 'loopScope', data: { hName: 'loop-scope', hProperties: properties, hChildren: inner }, children: [], position };
}

/** Elements as if written in the file, so that a theme does not replace <pre> by its own block of code. */
function jsx({ attributes, text }, picture, position) {
  const explicit = (name, attributes, children) => ({ type: 'mdxJsxFlowElement', name, attributes, children, position, data: { _mdxExplicitJsx: true } });
  const list = (pairs) => pairs.map(([name, value]) => ({ type: 'mdxJsxAttribute', name, value }));
  const inner = [];
  if (picture) inner.push(explicit('img', list(Object.entries(picture)), []));
  // As text it would lose its indentation; remark-rehype keeps the value of a node that it does not know.
  if (text) inner.push(explicit('pre', [], [{ type: 'loopScopeManifest', value: `${text}\n` }]));
  return explicit('loop-scope', list(attributes), inner);
}
