/** What became of the last slots of a schedule, by the ids of their tasks. */
import { task } from 'fairloom';
import { expect, it } from 'vitest';
import { askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

const MINUTE = 60_000;

const now = { isBroken: false };
const report = task('report', { retries: 0 }, async () => {
  if (now.isBroken) throw new Error('broken');
  return 'done';
});
const line = report.pipe(task('mail', async (words: string) => words)).as('line');

eachStore(({ open }) => {
  it('are there with their states, oldest first, and without a task where there is none', async () => {
    const loom = await open([report, line]);
    const ask = askerOf(loom);
    const history = async (id: string, query = ''): Promise<readonly unknown[]> => {
      const { status, body } = await ask(`/schedules/${id}/history${query}`);
      expect([status, body]).toEqual([200, { id, items: expect.any(Array) }]);
      return Reflect.get(Object(body), 'items');
    };
    const pass = async (): Promise<void> => {
      await loom.clock.advance('1m', { allowFailures: true });
      // Where the scheduler came too late, as it may on Redis, its slots are made up for.
      const to = loom.clock.now();
      for (const id of ['often', 'runs'])
        await loom.schedules.backfill(id, { from: to - MINUTE, to });
      await loom.drain({ allowFailures: true });
    };
    const first = (Math.floor(loom.clock.now() / MINUTE) + 1) * MINUTE;
    await loom.schedules.set('often', { task: report, cron: '* * * * *', user: 'acme' });
    await loom.schedules.set('runs', { task: line, every: '1m', user: 'acme' });
    await loom.schedules.set('yearly', { task: report, cron: '0 0 29 2 *', user: 'acme' });
    await loom.schedules.on('at', { event: 'paid', task: report, user: 'acme' });
    expect(await history('often')).toEqual([]);
    await pass();
    await pass();
    now.isBroken = true;
    await pass();
    now.isBroken = false;
    const states = ['finished', 'finished', 'failed'];
    const often = states.map((state, at) => {
      const slot = first + at * MINUTE;
      return { slot, taskId: `~s.often.${slot}`, state };
    });
    expect(await history('often')).toEqual(often);
    expect(await history('often', '?count=2')).toEqual(often.slice(1));
    expect(await history('runs')).toEqual(
      states.map((state) => expect.objectContaining({ state, taskId: expect.any(String) })),
    );
    for (const id of ['yearly', 'at']) expect(await history(id)).toEqual([]);
    await loom.tasks.remove(`~s.often.${first}`);
    await loom.schedules.pause('often');
    await loom.clock.advance('1m', { allowFailures: true });
    expect(await history('often')).toEqual([
      { slot: first },
      ...often.slice(1),
      { slot: first + 3 * MINUTE },
    ]);
    await loom.schedules.update('runs', { limit: 1 });
    const all = await history('runs');
    await loom.clock.advance('2m', { allowFailures: true });
    expect(await loom.schedules.get('runs')).toMatchObject({ state: 'over' });
    expect((await history('runs')).length).toBe(all.length);
    expect((await ask('/schedules/nothing/history')).status).toBe(404);
    const zeta = askerOf(loom, { access: () => ({ can: ['read'], users: ['zeta'] }) });
    expect((await zeta('/schedules/often/history')).status).toBe(404);
    const acme = askerOf(loom, { access: () => ({ can: ['read'], users: ['acme'] }) });
    expect((await acme('/schedules/often/history?count=1')).status).toBe(200);
  });
});
