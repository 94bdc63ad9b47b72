/** All that a store is made of is in its rows, or follows from them; and files say it in words of their own. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { newStore } from '../../../src/backends/file/replay/engine.ts';
import { readState } from '../../../src/backends/file/state/state-reader.ts';
import { writeState } from '../../../src/backends/file/state/state-writer.ts';
import { partsOn } from '../../../src/backends/memory/parts.ts';
import { PARTS, ROWS } from '../../../src/backends/memory/rows/model.ts';
import {
  OptionalFacts,
  QueueEntry,
  TaskEntry,
  UserEntry,
} from '../../../src/backends/memory/store/entities.ts';
import { noRun } from '../../../src/backends/memory/store/run-facts.ts';
import { Store } from '../../../src/backends/memory/store/store.ts';
import { newTask } from '../../support/file/some-state.ts';
import { LEFT, mustBeSameState } from '../../support/file/state-text.ts';
import { HandClock } from '../../support/hand-clock.ts';

const FOLDER = fileURLToPath(new URL('../../../src/backends/memory/store/', import.meta.url));

const clock = new HandClock();

/** Fields of the store, by the kind of rows that tells them, and those that follow from rows. */
const STORED = {
  Store: [
    ...['arrivals', 'endings', 'endedLast', 'retention', 'scheduler', 'seenAt', 'sweepAfter'],
    ...['names', 'queues', 'settingsForAll', 'snapshots', 'events', 'failures', 'records', 'keys'],
    ...['schedules', 'xcom', 'series', 'workers', 'line'],
    ...['goneKeys', 'missing', 'schedulesByName', 'schedulesDue', 'schedulesOn', 'waiters', 'asks'],
    ...['byState', 'read', 'deadlines', 'cascade', 'dueUsers', 'throttled'],
  ],
  QueueEntry: [
    ...['queue', 'settings', 'clock', 'lasts', 'totals', 'tat', 'meanRun', 'parked', 'users'],
    ...['lists', 'ownSettings', 'classes', 'idle', 'leavers', 'leaving', 'counts', 'deadLetters'],
    ...['runnable', 'readyUsers', 'gain', 'touched'],
  ],
  UserEntry: [
    ...['user', 'queue', 'tag', 'epoch', 'weight', 'class', 'leavingIn', 'headroom', 'tat'],
    ...['meanRun', 'shares', 'seq', 'throttledUntil', 'dueKey', 'idleUntil'],
    ...['key', 'ready', 'levels', 'counts', 'queued', 'parked', 'live', 'running', 'lists'],
    ...['scheduled', 'touched'],
  ],
  TaskEntry: [
    ...['id', 'name', 'level', 'cost', 'createdAt', 'order', 'endOrder', 'endedAt', 'owner'],
    ...['dependsOn', 'edges', 'payload', 'options', 'state', 'seq', 'dueAt', 'grant'],
    ...['chargedEpoch', 'settledToken', 'result', 'moment', 'place', 'optional'],
  ],
  OptionalFacts: [
    ...['failures', 'losses', 'releases', 'parkedUntil', 'expiresAt', 'expiresInMs', 'waitUntil'],
    ...['deadline', 'cancelCause', 'cause', 'error', 'attempts', 'blocked', 'absent', 'readers'],
    ...['releasedMs', 'cascadeAt', 'left', 'key', 'firstPayload', 'charged', 'run', 'streams'],
    ...['waiting', 'awaitingRedrive'],
  ],
  RunFacts: [
    ...['isJoin', 'owner', 'graph', 'waitFor', 'wakeOn', 'wakeAt', 'attendedBy', 'timeLeft'],
    ...['decidesAfter', 'wait', 'signals', 'asks', 'journal', 'channels', 'newestWrites', 'pause'],
    ...['pausedBy', 'asideFor', 'aside'],
  ],
};

describe('what a store is made of', () => {
  it('has no fields that are not seen', () => {
    const files = readdirSync(FOLDER).map(
      (name) => [name, readFileSync(FOLDER + name, 'utf8')] as const,
    );
    const hidden = files.flatMap(([name, text]) =>
      [...text.matchAll(/^ {2}(?:static |readonly )*#\w+\s*[:;=].*$/gm)].map(
        ([line]) => `${name}: ${line}`,
      ),
    );
    expect(hidden).toEqual([]);
    expect(files.length).toBeGreaterThan(15);
  });

  it('is in rows, or follows from them', () => {
    const queue = new QueueEntry('q');
    const owner = new UserEntry('ann', queue);
    const made = {
      Store: Object.keys(new Store(clock)).filter((name) => !LEFT.has(name)),
      QueueEntry: Object.keys(queue),
      UserEntry: Object.keys(owner),
      TaskEntry: Object.keys(new TaskEntry(newTask({ id: 'a' }), owner, 0, 1)),
      OptionalFacts: Object.keys(new OptionalFacts()),
      RunFacts: Object.keys(noRun()),
    };
    for (const [name, fields] of Object.entries(STORED)) {
      const known: readonly string[] =
        Object.entries(made).find(([one]) => one === name)?.[1] ?? [];
      expect(fields.toSorted(), name).toEqual(known.toSorted());
    }
  });
});

describe('a state', () => {
  it('says nothing in the names of the code: its words are those of the model', async () => {
    const store = new Store(clock);
    const { tasks } = partsOn(store);
    await tasks.enqueue([newTask({ id: 'a' })], { atomic: true });
    const [head = '{}', ...lines] = [...writeState(store)].join('').trimEnd().split('\n');
    const words = Object.entries(ROWS).map(([kind, { fields }]) => [kind, Object.keys(fields)]);
    expect(JSON.parse(head)).toEqual({ state: 3, kinds: words });
    // `deadLetters` is one of the totals, which the port names.
    const names = [...Object.keys(store), ...Object.keys(new OptionalFacts()), 'TaskEntry'].filter(
      (name) => name !== 'deadLetters',
    );
    const texts = lines.map((line): unknown => JSON.parse(line));
    const all: string[] = [];
    const gather = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Array.isArray(value)) all.push(...Object.keys(value));
      for (const one of Object.values(value)) gather(one);
    };
    for (const one of texts) gather(one);
    expect(all.filter((word) => names.includes(word))).toEqual([]);
    expect(all).toContain('onFailure');
  });

  it('of a file is read by the names that stand in it, whatever the code calls its fields', async () => {
    const store = new Store(clock);
    await partsOn(store).tasks.enqueue([newTask({ id: 'a' })], { atomic: true });
    const [head = '{}', ...lines] = [...writeState(store)].join('').split('\n');
    const { state, kinds } = JSON.parse(head);
    // Columns in another order: only what the head says tells which is which.
    const turned = kinds.map(([kind, fields]: [string, string[]]) => [kind, fields.toReversed()]);
    const others = lines.map((line) => {
      const row: unknown = line === '' ? undefined : JSON.parse(line);
      if (!Array.isArray(row)) return line;
      return JSON.stringify([...row.slice(0, 2), ...row.slice(2).toReversed()]);
    });
    const text = [JSON.stringify({ state, kinds: turned }), ...others].join('\n');
    const again = readState([text], newStore(clock));
    mustBeSameState(store, again);
    expect(again.records.get('a')?.payload).toBe(store.records.get('a')?.payload);
  });

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
    const again = readState(writeState(store), newStore(clock));
    mustBeSameState(store, again);
    expect(again.records.size).toBe(2 * count);
  });

  it('keeps numbers, texts and orders that JSON does not', () => {
    const store = new Store(clock);
    store.names.set('\ud800 é \u2028', -0);
    store.names.set('__proto__', Number.POSITIVE_INFINITY);
    for (let at = 10_000; at > 0; at--) store.names.set(`n${at}`, at / 3);
    const again = readState(writeState(store), newStore(clock));
    mustBeSameState(store, again);
    expect([...again.names].slice(0, 2)).toEqual([
      ['\ud800 é \u2028', -0],
      ['__proto__', Number.POSITIVE_INFINITY],
    ]);
  });
});

describe('the model of rows', () => {
  it('has a sentence for each kind and field', () => {
    for (const { about, fields } of [...Object.values(ROWS), ...Object.values(PARTS)]) {
      for (const text of [about, ...Object.values(fields).map(([, sentence]) => sentence)]) {
        expect(text).toMatch(/^[A-Z`].*[.]$/);
      }
    }
  });
});
