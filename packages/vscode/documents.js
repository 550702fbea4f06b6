// Objects of a YAML text. Read by lines: a text that somebody is typing is often no YAML, and its other objects are still there.
'use strict';

/**
 * An object, with lines from 0.
 * @typedef {{ kind: string, name: string, namespace: string, first: number, last: number, nameLine: number }} YamlObject
 */

/** Reads a plain or quoted scalar. */
function scalar(text) {
  const quoted = /^\s*(?:"([^"]*)"|'([^']*)')/.exec(text);
  return quoted ? quoted[1] ?? quoted[2] : text.replace(/(^|\s)#.*/, '').trim();
}

/**
 * Fields of the mapping `metadata`, in a block or in braces, each with its line.
 * @param {string[]} lines
 */
function metadata(lines, first, last) {
  const fields = {};
  const set = (name, value, line) => { if (!(name in fields)) fields[name] = { value: scalar(value), line }; };
  for (let at = first; at <= last; at++) {
    const head = /^metadata:\s*(.*)/.exec(lines[at]);
    if (!head) continue;
    for (const [, name, value] of head[1].matchAll(/[{,]\s*(name|namespace):\s*("[^"]*"|'[^']*'|[^,}]*)/g)) set(name, value, at);
    let indent;
    for (let next = at + 1; next <= last && !/^[^\s#]/.test(lines[next]); next++) {
      const field = /^(\s+)([\w.-]+):(.*)/.exec(lines[next]);
      if (!field) continue;
      indent ??= field[1].length;
      if (field[1].length === indent) set(field[2], field[3], next);
    }
    break;
  }
  return fields;
}

/**
 * @param {string} text
 * @returns {YamlObject[]}
 */
function objects(text) {
  const lines = text.split(/\r?\n/);
  const found = [];
  let first = 0;
  for (let end = 0; end <= lines.length; end++) {
    if (end < lines.length && !/^---(\s|$)/.test(lines[end])) continue;
    const last = end - 1;
    const kind = lines.slice(first, end).map((line) => /^kind:(.*)/.exec(line)).find(Boolean);
    const { name, namespace } = metadata(lines, first, last);
    if (kind && scalar(kind[1])) {
      found.push({ kind: scalar(kind[1]), name: name?.value ?? '', namespace: namespace?.value ?? '', first, last, nameLine: name?.line ?? -1 });
    }
    first = end + 1;
  }
  return found;
}

/** Namespaces that a text names and does not define: a cluster has to have them first. */
function namespaces(text) {
  const all = objects(text);
  const own = new Set(all.filter((one) => one.kind === 'Namespace').map((one) => one.name));
  const present = ['', 'default', 'kube-system', 'kube-public', 'kube-node-lease'];
  return [...new Set(all.map((one) => one.namespace))].filter((name) => isName(name) && !own.has(name) && !present.includes(name));
}

/** Returns true for a word that can be the name of an object, and stand in a command line. */
function isName(word) {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(word);
}

/**
 * @param {string} text
 * @returns {'lesson' | 'manifest' | undefined}
 */
function form(text) {
  if (/^\ufeff?(?:[ \t]*(?:#.*)?\r?\n|---.*\n)*lesson:/.test(text)) return 'lesson';
  return /^apiVersion:/m.test(text) && /^kind:/m.test(text) ? 'manifest' : undefined;
}

module.exports = { form, isName, namespaces, objects };
