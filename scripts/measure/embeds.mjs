// What several embeds on a page cost: bytes of one and of four, what one out of sight does, frames while twenty are scrolled.
import { chromium as browsers } from '@playwright/test';
import { chromium } from '../../tests/browser/chromium.mjs';
import { crowd, many, scrolled, transfer, used } from '../../tests/browser/many.mjs';

export async function measure() {
  const site = await many();
  const browser = await browsers.launch(chromium);
  const [one, four] = [await transfer(browser, site, 1), await transfer(browser, site, 4)];
  console.log(`transfer until all is loaded: one ${(one / 1000).toFixed(0)} kB, four ${(four / 1000).toFixed(0)} kB: ${(four / one).toFixed(2)} times`);
  const { script, task, asked, moved } = await used(browser, site, 10);
  console.log(`out of sight for 10 s: scripts ${script.toFixed(1)} ms, all tasks ${task.toFixed(1)} ms, ${asked} timers and frames asked for, clock ${moved} s`);
  const { median, late, frames, busy } = await scrolled(await crowd(browser, site, 20));
  console.log(`twenty embeds: ${frames} frames, median ${median.toFixed(1)} ms, ${(late * 100).toFixed(1)} % later than 34 ms; the busiest thread worked ${busy.toFixed(1)} ms a frame`);
  await browser.close();
  site.close();
}
