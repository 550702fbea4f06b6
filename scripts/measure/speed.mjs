// How much a machine's processor is slowed to stand for a phone. Lighthouse slows it four times, which its documentation means for a fast
// desktop and says to adapt to others (docs/throttling.md, "Calibrating the CPU slowdown"): a BenchmarkIndex of 1,500 to 2,000.
const DESKTOP = 1750;
const SLOWDOWN = 4;

/**
 * Lighthouse's BenchmarkIndex, and how many times to slow the processor for what it is now. The index: tenths of how often a second a
 * string is put together of 10,000 letters, and an array of 100,000 numbers copied, on average.
 */
export async function processor(browser) {
  const page = await browser.newPage();
  const index = await page.evaluate(() => {
    const perSecond = (what) => {
      const from = performance.now();
      let [times, spent] = [0, 0];
      // The clock is read once for ten times.
      for (; spent < 500; spent = performance.now() - from) for (let i = 0; i < 10; i++, times++) what(times);
      return (times * 1000) / spent;
    };
    const letters = () => {
      let text = '';
      for (let i = 0; i < 10_000; i++) text += 'a';
      return text;
    };
    const numbers = [0, 1].map(() => { const all = []; for (let i = 0; i < 100_000; i++) all[i] = i; return all; });
    const copy = (times) => {
      const [from, to] = [numbers[times % 2], numbers[1 - (times % 2)]];
      for (let i = 0; i < from.length; i++) to[i] = from[i];
    };
    return (perSecond(letters) + perSecond(copy)) / 20;
  });
  await page.close();
  return { index: Math.round(index), slowdown: Math.max(1, Math.round((index / DESKTOP) * SLOWDOWN * 10) / 10) };
}
