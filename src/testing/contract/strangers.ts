/** Tasks whose name the leasing worker does not know. */
import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from './cases.ts';
import type { Kit } from './kit.ts';

/** Lets a minute and a bit pass, in which nothing but one lease happens. */
async function minute(kit: Kit): Promise<void> {
  await kit.shift(LIMITS.strangeMaxMs + 1);
  await kit.rest();
  kit.expect(await kit.lease()).toEqual([]);
}

export const strangers: Cases = {
  'are put off, and hold up nobody behind them': async (kit, expect) => {
    const strange = await kit.add({ name: 'strange' });
    const id = await kit.add();
    expect(await kit.leaseIds(5)).toEqual([id]);
    expect(await kit.record(strange)).toMatchObject({
      state: 'scheduled',
      dueAt: kit.now() + LIMITS.strangeBaseMs,
      failures: 0,
      losses: 0,
      releases: 0,
    });
  },

  'are put off longer each time, up to a minute': async (kit, expect) => {
    const id = await kit.add({ name: 'strange' });
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      expect(await kit.lease()).toEqual([]);
      const wait = ((await kit.record(id))?.dueAt ?? 0) - kit.now();
      waits.push(wait / 1_000);
      await kit.shift(wait);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  },

  'are found by a worker that knows them': async (kit, expect) => {
    await kit.worker('knows', { names: ['strange', 'work'] });
    const id = await kit.add({ name: 'strange' });
    expect(await kit.lease()).toEqual([]);
    await kit.advance(LIMITS.strangeBaseMs);
    expect(await kit.leaseOne({ worker: 'knows' })).toMatchObject({ id, attempt: 1 });
  },

  'cost their user no turn and no rate': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 60_000, burst: 1 } });
    await kit.add({ name: 'strange' });
    const id = await kit.add();
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  'are looked at sixteen at a time': async (kit, expect) => {
    await kit.addMany(40, { name: 'strange' });
    const id = await kit.add();
    const first = await kit.leaseReply({ limit: 10 });
    expect(first).toMatchObject({ leases: [], more: true });
    expect((await kit.stats()).counts.scheduled).toBe(LIMITS.strangersPerLease);
    await kit.lease(10);
    expect(await kit.leaseIds(10)).toEqual([id]);
  },

  'fail after an hour in which no live worker knew them': async (kit, expect) => {
    const id = await kit.add({ name: 'strange' });
    expect(await kit.lease()).toEqual([]);
    for (let passed = 0; passed < 58; passed++) await minute(kit);
    expect(await kit.state(id)).toBe('scheduled');
    for (let passed = 0; passed < 4; passed++) await minute(kit);
    expect(await kit.record(id)).toMatchObject({
      state: 'failed',
      cause: { type: 'unknown-task' },
    });
    await kit.backend.tasks.redrive(id);
    await kit.worker('w', { names: ['strange'] });
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'wait on while some live worker knows them': async (kit, expect) => {
    const id = await kit.add({ name: 'strange' });
    await kit.setUser('ann', { maxRunning: 1 });
    for (let passed = 0; passed < 70; passed++) {
      await kit.backend.workers.register({
        id: 'knows',
        queues: ['default'],
        names: ['strange'],
        concurrency: 1,
        host: 'test',
      });
      await minute(kit);
    }
    expect(await kit.state(id)).toBe('scheduled');
  },

  'wait on while one that knows them is never silent for a second': async (kit, expect) => {
    await kit.worker('busy', { queues: ['bulk'], names: ['strange'] });
    const id = await kit.add({ name: 'strange' });
    expect(await kit.lease()).toEqual([]);
    for (let passed = 0; passed <= LIMITS.unknownTaskMs; passed += 900) {
      await kit.shift(900);
      await kit.backend.tasks.extend({ worker: 'busy', leaseMs: 1_000, leases: [] });
    }
    expect(await kit.lease()).toEqual([]);
    expect(await kit.state(id)).toBe('scheduled');
  },
};
