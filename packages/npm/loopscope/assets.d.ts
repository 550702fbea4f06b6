/** The folder of the page. */
export const directory: string;

/** Copies the page into a folder. */
export function copyTo(folder: string | URL): Promise<void>;
