// The page in Chinese. The page writes English; what it writes is looked up here, in the one table of src/i18n/zh.txt, as it
// enters the document. Loaded only where Chinese is chosen: nobody else waits for it. Names, YAML and what kubectl prints
// are left as they are.
(function () {
  'use strict';
  const exact = new Map();
  const begins = new Map();
  const open = [];
  const known = new Map();

  for (const line of window.loopscopeZh.split('\n')) {
    const at = line.lastIndexOf(' = ');
    if (line.startsWith('#') || at < 0) continue;
    // A sum in a sentence holds the sign too: the two halves have as many signs each.
    const parts = line.split(' = ');
    const middle = parts.length / 2;
    const [en, zh] = [parts.slice(0, middle).join(' = '), parts.slice(middle).join(' = ')];
    if (!en.includes('{}')) {
      exact.set(en, zh);
      continue;
    }
    const pattern = new RegExp(`^${en.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('(.+?)')}$`);
    const entry = { pattern, zh, weight: en.replaceAll('{}', '').length };
    const first = /^[^ {]+(?= )/.exec(en)?.[0];
    if (first) begins.set(first, [...(begins.get(first) ?? []), entry]);
    else open.push(entry);
  }
  const heaviest = (a, b) => b.weight - a.weight;
  open.sort(heaviest);
  for (const all of begins.values()) all.sort(heaviest);

  // The patterns that a sentence with this first word can be, the most telling first.
  const sorted = new Map();
  function candidates(first) {
    const own = begins.get(first);
    if (!own) return open;
    if (!sorted.has(first)) sorted.set(first, [...own, ...open].sort(heaviest));
    return sorted.get(first);
  }

  function sentence(text, depth) {
    const whole = exact.get(text);
    if (whole !== undefined) return whole;
    for (const { pattern, zh } of candidates(text.split(' ', 1)[0])) {
      const match = pattern.exec(text);
      if (!match) continue;
      let next = 0;
      return zh.replace(/\{(\d*)\}/g, (_, number) => words(match[number ? Number(number) : (next += 1)], depth + 1));
    }
    return undefined;
  }

  // What was done to how many: `2 rejected, 1 applied`. In a sentence with a hole, a hole would hold the others.
  const COUNTED = /^(\d[\d,]*) (created|configured|unchanged|rejected|applied|updated)$/;

  function find(text, depth) {
    const counted = text.split(', ').map((part) => COUNTED.exec(part));
    if (counted.every((part) => part && exact.has(part[2]))) return counted.map(([, n, word]) => `${exact.get(word)} ${n} 个`).join('，');
    if (text.endsWith('.')) {
      const whole = sentence(text, depth);
      if (whole !== undefined) return whole;
      const inner = sentence(text.slice(0, -1), depth);
      if (inner !== undefined) return `${inner}。`;
    }
    const whole = sentence(text, depth);
    if (whole !== undefined) return whole;
    // A list of sentences.
    for (const [between, sign] of [[' · ', ' · '], ['; ', '；'], [': ', '：'], [', ', '，']]) {
      const at = text.indexOf(between);
      if (at < 0) continue;
      // What follows a colon is one sentence.
      const parts = sign === '：' ? [text.slice(0, at), text.slice(at + 2)] : text.split(between);
      const said = parts.map((part) => words(part, depth + 1));
      if (said.some((part, at) => part !== parts[at])) return said.join(sign);
    }
    return text;
  }

  /** An answer of kubectl's: `pod "web-0" deleted`, `deployment.apps/web scaled`. */
  const SAID = /^[a-z.]+(\/\S+| "\S+") (serverside-)?(created|configured|unchanged|deleted|edited|patched|labeled|unlabeled|annotated|scaled|autoscaled|exposed|restarted|rolled|paused|resumed|cordoned|uncordoned|drained|evicted|tainted|untainted|replaced|applied|image|resource|force|condition|already|not found|skipped)/;

  function words(text, depth = 0) {
    if (depth > 4 || !/[A-Za-z]{2}/.test(text) || SAID.test(text)) return text;
    const found = known.get(text);
    if (found !== undefined) return found;
    // Numbers that are kept on one line are so in both languages.
    const body = text.trim().replaceAll('\u00a0', ' ');
    const said = find(body, depth).replace(/(\d) → (?=\d)/g, '$1\u00a0→\u00a0');
    const result = said === body ? text : text.replace(text.trim(), () => said);
    if (known.size > 4000) known.clear();
    known.set(text, result);
    return result;
  }

  // What a person or Kubernetes has written.
  const OTHERS = '.mono, pre, code, textarea, .host, .yaml, .ps, .pod b, .card[data-kind]:not([data-kind=""]) .hd b, .ticket b, .cylinder b, .cell text, .i-head b, .class b, script, style';
  const NAMES = ['aria-label', 'title', 'placeholder', 'aria-valuetext'];
  const written = new WeakMap();
  let on = false;

  function put(node, slot, english, set) {
    const slots = written.get(node) ?? {};
    if (slots[slot]?.[1] === english) return;
    const chinese = words(english);
    if (chinese === english) {
      delete slots[slot];
      return;
    }
    slots[slot] = [english, chinese];
    written.set(node, slots);
    set(chinese);
  }
  function text(node) {
    if (!node.parentElement || node.parentElement.closest(OTHERS)) return;
    put(node, '', node.data, (said) => { node.data = said; });
  }
  function attributes(element) {
    for (const name of NAMES) {
      const value = element.getAttribute(name);
      if (value) put(element, name, value, (said) => element.setAttribute(name, said));
    }
  }
  // What has come into the document. A large tree is gone through in slices: the page must not wait for its words.
  const SLICE = 8;
  const queue = [];
  let waits = false;
  function look(node) {
    if (node.nodeType === Node.TEXT_NODE) text(node);
    else attributes(node);
  }
  function* nodes(root) {
    yield root;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) yield walker.currentNode;
  }
  function tree(root) {
    if (root.nodeType !== Node.ELEMENT_NODE && root.nodeType !== Node.TEXT_NODE) return;
    // All are noted at once: a walk that is interrupted on a node ends with it when the page takes that node away.
    queue.push([...nodes(root)].values());
    if (!waits) work();
  }
  function work() {
    waits = false;
    const end = performance.now() + SLICE;
    while (queue.length) {
      const { value, done } = queue[0].next();
      if (done) queue.shift();
      else if (on && value.isConnected) look(value);
      if (performance.now() > end) {
        waits = true;
        setTimeout(work, 0);
        return;
      }
    }
  }
  function back(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const [slot, [english]] of Object.entries(written.get(node) ?? {})) {
        if (slot) node.setAttribute(slot, english);
        else node.data = english;
      }
      written.delete(node);
    }
  }

  const observer = new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === 'characterData') text(target);
      else if (type === 'attributes') { if (NAMES.includes(attributeName)) attributes(target); }
      else addedNodes.forEach(tree);
    }
  });

  /** Switches the page to Chinese, or back. */
  function chinese(yes) {
    document.documentElement.lang = yes ? 'zh-CN' : 'en';
    if (yes === on) return;
    on = yes;
    // What speaks for itself: the code editor in its shadow root.
    window.dispatchEvent(new Event('loopscope-language'));
    if (yes) {
      tree(document.body);
      observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: NAMES });
    } else {
      observer.disconnect();
      back(document.body);
    }
  }
  window.loopscopeChinese = chinese;
  window.loopscopeWords = (english) => (on ? words(english) : english);
})();
