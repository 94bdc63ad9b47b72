/** All that a store is made of is carried, or is on the list of what is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { knownClasses, NAMED } from '../../../src/backends/file/state/known-classes.ts';
import { readState } from '../../../src/backends/file/state/state-reader.ts';
import { writeState } from '../../../src/backends/file/state/state-writer.ts';
import { partsOn } from '../../../src/backends/memory/parts.ts';
import { Store } from '../../../src/backends/memory/store/store.ts';
import { mustBeSameState } from '../../support/file/same-state.ts';
import { newTask } from '../../support/file/some-state.ts';
import { HandClock } from '../../support/hand-clock.ts';

const FOLDER = fileURLToPath(new URL('../../../src/backends/memory/store/', import.meta.url));

const clock = new HandClock();

/** What a state does not tell: the rest has to come back. */
const LEFT: Readonly<Record<string, readonly string[]>> = {
  Store: [
    'clock',
    'alarm',
    'endWaiters',
    'streamWaiters',
    'touchedUsers',
    'touchedQueues',
    'ended',
    'deadLetters',
    'closed',
    'isFiring',
    'isFenced',
    'queueAskedLast',
    'grantGivenLast',
    'grantedLast',
  ],
  UserEntry: ['touched'],
  QueueEntry: ['touched'],
};

const files = readdirSync(FOLDER).map(
  (name) => [name, readFileSync(FOLDER + name, 'utf8')] as const,
);

describe('what a store is made of', () => {
  it('has no fields that are not read', () => {
    const hidden = files.flatMap(([name, text]) =>
      [...text.matchAll(/^ {2}(?:static |readonly )*#\w+\s*[:;=].*$/gm)].map(
        ([line]) => `${name}: ${line}`,
      ),
    );
    expect(hidden).toEqual([]);
    expect(files.length).toBeGreaterThan(15);
  });

  it('is of classes that are known', () => {
    const known = new Set(knownClasses(clock).map(({ name }) => name));
    const declared = files.flatMap(([, text]) =>
      [...text.matchAll(/^export class (\w+)/gm)].map(([, name]) => name ?? ''),
    );
    expect(declared.filter((name) => !known.has(name))).toEqual([]);
    expect(declared).toContain('TaskEntry');
  });

  it('is carried, but for what is on the list', () => {
    for (const { name, blank, fields, left, text } of knownClasses(clock)) {
      expect(left, name).toEqual(LEFT[name] ?? []);
      if (text !== undefined) continue;
      expect([...fields, ...left].toSorted(), name).toEqual(Object.keys(blank()).toSorted());
    }
  });

  it('is ordered by what has a name', async () => {
    const orders = files.flatMap(([, text]) =>
      [...text.matchAll(/^(?:export )?function (by[A-Z]\w*)\(/gm)].map(([, name]) => name ?? ''),
    );
    const names = [...NAMED.keys()].map((name) => name.replace(/^\w+\./, ''));
    // Of listings, which keep nothing.
    const passing = ['byClass', 'byKindAndMoment'];
    expect(orders.filter((name) => !names.includes(name) && !passing.includes(name))).toEqual([]);
    expect(orders.length).toBeGreaterThan(15);
  });
});

describe('a state', () => {
  it('has no depth: a chain of 12,000 tasks, and as many that wait for one', async () => {
    const store = new Store(clock);
    const { tasks } = partsOn(store);
    const count = 12_000;
    for (let from = 0; from < count; from += 1_000) {
      const chain = Array.from({ length: 1_000 }, (_, nth) => {
        const at = from + nth;
        return newTask({ id: `c${at}`, dependsOn: at === 0 ? [] : [`c${at - 1}`] });
      });
      const wide = Array.from({ length: 1_000 }, (_, nth) =>
        newTask({ id: `w${from + nth}`, dependsOn: ['c0'] }),
      );
      await tasks.enqueue(chain, { atomic: false });
      await tasks.enqueue(wide, { atomic: false });
    }
    const again = readState(writeState(store), clock);
    mustBeSameState(store, again);
    expect(again.records.size).toBe(2 * count);
  });

  it('keeps numbers, texts and orders that JSON does not', () => {
    const store = new Store(clock);
    store.names.set('\ud800 é \u2028', -0);
    store.names.set('__proto__', Number.POSITIVE_INFINITY);
    for (let at = 10_000; at > 0; at--) store.names.set(`n${at}`, at / 3);
    store.settingsForAll.set('ann', { weight: Number.NaN });
    const again = readState(writeState(store), clock);
    mustBeSameState(store, again);
    expect([...again.names].slice(0, 2)).toEqual([
      ['\ud800 é \u2028', -0],
      ['__proto__', Number.POSITIVE_INFINITY],
    ]);
  });

  it('refuses to tell of what it does not know', () => {
    const store = new Store(clock);
    const odd: Map<string, unknown> = store.settingsForAll;
    odd.set('ann', new URL('http://a.test'));
    expect(() => [...writeState(store)]).toThrow('an instance of URL is not known to be stored');
    odd.set('ann', () => 1);
    expect(() => [...writeState(store)]).toThrow('is not known to be stored');
  });
});
