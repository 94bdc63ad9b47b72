import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import {
  type AbortWatcher,
  linkAbort,
  unwatchAbort,
  watchAbort,
} from '../../../src/base/abort-watch.ts';

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

it('tells one signal from another, and no watch that comes too late', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const told: string[] = [];
  watchAbort(first.signal, watcher('first', told));
  second.abort('second');
  watchAbort(second.signal, watcher('late', told));
  expect(told).toEqual([]);
  first.abort('first');
  expect(told).toEqual(['first: first']);
});

// F15
it('leaves no listener once none watches', () => {
  const { signal } = new AbortController();
  const one = watcher('one', []);
  const two = watcher('two', []);
  for (let round = 0; round < 2; round++) {
    watchAbort(signal, one);
    watchAbort(signal, two);
    unwatchAbort(signal, one);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    unwatchAbort(signal, two);
    unwatchAbort(signal, two);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
});

// F61
it('a linked signal aborts with the first of others, with its reason, until it is unlinked', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const linked = linkAbort(one.signal, two.signal);
  const unlinked = linkAbort(one.signal, two.signal);
  unlinked.unlink();
  two.abort('two');
  one.abort('one');
  expect([linked.signal.aborted, linked.signal.reason]).toEqual([true, 'two']);
  expect(unlinked.signal.aborted).toBe(false);
  const late = linkAbort(new AbortController().signal, one.signal);
  expect([late.signal.aborted, late.signal.reason]).toEqual([true, 'one']);
  late.unlink();
});
