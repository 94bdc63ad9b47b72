/** A run that only has to decide what follows from what has ended: a pause does not hold it. */

import type { Leased, Suspension } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import type { Kit } from '../kit.ts';
import { nothingStarts, pause, reconciled, resume, runWith } from './pause-kit.ts';

const DECIDES = { type: 'suspend', wakeOn: 'failure', decides: true } as const;

/** A run that waits for its members, which are leased. */
async function waitingRun(
  kit: Kit,
  members: readonly string[],
  suspension: Partial<Suspension> = {},
): Promise<{ readonly run: Leased; readonly leases: readonly Leased[] }> {
  const run = await runWith(kit, ...members);
  const leases = await kit.lease(members.length);
  await kit.settle(run, { ...DECIDES, waitFor: members, ...suspension });
  return { run, leases };
}

const GIVEN_BACK = { type: 'release', cause: { type: 'paused' } } as const;

/** When it is leased, and for how long. */
export const deciding: Cases = {
  'is leased while it is paused, and told of it': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a', 'b']);
    await kit.add({ id: 'c', owner: 'run' });
    await pause(kit);
    await nothingStarts(kit);
    await kit.fail(leases[0] as Leased);
    await reconciled(kit);
    const request = { requestId: 'decides01', limit: 9 };
    const [run, ...others] = (await kit.leaseReply(request)).leases;
    expect(run).toMatchObject({ id: 'run', attempt: 1, losses: 0, releases: 0, paused: true });
    expect(others).toEqual([]);
    expect((await kit.leaseReply(request)).leases).toEqual([run]);
    expect(await kit.backend.runs.checkpoint(run as Leased, { x: '1' })).toBe('paused');
    await kit.settle(run as Leased, { type: 'finish', result: '1' });
    await kit.rest();
    expect(await kit.states(['run', 'c'])).toEqual(['finished', 'canceled']);
    expect((await kit.record('run'))?.paused).toBeUndefined();
  },

  'is set aside once it has given its lease back': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a']);
    await pause(kit);
    await kit.finish(leases[0] as Leased);
    const run = await kit.leaseOne();
    expect(run).toMatchObject({ id: 'run', paused: true });
    await kit.settle(run, GIVEN_BACK);
    await nothingStarts(kit);
    expect(await kit.record('run')).toMatchObject({ state: 'deferred', paused: {} });
    await reconciled(kit);
    await resume(kit);
    const again = await kit.leaseOne();
    expect(again.id).toBe('run');
    expect(again.paused).toBeUndefined();
  },

  'is set aside when it is tried again': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a']);
    await pause(kit);
    await kit.finish(leases[0] as Leased);
    await kit.retry(await kit.leaseOne(), 0);
    await nothingStarts(kit);
    expect(await kit.state('run')).toBe('deferred');
  },

  'is set aside after a suspension that does not say so': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a', 'b']);
    await pause(kit);
    await kit.fail(leases[0] as Leased);
    const run = await kit.leaseOne();
    await kit.settle(run, { type: 'suspend', waitFor: ['b'], wakeOn: 'all' });
    await kit.finish(leases[1] as Leased);
    await nothingStarts(kit);
    expect(await kit.state('run')).toBe('deferred');
  },

  'may wait anew, and decide again': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a', 'b']);
    await pause(kit);
    await kit.fail(leases[0] as Leased);
    await kit.settle(await kit.leaseOne(), { ...DECIDES, waitFor: ['b'] });
    await nothingStarts(kit);
    await kit.finish(leases[1] as Leased);
    expect(await kit.leaseIds(9)).toEqual(['run']);
  },

  'stays in line when the pause comes after it was woken': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a']);
    await kit.finish(leases[0] as Leased);
    await pause(kit);
    expect(await kit.record('run')).toMatchObject({ state: 'queued', paused: {} });
    expect(await kit.leaseOne()).toMatchObject({ id: 'run', paused: true });
  },

  'stays in line when it is tied to the pauses of a run': async (kit, expect) => {
    await kit.add({ id: 'above', delayMs: 60_000 });
    await pause(kit, 'above');
    const { leases } = await waitingRun(kit, ['a']);
    await kit.finish(leases[0] as Leased);
    const tied = { kind: 'ok', state: 'queued' };
    expect(await kit.backend.runs.pausePart('run', 'above')).toEqual(tied);
    expect(await kit.leaseOne()).toMatchObject({ id: 'run', paused: true });
  },

  'is woken by its time, while its members are held': async (kit, expect) => {
    const run = await runWith(kit, 'a');
    await kit.settle(run, { ...DECIDES, waitFor: ['a'], wakeAfterMs: 1_000 });
    await pause(kit);
    await nothingStarts(kit);
    await kit.advance(1_000);
    expect(await kit.leaseOne()).toMatchObject({ id: 'run', paused: true });
  },

  'is leased anew when its lease was lost': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a']);
    await kit.finish(leases[0] as Leased);
    await pause(kit);
    const lost = await kit.leaseOne();
    await kit.jump(lost.leaseUntil - kit.now() + 1);
    const again = await kit.leaseOne();
    expect(again).toMatchObject({ id: 'run', losses: 1, paused: true });
    await reconciled(kit);
    await kit.settle(again, GIVEN_BACK);
    await nothingStarts(kit);
  },

  'of members decides while a run above is paused, up to that': async (kit, expect) => {
    const run = await runWith(kit, 'a');
    const a = await kit.leaseOne();
    await kit.add({ id: 'aa', owner: 'a' });
    const aa = await kit.leaseOne();
    await kit.settle(a, { ...DECIDES, waitFor: ['aa'] });
    await kit.settle(run, { ...DECIDES, waitFor: ['a'] });
    await pause(kit);
    await kit.fail(aa);
    const member = await kit.leaseOne();
    expect(member).toMatchObject({ id: 'a', paused: true });
    await kit.fail(member);
    const above = await kit.leaseOne();
    expect(above).toMatchObject({ id: 'run', paused: true });
    await kit.fail(above);
    expect(await kit.record('run')).toMatchObject({ state: 'failed', paused: {} });
  },

  'is told nothing of a pause that is over': async (kit, expect) => {
    const { leases } = await waitingRun(kit, ['a']);
    await pause(kit);
    await kit.finish(leases[0] as Leased);
    await resume(kit);
    expect((await kit.leaseOne()).paused).toBeUndefined();
  },

  'is parked where its name is not known, and leased where it is': async (kit, expect) => {
    await kit.add({ id: 'run', name: 'odd' });
    await kit.worker('w2', { names: ['odd'] });
    const run = await kit.leaseOne({ worker: 'w2' });
    const a = await kit.add({ owner: 'run' });
    const member = await kit.leaseOne();
    await kit.settle(run, { ...DECIDES, waitFor: [a] });
    await pause(kit);
    await kit.fail(member);
    await nothingStarts(kit);
    expect((await kit.backend.inspect.facts('run'))?.parked).toBe(true);
    await reconciled(kit);
    expect(await kit.leaseOne({ worker: 'w2' })).toMatchObject({ id: 'run', paused: true });
  },
};
