import { defineConfig } from '@playwright/test';
import { chromium } from './tests/browser/chromium.mjs';

const port = Number(process.env.PORT ?? 4173);

// What is about time (how long something takes, how often something is said, how much processor a frame needs) runs alone, at the end.
const alone = ['many', 'page', 'spoken'].map((name) => `${name}.spec.mjs`);

export default defineConfig({
  testDir: 'tests/browser',
  timeout: 60_000,
  expect: { timeout: 20_000 },
  workers: 2,
  // What fails once and then passes is reported as flaky: a machine that others use may stand for seconds.
  retries: 1,
  projects: [
    { name: 'together', testMatch: '*.spec.mjs', testIgnore: alone, fullyParallel: true },
    { name: 'alone', testMatch: alone, workers: 1, dependencies: ['together'] },
  ],
  reporter: [['list']],
  use: {
    baseURL: `http://127.0.0.1:${port}/loopscope/`,
    viewport: { width: 1440, height: 900 },
    launchOptions: chromium,
    // A reader who has been here before: the opening example rests (tests/browser/first.spec.mjs has first visits).
    storageState: { cookies: [], origins: [{ origin: `http://127.0.0.1:${port}`, localStorage: [{ name: 'loopscope.offers', value: '1' }] }] },
    // What was changed is tested, not what was kept (tests/browser/offline.spec.mjs).
    serviceWorkers: 'block',
    permissions: ['clipboard-read', 'clipboard-write'],
  },
  webServer: {
    command: `node tests/browser/server.mjs ${port}`,
    url: `http://127.0.0.1:${port}/loopscope/`,
    reuseExistingServer: false,
  },
});
