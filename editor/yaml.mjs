// YAML for the manifest's editor. A large text is parsed around what is in sight only: from the start of the document there, since
// CodeMirror takes more than a frame's time to parse what it wants to be ahead. What was left out is parsed when it comes into sight.
import { yamlLanguage } from '@codemirror/lang-yaml';
import { Language, LanguageSupport, ParseContext } from '@codemirror/language';
import { Parser, Tree } from '@lezer/common';

/** Characters of a text that is large. */
export const large = 200_000;

/** Characters parsed before and after what is in sight. */
const margin = 4_000;

/** More cannot be in sight: right after a paste the whole text is said to be, and its beginning will do. */
const most = 20_000;
const beginning = 2_000;

/** Where the YAML document around a position begins. */
function documentStart(input, position) {
  for (let to = position; to > 0; to -= margin) {
    const from = Math.max(0, to - margin);
    // A little more, so that a separator across two pieces is found.
    const found = input.read(from, Math.min(to + 4, input.length)).lastIndexOf('\n---');
    if (found >= 0 && from + found < position) return from + found + 1;
  }
  return 0;
}

class ParseInSight {
  constructor(input, { viewport }) {
    this.end = input.length;
    this.from = documentStart(input, Math.max(0, viewport.from - margin));
    this.to = Math.min(this.end, viewport.to - viewport.from > most ? viewport.from + beginning : viewport.to + margin);
    this.stoppedAt = null;
    this.inner = yamlLanguage.parser.startParse(input, [], [{ from: this.from, to: this.to }]);
  }
  get parsedPos() { return this.inner.parsedPos; }
  stopAt(position) {
    this.stoppedAt = position;
    if (position < this.to) this.inner.stopAt(Math.max(position, this.from));
  }
  advance() {
    const tree = this.inner.advance();
    if (!tree) return null;
    const context = ParseContext.get();
    if (this.from > 0) context?.skipUntilInView(0, this.from);
    if (this.to < this.end) context?.skipUntilInView(this.to, this.end);
    return new Tree(yamlLanguage.parser.topNode, [tree], [this.from], this.stoppedAt ?? this.end);
  }
}

const inSight = new (class extends Parser {
  createParse(input, fragments, ranges) {
    const context = ParseContext.get();
    return context && input.length >= large ? new ParseInSight(input, context) : yamlLanguage.parser.createParse(input, fragments, ranges);
  }
})();

export const yaml = () => new LanguageSupport(new Language(yamlLanguage.data, inSight, [], 'yaml'));
