// Makes a file of a picture: as SVG, painted as PNG, or of several as a video. Loaded when somebody asks for it.
(function () {
  'use strict';
  const STRIP = 512;
  const SIDE = 16_000;
  const AREA = 64e6;
  // No browser paints more than so many pixels in a row, or in all.
  const largest = (width, height) => Math.min(2, SIDE / Math.max(width, height), Math.sqrt(AREA / (width * height)));
  const breath = () => new Promise((go) => setTimeout(go));

  function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** Saves a text as a file. */
  window.loopscopeSave = (name, text) => save(new Blob([text], { type: 'application/json' }), name);

  async function picture(text) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    return image;
  }

  /** Paints the parts over each other, in strips, with a breath between them: all at once would take long. */
  async function paint(head, parts, tail) {
    const [width, height] = ['width', 'height'].map((side) => Number(new RegExp(`${side}="([\\d.]+)"`).exec(head)[1]));
    const scale = largest(width, height);
    const sheet = document.createElement('canvas');
    [sheet.width, sheet.height] = [width * scale, height * scale];
    const pen = sheet.getContext('2d');
    for (const part of parts) {
      if (!part) continue;
      const image = await picture(head + part + tail);
      for (let top = 0; top < sheet.height; top += STRIP) {
        await breath();
        const rows = Math.min(STRIP, sheet.height - top);
        pen.drawImage(image, 0, top / scale, width, rows / scale, 0, top, sheet.width, rows);
      }
    }
    return new Promise((done) => sheet.toBlob(done));
  }

  /** Shows the pictures one after the other, and takes them down as a video. */
  async function video(parts, frameMs) {
    const first = await picture(parts[0]);
    const sheet = document.createElement('canvas');
    const scale = largest(first.width, first.height);
    // Encoders want even sides.
    [sheet.width, sheet.height] = [first.width, first.height].map((side) => Math.floor((side * scale) / 2) * 2);
    const pen = sheet.getContext('2d');
    const stream = sheet.captureStream();
    const recorder = new MediaRecorder(stream, { mimeType: 'video/webm', videoBitsPerSecond: 4e6 });
    const chunks = [];
    recorder.ondataavailable = ({ data }) => chunks.push(data);
    const ended = new Promise((done) => { recorder.onstop = done; });
    recorder.start();
    for (const part of parts) {
      pen.drawImage(await picture(part), 0, 0, sheet.width, sheet.height);
      await new Promise((go) => setTimeout(go, frameMs));
    }
    await new Promise((go) => setTimeout(go, 1_000));
    recorder.stop();
    await ended;
    return new Blob(chunks, { type: 'video/webm' });
  }

  /** The pictures as a document, for slides and paper. */
  const pages = (name, parts) => `<!doctype html><html><head><meta charset="utf-8"><title>${name}</title><style>
@page { size: landscape; margin: 1cm } body { margin: 0 } img { display: block; width: 100%; max-height: 98vh; object-fit: contain; break-after: page }
</style></head><body>${parts.map((part) => `<img alt="${/<title>([^<]*)/.exec(part)?.[1].replace(/"/g, '&quot;') ?? ''}" src="data:image/svg+xml,${encodeURIComponent(part)}">`).join('\n')}</body></html>`;

  window.loopscopeExport = async function (form, name, head, parts, tail) {
    const made = {
      PNG: () => paint(head, parts, tail), WebM: () => video(parts, Number(head)), HTML: () => new Blob([pages(name, parts)], { type: 'text/html' }),
      SVG: () => new Blob([head, ...parts, tail], { type: 'image/svg+xml' }),
    };
    save(await made[form](), `${name}.${form.toLowerCase()}`);
  };
})();
