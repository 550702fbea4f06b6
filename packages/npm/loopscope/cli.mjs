#!/usr/bin/env node
// `npx loopscope copy FOLDER` copies the built page.
import { copyTo } from './assets.mjs';

const [command, folder, ...more] = process.argv.slice(2);
if (command !== 'copy' || !folder || more.length) {
  console.error('usage: loopscope copy FOLDER   copies the page into a folder that your site serves, such as public/loopscope');
  process.exit(2);
}
await copyTo(folder);
