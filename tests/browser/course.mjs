// Pages of other sites, with what they hold of Loopscope.
import { createServer } from 'node:http';

/** Opens a course page of another site, with this in its body; `HOME` stands for the address of Loopscope. */
export async function course(page, baseURL, body) {
  const text = `<!doctype html><html lang="en"><title>Course</title><body>${body.replaceAll('HOME', baseURL)}</body></html>`;
  // Another port is another origin.
  const site = createServer((asked, answer) => answer.writeHead(asked.url === '/page.html' ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(text));
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  page.on('close', () => site.close());
  await page.goto(`http://127.0.0.1:${site.address().port}/page.html`);
}
