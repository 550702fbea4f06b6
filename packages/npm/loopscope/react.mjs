// <loop-scope> as a component of React: attributes by their names, events as `onReady`, `onEnded` …, the element by `ref`.
import { createElement, forwardRef, useEffect, useImperativeHandle, useRef } from 'react';

const events = ['ready', 'play', 'pause', 'marker', 'step', 'lesson', 'ended', 'height', 'error'];
const property = (event) => `on${event[0].toUpperCase()}${event.slice(1)}`;

export const LoopScope = forwardRef(function LoopScope({ children, manifest, ...props }, ref) {
  const element = useRef(null);
  const listeners = useRef({});
  const attributes = {};
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    attributes[name] = value === true ? '' : value;
  }
  for (const event of events) {
    listeners.current[event] = attributes[property(event)];
    delete attributes[property(event)];
  }
  useImperativeHandle(ref, () => element.current, []);
  // Before version 19 React sets no listeners on elements of this kind.
  useEffect(() => {
    const heard = events.map((event) => [event, (told) => listeners.current[event]?.(told)]);
    const scope = element.current;
    for (const [event, listener] of heard) scope.addEventListener(event, listener);
    return () => { for (const [event, listener] of heard) scope.removeEventListener(event, listener); };
  }, []);
  return createElement('loop-scope', { ...attributes, ref: element, suppressHydrationWarning: true }, manifest ? createElement('pre', null, `\n${manifest}`) : children);
});
