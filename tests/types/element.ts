// What a script of a page may do with the element; `tsc` checks it (tests/browser/package.spec.mjs).
import { LoopScope, serveFrom, type LessonProgress, type LoopScopeElement } from 'loopscope';

serveFrom('https://your.site/loopscope/');
serveFrom(new URL('/loopscope/', 'https://your.site'));
// @ts-expect-error: an address is needed
serveFrom();

const scope: LoopScopeElement = document.createElement('loop-scope');
const found: LoopScopeElement | null = document.querySelector('loop-scope');
export async function play(): Promise<number> {
  await scope.play();
  await scope.seek(12);
  await scope.setView('nodes');
  // @ts-expect-error: there is no such diagram
  await scope.setView('pods');
  // @ts-expect-error: seconds are a number
  await scope.seek('12');
  // @ts-expect-error: there is no such method
  await scope.stop();
  const lesson: LessonProgress | null = await scope.getLesson();
  const text: string = await scope.kubectl('get pods');
  return (lesson?.right ?? 0) + text.length + (await scope.getCurrentTime());
}

scope.addEventListener('marker', (event) => event.detail.label.toUpperCase());
scope.addEventListener('error', (event) => event.detail.message.length);
scope.addEventListener('step', (event) => event.detail.results.filter((result) => result === 'right'));
// @ts-expect-error: a marker has no message
scope.addEventListener('marker', (event) => event.detail.message);
found?.addEventListener('click', () => found.dispose());
if (LoopScope) LoopScope.home = '/loopscope/';
