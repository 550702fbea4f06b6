// Loopscope in VS Code: plays the manifest of an editor beside it, reports what an API server refuses, and says why an object waits.
'use strict';
const vscode = require('vscode');
const { form } = require('./documents');
const { Previews } = require('./preview');
const { Problems } = require('./problems');
const { SCHEME, Why } = require('./why');
const { readFileSync } = require('node:fs');

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const previews = new Previews(context.extensionUri);
  const problems = new Problems();
  const why = new Why();
  const { commands, languages, window, workspace } = vscode;

  /** The document of a file in a list, or else of the editor. */
  const documentOf = async (uri) => (uri ? workspace.openTextDocument(uri) : window.activeTextEditor?.document);
  const show = async (uri) => {
    const document = await documentOf(uri);
    if (document) previews.show(document);
  };
  // Buttons and menus depend on it.
  const tellForm = () => {
    const document = window.activeTextEditor?.document;
    commands.executeCommand('setContext', 'loopscope.text', document?.languageId === 'yaml' ? form(document.getText()) : undefined);
  };

  context.subscriptions.push(
    previews, problems, why,
    commands.registerCommand('loopscope.play', show),
    commands.registerCommand('loopscope.lesson', show),
    commands.registerCommand('loopscope.why', async () => {
      const editor = window.activeTextEditor;
      if (editor) await why.show(editor.document, editor.selection.active.line);
    }),
    workspace.registerTextDocumentContentProvider(SCHEME, why),
    languages.registerHoverProvider({ language: 'yaml' }, why),
    workspace.onDidOpenTextDocument((document) => problems.schedule(document, 0)),
    workspace.onDidSaveTextDocument((document) => problems.schedule(document, 0)),
    workspace.onDidCloseTextDocument((document) => problems.forget(document)),
    workspace.onDidChangeTextDocument(({ document }) => {
      problems.schedule(document);
      previews.schedule(document);
      if (document === window.activeTextEditor?.document) tellForm();
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('loopscope')) for (const document of workspace.textDocuments) problems.schedule(document, 0);
    }),
    window.onDidChangeActiveTextEditor(tellForm),
    window.onDidChangeActiveColorTheme(() => previews.recolor()),
  );
  tellForm();
  for (const document of workspace.textDocuments) problems.schedule(document, 0);
  offerSchema(context.extensionUri);
}

/**
 * Offers the schema of lessons to the extension YAML (redhat.vscode-yaml), where it is installed, for every file that begins with `lesson:`.
 * `contributes.yamlValidation` knows only names of files.
 */
async function offerSchema(extensionUri) {
  const address = 'loopscope://schema/lesson';
  const yaml = await vscode.extensions.getExtension('redhat.vscode-yaml')?.activate();
  const isLesson = (uri) => vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri && form(document.getText()) === 'lesson');
  yaml?.registerContributor?.(
    'loopscope',
    (uri) => (isLesson(uri) ? address : undefined),
    (uri) => (uri === address ? readFileSync(vscode.Uri.joinPath(extensionUri, 'lesson.schema.json').fsPath, 'utf8') : undefined),
  );
}

function deactivate() {
  // What runs is among the subscriptions.
}

module.exports = { activate, deactivate };
