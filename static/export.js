// Makes a file of a picture: as SVG, or painted as PNG. Loaded when somebody asks for it.
(function () {
  'use strict';
  const STRIP = 512;
  const SIDE = 16_000;
  const AREA = 64e6;
  const breath = () => new Promise((go) => setTimeout(go));

  function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** Paints the parts over each other, in strips, with a breath between them: all at once would take long. */
  async function paint(head, parts, tail) {
    const [width, height] = ['width', 'height'].map((side) => Number(new RegExp(`${side}="([\\d.]+)"`).exec(head)[1]));
    // No browser paints more than so many pixels in a row, or in all.
    const scale = Math.min(2, SIDE / Math.max(width, height), Math.sqrt(AREA / (width * height)));
    const sheet = document.createElement('canvas');
    [sheet.width, sheet.height] = [width * scale, height * scale];
    const pen = sheet.getContext('2d');
    for (const part of parts) {
      if (!part) continue;
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(head + part + tail)}`;
      await image.decode();
      for (let top = 0; top < sheet.height; top += STRIP) {
        await breath();
        const rows = Math.min(STRIP, sheet.height - top);
        pen.drawImage(image, 0, top / scale, width, rows / scale, 0, top, sheet.width, rows);
      }
    }
    return new Promise((done) => sheet.toBlob(done));
  }

  window.loopscopeExport = async function (form, name, head, parts, tail) {
    const blob = form === 'PNG' ? await paint(head, parts, tail) : new Blob([head, ...parts, tail], { type: 'image/svg+xml' });
    save(blob, `${name}.${form.toLowerCase()}`);
  };
})();
