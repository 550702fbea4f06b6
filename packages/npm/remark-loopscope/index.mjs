// Turns fenced blocks into <loop-scope> elements: ```loopscope view=nodes, ```yaml play.
import { embed } from 'loopscope/block';
import { visit } from 'unist-util-visit';

/**
 * @param {{ mdx?: boolean }} options `mdx`: the tree is compiled by MDX whatever the name of its file, as in Docusaurus; by default files
 *   named `.mdx` are
 */
export default function remarkLoopscope({ mdx } = {}) {
  return (tree, file) => {
    const isMdx = mdx ?? file.extname === '.mdx';
    visit(tree, 'code', (node, index, parent) => {
      let found;
      try {
        found = embed([node.lang, node.meta].filter(Boolean).join(' '), node.value);
      } catch (error) {
        file.fail(error.message, node);
      }
      if (found) parent.children[index] = isMdx ? jsx(found, node.position) : element(found, node.position);
    });
  };
}

/** A node that remark-rehype makes an element of: HTML need not be allowed. */
function element({ attributes, text }, position) {
  // The empty text would leave out what HTML knows as a flag.
  const properties = Object.fromEntries(attributes.map(([name, value]) => [name, value ?? true]));
  const manifest = text && [{ type: 'element', tagName: 'pre', properties: {}, children: [{ type: 'text', value: `${text}\n` }] }];
  return { type: 'loopScope', data: { hName: 'loop-scope', hProperties: properties, hChildren: manifest || [] }, children: [], position };
}

/** Elements as if written in the file, so that a theme does not replace <pre> by its own block of code. */
function jsx({ attributes, text }, position) {
  const explicit = (name, attributes, children) => ({ type: 'mdxJsxFlowElement', name, attributes, children, position, data: { _mdxExplicitJsx: true } });
  const list = attributes.map(([name, value]) => ({ type: 'mdxJsxAttribute', name, value }));
  // As text it would lose its indentation; remark-rehype keeps the value of a node that it does not know.
  return explicit('loop-scope', list, text ? [explicit('pre', [], [{ type: 'loopScopeManifest', value: `${text}\n` }])] : []);
}
