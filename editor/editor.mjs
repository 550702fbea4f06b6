// The manifest's editor, in a file of its own that the page loads when an editor is shown. What it knows of Kubernetes
// it asks the page for. It lives in a shadow root: there CodeMirror writes its styles into constructed sheets, which the
// page's policy allows, instead of into <style> elements, which it forbids.
import { autocompletion, completionKeymap, startCompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, codeFolding, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { closeSearchPanel, highlightSelectionMatches, openSearchPanel, search, searchKeymap, searchPanelOpen } from '@codemirror/search';
import { Compartment, EditorState, Prec, RangeSet, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutterLineClass, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { large, yaml } from './yaml.mjs';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--c-key)' },
  { tag: [tags.string, tags.content, tags.attributeValue], color: 'var(--c-str)' },
  { tag: tags.comment, color: 'var(--c-com)' },
  { tag: [tags.keyword, tags.typeName, tags.labelName, tags.meta], color: 'var(--c-kw)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--c-punct)' },
]);


const mono = 'var(--font-mono)';
const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', color: 'var(--text)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none', boxShadow: 'inset 0 0 0 2px var(--accent-line)' },
  '.cm-scroller': { fontFamily: mono, lineHeight: '20px', overflow: 'auto', fontVariantLigatures: 'none' },
  '.cm-content': { padding: '8px 0 40px', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 24px 0 2px' },
  '.cm-content ::selection, .cm-line::selection': { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)' },
  // Long lines are scrolled under it.
  '.cm-gutters': { backgroundColor: 'var(--surface)', border: 'none', color: 'var(--text-3)', fontFamily: mono },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '26px', padding: '0 2px 0 0' },
  '.cm-foldGutter .cm-gutterElement': { width: '12px', padding: '0', textAlign: 'center', cursor: 'pointer' },
  '.cm-foldGutter .cm-gutterElement span[title="Fold line"]': { opacity: '0' },
  '.cm-gutters:hover span[title="Fold line"]': { opacity: '1' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--surface-3)', border: '1px solid var(--border)', color: 'var(--text-2)', padding: '0 4px' },
  '.ls-number': { color: 'var(--c-num)' },
  '.ls-word': { color: 'var(--c-kw)' },
  '.ls-hot': { backgroundColor: 'var(--accent-soft)' },
  '.ls-bad': { backgroundColor: 'var(--st-failed-soft)' },
  '.ls-warn': { backgroundColor: 'var(--st-notready-soft)' },
  '.cm-lineNumbers .ls-hot': { boxShadow: 'inset 2px 0 var(--accent)' },
  '.cm-lineNumbers .ls-bad': { boxShadow: 'inset 2px 0 var(--st-failed)' },
  '.cm-lineNumbers .ls-warn': { boxShadow: 'inset 2px 0 var(--st-notready)' },
  '.cm-lintRange': { backgroundImage: 'none', paddingBottom: '0' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--st-failed) 1.25px', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { textDecoration: 'underline wavy var(--st-notready) 1.25px', textUnderlineOffset: '3px' },
  '.ls-room': { padding: '4px 12px 4px 2px' },
  '.ls-says': { position: 'sticky', left: '46px', boxSizing: 'border-box', padding: '8px', borderRadius: '6px', border: '1px solid color-mix(in srgb, var(--st-failed) 35%, transparent)',
    backgroundColor: 'var(--st-failed-soft)', color: 'var(--st-failed-text)', whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: '16px', maxWidth: 'min(560px, 100cqw - 56px)' },
  '.ls-says.warn': { borderColor: 'color-mix(in srgb, var(--st-notready) 45%, transparent)', backgroundColor: 'var(--st-notready-soft)', color: 'var(--st-notready-text)' },
  '.ls-says button': { font: 'inherit', color: 'inherit', background: 'none', border: '0', padding: '0', textDecoration: 'underline', textUnderlineOffset: '2px', cursor: 'pointer' },
  '.ls-says small': { display: 'block', font: '12px/16px var(--font-ui)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--border)', borderRadius: '8px', boxShadow: 'var(--sh-3)', font: '12px/18px var(--font-ui)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: mono, maxHeight: '220px', padding: '4px' },
  '.cm-tooltip-autocomplete ul li': { borderRadius: '4px', padding: '2px 6px', display: 'flex', gap: '12px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--accent-text)' },
  '.cm-completionDetail': { marginLeft: 'auto', fontStyle: 'normal', color: 'var(--text-3)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.ls-about': { padding: '6px 10px', maxWidth: '280px' },
  '.ls-about b': { fontFamily: mono, fontWeight: '600', overflowWrap: 'anywhere' },
  '.ls-about small': { display: 'block', color: 'var(--text-3)', fontSize: '11px' },
  '.cm-tooltip-lint': { padding: '0' },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: mono, borderLeft: '0', maxWidth: '320px', overflowWrap: 'anywhere' },
  '.cm-panels': { backgroundColor: 'var(--surface-2)', color: 'var(--text)', borderBottom: '1px solid var(--border)' },
  '.cm-panel.cm-search': { padding: '6px 24px 6px 8px', font: '12px/20px var(--font-ui)' },
  '.cm-panel.cm-search label': { fontSize: '11px', color: 'var(--text-2)' },
  '.cm-textfield, .cm-button': { font: '12px/16px var(--font-ui)', color: 'var(--text)', backgroundColor: 'var(--surface)', backgroundImage: 'none', border: '1px solid var(--border-strong)', borderRadius: '4px', padding: '3px 6px' },
  '.cm-button': { cursor: 'pointer' },
  '.cm-textfield:focus-visible, .cm-button:focus-visible, .ls-says button:focus-visible': { outline: 'none', boxShadow: 'var(--focus)' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text-2)', fontSize: '16px' },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--st-notready) 30%, transparent)' },
  '.cm-searchMatch-selected': { backgroundColor: 'color-mix(in srgb, var(--accent) 40%, transparent)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--surface-3)' },
});

// Plain scalars that YAML reads as something else than text: numbers (also with a unit) and words.
const number = /^[-+]?\d[\d_.]*(?:[a-zA-Z]{1,2}|%)?$/;
const word = /^(?:true|false|null|~)$/;
const scalars = ViewPlugin.fromClass(class {
  constructor(view) { this.decorations = this.read(view); }
  update(update) {
    if (update.docChanged || update.viewportChanged || syntaxTree(update.startState) !== syntaxTree(update.state)) this.decorations = this.read(update.view);
  }
  read(view) {
    const marks = new RangeSetBuilder();
    for (const { from, to } of view.visibleRanges) {
      syntaxTree(view.state).iterate({ from, to, enter: (node) => {
        if (node.name !== 'Literal' || node.matchContext(['Key'])) return;
        const text = view.state.sliceDoc(node.from, node.to);
        const kind = number.test(text) ? 'ls-number' : word.test(text) ? 'ls-word' : '';
        if (kind) marks.add(node.from, node.to, Decoration.mark({ class: kind }));
      } });
    }
    return marks.finish();
  }
}, { decorations: (plugin) => plugin.decorations });

/** What is wrong, in a block under its line, with the repair that is known. */
class Says extends WidgetType {
  constructor(diagnostic, index, on) { super(); Object.assign(this, { diagnostic, index, on }); }
  eq(other) { return other.index === this.index && JSON.stringify(other.diagnostic) === JSON.stringify(this.diagnostic); }
  toDOM(view) {
    const { message, error, reason, offer } = this.diagnostic;
    const box = document.createElement('div');
    box.className = error ? 'ls-says' : 'ls-says warn';
    box.append(message);
    if (offer) {
      const row = document.createElement('small');
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = offer;
      button.onclick = () => this.on.repair(this.index);
      row.append(`${reason} `, button);
      box.append(row);
    }
    // CodeMirror does not see margins: the room around the box belongs to a box of its own.
    const room = document.createElement('div');
    room.className = 'ls-room';
    room.append(box);
    return room;
  }
  ignoreEvent() { return true; }
}

const told = StateEffect.define();
const shows = StateEffect.define();

const gutters = Object.fromEntries(['ls-hot', 'ls-bad', 'ls-warn'].map((css) => [css, new (class extends GutterMarker { elementClass = css; })()]));

/** Lines on either side of what is in sight whose colours are kept ready: of a manifest of a hundred thousand all would take a while. */
const around = 1000;
const nearby = ({ state, viewport }) => [viewport.from, viewport.to].map((at) => state.doc.lineAt(at).number);

/**
 * Colours of whole lines, and the blocks under them. `hot`: where runs of lines begin and end; `near`: the lines in sight;
 * `live`: found while typing, so nothing opens beside the cursor, but for what was asked for, in the line `shown`.
 */
const blocks = (on) => StateField.define({
  create: () => ({ all: [], hot: [], near: [1, 1], live: false, shown: 0, marks: Decoration.none, numbers: RangeSet.empty }),
  update(value, transaction) {
    let [next, shown] = [value, transaction.docChanged ? 0 : value.shown];
    for (const effect of transaction.effects) {
      if (effect.is(told)) next = effect.value;
      if (effect.is(shows)) shown = effect.value;
    }
    const moved = next.live && transaction.selection;
    if (next !== value || shown !== value.shown || moved) return { ...next, shown, ...draw(transaction.state, { ...next, shown }, on) };
    if (!transaction.docChanged) return value;
    return { ...value, marks: value.marks.map(transaction.changes), numbers: value.numbers.map(transaction.changes) };
  },
  provide: (field) => [EditorView.decorations.from(field, (value) => value.marks), gutterLineClass.from(field, (value) => value.numbers)],
});

function draw(state, { all, hot, near, live, shown }, on) {
  const lines = new Map();
  for (let run = 0; run < hot.length; run += 2) {
    const last = Math.min(hot[run + 1], near[1] + around);
    for (let line = Math.max(hot[run], near[0] - around); line <= last; line++) lines.set(line, { css: 'ls-hot', says: [] });
  }
  for (const [index, diagnostic] of all.entries()) {
    const at = lines.get(diagnostic.line);
    const row = at && at.css !== 'ls-hot' ? at : { css: 'ls-warn', says: [] };
    if (diagnostic.error) row.css = 'ls-bad';
    row.says.push([diagnostic, index]);
    lines.set(diagnostic.line, row);
  }
  const here = state.doc.lineAt(state.selection.main.head).number;
  const [marks, numbers] = [new RangeSetBuilder(), new RangeSetBuilder()];
  for (const [number, { css, says }] of [...lines].sort((a, b) => a[0] - b[0])) {
    if (number < 1 || number > state.doc.lines) continue;
    const line = state.doc.line(number);
    marks.add(line.from, line.from, Decoration.line({ class: css }));
    numbers.add(line.from, line.from, gutters[css]);
    if (live && number !== shown && (number === here || number === here + 1)) continue;
    for (const [diagnostic, index] of says) marks.add(line.to, line.to, Decoration.widget({ widget: new Says(diagnostic, index, on), block: true, side: 1 }));
  }
  return { marks: marks.finish(), numbers: numbers.finish() };
}

/** Columns count characters; positions count UTF-16 units. */
function place(line, column) {
  return line.from + [...line.text].slice(0, column).join('').length;
}

function ranges(doc, all) {
  return all.filter((one) => one.line >= 1 && one.line <= doc.lines).map((one) => {
    const line = doc.line(one.line);
    const first = line.from + line.text.length - line.text.trimStart().length;
    const [from, to] = one.columns[1] > one.columns[0] ? one.columns.map((column) => place(line, column)) : [first, line.to];
    return { from, to: Math.max(from, to), severity: one.error ? 'error' : 'warning', message: one.message };
  });
}

function at(state, pos) {
  const line = state.doc.lineAt(pos);
  return [state.doc.toString(), line.number, [...line.text.slice(0, pos - line.from)].length];
}

const complete = (on) => (context) => {
  const before = context.matchBefore(/[\w.\-/]*/);
  if (!context.explicit && (!before || before.from === before.to)) return null;
  const offers = on.offers(...at(context.state, context.pos));
  // In a program a word begins after the dot.
  const replaces = offers[0]?.[4] ?? '';
  const options = offers.map(([label, detail, tail, info]) => ({
    label, detail, type: 'property', ...(info && { info }),
    apply: (view, _, from, to) => {
      const indent = /^[ -]*/.exec(view.state.doc.lineAt(from).text)[0].length;
      const insert = label + tail.replaceAll('\n', `\n${' '.repeat(indent)}`);
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input.complete' });
    },
  }));
  if (!options.length) return null;
  if (replaces) return { from: context.pos - Number(replaces), options, validFor: /^\w*$/ };
  return { from: before ? before.from : context.pos, options, validFor: /^[\w.\-/]*$/ };
};

const about = (on) => hoverTooltip((view, pos) => {
  const line = view.state.doc.lineAt(pos);
  const found = on.about(...at(view.state, pos));
  if (!found.length) return null;
  const from = line.from + line.text.length - line.text.trimStart().length;
  return { pos: from, above: true, create: () => {
    const dom = document.createElement('div');
    dom.className = 'ls-about';
    const name = document.createElement('b');
    name.textContent = found[0];
    const type = document.createElement('small');
    type.textContent = found[1];
    dom.append(name, type);
    return { dom };
  } };
}, { hoverTime: 300 });

/** A new line stands where the last one began; below a key without a value, two further in. */
function enter(view) {
  const { state } = view;
  const range = state.selection.main;
  const line = state.doc.lineAt(range.from);
  const before = line.text.slice(0, range.from - line.from);
  const indent = /^ */.exec(before)[0] + (/^ *- +[^ ]/.test(before) ? ' '.repeat(/^ *(- +)/.exec(before)[1].length) : '') + (/:\s*$/.test(before) ? '  ' : '');
  view.dispatch(state.replaceSelection(state.lineBreak + indent), { scrollIntoView: true, userEvent: 'input' });
  return true;
}

/** When the browser has drawn what has changed; out of sight it draws nothing. */
function drawn(then) {
  if (document.hidden) setTimeout(then);
  else requestAnimationFrame(() => setTimeout(then));
}

/** Makes an editor in `host`. `on`: text, words, and edit (with the text in UTF-8), apply, repair, offers, about. */
function mount(host, on) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true });
  let news = 0, looks = 0, edits = 0, pasted = null, quiet = false;
  // A large text is told in a task of its own: to paste it is enough for one.
  const edited = () => {
    clearTimeout(edits);
    edits = 0;
    on.edit(bytes());
  };
  const bytes = () => new TextEncoder().encode(view.state.doc.toString());
  // A large text that is pasted is cut into lines in one task, and comes into the document in the next; a key, or what is pasted then,
  // comes after it.
  const takes = (text) => {
    pasted = { text };
    setTimeout(() => { if (pasted) pasted.doc = view.state.toText(pasted.text); setTimeout(taken); });
  };
  const taken = () => {
    const { text, doc } = pasted ?? {};
    pasted = null;
    if (text) view.dispatch(view.state.replaceSelection(doc ?? view.state.toText(text)), { userEvent: 'input.paste', scrollIntoView: true });
  };
  const shown = blocks(on);
  const language = new Compartment();
  const spoken = () => [
    EditorState.phrases.of(on.words().phrases),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': on.words().label, spellcheck: 'false', autocapitalize: 'off' }),
  ];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: on.text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => { if (edits) edited(); on.apply(); return true; } }])),
        lineNumbers(), codeFolding(), foldGutter({ openText: '⌄', closedText: '›' }), history(), indentOnInput(), indentUnit.of('  '),
        yaml(), syntaxHighlighting(colours), Prec.highest(scalars), theme, search({ top: true }), highlightSelectionMatches(), shown,
        autocompletion({ override: [complete(on)], icons: false }), about(on),
        keymap.of([...completionKeymap, ...searchKeymap, ...foldKeymap, ...historyKeymap, { key: 'Enter', run: enter }, ...defaultKeymap, indentWithTab]),
        language.of(spoken()),
        Prec.highest(EditorView.domEventHandlers({
          drop: (event) => !!event.dataTransfer?.files.length,
          keydown: () => { taken(); return false; },
          paste: (event) => {
            taken();
            const text = event.clipboardData?.getData('text/plain') ?? '';
            if (text.length < large) return false;
            takes(text);
            return true;
          },
        })),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !quiet && update.state.doc.length < large) on.edit(bytes());
          else if (update.docChanged && !quiet) edits ||= setTimeout(edited);
          if (update.viewportChanged) look();
        }),
      ],
    }),
  });
  // The first thing in the root that may have the focus is the scroller.
  host.focus = () => view.focus();
  // Where other lines come into sight, those have their colours next.
  const look = () => {
    clearTimeout(looks);
    looks = setTimeout(() => {
      const [known, near] = [view.state.field(shown), nearby(view)];
      if (near[0] < known.near[0] - around / 2 || near[1] > known.near[1] + around / 2) view.dispatch({ effects: told.of({ ...known, near }) });
    });
  };
  // The page's own keys rest while one types.
  const keys = (event) => {
    if (event.key !== 'F6') event.stopPropagation();
    // After Escape the next Tab leaves, however late it comes.
    if (event.key === 'Escape') view.setTabFocusMode(86_400_000);
  };
  host.addEventListener('keydown', keys);
  // Another language: a panel's words are those of its opening, so it is opened anew.
  const speaks = () => {
    const panel = searchPanelOpen(view.state);
    const focus = root.activeElement;
    view.dispatch({ effects: language.reconfigure(spoken()) });
    if (!panel) return;
    closeSearchPanel(view);
    openSearchPanel(view);
    if (focus) root.querySelector(`[name="${focus.getAttribute('name')}"]`)?.focus();
    else root.activeElement?.blur();
  };
  window.addEventListener('loopscope-language', speaks);
  return {
    set(text) {
      // What was typed since is newer.
      if (edits || pasted || text === view.state.doc.toString()) return;
      quiet = true;
      const head = Math.min(view.state.selection.main.head, text.length);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: head } });
      quiet = false;
    },
    // In a task of its own, after the frame: what is told comes with a picture, and the browser lays that out where the selection is read.
    tell(all, hot, live) {
      const own = ++news;
      drawn(() => {
        if (own === news) view.dispatch(setDiagnostics(view.state, ranges(view.state.doc, all)), { effects: told.of({ all, hot, near: nearby(view), live }) });
      });
    },
    select(from, to) {
      const [anchor, head] = [from, to].map((at) => Math.min(at, view.state.doc.length));
      view.dispatch({ selection: { anchor, head }, effects: EditorView.scrollIntoView(anchor, { y: 'nearest', yMargin: 40 }) });
      view.focus();
    },
    // To a problem, which is told beside the cursor too.
    show(at) {
      this.select(at, at);
      view.dispatch({ effects: shows.of(view.state.doc.lineAt(Math.min(at, view.state.doc.length)).number) });
    },
    offer: () => startCompletion(view),
    destroy() {
      clearTimeout(edits);
      news++;
      pasted = null;
      clearTimeout(looks);
      host.removeEventListener('keydown', keys);
      window.removeEventListener('loopscope-language', speaks);
      view.destroy();
    },
  };
}

window.loopscopeEditor = { mount };
