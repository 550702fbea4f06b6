// YAML for the manifest's editor. A large text is parsed around what is in sight only: from the start of the document there, since
// CodeMirror takes more than a frame's time to parse what it wants to be ahead. What was left out is parsed when it comes into sight.
import { yamlLanguage } from '@codemirror/lang-yaml';
import { Language, LanguageSupport, ParseContext } from '@codemirror/language';
import { Parser, Tree } from '@lezer/common';

/** Characters of a text that is large. */
export const large = 200_000;

/** Characters parsed before and after what is in sight. */
const margin = 4_000;

/** Right after a paste the whole text is said to be in sight, which so many lines cannot be: nothing is parsed until it is known what is. */
const many = 1000;

/** How far back the start of a document is looked for. */
const back = 60_000;

/** Trees of a part of a text: nothing of them is used again once the text is no longer large. */
const partial = new WeakSet();

/** Where to begin to parse for a position: at the document there; of a very long one, such as a List, at a line that begins at its margin. */
function start(input, position) {
  const from = Math.max(0, position - back);
  const before = input.read(from, position);
  const separator = before.lastIndexOf('\n---');
  if (separator >= 0) return from + separator + 1;
  if (from === 0) return 0;
  const lines = [...before.slice(-margin * 4).matchAll(/\n(?=[^\s#])/g)];
  const nearest = lines.length ? lines.at(-1).index + before.length - Math.min(before.length, margin * 4) : before.lastIndexOf('\n');
  return from + nearest + 1;
}

/** Which part of a text is parsed for what is in sight. */
function part(input, { viewport: { from, to }, state }) {
  if (from === 0 && to >= input.length && state.doc.lines > many) return [0, 0];
  return [start(input, Math.max(0, from - margin)), Math.min(input.length, to + margin)];
}

class ParseInSight {
  constructor(input, context) {
    Object.assign(this, { input, context, end: input.length, stoppedAt: null });
    this.begin();
  }
  begin() {
    [this.from, this.to] = part(this.input, this.context);
    this.inner = this.to > this.from && yamlLanguage.parser.startParse(this.input, [], [{ from: this.from, to: this.to }]);
  }
  get parsedPos() { return this.inner ? this.inner.parsedPos : this.to; }
  stopAt(position) {
    this.stoppedAt = position;
    if (this.inner && position < this.to) this.inner.stopAt(Math.max(position, this.from));
  }
  advance() {
    const tree = this.inner ? this.inner.advance() : Tree.empty;
    if (!tree) return null;
    // What is in sight may have moved on meanwhile; where it moved down, the next parse is of that.
    const [from, to] = part(this.input, this.context);
    if ((from < this.from || to > this.to) && (this.stoppedAt === null || this.stoppedAt >= to)) {
      this.begin();
      return null;
    }
    if (this.from > 0) this.context.skipUntilInView(0, this.from);
    if (this.to < this.end) this.context.skipUntilInView(this.to, this.end);
    const whole = new Tree(yamlLanguage.parser.topNode, [tree], [this.from], this.stoppedAt ?? this.end);
    partial.add(whole);
    return whole;
  }
}

const inSight = new (class extends Parser {
  createParse(input, fragments, ranges) {
    const context = ParseContext.get();
    if (context && input.length >= large) return new ParseInSight(input, context);
    return yamlLanguage.parser.createParse(input, fragments.filter((one) => !partial.has(one.tree)), ranges);
  }
})();

export const yaml = () => new LanguageSupport(new Language(yamlLanguage.data, inSight, [], 'yaml'));
