/** Words for what the cases of pauses do all the time. */

import type { Leased } from '../../domain/port/backend.ts';
import type { Kit } from '../kit.ts';

/** A run that is started, with members in line. */
export async function runWith(kit: Kit, ...members: readonly string[]): Promise<Leased> {
  await kit.add({ id: 'run' });
  const run = await kit.leaseOne();
  for (const id of members) await kit.add({ id, owner: 'run' });
  return run;
}

/** Pauses a run that there is. */
export async function pause(kit: Kit, id = 'run', reason?: string): Promise<void> {
  kit.expect(await kit.backend.runs.pause(id, reason)).toMatchObject({ kind: 'ok' });
}

/** Ends its pause, and lets maintenance do the rest. */
export async function resume(kit: Kit, id = 'run'): Promise<void> {
  kit.expect(await kit.backend.runs.resume(id)).toMatchObject({ kind: 'ok' });
  await kit.rest();
}

/** Nothing may be started, however many leases are asked for. */
export async function nothingStarts(kit: Kit): Promise<void> {
  kit.expect((await kit.leaseMany(9)).map(({ id }) => id)).toEqual([]);
}

/** Indexes and records agree. */
export async function reconciled(kit: Kit): Promise<void> {
  kit.expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
}
