// The element in JSX.
import { LoopScope } from 'loopscope/react';

export const lesson = <loop-scope lesson="control-loop" height={560} title="The control loop" className="wide" />;
export const played = <loop-scope src="web.yaml" view="storage" speed={0.5} start-at={12} loop idle-time-limit="2" markers="3:Ready" pause-on-markers />;
// @ts-expect-error: there is no such diagram
export const wrong = <loop-scope view="pods" />;
// @ts-expect-error: there is no such attribute
export const unknown = <loop-scope manifest="web.yaml" />;
// As a component, with its events.
export const component = <LoopScope lesson="control-loop" autoplay={false} onEnded={(event) => 'right' in event.detail && event.detail.right} />;
// @ts-expect-error: a marker has no message
export const deaf = <LoopScope manifest="kind: Pod" onMarker={(event) => event.detail.message} />;
