// Why: state, causes and remedies of an object of a manifest, from a cluster of its own to which the manifest is applied.
'use strict';
const vscode = require('vscode');
const { Cluster } = require('./command');
const { namespaces, objects } = require('./documents');

const SCHEME = 'loopscope-why';
/** Milliseconds that a cluster waits for further questions. */
const IDLE = 60_000;

/** Text that Markdown leaves alone, in one line. */
const plain = (text) => String(text).replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>()#|~!&]/g, '\\$&');
const code = (text) => `\`${String(text).replace(/`/g, "'").replace(/\s+/g, ' ')}\``;

/** The object whose lines hold a line, from 0. */
function objectAt(text, line) {
  return objects(text).find((one) => one.name && one.first <= line && line <= one.last);
}

/** Name of an object in `/loopscope/why/…`. */
function path({ kind, namespace, name }) {
  return [kind, ...(namespace ? [namespace] : []), name].map(encodeURIComponent).join('/');
}

function stateLine({ state }) {
  return `**${plain(state)}**`;
}

function remedyLines({ remedy, commands, helps }) {
  const mark = helps ? vscode.l10n.t('✓ tried: helps') : vscode.l10n.t('✗ tried: does not help alone');
  const lines = commands.map((command) => `\n    - ${code(command)}`);
  return `  - ${mark}: ${plain(remedy)}${lines.join('')}`;
}

function waitLines({ object, condition, facts, remedies }) {
  const known = facts.map(({ name, value }) => `  - ${plain(name)}: ${plain(value)}`);
  return [`- ${plain(object)}: ${plain(condition)}`, ...known, ...remedies.map(remedyLines)];
}

/** Each remedy once: where it is nearest to the root, which comes last. */
function withoutRepeats(waits) {
  return waits.map((one, at) => {
    const later = new Set(waits.slice(at + 1).flatMap((other) => other.remedies.map(({ remedy }) => remedy)));
    return { ...one, remedies: one.remedies.filter(({ remedy }) => !later.has(remedy)) };
  });
}

/** The causes as a table, newest first. */
function causeLines(causes) {
  const t = vscode.l10n.t;
  const rows = causes.map(({ seconds, actor, effect, reason, facts }) => {
    const known = facts.map(({ name, value }) => `${name} ${value}`).join(', ');
    return `| ${seconds} | ${plain(actor)} | ${plain(effect)} | ${plain(reason)}${known ? ` (${plain(known)})` : ''} |`;
  });
  return [`| ${t('s')} | ${t('Who')} | ${t('What')} | ${t('Why')} |`, '|--:|---|---|---|', ...rows];
}

/** The whole answer, for a panel. */
function report(why, diagnosis) {
  const t = vscode.l10n.t;
  const waits = diagnosis.waits.length ? ['', `## ${t('Waits for')}`, '', ...withoutRepeats(diagnosis.waits).flatMap(waitLines)] : [];
  return [`# ${plain(why.object)}`, '', stateLine(why), ...waits, '', `## ${t('Causes')}`, '', ...causeLines(why.causes), ''].join('\n');
}

/** The state with the root of what it waits for, for a hover. */
function summary(diagnosis) {
  const root = diagnosis.waits.slice(-1).flatMap(waitLines);
  return [`${plain(diagnosis.object)}: ${stateLine(diagnosis)}`, '', ...root].join('\n');
}

class Why {
  constructor() {
    /** Cluster of the text that was asked about last. */
    this.asked = undefined;
    this.reports = new Map();
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  cluster(text) {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.end(), IDLE);
    if (this.asked?.text !== text) {
      this.end();
      const missing = namespaces(text).map((name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`);
      this.asked = { text, cluster: new Cluster(missing.join('---\n'), text) };
    }
    return this.asked.cluster;
  }

  /** Asks about an object; an object that the API server refused is not there, and its refusal is the answer. */
  async ask(text, object, words) {
    const cluster = this.cluster(text);
    try {
      const refusals = await cluster.settled;
      const refused = refusals.find(({ line, error }) => error && object.first < line && line <= object.last + 1);
      if (refused) return { refused };
      const answers = await Promise.all(words.map((word) => cluster.request(`${word}/${path(object)}`)));
      return { answers };
    } catch (error) {
      // The next question starts another one.
      if (this.asked?.cluster === cluster) this.end();
      throw error;
    }
  }

  /** Shows the answer beside the text, as a document of Markdown. */
  async show(document, line) {
    const text = document.getText();
    const object = objectAt(text, line);
    if (!object) {
      vscode.window.showInformationMessage(vscode.l10n.t('Put the cursor into an object with a name.'));
      return;
    }
    let answer;
    try {
      answer = await this.ask(text, object, ['why', 'diagnosis']);
    } catch (error) {
      if (error.code !== 'ENOENT') vscode.window.showErrorMessage(`Loopscope: ${error.message}`);
      return;
    }
    const { refused, answers } = answer;
    const title = `${object.kind} ${object.name}`;
    const body = refused
      ? `# ${plain(title)}\n\n${vscode.l10n.t('Line {0} is refused:', refused.line)}\n\n> ${plain(refused.message)}\n`
      : report(answers[0], answers[1]);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title.replace(/[^\w .-]/g, '-')}.md`, query: document.uri.toString() });
    this.reports.set(uri.toString(), body);
    this.changed.fire(uri);
    await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
  }

  provideTextDocumentContent(uri) {
    return this.reports.get(uri.toString()) ?? '';
  }

  async provideHover(document, position, token) {
    if (!vscode.workspace.getConfiguration('loopscope', document.uri).get('hover')) return undefined;
    const text = document.getText();
    const object = objectAt(text, position.line);
    if (object?.nameLine !== position.line) return undefined;
    try {
      const { answers } = await this.ask(text, object, ['diagnosis']);
      return answers && !token?.isCancellationRequested ? new vscode.Hover(new vscode.MarkdownString(summary(answers[0]))) : undefined;
    } catch {
      return undefined;
    }
  }

  end() {
    this.asked?.cluster.dispose();
    this.asked = undefined;
  }

  dispose() {
    clearTimeout(this.idle);
    this.end();
    this.changed.dispose();
  }
}

module.exports = { SCHEME, Why };
