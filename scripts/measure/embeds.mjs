// What several embeds on a page cost: bytes of one and of four, the processor's time of one out of sight, frames while twenty are scrolled.
import { chromium as browsers } from '@playwright/test';
import { chromium } from '../../tests/browser/chromium.mjs';
import { course, crowd, scrolled, transfer, used } from '../../tests/browser/many.mjs';

export async function measure() {
  const site = await course();
  const browser = await browsers.launch(chromium);
  const [one, four] = [await transfer(browser, site, 1), await transfer(browser, site, 4)];
  console.log(`transfer until all is loaded: one ${(one / 1000).toFixed(0)} kB, four ${(four / 1000).toFixed(0)} kB: ${(four / one).toFixed(2)} times`);
  const { share, moved } = await used(browser, site, 10);
  console.log(`out of sight: ${(share * 100).toFixed(2)} % of a processor, clock ${moved} s`);
  const { median, late, frames } = await scrolled(await crowd(browser, site, 20));
  console.log(`twenty embeds: ${frames} frames, median ${median.toFixed(1)} ms, ${(late * 100).toFixed(1)} % later than 34 ms`);
  await browser.close();
  site.close();
}
