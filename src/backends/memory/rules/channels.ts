import type { LeaseRef } from '../../../domain/port/backend.ts';
import {
  type ChannelRefusal,
  ChannelValues,
  type ChannelWrites,
} from '../../../domain/task/channel.ts';
import type { Store } from '../store/store.ts';
import { attendedTask } from './attended.ts';

/** The channels of a run are part of its record. */
export function readChannel(
  store: Store,
  run: string,
  fields: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  return store.records.get(run)?.optional.run?.channels?.read(fields) ?? {};
}

/** See `RunStore.writeChannel`. */
export function writeLive(
  store: Store,
  lease: LeaseRef,
  channel: ChannelWrites,
): 'ok' | 'lost' | ChannelRefusal {
  if (attendedTask(store, lease) === undefined) return 'lost';
  return writeChannel(store, channel) ?? 'ok';
}

/** Applies the writes, or answers why it has not. */
export function writeChannel(
  store: Store,
  { run, writes }: ChannelWrites,
): ChannelRefusal | undefined {
  if (writes.length === 0) return undefined;
  const entry = store.records.get(run);
  if (entry === undefined) return { type: 'run-gone', run };
  const facts = entry.ownRun();
  facts.channels ??= new ChannelValues();
  return facts.channels.write(writes);
}
