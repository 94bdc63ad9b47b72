/** Schedules while calls fail, schedulers die, and several of them fire at once. */
import { beforeEach, expect, it } from 'vitest';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const ping = task('ping', async () => 'pong');

eachBackend((open) => {
  const harness = opened(open);
  let start: number;
  beforeEach(async () => {
    start = harness.clock.now();
  });

  /** Ids of what was made, in order. */
  async function made(schedule: string): Promise<readonly number[]> {
    const page = await harness.backend.inspect.list({ state: 'finished' }, { limit: 500 });
    const prefix = `~s.${schedule}.`;
    return page.items
      .filter(({ id }) => id.startsWith(prefix))
      .map(({ id }) => Number(id.slice(prefix.length)) - start)
      .sort((a, b) => a - b);
  }

  // O91
  it('goes on after an outage, and makes 0, 1 or all of the missed tasks', async () => {
    let isDown = false;
    const backend = flakyBackend(harness.backend, () => (isDown ? 'lose-request' : undefined));
    const loom = harness.loom([ping], { backend });
    for (const missed of ['skip', 'one', 'all'] as const) {
      await loom.schedules.set(missed, { every: '1m', task: ping, missed, overlap: 'allow' });
    }
    const worker = loom.worker();
    const events: string[] = [];
    worker.on('schedule.missed', ({ schedule, slots }) => events.push(`${schedule} ${slots}`));
    await worker.start();
    await harness.clock.advance(MINUTE);
    isDown = true;
    await harness.clock.advance(3.5 * MINUTE);
    isDown = false;
    await harness.clock.advance(MINUTE);
    const minutes = async (id: string): Promise<readonly number[]> =>
      (await made(id)).map((at) => at / MINUTE);
    expect(await minutes('skip')).toEqual([1, 5]);
    expect(await minutes('one')).toEqual([1, 4, 5]);
    expect(await minutes('all')).toEqual([1, 2, 3, 4, 5]);
    expect(events.sort()).toEqual(['one 2', 'skip 3']);
  });

  // O92
  it('a slot fires once, although answers are lost and three schedulers run', async () => {
    const looms = [0, 1, 2].map((one) => {
      let calls = 0;
      const backend = flakyBackend(harness.backend, ({ operation }) => {
        if (!operation.startsWith('schedules.')) return undefined;
        calls++;
        if ((calls + one) % 5 === 0) return 'lose-reply';
        return (calls + one) % 7 === 0 ? 'lose-request' : undefined;
      });
      return harness.loom([ping], { backend });
    });
    const options = { every: '1s', task: ping, overlap: 'allow' } as const;
    await harness.loom([]).schedules.set('often', options);
    for (const loom of looms) await loom.worker().start();
    await harness.clock.advance('30s');
    await harness.clock.advance('3s');
    const slots = await made('often');
    expect(slots.length).toBeGreaterThanOrEqual(30);
    expect(slots).toEqual(slots.map((_slot, at) => (at + 1) * SECOND));
    const fired = (await harness.backend.schedules.get('often')).record?.fired;
    expect(fired).toBe(slots.length);
  });

  // A-W12
  it('the lock of a scheduler that died holds others up for a short time only', async () => {
    const [dead, alive] = [harness.loom([ping]), harness.loom([ping])];
    await dead.schedules.set('a', { every: '20s', task: ping });
    const first = dead.worker({ id: 'dead' });
    await first.start();
    await harness.clock.advance('20s');
    first.abandon();
    const second = alive.worker({ id: 'alive' });
    const late: number[] = [];
    second.on('schedule.fired', ({ slot }) => late.push(harness.clock.now() - slot));
    await second.start();
    await harness.clock.advance('45s');
    expect(await made('a')).toEqual([20, 40, 60].map((at) => at * SECOND));
    expect(Math.max(...late)).toBeLessThanOrEqual(3 * SECOND);
  });

  // A-W12
  it('a scheduler that stops lets another one in at once', async () => {
    const loom = harness.loom([ping]);
    await loom.schedules.set('a', { every: '2s', task: ping, overlap: 'allow' });
    const [first, second] = [loom.worker({ id: 'one' }), loom.worker({ id: 'two' })];
    const late: number[] = [];
    second.on('schedule.fired', ({ lateMs }) => late.push(lateMs));
    await first.start();
    await second.start();
    await harness.clock.advance('10s');
    const stopping = first.stop();
    await harness.clock.advance('10s');
    await stopping;
    expect(await made('a')).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20].map((at) => at * SECOND));
    expect(Math.max(...late)).toBeLessThan(SECOND);
  });

  it('a schedule that cannot be read keeps no other from firing', async () => {
    const loom = harness.loom([ping]);
    await loom.schedules.set('good', { every: '2s', task: ping, overlap: 'allow' });
    const next = { slot: start + SECOND, dueAt: start + SECOND };
    const odd = { id: 'odd', revision: 0, spec: '{"version":9}', paused: false } as const;
    await harness.backend.schedules.set({ ...odd, overlap: 'skip', next });
    const worker = loom.worker();
    const errors: string[] = [];
    worker.on('worker.error', ({ operation }) => errors.push(operation));
    await worker.start();
    await harness.clock.advance('10s');
    expect(await made('good')).toEqual([2, 4, 6, 8, 10].map((at) => at * SECOND));
    expect(new Set(errors)).toEqual(new Set(['schedule odd']));
    // It is looked at again and again, but not all the time.
    expect(errors.length).toBeLessThan(40);
  });

  // O81
  it('a slot of a downtime shorter than a minute is made up for', async () => {
    const loom = harness.loom([ping]);
    await loom.schedules.set('a', { every: '10s', task: ping, overlap: 'allow', missed: 'skip' });
    await harness.jump(35 * SECOND);
    await loom.worker().start();
    await harness.clock.advance(SECOND);
    expect(await made('a')).toEqual([10, 20, 30].map((at) => at * SECOND));
  });
});
