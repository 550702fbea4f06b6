// The tasks of a page's own thread, in milliseconds that it spent: from Chromium's trace.

/** Does something, and says how long the longest task was meanwhile. */
export const longest = async (...given) => Math.max(...(await tasks(...given)));

/** Does something, and says how long each task was meanwhile. */
export async function tasks(browser, page, what) {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await what();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const thread = (event) => `${event.pid}/${event.tid}`;
  const mains = new Set(traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map(thread));
  const found = traceEvents.filter((event) => event.ph === 'X' && event.name === 'ThreadControllerImpl::RunTask' && mains.has(thread(event)));
  if (found.length < 10) throw new Error('the trace holds no tasks');
  return found.map((event) => (event.tdur ?? event.dur) / 1000);
}
