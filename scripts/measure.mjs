// Measures the built page in Chromium: `node scripts/measure.mjs opening|frames|actions|drawing|memory|load|embeds|lighthouse [ARGUMENTS…]`.
// What each prints and takes is said at the top of its file in scripts/measure/.
import { fileURLToPath } from 'node:url';
import { existsSync } from 'node:fs';

const [what, ...given] = process.argv.slice(2);
const file = new URL(`measure/${what}.mjs`, import.meta.url);
if (!/^(opening|frames|actions|drawing|memory|load|embeds|lighthouse)$/.test(what ?? '') || !existsSync(fileURLToPath(file))) {
  console.error('usage: node scripts/measure.mjs opening|frames|actions|drawing|memory|load|embeds|lighthouse [ARGUMENTS…]');
  process.exit(2);
}
const { measure } = await import(file);
await measure(given);
