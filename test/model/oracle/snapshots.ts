/** Snapshots of graphs: how long each is kept. */
import type { GraphReply } from '../../../src/domain/port/backend.ts';
import type { Snapshot, World } from './world.ts';

const DAY_MS = 86_400_000;
/** How long after its last use it is known that a snapshot was there. */
const REMEMBERED_MS = 8 * DAY_MS;

/** A task or a schedule that is stored needs it. */
function isNeeded(world: World, hash: string): boolean {
  const needs = ({ graph }: { readonly graph: string | undefined }): boolean => graph === hash;
  return [...world.tasks.values(), ...world.schedules.values()].some(needs);
}

export function snapshotOf(world: World, hash: string): Snapshot | undefined {
  const found = world.graphs.get(hash);
  if (found === undefined) return undefined;
  if (found.until > world.now) return found;
  if (!isNeeded(world, hash)) return undefined;
  world.happened.push('snapshot kept by a task');
  return found;
}

/** Its time begins anew, unless it has none. */
export function touchGraph(world: World, hash: string): void {
  const found = world.graphs.get(hash);
  if (found !== undefined && !isNeeded(world, hash)) found.until = world.now + DAY_MS;
}

export function saveGraph(world: World, hash: string, body: string): 'saved' | 'known' {
  const known = snapshotOf(world, hash);
  if (known === undefined) world.graphs.set(hash, { body, until: 0 });
  touchGraph(world, hash);
  return known === undefined ? 'saved' : 'known';
}

/** `forgettable`: whether it is still known that there was one is the backend's affair. */
export interface GraphForecast {
  readonly reply: GraphReply;
  readonly forgettable: boolean;
}

export function loadGraph(world: World, hash: string): GraphForecast {
  const known = snapshotOf(world, hash);
  if (known !== undefined) {
    touchGraph(world, hash);
    return { reply: { kind: 'found', body: known.body }, forgettable: false };
  }
  const was = world.graphs.get(hash);
  if (was !== undefined) world.happened.push('snapshot expired');
  if (was === undefined) return { reply: { kind: 'unknown' }, forgettable: false };
  const forgettable = world.now >= was.until - DAY_MS + REMEMBERED_MS;
  return { reply: { kind: 'expired' }, forgettable };
}

/** Whether time may go back to this moment without a snapshot coming back from its end. */
export function mayReturnTo(world: World, ms: number): boolean {
  return [...world.graphs].every(
    ([hash, { until }]) => isNeeded(world, hash) || until <= ms || until > world.now,
  );
}
