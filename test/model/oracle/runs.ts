/** What runs do beyond other tasks: wait for others, write down what they did, own members. */
import type { LeaseRef, NodeWrites, Suspension } from '../../../src/domain/port/backend.ts';
import type { ChannelRefusal, ChannelWrites } from '../../../src/domain/task/channel.ts';
import { openAsk } from './asks.ts';
import * as channels from './channels.ts';
import { beginEventWait, recentEvent } from './events.ts';
import { goOn, wake } from './graph.ts';
import { answer, takeKept } from './waits.ts';
import { ended, isBlocked, type Task, type World } from './world.ts';

/** The lease that somebody speaks for is the one in force. */
export function holdsLease(world: World, { id, token }: LeaseRef): boolean {
  return world.tasks.get(id)?.lease?.token === token;
}

export function suspend(world: World, run: Task, suspension: Suspension): void {
  const { waitFor, wakeOn, wakeAfterMs, wait } = suspension;
  run.awaited = new Map();
  let anyFailed = false;
  for (const id of waitFor) {
    const other = world.tasks.get(id);
    if (other === undefined) continue;
    run.awaited.set(id, ended(other) ? 'met' : 'unmet');
    if (ended(other) && other.state !== 'finished') anyFailed = true;
  }
  run.wakeOn = wakeOn;
  run.wakeAt = wakeAfterMs === undefined ? undefined : world.now + wakeAfterMs;
  run.losses = 0;
  run.wait = wait;
  run.waitsSince = world.now;
  beginEventWait(world, run);
  if (wait?.for.kind === 'ask') openAsk(world, run, wait.for.ask);
  const kept = takeKept(world, run);
  if (kept !== undefined) {
    world.happened.push('woken by a signal that was kept');
    answer(world, run, { by: 'signal', payload: kept.payload });
    return;
  }
  const recent = recentEvent(world, run);
  if (recent !== undefined) {
    world.happened.push('woken by an event of before');
    answer(world, run, { by: 'event', payload: recent });
    return;
  }
  const isReason = anyFailed && wakeOn === 'failure';
  if (isBlocked(run) && !isReason) {
    goOn(world, run);
    return;
  }
  world.happened.push('suspended by nobody who was left');
  wake(world, run);
}

export interface Checkpoint {
  readonly entries: Readonly<Record<string, string | null>>;
  readonly channel?: NodeWrites | undefined;
}

export function checkpoint(
  world: World,
  lease: LeaseRef,
  { entries, channel }: Checkpoint,
): 'ok' | 'lost' | 'canceling' | ChannelRefusal {
  const run = world.tasks.get(lease.id);
  if (run === undefined || !holdsLease(world, lease)) return 'lost';
  if (run.cancelCause !== undefined) {
    world.happened.push('checkpoint after a cancel');
    return 'canceling';
  }
  const refusal = channel && channels.writeNode(world, lease, channel);
  if (refusal !== undefined) return refusal;
  for (const [field, value] of Object.entries(entries)) {
    if (value === null) run.journal.delete(field);
    else run.journal.set(field, value);
  }
  run.losses = 0;
  return 'ok';
}

export function writeChannel(
  world: World,
  lease: LeaseRef,
  channel: ChannelWrites,
): 'ok' | 'lost' | ChannelRefusal {
  if (!holdsLease(world, lease)) return 'lost';
  return channels.write(world, channel) ?? 'ok';
}

/** What failed before is to be done again. */
export function countRedrive({ journal }: Task): void {
  if (journal.size > 0) journal.set('redrives', String(Number(journal.get('redrives') ?? 0) + 1));
}

export function journalOf(world: World, id: string): Readonly<Record<string, string>> {
  return Object.fromEntries(world.tasks.get(id)?.journal ?? []);
}

/** Its run has ended, or is not there: it has nothing to be started for. */
export function isAbandoned(world: World, { owner }: Task): boolean {
  if (owner === undefined) return false;
  const run = world.tasks.get(owner);
  return run === undefined || ended(run);
}
