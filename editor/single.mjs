// Saves the page as one file, and a lesson as a package for a learning platform (SCORM 1.2). Loaded when somebody asks for it.
import { strToU8, zipSync } from 'fflate';

const text = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.text();
};
const escaped = (words) => words.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/** The single file (scripts/single.mjs) with what it opens with. */
async function page(hash, query, title) {
  const opens = JSON.stringify({ hash, query }).replace(/</g, '\\u003c');
  return (await text('single.html'))
    .replace('window.loopscopeFile={"hash":"","query":""}', () => `window.loopscopeFile=${opens}`)
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`);
}

// The schema allows a title 200 characters.
function manifest(title) {
  const name = escaped([...title].slice(0, 200).join(''));
  return `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="loopscope" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.imsproject.org/xsd/imscp_rootv1p1p2 imscp_rootv1p1p2.xsd http://www.adlnet.org/xsd/adlcp_rootv1p2 adlcp_rootv1p2.xsd">
  <metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
  <organizations default="course">
    <organization identifier="course"><title>${name}</title>
      <item identifier="lesson" identifierref="page"><title>${name}</title></item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="index.html"><file href="index.html"/><file href="scorm.js"/></resource>
  </resources>
</manifest>
`;
}

/** The same as a package: the page tells the platform how far the lesson was taken (static/scorm.js). */
async function packed(hash, query, title) {
  const index = (await page(hash, query, title))
    .replace("script-src 'unsafe-inline'", "script-src 'self' 'unsafe-inline'")
    .replace('<title>', '<script src="scorm.js"></script><title>');
  return zipSync({ 'imsmanifest.xml': strToU8(manifest(title)), 'index.html': strToU8(index), 'scorm.js': strToU8(await text('scorm.js')) }, { level: 9 });
}

window.loopscopeSingle = async function (form, hash, query, title, done) {
  try {
    const package_ = form === 'scorm';
    const content = package_ ? await packed(hash, query, title) : await page(hash, query, title);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([content], { type: package_ ? 'application/zip' : 'text/html' }));
    const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').toLowerCase() || 'loopscope';
    link.download = name + (package_ ? '-scorm.zip' : '.html');
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    done('');
  } catch (error) {
    done(String(error.message || error));
  }
};
