/** One call of the port, sent to every backend and answered by the oracle. */

import type { QueuePatch, UserPatch } from '../../src/domain/fairness/settings.ts';
import type {
  Backend,
  BatchOptions,
  ChangeReply,
  DueRequest,
  EditedTask,
  EnqueueReply,
  EventStart,
  ExtendRequest,
  FireRequest,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  NodeWrites,
  PublishReply,
  ScheduleChange,
  SettleRequest,
  WorkerSpec,
} from '../../src/domain/port/backend.ts';
import type { GivenAnswer } from '../../src/domain/task/ask.ts';
import type { Cause } from '../../src/domain/task/cause.ts';
import type { ChannelWrites } from '../../src/domain/task/channel.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import type { SignalMessage, WaitEvent } from '../../src/domain/task/wait.ts';
import type { XComWrite } from '../../src/domain/task/xcom.ts';
import type { LeaseForecast, Oracle } from './oracle/oracle.ts';
import type { SettleAnswer } from './oracle/settle.ts';
import { byBytes } from './oracle/world.ts';
import { AnyOf } from './same.ts';

export type Call =
  | { readonly type: 'enqueue'; readonly tasks: readonly NewTask[]; readonly options: BatchOptions }
  | { readonly type: 'lease'; readonly request: LeaseRequest }
  | { readonly type: 'settle'; readonly request: SettleRequest }
  | { readonly type: 'extend'; readonly request: ExtendRequest }
  | { readonly type: 'tick' }
  | {
      readonly type: 'checkpoint';
      readonly lease: LeaseRef;
      readonly entries: Readonly<Record<string, string | null>>;
      readonly channel?: NodeWrites | undefined;
    }
  | { readonly type: 'writeChannel'; readonly lease: LeaseRef; readonly channel: ChannelWrites }
  | { readonly type: 'writeValues'; readonly writes: readonly XComWrite[] }
  | { readonly type: 'saveGraph'; readonly hash: string; readonly body: string }
  | { readonly type: 'loadGraph'; readonly hash: string }
  | { readonly type: 'setSchedule'; readonly change: ScheduleChange }
  | { readonly type: 'removeSchedule' | 'getSchedule'; readonly id: string }
  | { readonly type: 'dueSchedules'; readonly request: DueRequest }
  | { readonly type: 'fire'; readonly request: FireRequest }
  | { readonly type: 'leaveSchedules'; readonly owner: string }
  | { readonly type: 'cancel'; readonly id: string; readonly cause: Cause }
  | { readonly type: 'redrive'; readonly id: string; readonly edited: EditedTask | undefined }
  | { readonly type: 'remove' | 'runNow' | 'resumeRun'; readonly id: string }
  | { readonly type: 'pauseRun'; readonly id: string; readonly reason: string | undefined }
  | { readonly type: 'pausePart'; readonly id: string; readonly run: string }
  | { readonly type: 'signal'; readonly id: string; readonly signal: SignalMessage }
  | {
      readonly type: 'publish';
      readonly user: string;
      readonly event: WaitEvent;
      readonly starts: readonly EventStart[];
    }
  | { readonly type: 'answerAsk'; readonly id: string; readonly answer: GivenAnswer }
  | {
      readonly type: 'setUser';
      readonly user: string;
      readonly patch: UserPatch;
      readonly queue: string | undefined;
    }
  | { readonly type: 'setQueue'; readonly queue: string; readonly patch: QueuePatch }
  | { readonly type: 'register'; readonly spec: WorkerSpec; readonly starts: boolean }
  | { readonly type: 'unregister'; readonly id: string };

/** Longest and shortest sleep that a lease may ask for, in ms: the floor and its 20 %. */
const SLEEP_MS = 6_000;

/** Sends a call to a backend, and gives its answer in a form that can be compared. */
export async function send(backend: Backend, call: Call): Promise<unknown> {
  const { tasks, users, queues, workers, schedules } = backend;
  switch (call.type) {
    case 'enqueue':
      return (await tasks.enqueue(call.tasks, call.options)).map(anyCycle);
    case 'lease':
      return leaseAnswer(await tasks.lease(call.request));
    case 'settle': {
      const { answers, lease } = await tasks.settle(call.request);
      return { answers, lease: lease === undefined ? undefined : leaseAnswer(lease) };
    }
    case 'extend': {
      const { answers, unknown, schedulesDue, now } = await tasks.extend(call.request);
      return { answers, unknown: sorted(unknown), schedulesDue, now };
    }
    case 'tick': {
      const { more, nextDueAt, schedulesDue, now } = await tasks.tick();
      return { more, nextDueAt, schedulesDue, now };
    }
    case 'checkpoint': {
      const answer = await backend.runs.checkpoint(call.lease, call.entries, call.channel);
      return { answer, journal: await backend.runs.load(call.lease.id) };
    }
    case 'writeChannel': {
      const { lease, channel } = call;
      const answer = await backend.runs.writeChannel(lease, channel);
      const fields = channel.writes.map(({ field }) => field);
      return { answer, values: await backend.runs.readChannel(channel.run, fields) };
    }
    case 'writeValues':
      await backend.xcom.write(call.writes);
      return backend.xcom.read(call.writes.map(({ place }) => place));
    case 'saveGraph':
      return backend.graphs.save(call.hash, call.body);
    case 'loadGraph':
      return backend.graphs.load(call.hash);
    case 'setSchedule':
      return schedules.set(call.change);
    case 'removeSchedule':
      return schedules.remove(call.id);
    case 'getSchedule':
      return { ...(await schedules.get(call.id)), lag: await schedules.lag() };
    case 'dueSchedules':
      return schedules.due(call.request);
    case 'fire':
      return schedules.fire(call.request);
    case 'leaveSchedules':
      return schedules.leave(call.owner);
    case 'cancel':
      return tasks.cancel(call.id, call.cause);
    case 'redrive':
      return anyPath(await tasks.redrive(call.id, call.edited));
    case 'pauseRun':
      return backend.runs.pause(call.id, call.reason);
    case 'pausePart':
      return backend.runs.pausePart(call.id, call.run);
    case 'resumeRun':
      return backend.runs.resume(call.id);
    case 'remove':
      return tasks.remove(call.id);
    case 'runNow':
      return tasks.runNow(call.id);
    case 'signal': {
      const answer = await backend.waits.signal(call.id, call.signal);
      return { answer, journal: await backend.runs.load(call.id) };
    }
    case 'publish':
      return inOrder(await backend.waits.publish(call.user, call.event, call.starts));
    case 'answerAsk': {
      const answer = await backend.asks.answer(call.id, call.answer);
      return { answer, ask: await backend.asks.get(call.id) };
    }
    case 'setUser':
      return users.set(
        call.user,
        call.patch,
        call.queue === undefined ? {} : { queue: call.queue },
      );
    case 'setQueue':
      return queues.set(call.queue, call.patch);
    case 'register':
      return workers.register(call.spec, { starts: call.starts });
    case 'unregister':
      return workers.unregister(call.id);
  }
}

/** What a backend must answer. */
export function forecast(oracle: Oracle, call: Call): unknown {
  switch (call.type) {
    case 'enqueue':
      return oracle.enqueue(call.tasks, call.options);
    case 'lease':
      return leaseForecast(oracle.lease(call.request));
    case 'settle': {
      const { answers: told, lease } = oracle.settle(call.request);
      const answers = told.map(orRepeated);
      return { answers, lease: lease === undefined ? undefined : leaseForecast(lease) };
    }
    case 'extend': {
      const { answers, unknown, schedulesDue, now } = oracle.extend(call.request);
      return { answers, unknown: sorted(unknown), schedulesDue, now };
    }
    case 'tick':
      return tickForecast(oracle.tick());
    case 'checkpoint': {
      const answer = oracle.checkpoint(call.lease, call);
      return { answer, journal: oracle.journal(call.lease.id) };
    }
    case 'writeChannel': {
      const { lease, channel } = call;
      const answer = oracle.writeChannel(lease, channel);
      const fields = new Set(channel.writes.map(({ field }) => field));
      const all = Object.entries(oracle.channels(channel.run));
      return { answer, values: Object.fromEntries(all.filter(([field]) => fields.has(field))) };
    }
    case 'writeValues':
      oracle.writeValues(call.writes);
      return oracle.values(call.writes.map(({ place }) => place));
    case 'saveGraph':
      return oracle.saveGraph(call.hash, call.body);
    case 'loadGraph': {
      const { reply, forgettable } = oracle.loadGraph(call.hash);
      return forgettable ? new AnyOf(reply, { kind: 'unknown' }) : reply;
    }
    case 'setSchedule':
      return oracle.setSchedule(call.change);
    case 'removeSchedule':
      return oracle.removeSchedule(call.id);
    case 'getSchedule':
      return oracle.schedule(call.id);
    case 'dueSchedules':
      return oracle.due(call.request);
    case 'fire':
      return oracle.fire(call.request);
    case 'leaveSchedules':
      return oracle.leave(call.owner);
    case 'cancel':
      return oracle.cancel(call.id, call.cause);
    case 'redrive':
      return oracle.redrive(call.id, call.edited);
    case 'pauseRun':
      return oracle.pause(call.id, call.reason);
    case 'pausePart':
      return oracle.pausePart(call.id, call.run);
    case 'resumeRun':
      return oracle.resume(call.id);
    case 'remove':
      return oracle.remove(call.id);
    case 'runNow':
      return oracle.runNow(call.id);
    case 'signal': {
      const answer = oracle.signal(call.id, call.signal);
      return { answer, journal: oracle.journal(call.id) };
    }
    case 'publish':
      return oracle.publish(call.user, call.event, call.starts);
    case 'answerAsk': {
      const answer = oracle.answerAsk(call.id, call.answer);
      return { answer, ask: oracle.ask(call.id) };
    }
    case 'setUser':
      return oracle.setUser(call.user, call.patch, call.queue);
    case 'setQueue':
      return oracle.setQueue(call.queue, call.patch);
    case 'register':
      return oracle.register(call.spec, call.starts);
    case 'unregister':
      return oracle.unregister(call.id);
  }
}

/** Only the newest token that settled a task must be known when it is sent again. */
function orRepeated(answer: SettleAnswer): unknown {
  if (answer.kind !== 'leaseLost' || answer.once === undefined) return answer;
  const lost = { kind: 'leaseLost' };
  return new AnyOf(lost, { kind: 'ok', state: answer.once, repeated: true });
}

/** Which cycle is named, of several, is the backend's choice; it begins where it ends. */
function anyCycle(reply: EnqueueReply): EnqueueReply {
  if (reply.kind !== 'refused' || reply.refusal.type !== 'cycle') return reply;
  return { kind: 'refused', refusal: { type: 'cycle', path: endsOf(reply.refusal) } };
}

function anyPath(reply: ChangeReply): ChangeReply {
  return reply.kind === 'cycle' ? { kind: 'cycle', path: endsOf(reply) } : reply;
}

function endsOf({ path }: { readonly path: readonly string[] }): readonly string[] {
  return [path[0] ?? '', path.at(-1) ?? ''];
}

/** Who fires is told in any order. */
function inOrder(reply: PublishReply): PublishReply {
  if (reply.kind !== 'schedules') return reply;
  const schedules = [...reply.schedules].sort((one, other) => byBytes(one.id, other.id));
  return { ...reply, schedules };
}

/** How long to sleep is partly chance: it is checked for its bounds, and not compared. */
function leaseAnswer(reply: LeaseReply): unknown {
  const { leases, more, nextDueAt, waitMs, schedulesDue, now } = reply;
  if (!Number.isFinite(waitMs) || waitMs < 0 || waitMs > SLEEP_MS) {
    throw new Error(`waitMs is ${waitMs}`);
  }
  return { leases: leases.map(leased), more, nextDueAt, schedulesDue, now };
}

/** The fields of the port; a backend may add its own. */
function leased(lease: Leased): Leased {
  const { id, token, attempt, losses, leaseUntil, leasedAt, createdAt, name, queue } = lease;
  const { user, level, payload, options, releases, alone, upstreams, attemptSettings, paused } =
    lease;
  const when = { leaseUntil, leasedAt, createdAt };
  const what = { name, queue, user, level, payload, options, releases, alone, upstreams };
  const told = {
    ...(attemptSettings === undefined ? {} : { attemptSettings }),
    ...(paused === undefined ? {} : { paused }),
  };
  return { id, token, attempt, losses, ...when, ...what, ...told };
}

function leaseForecast({ leases, stopped, schedulesDue, now, ...due }: LeaseForecast): unknown {
  return { leases, more: stopped, nextDueAt: orRest(due), schedulesDue, now };
}

type Due = Pick<LeaseForecast, 'nextDueAt' | 'restsUntil'>;

function tickForecast(told: ReturnType<Oracle['tick']>): unknown {
  const { now, schedulesDue, ...due } = told;
  return { more: false, nextDueAt: orRest(due), schedulesDue, now };
}

/** Users who only rest need no worker at that time, but a worker may look at them then. */
function orRest({ nextDueAt, restsUntil }: Due): unknown {
  if (restsUntil === undefined || (nextDueAt ?? restsUntil) < restsUntil) return nextDueAt;
  return new AnyOf(nextDueAt, restsUntil);
}

function sorted<T extends { readonly id: string }>(leases: readonly T[]): readonly T[] {
  return [...leases].sort((one, other) => (one.id < other.id ? -1 : 1));
}
