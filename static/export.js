// Saves the diagram that is shown, as SVG or PNG. Loaded when somebody asks for it. The picture stands alone: colours are
// written out, fonts are named by their families, texts are texts.
(function () {
  'use strict';
  const NS = 'http://www.w3.org/2000/svg';
  const STRIP = 512;
  const MOST = 300;
  const SIDE = 16_000;
  const AREA = 64e6;
  const make = (name, attributes, parent) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== '') element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  };
  const round = (x) => Math.round(x * 100) / 100;
  const clear = (colour) => !colour || colour === 'none' || colour === 'transparent' || /,\s*0\)$|\/\s*0\)$/.test(colour);
  const canvas = document.createElement('canvas').getContext('2d');

  const written = (svg) => new XMLSerializer().serializeToString(svg);

  /**
   * The picture as SVG; for a PNG what is painted is left out, and told beside it: to write it out and read it back takes long.
   * `over` is the first of what lies over what is painted.
   */
  async function picture(world, form) {
    const painted = [];
    let over = null;
    const zoom = new DOMMatrix(getComputedStyle(world).transform).a || 1;
    const origin = world.getBoundingClientRect();
    const place = (rect) => ({
      x: round((rect.left - origin.left) / zoom), y: round((rect.top - origin.top) / zoom),
      w: round(rect.width / zoom), h: round(rect.height / zoom),
    });
    const edges = world.querySelector('svg.edges');
    const [width, height] = [Number(edges.getAttribute('width')), Number(edges.getAttribute('height'))];
    const root = make('svg', { xmlns: NS, width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
    make('title', {}, root).textContent = world.getAttribute('aria-label');
    make('rect', { width, height, fill: getComputedStyle(document.documentElement).getPropertyValue('--bg').trim() }, root);

    function box(element, style, into) {
      const { x, y, w, h } = place(element.getBoundingClientRect());
      const image = style.backgroundImage;
      const fill = clear(style.backgroundColor) && image.includes('gradient') ? /(rgba?\([^)]*\)|color\([^)]*\))/.exec(image)?.[1] : style.backgroundColor;
      const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, w / 2, h / 2);
      const sides = ['Top', 'Right', 'Bottom', 'Left'].map((side) => [parseFloat(style[`border${side}Width`]), style[`border${side}Color`], style[`border${side}Style`]]);
      const [line, colour, kind] = sides[0];
      const whole = line > 0 && sides.every((side) => side[0] === line && side[1] === colour) && !clear(colour);
      if (!clear(fill) || whole) {
        const half = whole ? line / 2 : 0;
        make('rect', {
          x: x + half, y: y + half, width: Math.max(w - 2 * half, 0), height: Math.max(h - 2 * half, 0), rx: radius || null,
          fill: clear(fill) ? 'none' : fill, stroke: whole ? colour : null, 'stroke-width': whole ? line : null,
          'stroke-dasharray': whole && kind === 'dashed' ? '4 3' : whole && kind === 'dotted' ? '1 2' : null,
        }, into);
      }
      if (whole) return;
      const ends = [[x, y, x + w, y], [x + w, y, x + w, y + h], [x, y + h, x + w, y + h], [x, y, x, y + h]];
      sides.forEach(([wide, stroke], at) => {
        if (wide > 0 && !clear(stroke)) make('line', { x1: ends[at][0], y1: ends[at][1], x2: ends[at][2], y2: ends[at][3], stroke, 'stroke-width': wide }, into);
      });
    }

    /** Text as it stands: a line each, cut where the page cuts it. */
    function words(node, into) {
      const parent = node.parentElement;
      const style = getComputedStyle(parent);
      const range = document.createRange();
      const text = node.data;
      if (!text.trim()) return;
      range.selectNodeContents(node);
      const whole = range.getClientRects();
      const lines = whole.length === 1 ? [{ text, rect: whole[0] }] : [];
      for (let at = 0; at < text.length && whole.length > 1; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const rect = range.getClientRects()[0];
        if (!rect || (!rect.width && !/\S/.test(text[at]))) continue;
        const last = lines[lines.length - 1];
        if (last && Math.abs(last.rect.top - rect.top) < 2) last.text += text[at];
        else lines.push({ text: text[at], rect });
      }
      canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      let clip = Infinity;
      for (let around = parent; around && around !== world; around = around.parentElement) {
        if (getComputedStyle(around).overflowX !== 'visible') clip = Math.min(clip, around.getBoundingClientRect().right);
      }
      for (const { text: line, rect } of lines) {
        if (!line.trim()) continue;
        const room = (clip - rect.left) / zoom + 1;
        const spacing = parseFloat(style.letterSpacing) || 0;
        const wide = (words) => canvas.measureText(words).width + spacing * words.length;
        let shown = line;
        if (rect.right > clip + 1 && wide(shown) > room) {
          while (shown && wide(`${shown}…`) > room) shown = shown.slice(0, -1);
          shown += '…';
        }
        const at = place(rect);
        make('text', {
          x: at.x, y: round(at.y + at.h / 2), 'dominant-baseline': 'central', fill: style.color, 'font-family': style.fontFamily,
          'font-size': style.fontSize, 'font-weight': style.fontWeight === '400' ? null : style.fontWeight, 'letter-spacing': spacing ? `${round(spacing)}px` : null, 'text-decoration': style.textDecorationLine === 'line-through' ? 'line-through' : null, 'xml:space': 'preserve',
        }, into).textContent = shown;
      }
    }

    const SHAPE = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity'];
    /** A drawing within the page: its shapes with what the style sheets say of them. */
    function drawing(element, into) {
      const at = place(element.getBoundingClientRect());
      const group = make('g', { transform: `translate(${at.x} ${at.y})` }, into);
      copy(element, group);
    }
    function copy(from, into) {
      for (const child of from.children) {
        const style = getComputedStyle(child);
        if (style.display === 'none' || /^(title|clippath|defs)$/i.test(child.tagName)) continue;
        if (child.tagName === 'use') {
          symbol(child, into);
          continue;
        }
        const clone = make(child.tagName, {}, into);
        for (const { name, value } of child.attributes) if (!/^(class|style|id)$/.test(name)) clone.setAttribute(name, value);
        for (const name of SHAPE) {
          const value = style.getPropertyValue(name);
          if (value && !(name === 'opacity' && value === '1') && !(name === 'stroke-dasharray' && value === 'none')) clone.setAttribute(name, value);
        }
        if (child.tagName === 'text') {
          for (const name of ['font-family', 'font-size', 'font-weight']) clone.setAttribute(name, style.getPropertyValue(name));
          clone.textContent = child.textContent;
        } else copy(child, clone);
      }
    }
    /** An icon of the sprite, written out. */
    let clips = 0;
    function symbol(use, into) {
      const source = document.querySelector(use.getAttribute('href'));
      if (!source) return;
      const owner = use.ownerSVGElement;
      const style = getComputedStyle(use);
      const own = use.hasAttribute('width') ? use : owner;
      const nested = make('svg', {
        x: use.getAttribute('x'), y: use.getAttribute('y'), width: own.getAttribute('width'), height: own.getAttribute('height'),
        viewBox: source.getAttribute('viewBox'),
      }, into);
      const tokens = getComputedStyle(use);
      const number = (clips += 1);
      const resolve = (text) => text.replace(/currentColor/g, style.color).replace(/var\((--[\w-]+)\)/g, (_, name) => tokens.getPropertyValue(name).trim())
        .replace(/#(cp-[\w-]+)/g, `#$1-${number}`);
      const write = (from, to) => {
        for (const child of from.children) {
          const clone = make(child.tagName, {}, to);
          for (const { name, value } of child.attributes) {
            if (name === 'style') for (const rule of value.split(';')) { const [key, ...rest] = rule.split(':'); if (rest.length) clone.setAttribute(key.trim(), resolve(rest.join(':').trim())); }
            else clone.setAttribute(name, name === 'id' ? `${value}-${number}` : resolve(value));
          }
          write(child, clone);
        }
      };
      write(source, nested);
    }

    /** Walks what is on the stage, and lets the page breathe between its objects. */
    async function stage() {
      const all = [...world.children];
      // Rings about cells lie over the sheets that cells are painted on.
      const last = all.filter((child) => child.matches('.item.cells.bare'));
      let until = performance.now() + 12;
      for (const child of [...all.filter((child) => !last.includes(child)), ...last]) {
        if (performance.now() > until) {
          await new Promise((go) => setTimeout(go));
          until = performance.now() + 12;
        }
        const before = root.lastChild;
        walk(child, root);
        if (child === last[0]) over = before.nextSibling;
      }
    }
    function walk(element, into) {
      const style = getComputedStyle(element);
      if (style.display === 'none' || style.visibility === 'hidden' || element.matches('.vh, .ghost')) return;
      const opacity = parseFloat(style.opacity);
      if (opacity === 0) return;
      const layer = opacity < 1 ? make('g', { opacity }, into) : into;
      if (element instanceof SVGSVGElement) return drawing(element, layer);
      if (element instanceof HTMLCanvasElement) {
        const { x, y, w, h } = place(element.getBoundingClientRect());
        if (w && h && form === 'PNG') painted.push({ element, x, y, w, h });
        else if (w && h) make('image', { x, y, width: w, height: h, href: element.toDataURL() }, layer);
        return;
      }
      box(element, style, layer);
      for (const child of element.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) words(child, layer);
        else if (child.nodeType === Node.ELEMENT_NODE) walk(child, layer);
      }
    }
    await stage();
    return { root, width, height, painted, over };
  }

  /** The same as texts of so many elements each, to be laid over each other: to read a large picture back at once takes long. */
  function* parts(root, children) {
    const begin = (element) => written(element.cloneNode(false)).replace(/\s*(\/>|><\/\w+>)$/, '>');
    const [open, close] = [begin(root), '</svg>'];
    let [text, count] = [open, 0];
    for (const child of children) {
      // Of a large group a part stands in one that is like it.
      const large = child.tagName === 'g' && child.childElementCount > MOST;
      const [before, after] = large ? [begin(child), '</g>'] : ['', ''];
      text += before;
      for (const piece of large ? child.children : [child]) {
        text += written(piece);
        count += 1 + piece.querySelectorAll('*').length;
        if (count < MOST) continue;
        yield text + after + close;
        [text, count] = [open + before, 0];
      }
      text += after;
    }
    if (count) yield text + close;
  }

  function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** Saves a text as a file. */
  window.loopscopeSave = (name, text) => save(new Blob([text], { type: 'application/json' }), name);

  /** Saves what is in `#stage`, and says when it need not stay as it is any more. */
  window.loopscopeExport = async function (form, name, done) {
    try {
      const breath = () => new Promise((go) => setTimeout(go, 50));
      await breath();
      // Cells are painted in parts; one that never comes is not waited for.
      for (const until = performance.now() + 10_000; document.querySelector('#stage [data-unfinished]') && performance.now() < until; ) await breath();
      const world = document.querySelector('#stage .world');
      if (world) await write(await picture(world, form), form, name);
    } finally {
      done();
    }
  };

  async function write({ root, width, height, painted, over }, form, name) {
    if (form === 'SVG') return save(new Blob([written(root)], { type: 'image/svg+xml' }), `${name}.svg`);
    // No browser paints more than so many pixels in a row, or in all.
    const scale = Math.min(2, SIDE / Math.max(width, height), Math.sqrt(AREA / (width * height)));
    const sheet = document.createElement('canvas');
    [sheet.width, sheet.height] = [width * scale, height * scale];
    const paint = sheet.getContext('2d');
    const all = [...root.children];
    const under = over ? all.indexOf(over) : all.length;
    async function draw(children) {
      for (const part of parts(root, children)) {
        const image = new Image();
        image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(part)}`;
        await image.decode();
        // In strips, with a breath between them.
        for (let top = 0; top < sheet.height; top += STRIP) {
          await new Promise((go) => setTimeout(go));
          const rows = Math.min(STRIP, sheet.height - top);
          paint.drawImage(image, 0, top / scale, width, rows / scale, 0, top, sheet.width, rows);
        }
      }
    }
    await draw(all.slice(0, under));
    for (const { element, x, y, w, h } of painted) paint.drawImage(element, x * scale, y * scale, w * scale, h * scale);
    await draw(all.slice(under));
    sheet.toBlob((blob) => save(blob, `${name}.png`));
  }
})();
