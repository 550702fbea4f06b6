// `make test-packages`: each package, installed from its file in release/ into an empty folder by its ecosystem's client, and used.
import { defineConfig } from '@playwright/test';
import { chromium } from '../browser/chromium.mjs';

export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results/packages',
  timeout: 900_000,
  expect: { timeout: 30_000 },
  workers: 1,
  reporter: [['list']],
  use: { launchOptions: chromium, viewport: { width: 1280, height: 900 } },
});
