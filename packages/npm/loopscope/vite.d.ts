import type { IncomingMessage, ServerResponse } from 'node:http';

/** Options of the plugin. */
export interface LoopscopeOptions {
  /** The folder of the page within the site; `loopscope` by default. */
  folder?: string;
  /** `false` leaves the script out of Vite's own HTML pages. */
  script?: boolean;
}

/** Serves the page under `BASE/loopscope/` while you write, and copies it into the built site. */
export default function loopscope(options?: LoopscopeOptions): { name: string };

/** The files of the page, as a middleware of a server; `under` is their path, such as `/loopscope/`. */
export function serve(under: string): (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
