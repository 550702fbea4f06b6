// The system's Chromium if there is one, else the one that Playwright brings.
import { existsSync } from 'node:fs';

const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find((path) => path && existsSync(path));

// Without what a window of the browser loads for itself: it is a fifth of the processor time of a test.
const unneeded = ['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup'];
// Those that Playwright turns off: the last list counts.
const playwrights = ['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'LensOverlay', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'OptimizationHints', 'AimEnabled'];

export const chromium = {
  ...(found ? { executablePath: found } : {}),
  args: [`--disable-features=${[...unneeded, ...playwrights]}`, '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
