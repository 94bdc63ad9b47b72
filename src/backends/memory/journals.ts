import type { CheckpointReply, LeaseRef, NodeWrites, RunStore } from '../../domain/port/backend.ts';
import { REDRIVES } from '../../domain/task/journal.ts';
import { attendedTask } from './rules/attended.ts';
import { readChannel, writeChannel, writeLive } from './rules/channels.ts';
import { pause, pausePart, pauserOf, resume } from './rules/pause.ts';
import { writeXCom } from './rules/xcom.ts';
import type { Store } from './store/store.ts';

type Step = <T>(act: () => T) => Promise<T>;

/** See `RunStore`: the journal is part of the task's record. */
export function runStore(store: Store, step: Step, look: Step): RunStore {
  return {
    checkpoint: (lease, entries, channel) =>
      step(() => checkpoint(store, lease, { entries, channel })),
    load: (id) =>
      look(() => Object.fromEntries(store.records.get(id)?.optional.run?.journal ?? new Map())),
    writeChannel: (lease, channel) => step(() => writeLive(store, lease, channel)),
    readChannel: (run, fields) => look(() => readChannel(store, run, fields)),
    pause: (id, reason) => step(() => pause(store, id, reason)),
    pausePart: (id, run) => step(() => pausePart(store, id, run)),
    resume: (id) => step(() => resume(store, id)),
  };
}

/** Counts a redrive in the journal of a task, if it has one. */
export function countRedrive(journal: Map<string, string> | undefined): void {
  if (journal === undefined || journal.size === 0) return;
  journal.set(REDRIVES, String(Number(journal.get(REDRIVES) ?? 0) + 1));
}

interface Checkpoint {
  readonly entries: Readonly<Record<string, string | null>>;
  readonly channel: NodeWrites | undefined;
}

function checkpoint(
  store: Store,
  { id, token }: LeaseRef,
  { entries, channel }: Checkpoint,
): CheckpointReply {
  const entry = attendedTask(store, { id, token });
  if (entry === undefined) return 'lost';
  if (entry.optional.cancelCause !== undefined) return 'canceling';
  const facts = entry.ownRun();
  const name = `${token} ${channel?.key}`;
  if (channel !== undefined && facts.newestWrites !== name) {
    const refusal = writeChannel(store, channel);
    if (refusal !== undefined) return refusal;
    writeXCom(store, channel.xcom ?? [], id);
    facts.newestWrites = name;
  }
  const { journal } = facts;
  for (const [field, value] of Object.entries(entries)) {
    if (value === null) journal.delete(field);
    else journal.set(field, value);
  }
  if (entry.optional.losses > 0) entry.own().losses = 0;
  return pauserOf(store, entry) === undefined ? 'ok' : 'paused';
}
