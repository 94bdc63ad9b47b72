import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { type AbortWatcher, unwatchAbort, watchAbort } from '../../src/engine/abort-watch.ts';

/** Notes what it is told. */
function watcher(name: string, told: string[]): AbortWatcher {
  return { aborted: (reason) => told.push(`${name}: ${String(reason)}`) };
}

it('tells all that watch, in the order in which they came, and has one listener for them', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const gone = watcher('gone', told);
  watchAbort(controller.signal, gone);
  for (const name of ['one', 'two']) watchAbort(controller.signal, watcher(name, told));
  unwatchAbort(controller.signal, gone);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort('enough');
  expect(told).toEqual(['one: enough', 'two: enough']);
});

it('tells one signal from another, and nobody who comes too late', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const told: string[] = [];
  watchAbort(first.signal, watcher('first', told));
  second.abort('second');
  watchAbort(second.signal, watcher('late', told));
  expect(told).toEqual([]);
  first.abort('first');
  expect(told).toEqual(['first: first']);
});
