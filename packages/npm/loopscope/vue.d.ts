// <loop-scope> as a component of Vue.
import type { DefineComponent } from 'vue';
import type { LoopScopeAttributes, LoopScopeEvents } from './embed.js';

type Listeners = { [Name in keyof LoopScopeEvents as `on${Capitalize<Name>}`]?: (event: CustomEvent<LoopScopeEvents[Name]>) => unknown };

/** Attributes of the element, its events, and the manifest between its tags. */
export interface LoopScopeProps extends LoopScopeAttributes, Listeners {
  /** The manifest or lesson, instead of a slot. */
  manifest?: string;
}

/** The element as a component; `serveFrom(address)` of `loopscope`, or the script `embed.js` in the page, defines it. */
export const LoopScope: DefineComponent<LoopScopeProps>;
