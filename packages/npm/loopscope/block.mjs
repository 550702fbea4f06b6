// A fenced block of Markdown as a <loop-scope> element: ```loopscope view=nodes, or ```yaml play view=nodes.

// Languages whose blocks are embedded if their info string has the word `play`.
const played = ['yaml', 'yml', 'kubernetes', 'k8s'];

/** The attributes of the element. */
export const attributeNames = [
  'src', 'hash', 'lesson', 'view', 'speed', 'pace', 'autoplay', 'start-at', 'loop', 'idle-time-limit', 'markers', 'pause-on-markers',
  'preload', 'poster', 'controls', 'fit', 'height', 'theme', 'title',
];

const word = /([^\s,{}="']+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s,{}"']*)))?(?=[\s,{}]|$)[\s,{}]*/y;

/** Splits an info string at blanks, commas and braces; `rest` is what cannot be read. */
function split(info) {
  const words = [];
  word.lastIndex = /^[\s,{}]*/.exec(info)[0].length;
  let end = word.lastIndex;
  for (let found; end < info.length && (found = word.exec(info)); end = word.lastIndex) {
    words.push([found[1], found[2] ?? found[3] ?? found[4] ?? null]);
  }
  return { words, rest: info.slice(end) };
}

/**
 * Returns the element that a block asks for, or null for a block that stays code; throws for an attribute that does not exist.
 * @param {string} info the words after the fence
 * @param {string} text the lines of the block
 */
export function embed(info, text) {
  const { words, rest } = split(info);
  if (!words.length || words[0][1] !== null) return null;
  const language = words.shift()[0];
  let attributes = words;
  if (language !== 'loopscope') {
    const isPlay = ([name, value]) => name === 'play' && value === null;
    if (!played.includes(language) || !words.some(isPlay)) return null;
    attributes = words.filter((one) => !isPlay(one));
  }
  if (rest) throw new Error(`loopscope: cannot read ${JSON.stringify(rest)} in ${JSON.stringify(info)}`);
  for (const [name] of attributes) {
    if (!attributeNames.includes(name)) throw new Error(`loopscope: there is no attribute ${JSON.stringify(name)}; there are ${attributeNames.join(', ')}`);
  }
  return { attributes, text: text.trimEnd() };
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text) => text.replace(/[&<>"]/g, (one) => escapes[one]);

/** Returns true if a picture can stand for a block: a manifest without a picture of its own. */
export function isDrawn({ attributes, text }) {
  return Boolean(text) && !/^lesson:/m.test(text) && attributes.every(([name]) => name !== 'poster');
}

/** Returns an image that needs no file, described by the title of the SVG. */
export function image(svg) {
  const title = (/<title>([^]*?)<\/title>/.exec(svg)?.[1] ?? '').trim().replace(/\s+/g, ' ');
  const alt = title.replace(/&(lt|gt|quot|amp);/g, (whole) => Object.keys(escapes).find((one) => escapes[one] === whole));
  return { src: `data:image/svg+xml,${encodeURIComponent(svg.trim())}`, alt };
}

/** Returns the HTML of an element; `extra` is written into its tag, `picture` is shown without JavaScript. */
export function html({ attributes, text }, extra = '', picture = null) {
  const open = attributes.map(([name, value]) => (value === null ? ` ${name}` : ` ${name}="${escape(value)}"`)).join('');
  const inner = [];
  if (picture) inner.push(`<img src="${picture.src}" alt="${escape(picture.alt)}">\n`);
  if (text) inner.push(`<pre>\n${escape(text)}\n</pre>\n`);
  return `<loop-scope${open}${extra}>${inner.length ? '\n' : ''}${inner.join('')}</loop-scope>`;
}
