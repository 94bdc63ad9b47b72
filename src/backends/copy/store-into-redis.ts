import type { EndState } from '../../domain/task/task.ts';
import type { TaskEntry, UserEntry } from '../memory/store/entities.ts';
import type { Store } from '../memory/store/store.ts';
import { FLAGS } from '../redis/layout/codes.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import type { Target } from './keys-writer.ts';
import { packedBytes } from './packed-bytes.ts';
import { Stamps } from './stamps.ts';
import { standingOf } from './standing.ts';
import { writeOthers } from './write-others.ts';
import { hasDependents, writeLines, writePlaces } from './write-places.ts';
import { writeQueues } from './write-queues.ts';
import { writeRun } from './write-runs.ts';
import { type TaskContext, writeTask } from './write-tasks.ts';

const INFINITE = Number.POSITIVE_INFINITY;

/** Writes everything that a store knows into a namespace, which is empty. */
export async function storeIntoRedis(
  target: Target,
  store: Store,
  onTasks: (count: number) => void,
): Promise<void> {
  const counted = new Map<UserEntry, boolean>();
  const isCounted = ({ owner }: TaskEntry): boolean => {
    const known = counted.get(owner) ?? standingOf(store, owner, target.now).isCounted;
    counted.set(owner, known);
    return known;
  };
  const context: TaskContext = { ...target, store, stamps: new Stamps(store), isCounted };
  let written = 0;
  for (const entry of store.records.values()) {
    await writeTask(context, entry);
    await writePlaces(context, entry);
    await writeRun(context, entry);
    onTasks(++written);
  }
  await writeLines(context);
  await writeLeases(context);
  await writeQueues(target, store);
  await writeOthers(target, store);
  await writeClock(context);
  await target.writer.close();
}

/** Before which moment none of the leases of a worker ends. */
async function writeLeases({ writer, keys, store }: TaskContext): Promise<void> {
  const least = new Map<string, number>();
  for (const { grant, leaseUntil = 0 } of store.byState.started) {
    const worker = grant?.worker ?? '';
    least.set(worker, Math.min(least.get(worker) ?? INFINITE, leaseUntil));
  }
  for (const [worker, at] of least) await writer.score(keys.leases, worker, at);
}

/** What is remembered from step to step, with the head of each index. */
async function writeClock({ writer, keys, store, stamps }: TaskContext): Promise<void> {
  const endOf = (state: EndState): number =>
    Math.min(
      store.byState[state].first()?.endedAt ?? INFINITE,
      store.read[state].first()?.endedAt ?? INFINITE,
    );
  const cascading = store.cascade.first();
  const configured = new Set(store.settingsForAll.keys());
  for (const { ownSettings } of store.queues.values()) {
    for (const user of ownSettings.keys()) configured.add(user);
  }
  let ears = 0;
  for (const entry of store.records.values()) if (hasDependents(entry)) ears++;
  const due = {
    scheduledUsers: store.dueUsers.first()?.dueKey ?? INFINITE,
    throttled: store.throttled.first()?.throttledUntil ?? INFINITE,
    deadlines: store.deadlines.first()?.optional.deadline ?? INFINITE,
    schedulesDue: store.schedulesDue.first()?.next?.dueAt ?? INFINITE,
  };
  const isMissing = store.missing.size > 0;
  const { configs, missing } = FLAGS.clock;
  const numbers = packedBytes('clock', {
    seen: store.seen,
    started: store.byState.started.firstAt() ?? INFINITE,
    finished: endOf('finished'),
    failed: endOf('failed'),
    canceled: endOf('canceled'),
    due: Math.min(...Object.values(due)),
    // The first step that looks works out when.
    upkeep: 0,
    stamp: stamps.last,
    steps: 1,
    waiting: 0,
    ears,
    flags: (configured.size > 0 ? configs : 0) + (isMissing ? missing : 0),
  });
  const upkeep = packedBytes('upkeep', {
    pause: store.sweepAfter,
    ...due,
    cascade: cascading === undefined ? INFINITE : stamps.end(cascading),
    listedWorkers: INFINITE,
    submissions: INFINITE,
    missing: isMissing ? 1 : INFINITE,
    configs: configured.size,
    dropping: 0,
    refresh: 0,
    xcomEnds: store.xcom.first()?.lookAt ?? INFINITE,
  });
  await writer.hash(keys.clock, HASH_FIELDS.clock.numbers[0], numbers);
  await writer.hash(keys.clock, HASH_FIELDS.clock.upkeep[0], upkeep);
}
