/** Why a task is in its state, and what helps. */

import type { TaskError } from '../../base/thrown.ts';
import type { TaskFacts, WorkerInfo } from '../port/backend.ts';
import { causeText, failureTypeOf } from '../task/cause.ts';
import { dependentsIn, type TaskDependents } from '../task/dependents.ts';
import { readablePause } from '../task/pause.ts';
import { isEnd, type TaskState } from '../task/task.ts';
import { codeNeeded, versionsOf } from '../task/task-name.ts';
import { timeLeftMs as leftMs } from '../task/time-left.ts';
import { span, time } from './moments.ts';
import { type Position, positionOf } from './position.ts';
import { shellWord, suggestion } from './suggestion.ts';

/** One reason why a task does not run now, or its outcome. */
export interface Obstacle {
  /** Stable names for programs. */
  readonly kind:
    | 'delayed'
    | 'blocked'
    | 'suspended'
    | 'waiting'
    | 'run-ended'
    | 'run-paused'
    | 'user-paused'
    | 'user-at-limit'
    | 'user-rate'
    | 'queue-paused'
    | 'queue-at-limit'
    | 'queue-rate'
    | 'parked'
    | 'in-line'
    | 'no-worker'
    | 'running'
    | 'canceling'
    | 'ended';
  /** A sentence for people. */
  readonly text: string;
  /** A command that helps, if there is one. */
  readonly command?: string;
}

/** Why a task does not run, the nearest obstacle first. */
export interface Explanation {
  /** Id of the task. */
  readonly id: string;
  /** State of the task. */
  readonly state: TaskState;
  /** The nearest first. */
  readonly obstacles: readonly Obstacle[];
  /** A failed task: the error of its last attempt. */
  readonly error?: TaskError;
  /**
   * A task that runs or waits: the rest of its `timeout`, which only counts while its handler
   * works, in ms; absent if it is unknown. A handler that starts anew elsewhere has all of it.
   */
  readonly timeLeftMs?: number;
  /** Present while it is queued. */
  readonly position?: Position;
  /** Its dependents; absent when there are none. */
  readonly dependents?: TaskDependents;
}

/** Number of dependencies named in a sentence; the others are counted. */
const NAMED = 5;

/** What to redrive for a failed task: the run for its parts, the task for a part that its handler ran, or itself. */
export interface PutBack {
  /** Id of the task or run. */
  readonly id: string;
  /** It is a run. */
  readonly isRun: boolean;
  /** The command; `undefined`: none, since it has not failed. */
  readonly command: string | undefined;
}

/** By ids of failed tasks; a task without an entry is redriven itself. */
type PutBacks = ReadonlyMap<string, PutBack>;

/** Facts of the task besides those of the backend. */
interface Known {
  /** Failed tasks that are redriven by way of another. */
  readonly putBacks?: PutBacks;
  /** Its `timeout`, in ms; absent without one. */
  readonly timeoutMs?: number | undefined;
}

/** Obstacles of a task, its place in line, and its dependents. */
export function explain(facts: TaskFacts, known: Known = {}): Explanation {
  const { id, state } = facts.record;
  const { putBacks = new Map(), timeoutMs } = known;
  const position = positionOf(facts);
  const timeLeftMs = leftMs(facts, timeoutMs);
  const obstacles = obstaclesOf(facts, position, putBacks);
  return {
    id,
    state,
    obstacles:
      timeLeftMs === undefined ? obstacles : obstacles.map((one) => timed(one, timeLeftMs)),
    ...(timeLeftMs === undefined ? {} : { timeLeftMs }),
    ...(position === undefined ? {} : { position }),
    ...(facts.dependents === undefined ? {} : { dependents: dependentsIn(facts.dependents) }),
  };
}

/** Only a running or waiting task has time left. */
function timed(obstacle: Obstacle, leftMs: number): Obstacle {
  if (!WITH_TIME.includes(obstacle.kind)) return obstacle;
  return { ...obstacle, text: `${obstacle.text}; ${span(leftMs)} of its timeout are left` };
}

const WITH_TIME: readonly Obstacle['kind'][] = ['running', 'waiting', 'suspended'];

function obstaclesOf(
  facts: TaskFacts,
  position: Position | undefined,
  putBacks: PutBacks,
): readonly Obstacle[] {
  const { state } = facts.record;
  if (isEnd(state)) return [ended(facts, putBacks)];
  const pause = facts.paused === undefined ? [] : [paused(facts, facts.paused)];
  if (state === 'started') return [...pause, ...running(facts)];
  const found: Obstacle[] = [...pause];
  if (facts.endedRun !== undefined) found.push(abandoned(facts.endedRun));
  if (state === 'scheduled') found.push(delayed(facts));
  if (facts.suspension !== undefined) found.push(suspended(facts, facts.suspension));
  else if (facts.wait !== undefined) found.push(waiting(facts, facts.wait));
  else if (facts.blockedBy.length > 0) found.push(blocked(facts, putBacks));
  if (state === 'queued') found.push(...gates(facts));
  if (facts.join) return found;
  if (!facts.liveWorkers.some((worker) => serves(worker, facts))) found.push(noWorker(facts));
  else if (facts.parked === true) found.push(parked(facts));
  if (position !== undefined && found.length === 0) found.push(inLine(facts, position));
  return found;
}

function delayed({ record, now }: TaskFacts): Obstacle {
  const { id, dueAt = now, failures } = record;
  const why = failures > 0 ? `waits for its attempt ${failures + 1}` : 'is delayed';
  return {
    kind: 'delayed',
    text: `it ${why} until ${time(dueAt)} (in ${span(dueAt - now)})`,
    command: suggestion('tasks run-now', id),
  };
}

/** A member whose run no longer needs it. */
function abandoned({ id, state }: NonNullable<TaskFacts['endedRun']>): Obstacle {
  const what = state === 'missing' ? 'is not stored' : `has ended (${state})`;
  return {
    kind: 'run-ended',
    text: `its run ${id} ${what}: the next worker that reaches it cancels it`,
    command: suggestion('tasks explain', id),
  };
}

/** Running tasks of the run continue; no other starts. */
function paused({ record: { id } }: TaskFacts, pause: NonNullable<TaskFacts['paused']>): Obstacle {
  const { run, since, reason } = readablePause(pause);
  const what = run === id ? 'it is' : `its run ${run} is`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return {
    kind: 'run-paused',
    text: `${what} paused since ${time(since)}${why}`,
    command: suggestion('runs resume', run),
  };
}

function suspended(
  { blockedBy, record, now }: TaskFacts,
  { of, wakeOn, wakeAt }: NonNullable<TaskFacts['suspension']>,
): Obstacle {
  const first = wakeOn === 'failure' ? ', or until one of them does not finish' : '';
  const late =
    wakeAt === undefined ? '' : `, at most until ${time(wakeAt)} (${span(wakeAt - now)})`;
  return {
    kind: 'suspended',
    text: `it is suspended, waiting for ${blockedBy.length} of ${of}: ${names(blockedBy)}${first}${late}`,
    command: suggestion('tasks explain', blockedBy[0]?.id ?? record.id),
  };
}

function waiting(
  { record: { id, user }, now }: TaskFacts,
  { for: awaited, since, wakeAt }: NonNullable<TaskFacts['wait']>,
): Obstacle {
  const until = wakeAt === undefined ? '' : `${time(wakeAt)} (in ${span(wakeAt - now)})`;
  if (awaited.kind === 'time') {
    return {
      kind: 'waiting',
      text: `it sleeps until ${until}, since ${time(since)}`,
      command: suggestion('tasks run-now', id),
    };
  }
  const atMost = until === '' ? '' : `, at most until ${until}`;
  if (awaited.kind === 'ask') {
    const { ask } = awaited;
    const whom = ask.for.length === 0 ? 'anyone' : ask.for.join(', ');
    return {
      kind: 'waiting',
      text: `it asks ${whom} since ${time(since)} to choose: ${ask.choices.join(', ')}${atMost}`,
      command: `${suggestion('asks answer', ask.id, '--by <who>')} <choice>`,
    };
  }
  if (awaited.kind === 'event') {
    return {
      kind: 'waiting',
      text: `it waits for an event ${awaited.name} of ${awaited.key} since ${time(since)}${atMost}`,
      command: suggestion(`publish ${awaited.name}`, awaited.key, `--user ${shellWord(user)}`),
    };
  }
  const to = awaited.targets.at(-1) ?? id;
  return {
    kind: 'waiting',
    text: `it waits for a signal ${awaited.name} since ${time(since)}${atMost}`,
    command: `${suggestion('signal', to)} ${awaited.name}`,
  };
}

function names(blockedBy: TaskFacts['blockedBy']): string {
  const named = blockedBy.slice(0, NAMED).map(({ id, state }) => {
    return `${id} (${state === 'foreign' ? 'a task of another user has this id' : state})`;
  });
  const more = blockedBy.length > NAMED ? ` and ${blockedBy.length - NAMED} more` : '';
  return `${named.join(', ')}${more}`;
}

function blocked({ record, blockedBy }: TaskFacts, putBacks: PutBacks): Obstacle {
  const failed = blockedBy.find(({ state }) => state === 'failed');
  const first = blockedBy[0]?.id ?? record.id;
  return {
    kind: 'blocked',
    text: `it waits for ${names(blockedBy)}`,
    ...(failed === undefined
      ? { command: suggestion('tasks explain', first) }
      : cure(failed.id, putBacks)),
  };
}

/** Limits and pauses of its user or its queue that hold it now. */
function gates(facts: TaskFacts): readonly Obstacle[] {
  return [...userGates(facts), ...queueGates(facts)];
}

function userGates({ record, user, throttledUntil, now }: TaskFacts): readonly Obstacle[] {
  const found: Obstacle[] = [];
  const { paused, maxRunning } = user?.settings ?? {};
  if (paused === true) {
    const command = suggestion('users resume', record.user);
    found.push({ kind: 'user-paused', text: `its user ${record.user} is paused`, command });
  }
  const running = user?.running ?? 0;
  if (maxRunning !== undefined && running >= maxRunning) {
    found.push({
      kind: 'user-at-limit',
      text: `its user ${record.user} is at ${running}/${maxRunning} running`,
      command: suggestion('users set', record.user, `--max-running ${maxRunning + 1}`),
    });
  }
  if (throttledUntil !== undefined && throttledUntil > now) {
    found.push({
      kind: 'user-rate',
      text: `its user ${record.user} is rate-limited until ${time(throttledUntil)}`,
      command: suggestion('users get', record.user),
    });
  }
  return found;
}

function queueGates(facts: TaskFacts): readonly Obstacle[] {
  const { record, queue, queueRunning, queueThrottledUntil, now } = facts;
  const found: Obstacle[] = [];
  const { paused, maxRunning } = queue?.settings ?? {};
  if (paused === true) {
    const command = `fairloom queues resume ${record.queue}`;
    found.push({ kind: 'queue-paused', text: `its queue ${record.queue} is paused`, command });
  }
  if (maxRunning !== undefined && queueRunning >= maxRunning) {
    found.push({
      kind: 'queue-at-limit',
      text: `its queue ${record.queue} is at ${queueRunning}/${maxRunning} running`,
      command: `fairloom queues set ${record.queue} --max-running ${maxRunning + 1}`,
    });
  }
  if (queueThrottledUntil !== undefined && queueThrottledUntil > now) {
    found.push({
      kind: 'queue-rate',
      text: `its queue ${record.queue} is rate-limited until ${time(queueThrottledUntil)}`,
      command: 'fairloom queues list',
    });
  }
  return found;
}

function noWorker({ record, liveWorkers }: TaskFacts): Obstacle {
  const { queue, name, user } = record;
  const ofQueue = liveWorkers.filter(({ queues }) => queues.includes(queue));
  const ofName = ofQueue.filter(({ names }) => names.includes(name));
  const { version } = codeNeeded(name);
  if (ofQueue.length > 0 && ofName.length === 0 && version !== undefined) {
    return otherVersion(name, queue, ofQueue);
  }
  const text =
    ofQueue.length === 0
      ? `no live worker serves its queue ${queue}`
      : ofName.length === 0
        ? `no live worker of queue ${queue} knows its name ${name}`
        : `no live worker of queue ${queue} serves its user ${user}`;
  return { kind: 'no-worker', text, command: 'fairloom workers list' };
}

/** Live workers have other versions of its code, or none. */
function otherVersion(stored: string, queue: string, live: readonly WorkerInfo[]): Obstacle {
  const { name, version } = codeNeeded(stored);
  const has = versionsOf(
    live.flatMap(({ names }) => names),
    name,
  );
  const rest = has.length > NAMED ? ` and ${has.length - NAMED} more` : '';
  const others = has.length === 0 ? 'no version of it' : `${has.slice(0, NAMED).join(', ')}${rest}`;
  const text = `it needs version ${version} of ${name}; live workers of queue ${queue} have ${others}`;
  return { kind: 'no-worker', text, command: 'fairloom versions' };
}

/** A live worker knows its name; one that does not leased it first. */
function parked(facts: TaskFacts): Obstacle {
  const { name, queue } = facts.record;
  const knowing = facts.liveWorkers.filter((worker) => serves(worker, facts)).map(({ id }) => id);
  const text = `a worker of queue ${queue} that ${lacks(name)} reached it first: it waits for ${knowing.slice(0, NAMED).join(' or ')}`;
  return { kind: 'parked', text, command: 'fairloom workers list' };
}

/** The missing name or version, as a text. */
function lacks(stored: string): string {
  const { name, version } = codeNeeded(stored);
  return version === undefined
    ? `does not know its name ${name}`
    : `does not have version ${version} of ${name}`;
}

/** Whether this worker would lease the task. */
function serves(worker: WorkerInfo, { record }: TaskFacts): boolean {
  if (!worker.queues.includes(record.queue) || !worker.names.includes(record.name)) return false;
  const { assignedUsers, stealTargets } = worker;
  if (assignedUsers === undefined && stealTargets === undefined) return true;
  if (assignedUsers?.includes(record.user) === true) return true;
  return stealTargets === 'any' || stealTargets?.includes(record.user) === true;
}

function inLine({ record }: TaskFacts, position: Position): Obstacle {
  const { place, turnsBefore, usersAhead } = position;
  const turns = turnsBefore === 1 ? '1 turn' : `${turnsBefore} turns`;
  const users = usersAhead === 1 ? '1 user has' : `${usersAhead} users have`;
  return {
    kind: 'in-line',
    text: `it is number ${place} of its level, after ${turns} of its user ${record.user}; ${users} the next turn before that user`,
  };
}

function running({ record, now }: TaskFacts): readonly Obstacle[] {
  const { id, worker = 'a worker', leasedAt = now, leaseUntil = now, cancelRequested } = record;
  const lease =
    leaseUntil > now ? `its lease ends in ${span(leaseUntil - now)}` : 'its lease has ended';
  const text = `it is leased by ${worker} for ${span(now - leasedAt)}; ${lease} unless that is extended`;
  const command = suggestion('tasks cancel', id);
  if (!cancelRequested) return [{ kind: 'running', text, command }];
  const asked = 'a cancel was requested: it ends as canceled as soon as its handler notices';
  return [
    { kind: 'canceling', text: asked },
    { kind: 'running', text },
  ];
}

function ended({ record, now }: TaskFacts, putBacks: PutBacks): Obstacle {
  const { id, state, cause, endedAt = now } = record;
  const failure = cause === undefined ? undefined : failureTypeOf(cause);
  const type = failure === undefined ? '' : ` (${failure})`;
  const why = cause === undefined ? '' : `: ${causeText(cause)}`;
  const text = `it ended as ${state}${type} ${span(now - endedAt)} ago${why}`;
  return { kind: 'ended', text, ...(state === 'failed' ? cure(id, putBacks) : {}) };
}

/** The command that redrives a failed task, or its run, if there is one. */
function cure(failed: string, putBacks: PutBacks): { readonly command?: string } {
  const known = putBacks.get(failed);
  const command = known === undefined ? suggestion('tasks redrive', failed) : known.command;
  return command === undefined ? {} : { command };
}
