// Previews: the page beside the text that it plays.
//
// The page is the single file of the build (page/single.html), written into a frame of the webview (`srcdoc`). A webview refuses what
// the other packages do: a frame may not navigate to the extension's files, and a server on the loopback interface is out of reach where
// the extension runs on another machine. A frame that is written takes the policy of the webview in addition to its own. That policy
// names the scripts of the page by their hashes, so that nothing else can run, whatever a manifest contains; the page requests nothing.
'use strict';
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { deflateSync } = require('node:zlib');
const vscode = require('vscode');
const { form, isName, namespaces, objects } = require('./documents');

/** Milliseconds after the last keystroke. */
const PAUSE = 500;
/** Script of the single file that says what it opens with. */
const CLOSED = 'window.loopscopeFile={"hash":"","query":""}';

const hash = (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
const attribute = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** Hashes of the scripts of the page: those that stand in it, and those that it adds from the files within. */
let hashes;
function pageHashes(extensionUri) {
  if (hashes) return hashes;
  const page = readFileSync(vscode.Uri.joinPath(extensionUri, 'page', 'single.html').fsPath, 'utf8');
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, script]) => script);
  const within = scripts.map((script) => /^Object\.assign\(window\.loopscopeFile,([^]*)\);$/.exec(script)).find(Boolean);
  if (!within || !scripts.includes(CLOSED)) throw new Error('page/single.html is not the single file of a build');
  hashes = [...scripts, ...Object.values(JSON.parse(within[1]).files)].map(hash).join(' ');
  return hashes;
}

/** What the page opens with: the text as a link, and how. */
function opening(text, theme) {
  const link = `#pako:${deflateSync(JSON.stringify({ v: 1, manifest: text })).toString('base64url')}`;
  const language = /^zh/i.test(vscode.env.language) ? 'zh' : 'en';
  return `window.loopscopeFile=${JSON.stringify({ hash: link, query: `?autoplay&theme=${theme}&lang=${language}` })}`;
}

function theme() {
  const { ColorThemeKind: kinds, window } = vscode;
  return [kinds.Light, kinds.HighContrastLight].includes(window.activeColorTheme.kind) ? 'light' : 'dark';
}

function html(webview, extensionUri, text) {
  const shell = readFileSync(vscode.Uri.joinPath(extensionUri, 'shell.js').fsPath, 'utf8');
  const opens = opening(text, theme());
  const policy = `default-src 'none'; script-src ${hash(shell)} ${hash(opens)} ${pageHashes(extensionUri)} 'wasm-unsafe-eval'; `
    + `style-src 'unsafe-inline'; img-src data:; connect-src ${webview.cspSource}`;
  const page = webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'page', 'single.html')).toString();
  return `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>html, body { height: 100%; margin: 0; padding: 0; overflow: hidden } iframe { display: block; width: 100%; height: 100%; border: 0 }</style>
</head>
<body data-page="${attribute(page)}" data-closed="${attribute(CLOSED)}" data-opening="${attribute(opens)}">
<iframe title="Loopscope" sandbox="allow-scripts allow-downloads"></iframe>
<script>${shell}</script>
</body>
</html>`;
}

/** A text and the page that plays it. */
class Preview {
  constructor(document, extensionUri, disposed) {
    this.document = document;
    this.text = this.opened = document.getText();
    this.objects = objects(this.text);
    this.namespaces = new Set();
    this.calls = new Map();
    this.number = 0;
    /** Updates, one after another. */
    this.updated = new Promise((resolve) => { this.ready = resolve; });
    const title = document.uri.path.split('/').pop();
    this.panel = vscode.window.createWebviewPanel('loopscope', title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {
      enableScripts: true,
      // The cluster goes on where it was when the panel is seen again.
      retainContextWhenHidden: true,
      localResourceRoots: [vscode.Uri.joinPath(extensionUri, 'page')],
    });
    this.panel.webview.onDidReceiveMessage((message) => this.hear(message));
    this.panel.onDidDispose(() => {
      clearTimeout(this.timer);
      this.isDisposed = true;
      this.forgetCalls();
      disposed();
    });
    this.panel.webview.html = html(this.panel.webview, extensionUri, this.text);
  }

  hear(message) {
    if (message.type === 'event' && message.event === 'ready') {
      // A page that starts again answers nothing of what was asked before, and is at the first text.
      this.forgetCalls();
      this.namespaces.clear();
      this.ready();
      // The first text was refused if it names namespaces that a new cluster does not have.
      this.update(this.text !== this.opened || namespaces(this.text).length > 0);
    }
    const call = this.calls.get(message.id);
    if (!call || !/^(result|error)$/.test(message.type)) return;
    this.calls.delete(message.id);
    call(message.type === 'result' ? message.value : null);
  }

  /** Gives up what was asked: nothing will be answered. */
  forgetCalls() {
    for (const call of this.calls.values()) call(null);
    this.calls.clear();
  }

  /**
   * Calls a method of the page (docs/messages.md); returns null where it fails, and once the panel is closed.
   * @returns {Promise<any>}
   */
  async call(method, ...args) {
    if (this.isDisposed) return null;
    const id = ++this.number;
    return new Promise((resolve) => {
      this.calls.set(id, resolve);
      this.panel.webview.postMessage({ loopscope: 1, type: 'call', id, method, args });
    });
  }

  /** Applies the text after a pause without further changes. */
  schedule() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PAUSE);
  }

  update(isForced = false) {
    this.updated = this.updated.then(async () => {
      const text = this.document.getText();
      if (text === this.text && !isForced) return;
      this.text = text;
      await (form(text) === 'lesson' ? this.updateLesson(text) : this.updateManifest(text));
    });
  }

  /** Applies the text to the cluster as it is, and deletes the objects that are no longer in it. */
  async updateManifest(text) {
    const missing = namespaces(text).filter((name) => !this.namespaces.has(name));
    for (const name of missing) {
      this.namespaces.add(name);
      await this.call('kubectl', `create namespace ${name}`);
    }
    // The service account of a namespace is there a moment later.
    if (missing.length) await pause(500);
    const answer = await this.call('apply', text);
    const key = ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`;
    const present = objects(text);
    const keys = new Set(present.map(key));
    const gone = this.objects.filter((one) => !keys.has(key(one)));
    // What is missing in a text that is refused in part may only be misspelled: it goes with the next text that is not.
    if (answer === null || /^line \d+: /m.test(answer)) {
      this.objects = [...present, ...gone];
      return;
    }
    this.objects = present;
    for (const { kind, namespace, name } of gone) {
      if (!isName(name) || !isName(kind.toLowerCase())) continue;
      const place = isName(namespace) ? ` --namespace=${namespace}` : '';
      await this.call('kubectl', `delete ${kind.toLowerCase()} ${name}${place} --ignore-not-found --wait=false`);
    }
  }

  /** Begins the lesson again, and goes on to the step that was open. */
  async updateLesson(text) {
    const before = await this.call('getLesson');
    await this.call('apply', text);
    for (let tries = 0; before && tries < 200; tries++) {
      const now = await this.call('getLesson');
      if (!now || now.step >= before.step || now.over) return;
      await this.call(now.phase === 'playing' ? 'hurry' : 'next');
      // A page refuses more than 50 calls a second.
      await pause(100);
    }
  }
}

/** Previews by the address of their text. */
class Previews {
  constructor(extensionUri) {
    this.extensionUri = extensionUri;
    /** @type {Map<string, Preview>} */
    this.open = new Map();
  }

  show(document) {
    const key = document.uri.toString();
    const open = this.open.get(key);
    if (open) open.panel.reveal(undefined, true);
    else this.open.set(key, new Preview(document, this.extensionUri, () => this.open.delete(key)));
  }

  schedule(document) {
    this.open.get(document.uri.toString())?.schedule();
  }

  /** Follows the theme of the editor. */
  recolor() {
    for (const preview of this.open.values()) preview.call('setTheme', theme());
  }

  dispose() {
    for (const preview of [...this.open.values()]) preview.panel.dispose();
  }
}

module.exports = { Previews };
