/** Streams of tasks: what appends and reads make of them, who may write, who is told, how long they are kept. */

import { LIMITS } from '../../domain/limits.ts';
import { type Cases, retaining } from '../cases.ts';
import {
  entries,
  factsOf,
  isOver,
  leasedTask,
  place,
  shown,
  Writer,
  writing,
} from './stream-kit.ts';

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** What is read of what was written. */
export const values: Cases = {
  'chunks are read in order, from any offset': async (kit, expect) => {
    const writer = await writing(kit);
    expect(await kit.backend.streams.read('task', 'tokens', 0, 16)).toEqual([]);
    expect(await writer.write('"a"', '{"b":[1]}')).toBe('ok');
    expect(await writer.write('"é👍\\u0000"')).toBe('ok');
    expect(await writer.write('', '1:2', 'enc')).toBe('ok');
    const all = [
      'chunks 0-2 1 "a",{"b":[1]}',
      'chunks 2-3 1 "é👍\\u0000"',
      'chunks 3-6 1 ,1:2,enc',
    ];
    expect(shown(await entries(kit))).toEqual(all);
    expect(shown(await entries(kit, { limit: 1 }))).toEqual(all);
    expect(shown(await entries(kit, { from: 1 }))).toEqual(all);
    expect(shown(await entries(kit, { from: 2 }))).toEqual(all.slice(1));
    expect(shown(await entries(kit, { from: 5 }))).toEqual(all.slice(2));
    expect(shown(await entries(kit, { from: 6 }))).toEqual([]);
    expect(shown(await entries(kit, { from: 600 }))).toEqual([]);
  },

  'a close is the last entry': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1');
    expect(await writer.close('2', '3')).toBe('ok');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 1', 'chunks 1-3 1 2,3', 'end 3-4 1']);
    expect(await factsOf(kit)).toEqual([{ name: 'tokens', first: 0, next: 4, closed: true }]);
  },

  'streams of one task are listed by name, each with offsets of its own': async (kit, expect) => {
    const leased = await leasedTask(kit);
    expect(await kit.backend.streams.list('task')).toEqual([]);
    await new Writer(kit, leased, { name: 'b' }).write('1', '2');
    await new Writer(kit, leased, { name: 'a.1' }).close();
    expect(await factsOf(kit)).toEqual([
      { name: 'a.1', first: 0, next: 1, closed: true },
      { name: 'b', first: 0, next: 2, closed: false },
    ]);
    expect(shown(await entries(kit, { name: 'b' }))).toEqual(['chunks 0-2 1 1,2']);
    expect(await kit.backend.streams.list('nobody')).toEqual([]);
  },

  'ids that look alike have streams of their own': async (kit, expect) => {
    for (const id of ['a', 'a:b', '__proto__', ' ', '1:a']) {
      const writer = new Writer(kit, await leasedTask(kit, id), { name: 'b' });
      expect(await writer.write(JSON.stringify(id))).toBe('ok');
    }
    for (const id of ['a', 'a:b', '__proto__', ' ', '1:a']) {
      const text = `chunks 0-1 1 ${JSON.stringify(id)}`;
      expect(shown(await entries(kit, { id, name: 'b' }))).toEqual([text]);
    }
  },

  'a write that is sent again is there once': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1');
    for (let times = 0; times < 3; times++) expect(await writer.send(['2', '3'])).toBe('ok');
    writer.ordinal += 2;
    for (let times = 0; times < 2; times++) expect(await writer.close('4')).toBe('ok');
    writer.ordinal += 1;
    for (let times = 0; times < 2; times++) expect(await writer.close()).toBe('ok');
    const all = ['chunks 0-1 1 1', 'chunks 1-3 1 2,3', 'chunks 3-4 1 4', 'end 4-5 1'];
    expect(shown(await entries(kit))).toEqual(all);
  },
};

/** What is kept of what is too much. */
export const bounds: Cases = {
  'the oldest blocks go when there are too many chunks': async (kit, expect) => {
    const writer = await writing(kit);
    const block = Array.from({ length: LIMITS.streamBlockChunks }, () => '1');
    const blocks = LIMITS.streamChunks / block.length;
    for (let sent = 0; sent < blocks; sent++) await writer.write(...block);
    expect(await factsOf(kit)).toMatchObject([{ first: 0, next: LIMITS.streamChunks }]);
    await writer.write('2');
    const next = LIMITS.streamChunks + 1;
    expect(await factsOf(kit)).toMatchObject([{ first: block.length, next }]);
    const [oldest] = await entries(kit, { from: 3 });
    expect(oldest?.from).toBe(block.length);
    expect(shown(await entries(kit, { from: next - 1 }))).toEqual([
      `chunks ${next - 1}-${next} 1 2`,
    ]);
  },

  'of the log of a task the newest lines are kept': async (kit, expect) => {
    const { logLines, logBytes } = LIMITS;
    const writer = new Writer(kit, await leasedTask(kit), { name: '~log' });
    await writer.write(...Array.from({ length: logLines }, () => '"a"'));
    expect(await factsOf(kit)).toMatchObject([{ name: '~log', first: 0, next: logLines }]);
    await writer.write('"b"');
    expect(await factsOf(kit)).toMatchObject([{ first: logLines, next: logLines + 1 }]);
    await writer.write('c'.repeat(logBytes));
    expect(await factsOf(kit)).toMatchObject([{ first: logLines + 1, next: logLines + 2 }]);
  },

  'the oldest blocks go when they are too long': async (kit, expect) => {
    const writer = await writing(kit);
    const chunk = 'é'.repeat(30_000);
    for (let sent = 0; sent < 20; sent++) await writer.write(chunk);
    const [facts] = await kit.backend.streams.list('task');
    expect(facts?.next).toBe(20);
    expect(facts?.bytes).toBeLessThanOrEqual(LIMITS.streamBytes);
    expect(facts?.bytes).toBeGreaterThan(LIMITS.streamBytes - 2 * 60_100);
    const kept = await entries(kit);
    expect(kept).toHaveLength(20 - (facts?.first ?? 0));
    expect(kept[0]?.from).toBe(facts?.first);
    expect(facts?.first).toBeGreaterThan(0);
  },

  'resets and ends are bounded too': async (kit, expect) => {
    const leased = await leasedTask(kit);
    const node = 'n'.repeat(60_000);
    for (let call = 1; call <= 20; call++) {
      await new Writer(kit, leased, { node, call: `c${call}` }).close();
    }
    const [facts] = await kit.backend.streams.list('task');
    expect(facts?.next).toBe(39);
    expect(facts?.bytes).toBeLessThanOrEqual(LIMITS.streamBytes);
  },

  'a task has so many streams': async (kit, expect) => {
    const leased = await leasedTask(kit);
    const names = Array.from({ length: LIMITS.streams }, (_, at) => `s${at}`);
    for (const name of names) expect(await new Writer(kit, leased, { name }).write('1')).toBe('ok');
    expect(await new Writer(kit, leased, { name: 'more' }).write('1')).toBe('full');
    expect(await new Writer(kit, leased, { name: 's0', node: 'b' }).write('1')).toBe('ok');
    expect(await kit.backend.streams.list('task')).toHaveLength(LIMITS.streams);
    expect(await kit.backend.streams.read('task', 'more', 0, 16)).toEqual([]);
  },
};

/** Who may write, and what readers are told of it. */
export const writers: Cases = {
  'only the lease in force may write': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1');
    const { id, token } = writer.leased;
    const stale = new Writer(kit, { ...writer.leased, token: `${token}x` });
    expect(await stale.write('2')).toBe('lost');
    expect(await new Writer(kit, { ...writer.leased, id: 'other' }).write('2')).toBe('lost');
    await kit.shift(LIMITS.leaseMs + 1);
    expect(await writer.write('3')).toBe('ok');
    await kit.finish({ id, token });
    expect(await writer.write('4')).toBe('lost');
    expect(await writer.close()).toBe('lost');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 1', 'chunks 1-2 1 3']);
  },

  'who has never written and has no lease leaves nothing': async (kit, expect) => {
    const writer = await writing(kit);
    await kit.finish(writer.leased);
    expect(await writer.write('1')).toBe('lost');
    expect(await kit.backend.streams.list('task')).toEqual([]);
  },

  'a lease that was lost writes nothing more': async (kit, expect) => {
    const first = await writing(kit);
    await first.write('1');
    await kit.advance(LIMITS.leaseMs + SECOND_MS);
    await kit.rest();
    expect(await first.write('2')).toBe('lost');
    await kit.advance(LIMITS.lostBackoffMs);
    await kit.rest();
    const again = new Writer(kit, await kit.leaseOne(), { attempt: 2 });
    expect(await again.write('3')).toBe('ok');
    expect(await first.write('2')).toBe('lost');
    const all = ['chunks 0-1 1 1', 'reset 1-2 2', 'chunks 2-3 2 3'];
    expect(shown(await entries(kit))).toEqual(all);
  },

  'a task whose cancel was requested may still write': async (kit, expect) => {
    const writer = await writing(kit);
    await kit.cancel('task');
    expect(await writer.write('"bye"')).toBe('ok');
    await kit.settle(writer.leased, { type: 'cancel', cause: { type: 'request' } });
    expect(await writer.write('1')).toBe('lost');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 "bye"']);
  },

  'another call of the same node begins anew, also after a close': async (kit, expect) => {
    const first = await writing(kit);
    await first.close('1');
    await kit.retry(first.leased, 1);
    await kit.advance(SECOND_MS);
    await kit.rest();
    const second = new Writer(kit, await kit.leaseOne(), { attempt: 2 });
    expect(await factsOf(kit)).toMatchObject([{ closed: true }]);
    expect(await second.write('2')).toBe('ok');
    expect(await factsOf(kit)).toMatchObject([{ closed: false, next: 4 }]);
    expect(await second.close()).toBe('ok');
    const all = ['chunks 0-1 1 1', 'end 1-2 1', 'reset 2-3 2', 'chunks 3-4 2 2', 'end 4-5 2'];
    expect(shown(await entries(kit))).toEqual(all);
  },

  'a call goes on under another lease of its task': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1');
    await kit.release(writer.leased, SECOND_MS);
    expect(await writer.write('2')).toBe('lost');
    await kit.advance(SECOND_MS);
    await kit.rest();
    writer.leased = await kit.leaseOne();
    expect(await writer.write('2')).toBe('ok');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 1', 'chunks 1-2 1 2']);
  },

  'nodes write beside each other, and reset only what is their own': async (kit, expect) => {
    const leased = await leasedTask(kit);
    const a = new Writer(kit, leased, { node: 'a', call: 'a1' });
    const b = new Writer(kit, leased, { node: 'b: c', call: 'b1' });
    await a.write('1');
    await b.write('2');
    await a.write('3');
    const again = new Writer(kit, leased, { node: 'a', call: 'a2', attempt: 2 });
    await again.write('4');
    await b.write('5');
    expect(shown(await entries(kit))).toEqual([
      'chunks 0-1 1 a 1',
      'chunks 1-2 1 b: c 2',
      'chunks 2-3 1 a 3',
      'reset 3-4 2 a',
      'chunks 4-5 2 a 4',
      'chunks 5-6 1 b: c 5',
    ]);
  },

  'what one node has closed no other writes to': async (kit, expect) => {
    const leased = await leasedTask(kit);
    const a = new Writer(kit, leased, { node: 'a', call: 'a1' });
    await a.close('1');
    const b = new Writer(kit, leased, { node: 'b', call: 'b1' });
    expect(await b.write('2')).toBe('closed');
    expect(await b.close()).toBe('closed');
    a.ordinal = 1;
    expect(await a.write('3')).toBe('closed');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 a 1', 'end 1-2 1 a']);
  },
};

/** Who waits for something to be written. */
export const readers: Cases = {
  'a wait answers at once for what is there': async (kit) => {
    const writer = await writing(kit);
    await writer.write('1', '2');
    const { signal } = new AbortController();
    await kit.backend.streams.waitForChunks(place(1), DAY_MS, signal);
  },

  'a wait answers when something is written': async (kit, expect) => {
    const writer = await writing(kit);
    const { signal } = new AbortController();
    const wait = (from: number, name = 'tokens'): Promise<void> =>
      kit.backend.streams.waitForChunks(place(from, name), DAY_MS, signal);
    const [first, second, other] = [wait(0), wait(1), wait(0, 'other')];
    expect(await isOver(first)).toBe(false);
    await writer.write('1');
    await first;
    expect(await isOver(second)).toBe(false);
    await writer.close();
    await second;
    await wait(1);
    expect(await isOver(other)).toBe(false);
    await new Writer(kit, writer.leased, { name: 'other' }).write('1');
    await other;
  },

  'a wait may begin before its task is stored': async (kit) => {
    const { signal } = new AbortController();
    const wait = kit.backend.streams.waitForChunks(place(0), DAY_MS, signal);
    const writer = await writing(kit);
    await writer.write('1');
    await wait;
  },

  'a wait ends with its signal, and with the backend': async (kit, expect) => {
    await leasedTask(kit);
    const controller = new AbortController();
    const { streams } = kit.backend;
    const wait = streams.waitForChunks(place(0), DAY_MS, controller.signal);
    expect(await isOver(wait)).toBe(false);
    controller.abort();
    await wait;
    await streams.waitForChunks(place(0), DAY_MS, controller.signal);
    const rest = streams.waitForChunks(place(0), DAY_MS, new AbortController().signal);
    expect(await isOver(rest)).toBe(false);
    await kit.close();
    await rest;
  },
};

/** How long streams are kept. */
export const lives: Cases = {
  'they stay with the record of their task, and go with it': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1');
    await kit.finish(writer.leased);
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 1']);
    await kit.shift(kit.leastKeptMs() + 1);
    expect(await kit.backend.tasks.remove('task')).toMatchObject({ kind: 'ok' });
    expect(await entries(kit)).toEqual([]);
    expect(await kit.backend.streams.list('task')).toEqual([]);
  },

  'retention takes them': retaining({ finishedMs: 0 }, async (kit, expect) => {
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) {
      const writer = new Writer(kit, await leasedTask(kit, id));
      if (id !== 'b') await writer.write('1');
      if (id === 'c') await new Writer(kit, writer.leased, { name: 'more' }).close('1');
      await kit.finish(writer.leased);
    }
    await kit.advance(kit.leastKeptMs() + SECOND_MS);
    await kit.rest();
    expect(await kit.states(ids)).toEqual(ids.map(() => 'missing'));
    for (const id of ids) expect(await kit.backend.streams.list(id)).toEqual([]);
    for (const name of ['tokens', 'more']) {
      expect(await entries(kit, { id: 'c', name })).toEqual([]);
    }
  }),

  'a task of the same id begins with none': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.write('1', '2');
    await kit.finish(writer.leased);
    await kit.shift(kit.leastKeptMs() + 1);
    await kit.backend.tasks.remove('task');
    const again = await writing(kit);
    expect(await kit.backend.streams.list('task')).toEqual([]);
    expect(await again.write('3')).toBe('ok');
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 3']);
  },

  'a redrive keeps them, and its first attempt begins anew': async (kit, expect) => {
    const writer = await writing(kit);
    await writer.close('1');
    await kit.fail(writer.leased);
    await kit.rest();
    expect(await kit.backend.tasks.redrive('task')).toMatchObject({ kind: 'ok' });
    expect(shown(await entries(kit))).toEqual(['chunks 0-1 1 1', 'end 1-2 1']);
    const again = new Writer(kit, await kit.leaseOne());
    await again.write('2');
    await kit.finish(again.leased);
    const all = ['chunks 0-1 1 1', 'end 1-2 1', 'reset 2-3 1', 'chunks 3-4 1 2'];
    expect(shown(await entries(kit))).toEqual(all);
    await kit.shift(kit.leastKeptMs() + 1);
    await kit.backend.tasks.remove('task');
    expect(await entries(kit)).toEqual([]);
  },
};
