// The native command `loopscope`.
'use strict';
const { spawn } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const vscode = require('vscode');

let isMissingTold = false;

/** Says once that the command is not installed, with a way to its setting. */
async function tellMissing(path) {
  if (isMissingTold) return;
  isMissingTold = true;
  const settings = vscode.l10n.t('Open Settings');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t('The command {0} was not found: problems and Why need it. Manifests and lessons play without it.', path), settings);
  if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'loopscope.path');
}

/**
 * Starts the command. `failed` hears that it cannot be started.
 * @param {string[]} args
 * @param {(error: Error) => void} failed
 * @param {import('node:child_process').SpawnOptions} [options]
 */
function start(args, failed, options) {
  const path = vscode.workspace.getConfiguration('loopscope').get('path') || 'loopscope';
  const child = spawn(path, args, { stdio: 'pipe', windowsHide: true, ...options });
  child.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code === 'ENOENT') tellMissing(path);
    failed(error);
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8');
  // A command that ends before it has read its input is known by its exit code.
  child.stdin.on('error', () => {});
  return child;
}

/**
 * Runs the command to its end.
 * @param {string[]} args
 * @param {string} input
 * @returns {{ done: Promise<{ code: number | null, stdout: string, stderr: string }>, stop(): void }}
 */
function run(args, input) {
  let child;
  const done = new Promise((resolve, reject) => {
    child = start(args, reject);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text) => { stdout += text; });
    child.stderr.on('data', (text) => { stderr += text; });
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
  return { done, stop: () => child.kill() };
}

/** A cluster whose clock stands still, for questions about the objects of one text. */
class Cluster {
  /**
   * @param {string} before manifest of what the text needs
   * @param {string} text
   */
  constructor(before, text) {
    this.token = randomBytes(16).toString('hex');
    this.folder = mkdtempSync(join(tmpdir(), 'loopscope-'));
    this.address = new Promise((resolve, reject) => {
      const args = ['serve', '--speed', '0', '--listen', '127.0.0.1:0', '--kubeconfig', join(this.folder, 'kubeconfig')];
      // In the environment: other users see a command line.
      this.child = start(args, reject, { cwd: this.folder, env: { ...process.env, LOOPSCOPE_TOKEN: this.token } });
      let said = '';
      const hear = (text) => {
        said += text;
        const found = /^serving at (http:\S+)/m.exec(said);
        if (found) resolve(found[1]);
      };
      this.child.stdout.on('data', hear);
      this.child.stderr.on('data', hear);
      this.child.on('close', () => {
        rmSync(this.folder, { recursive: true, force: true });
        reject(new Error(said.trim().split('\n')[0] || 'loopscope serve has ended'));
      });
    });
    this.settled = this.settle(before, text);
    this.settled.catch(() => { /* told by the first question */ });
  }

  /** Applies the text, and lets the cluster settle; returns what was refused. */
  async settle(before, text) {
    const apply = async (manifest) => {
      const { diagnostics } = await this.request('apply', manifest);
      await this.request('time', JSON.stringify({ seconds: 1 }));
      return diagnostics;
    };
    await apply(before);
    let diagnostics = await apply(text);
    // An object of a kind that the text defines is refused until the definition is established.
    if (diagnostics.some(({ error }) => error)) diagnostics = await apply(text);
    await this.request('time', JSON.stringify({ until: 'settled' }));
    return diagnostics;
  }

  /**
   * Sends a request to `/loopscope/…`; with a body it is a POST.
   * @returns {Promise<any>}
   */
  async request(path, body) {
    const answer = await fetch(`${await this.address}/loopscope/${path}`, {
      method: body === undefined ? 'GET' : 'POST', body, headers: { authorization: `Bearer ${this.token}` },
    });
    const value = /** @type {any} */ (await answer.json());
    if (!answer.ok) throw new Error(value.message ?? answer.statusText);
    return value;
  }

  dispose() {
    this.child.kill();
  }
}

module.exports = { Cluster, run };
