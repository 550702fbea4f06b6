// Problems of manifests and lessons at their lines, in the words of the API server: `loopscope validate` and `loopscope lesson check` read the
// text as it is in the editor.
'use strict';
const vscode = require('vscode');
const { run } = require('./command');
const { form } = require('./documents');

/** Milliseconds after the last keystroke. */
const PAUSE = 400;

class Problems {
  constructor() {
    this.found = vscode.languages.createDiagnosticCollection('loopscope');
    /** @type {Map<string, { timer?: NodeJS.Timeout, stop?: () => void }>} */
    this.checks = new Map();
    this.isFailureTold = false;
  }

  /** Checks a document after a pause without further changes. */
  schedule(document, pause = PAUSE) {
    if (document.languageId !== 'yaml') return;
    const key = document.uri.toString();
    this.stop(key);
    this.checks.set(key, { timer: setTimeout(() => this.check(document), pause) });
  }

  stop(key) {
    const check = this.checks.get(key);
    clearTimeout(check?.timer);
    check?.stop?.();
    this.checks.delete(key);
  }

  forget(document) {
    this.stop(document.uri.toString());
    this.found.delete(document.uri);
  }

  async check(document) {
    const key = document.uri.toString();
    const text = document.getText();
    const settings = vscode.workspace.getConfiguration('loopscope', document.uri);
    const kind = form(text);
    if (!kind || !settings.get('problems')) {
      this.found.delete(document.uri);
      return;
    }
    const unknown = settings.get('ignoreUnknownKinds') ? ['--ignore-unknown-kinds'] : [];
    const process = run(kind === 'lesson' ? ['lesson', 'check', '--json', '-'] : ['validate', '--json', ...unknown, '-'], text);
    const check = { stop: process.stop };
    this.checks.set(key, check);
    try {
      const { code, stdout, stderr } = await process.done;
      if (this.checks.get(key) !== check) return;
      if (code !== 0 && code !== 1) throw new Error(stderr.trim().split('\n')[0]);
      const problems = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
      this.found.set(document.uri, problems.map((problem) => diagnostic(document, problem)));
    } catch (error) {
      if (this.checks.get(key) !== check) return;
      this.found.delete(document.uri);
      this.tell(error);
    }
  }

  /** Says once that the command fails, as one of an earlier version does. */
  tell(error) {
    if (error.code === 'ENOENT' || this.isFailureTold) return;
    this.isFailureTold = true;
    vscode.window.showWarningMessage(vscode.l10n.t('loopscope cannot look for problems: {0}', error.message));
  }

  dispose() {
    for (const key of [...this.checks.keys()]) this.stop(key);
    this.found.dispose();
  }
}

function diagnostic(document, { line, severity, message }) {
  const { range, firstNonWhitespaceCharacterIndex } = document.lineAt(Math.min(Math.max(line, 1), document.lineCount) - 1);
  const from = Math.min(firstNonWhitespaceCharacterIndex, range.end.character);
  const made = new vscode.Diagnostic(
    new vscode.Range(range.start.line, from, range.start.line, range.end.character), message,
    severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning);
  made.source = 'loopscope';
  return made;
}

module.exports = { Problems };
