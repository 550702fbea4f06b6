// Types of <loop-scope>; docs/embedding.md says what attributes mean, docs/javascript.md what methods and events do.

export type View = 'ownership' | 'nodes' | 'network' | 'storage' | 'rollout' | 'loops';

/** The attributes of the element, as they are written in HTML. */
export interface LoopScopeAttributes {
  src?: string;
  hash?: string;
  lesson?: string;
  view?: View;
  speed?: number | string;
  pace?: 'cause' | 'time';
  autoplay?: boolean | '' | '0' | '1';
  'start-at'?: number | string;
  loop?: boolean | '';
  'idle-time-limit'?: number | string;
  markers?: string;
  'pause-on-markers'?: boolean | '';
  preload?: 'none' | 'auto';
  poster?: string;
  controls?: 'true' | 'false' | 'auto';
  fit?: 'content';
  height?: number | string;
  theme?: 'light' | 'dark';
  title?: string;
}

/** What came of a step of a lesson. */
export type StepResult = 'open' | 'read' | 'right' | 'wrong' | 'solved' | 'shown';

/** How far a lesson was taken. */
export interface LessonProgress {
  lesson: string;
  title: string;
  step: number;
  steps: number;
  phase: 'asking' | 'playing' | 'task' | 'lost' | 'done';
  results: StepResult[];
  answered: boolean[];
  right: number;
  asked: number;
  over: boolean;
}

/** What cannot be shown, and why: docs/javascript.md. */
export type ErrorCode = 'element' | 'attribute' | 'frame' | 'source' | 'webassembly' | 'start' | 'stopped' | 'link' | 'lesson' | 'view' | 'manifest' | 'file';

/** The `detail` of each event. */
export interface LoopScopeEvents {
  ready: { methods: string[]; version: string };
  play: { time: number };
  pause: { time: number };
  marker: { time: number; label: string; index: number };
  step: LessonProgress;
  lesson: LessonProgress;
  ended: LessonProgress | { time: number };
  height: { height: number };
  error: { code: ErrorCode; line: number; message: string };
}

export interface LoopScopeElement extends HTMLElement {
  play(): Promise<null>;
  pause(): Promise<null>;
  step(): Promise<null>;
  seek(seconds: number): Promise<null>;
  getCurrentTime(): Promise<number>;
  getDuration(): Promise<number>;
  setSpeed(speed: number): Promise<null>;
  setView(view: View): Promise<string>;
  setTheme(theme: "light" | "dark" | "system"): Promise<null>;
  apply(manifest: string): Promise<string>;
  load(manifest: string): Promise<string>;
  kubectl(line: string): Promise<string>;
  getManifest(): Promise<string>;
  getLesson(): Promise<LessonProgress | null>;
  next(): Promise<null>;
  hurry(): Promise<null>;
  back(): Promise<null>;
  dispose(): void;
  addEventListener<Name extends keyof LoopScopeEvents>(
    name: Name, listener: (this: LoopScopeElement, event: CustomEvent<LoopScopeEvents[Name]>) => unknown, options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(name: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

/** The class of the element; undefined where there is no document, as on a server. */
export const LoopScope: (CustomElementConstructor & { home: string }) | undefined;

/** Says where Loopscope is served: `serveFrom('https://your.site/loopscope/')`, before the first element is shown. */
export function serveFrom(address: string | URL): void;

declare global {
  interface HTMLElementTagNameMap {
    'loop-scope': LoopScopeElement;
  }
}
