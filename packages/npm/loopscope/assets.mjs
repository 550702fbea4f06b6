// The built page, which a site serves beside its own pages.
import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The folder of the page. */
export const directory = fileURLToPath(new URL('./dist/', import.meta.url));

/** Copies the page into a folder. */
export async function copyTo(folder) {
  await cp(directory, folder, { recursive: true });
}
