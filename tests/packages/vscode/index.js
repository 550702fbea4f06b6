// A stand-in for the module `vscode`: as much of VS Code's API as the extension uses, with what the editor does at the other side under
// `standIn`. It is found as node_modules/vscode beside the unpacked extension.
'use strict';
const { EventEmitter: Emitter } = require('node:events');
const { readFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

class Disposable {
  constructor(dispose) { this.dispose = dispose; }
}

class EventEmitter {
  constructor() {
    this.emitter = new Emitter();
    this.event = (listener) => {
      this.emitter.on('event', listener);
      return new Disposable(() => this.emitter.off('event', listener));
    };
  }
  fire(value) { this.emitter.emit('event', value); }
  dispose() { this.emitter.removeAllListeners(); }
}

class Uri {
  constructor(url) { this.url = url; }
  static file(path) { return new Uri(pathToFileURL(path)); }
  static from({ scheme, path, query }) {
    const url = new URL(`${scheme}:${path}`);
    url.search = query;
    return new Uri(url);
  }
  static joinPath(uri, ...names) { return Uri.file(join(uri.fsPath, ...names)); }
  get path() { return decodeURIComponent(this.url.pathname); }
  get fsPath() { return fileURLToPath(this.url); }
  toString() { return this.url.href; }
}

class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
}
class Range {
  constructor(line, character, endLine, endCharacter) {
    this.start = new Position(line, character);
    this.end = new Position(endLine, endCharacter);
  }
}
class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}
class MarkdownString {
  constructor(value) { this.value = value; }
}
class Hover {
  constructor(contents) { this.contents = contents; }
}

/** A document of the editor. */
class Document {
  constructor(path, text) {
    this.uri = Uri.file(path);
    this.languageId = /\.ya?ml$/.test(path) ? 'yaml' : 'plaintext';
    this.text = text;
  }
  getText() { return this.text; }
  get lineCount() { return this.text.split('\n').length; }
  lineAt(line) {
    const text = this.text.split('\n')[line];
    const first = text.search(/\S/);
    return { text, range: new Range(line, 0, line, text.length), firstNonWhitespaceCharacterIndex: first < 0 ? text.length : first };
  }
}

const on = Object.fromEntries(['open', 'save', 'close', 'change', 'configuration', 'editor', 'theme', 'panel'].map((name) => [name, new EventEmitter()]));

/** What the editor has and shows. */
const standIn = {
  on, Document,
  commands: new Map(), contexts: {}, settings: {}, told: [], panels: [], shown: [], hovers: [], providers: new Map(), extensions: {},
  /** @type {Map<string, Diagnostic[]>} */
  problems: new Map(),
  open(path, text) {
    const document = new Document(path, text);
    workspace.textDocuments.push(document);
    on.open.fire(document);
    return document;
  },
  /** Shows a document in the editor, with the cursor in a line from 0. */
  edit(document, line = 0) {
    window.activeTextEditor = { document, selection: { active: new Position(line, 0) } };
    on.editor.fire(window.activeTextEditor);
  },
  type(document, text) {
    document.text = text;
    on.change.fire({ document });
  },
};

class Webview {
  constructor() {
    this.fromPage = new EventEmitter();
    this.onDidReceiveMessage = this.fromPage.event;
    this.posted = [];
  }
  get cspSource() { return standIn.resources; }
  asWebviewUri(uri) { return { toString: () => `${standIn.resources}/${basename(uri.fsPath)}` }; }
  // Who shows the page passes it on; what was said before that is lost, as in a webview.
  postMessage(message) {
    if (this.isDisposed) throw new Error('Webview is disposed');
    this.posted.push(message);
    this.toPage?.(message);
  }
}

const window = {
  activeTextEditor: undefined,
  activeColorTheme: { kind: 2 },
  onDidChangeActiveTextEditor: on.editor.event,
  onDidChangeActiveColorTheme: on.theme.event,
  createWebviewPanel(type, title, column, options) {
    const disposed = new EventEmitter();
    const panel = { type, title, column, options, webview: new Webview(), reveals: 0, reveal() { this.reveals++; }, onDidDispose: disposed.event, dispose: () => { panel.webview.isDisposed = true; disposed.fire(); } };
    standIn.panels.push(panel);
    return panel;
  },
};
for (const kind of ['Information', 'Warning', 'Error']) {
  window[`show${kind}Message`] = async (message, ...actions) => {
    standIn.told.push({ kind, message, actions });
    return undefined;
  };
}

const workspace = {
  textDocuments: [],
  onDidOpenTextDocument: on.open.event, onDidSaveTextDocument: on.save.event, onDidCloseTextDocument: on.close.event,
  onDidChangeTextDocument: on.change.event, onDidChangeConfiguration: on.configuration.event,
  async openTextDocument(uri) {
    return workspace.textDocuments.find((one) => one.uri.toString() === uri.toString()) ?? standIn.open(uri.fsPath, readFileSync(uri.fsPath, 'utf8'));
  },
  getConfiguration: (section) => ({ get: (name) => standIn.settings[`${section}.${name}`] }),
  registerTextDocumentContentProvider(scheme, provider) {
    standIn.providers.set(scheme, provider);
    return new Disposable(() => standIn.providers.delete(scheme));
  },
};

module.exports = {
  standIn, Disposable, EventEmitter, Uri, Position, Range, Diagnostic, MarkdownString, Hover, window, workspace,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  ColorThemeKind: { Light: 1, Dark: 2, HighContrast: 3, HighContrastLight: 4 },
  ViewColumn: { Active: -1, Beside: -2 },
  env: { language: 'en' },
  l10n: { t: (text, ...values) => text.replace(/\{(\d)\}/g, (_, at) => values[at]) },
  extensions: { getExtension: (id) => standIn.extensions[id] },
  commands: {
    registerCommand(name, run) {
      standIn.commands.set(name, run);
      return new Disposable(() => standIn.commands.delete(name));
    },
    async executeCommand(name, ...values) {
      if (name === 'setContext') standIn.contexts[values[0]] = values[1];
      else if (name === 'markdown.showPreviewToSide') standIn.shown.push(standIn.providers.get(values[0].url.protocol.slice(0, -1)).provideTextDocumentContent(values[0]));
      else return standIn.commands.get(name)(...values);
      return undefined;
    },
  },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, list) => standIn.problems.set(uri.toString(), list), delete: (uri) => standIn.problems.delete(uri.toString()), dispose: () => standIn.problems.clear(),
    }),
    registerHoverProvider(selector, provider) {
      standIn.hovers.push({ selector, provider });
      return new Disposable(() => {});
    },
  },
};
