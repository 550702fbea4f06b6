// <loop-scope> in JSX: `import 'loop-scope/react'` once.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { LoopScopeAttributes, LoopScopeElement } from './embed.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'loop-scope': DetailedHTMLProps<Omit<HTMLAttributes<LoopScopeElement>, keyof LoopScopeAttributes>, LoopScopeElement> & LoopScopeAttributes;
    }
  }
}
