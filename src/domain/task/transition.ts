/**
 * The life of a task: from which states an event may take it, and where that leads. A backend asks
 * `nextState` before it moves a task; what it refuses is answered, and not done. The drawing in
 * docs/lifecycle.md and the questions that the scripts ask (`May.redriven(state)`) are made of the
 * same table.
 */
import type { TaskState } from './task.ts';

/** What can happen to a task. */
export type TaskEvent =
  | 'due'
  | 'unblocked'
  | 'joined'
  | 'paused'
  | 'resumed'
  | 'leased'
  | 'finished'
  | 'retried'
  | 'released'
  | 'deadLettered'
  | 'suspended'
  | 'leaseEnded'
  | 'gaveUp'
  | 'cancelRequested'
  | 'canceled'
  | 'redriven';

/** What is known of the task, and decides where an event leads. */
export interface Situation {
  /** A dependency, or one that it was suspended for, has not ended as it has to. */
  readonly isBlocked: boolean;
  /** It is never queued: it waits as `deferred`, and ends when nothing blocks it. */
  readonly isJoin: boolean;
  /** Its worker was asked to stop: that goes before all that the worker reports. */
  readonly isCanceling: boolean;
}

/** How it goes on that leaves its worker: at once, after a while, or not at all. */
export type Pace = 'now' | 'later' | 'never';

interface Move {
  /** The states that the event may take a task from. */
  readonly from: readonly TaskState[];
  /** Where it takes it; `undefined`: this event leaves that task alone. */
  readonly to: (task: Situation, pace: Pace, from: TaskState) => TaskState | undefined;
}

/** Where a task is whose handler may say what becomes of it: it runs, or waits without a lease. */
const HANDLED: readonly TaskState[] = ['started', 'deferred', 'queued'];

/** What each event does: the states in which it may come, and the one that it leads to. */
export const MOVES: Readonly<Record<TaskEvent, Move>> = {
  due: { from: ['scheduled'], to: waitingState },
  // One that waits for its time does so with or without dependencies; a join, for what ends it.
  unblocked: {
    from: ['deferred', 'scheduled'],
    to: ({ isJoin }, _, from) => (isJoin || from === 'scheduled' ? from : 'queued'),
  },
  joined: {
    from: ['deferred'],
    to: ({ isJoin, isBlocked }) => (isJoin && !isBlocked ? 'finished' : undefined),
  },
  // Its run is paused: it is set aside when its turn comes, and put back when that is over.
  paused: { from: ['queued'], to: () => 'deferred' },
  resumed: { from: ['deferred'], to: () => 'queued' },
  leased: { from: ['queued'], to: () => 'started' },
  finished: { from: HANDLED, to: unlessCanceling(() => 'finished') },
  retried: { from: HANDLED, to: unlessCanceling(goingOn) },
  released: { from: HANDLED, to: unlessCanceling(goingOn) },
  deadLettered: { from: HANDLED, to: unlessCanceling(() => 'failed') },
  suspended: { from: ['started', 'deferred'], to: unlessCanceling(waitingState) },
  leaseEnded: { from: ['started'], to: unlessCanceling(goingOn) },
  gaveUp: { from: ['scheduled', 'deferred', 'queued'], to: () => 'failed' },
  cancelRequested: { from: ['started'], to: () => 'started' },
  canceled: { from: ['scheduled', 'deferred', 'queued', 'started'], to: () => 'canceled' },
  redriven: { from: ['failed'], to: waitingState },
};

/**
 * Where the event leads the task; `undefined`: it may not happen now. That is an answer, not an
 * error: of two workers that race one must lose politely.
 */
export function nextState(
  state: TaskState,
  event: TaskEvent,
  task: Situation,
  pace: Pace = 'now',
): TaskState | undefined {
  const { from, to } = MOVES[event];
  return from.includes(state) ? to(task, pace, state) : undefined;
}

/** In line, unless something blocks it, or it is a join. */
export function waitingState({ isBlocked, isJoin }: Situation): TaskState {
  return isBlocked || isJoin ? 'deferred' : 'queued';
}

function goingOn(_: Situation, pace: Pace): TaskState {
  if (pace === 'never') return 'failed';
  return pace === 'later' ? 'scheduled' : 'queued';
}

function unlessCanceling(to: Move['to']): Move['to'] {
  return (task, pace, from) => (task.isCanceling ? 'canceled' : to(task, pace, from));
}
