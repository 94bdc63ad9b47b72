/** Channels of runs, as values and not as texts: what any backend's texts must read back as. */
import type { LeaseRef, NodeWrites } from '../../../src/domain/port/backend.ts';
import type {
  ChannelRefusal,
  ChannelWrite,
  ChannelWrites,
} from '../../../src/domain/task/channel.ts';
import type { World } from './world.ts';
import { writeValues } from './xcom.ts';

/** What is kept of the channels of one run. Never changed, only replaced. */
export interface Channels {
  readonly values: ReadonlyMap<string, unknown>;
  /** Field and name of each write that counts once. */
  readonly done: ReadonlySet<string>;
}

const NOTHING: Channels = { values: new Map(), done: new Set() };

/** Applies the writes, or tells why it has not. */
export function write(world: World, { run, writes }: ChannelWrites): ChannelRefusal | undefined {
  const owner = world.tasks.get(run);
  if (owner === undefined) {
    world.happened.push('channel of a run that is gone');
    return { type: 'run-gone', run };
  }
  const values = new Map((owner.channels ?? NOTHING).values);
  const done = new Set((owner.channels ?? NOTHING).done);
  for (const one of writes) {
    const mark = 'once' in one ? JSON.stringify([one.field, one.once]) : undefined;
    if (mark !== undefined && done.has(mark)) {
      world.happened.push('channel write done before');
      continue;
    }
    if (mark !== undefined) done.add(mark);
    if (!changed(values, one)) {
      world.happened.push('channel write refused');
      return { type: 'unfit', field: one.field, operation: one.type as 'append' | 'add' };
    }
  }
  owner.channels = { values, done };
  world.happened.push('channel written');
  return undefined;
}

/** A checkpoint's writes count once under one lease, as long as they are its newest. */
export function writeNode(
  world: World,
  lease: LeaseRef,
  channel: NodeWrites,
): ChannelRefusal | undefined {
  const task = world.tasks.get(lease.id);
  const name = JSON.stringify([lease.token, channel.key]);
  if (task === undefined) return undefined;
  if (task.newestWrites === name) {
    world.happened.push('channel checkpoint sent again');
    return undefined;
  }
  const refusal = write(world, channel);
  if (refusal !== undefined) return refusal;
  writeValues(world, channel.xcom ?? [], lease.id);
  task.newestWrites = name;
  return undefined;
}

export function read(world: World, run: string): Readonly<Record<string, string>> {
  const values = world.tasks.get(run)?.channels?.values ?? new Map<string, unknown>();
  return Object.fromEntries(
    [...values].map(([field, value]) => [field, JSON.stringify(value)] as const),
  );
}

/** False when the write does not fit what is there. */
function changed(values: Map<string, unknown>, one: ChannelWrite): boolean {
  const { field } = one;
  const before = values.get(field);
  switch (one.type) {
    case 'set':
      values.set(field, JSON.parse(one.text));
      return true;
    case 'delete':
      values.delete(field);
      return true;
    case 'append': {
      const list = values.has(field) ? before : [];
      if (!Array.isArray(list)) return false;
      values.set(field, [...list, ...JSON.parse(`[${one.text}]`)]);
      return true;
    }
    case 'add': {
      const number = values.has(field) ? before : 0;
      if (typeof number !== 'number') return false;
      const sum = number + one.by;
      if (!Number.isFinite(sum)) return false;
      values.set(field, sum);
      return true;
    }
  }
}
