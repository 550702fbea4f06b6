// <loop-scope> in JSX, and as a component.
import type { DetailedHTMLProps, ForwardRefExoticComponent, HTMLAttributes, ReactNode, RefAttributes } from 'react';
import type { LoopScopeAttributes, LoopScopeElement, LoopScopeEvents } from './embed.js';

type Listeners = { [Name in keyof LoopScopeEvents as `on${Capitalize<Name>}`]?: (event: CustomEvent<LoopScopeEvents[Name]>) => unknown };
type Flags = { autoplay?: LoopScopeAttributes['autoplay'] | false; loop?: LoopScopeAttributes['loop'] | false; 'pause-on-markers'?: LoopScopeAttributes['pause-on-markers'] | false };

/** Attributes of the element, its events, and the manifest between its tags. */
export interface LoopScopeProps extends Omit<LoopScopeAttributes, keyof Flags>, Flags, Listeners {
  /** The manifest or lesson, instead of children. */
  manifest?: string;
  children?: ReactNode;
  id?: string;
  class?: string;
}

/** The element as a component; `serveFrom(address)` of `loopscope`, or the script `embed.js` in the page, defines it. */
export const LoopScope: ForwardRefExoticComponent<LoopScopeProps & RefAttributes<LoopScopeElement>>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'loop-scope': DetailedHTMLProps<Omit<HTMLAttributes<LoopScopeElement>, keyof LoopScopeAttributes>, LoopScopeElement> & LoopScopeAttributes;
    }
  }
}
