/**
 * The life of a task: the states in which each event is allowed, and the states that follow. A
 * backend asks `nextState` before it moves a task; a refusal is answered and changes nothing. The
 * drawing in docs/lifecycle.md and the checks of the scripts (`May.redriven(state)`) are generated
 * from the same table.
 */
import type { TaskState } from './task.ts';

/** Events of a task. */
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

/** Facts about the task that decide the next state. */
export interface Situation {
  /** A dependency, or a task that it is suspended for, has not ended as required. */
  readonly isBlocked: boolean;
  /** It is never queued: it waits as `deferred`, and ends when nothing blocks it. */
  readonly isJoin: boolean;
  /** A cancel was requested; it precedes all reports of the worker. */
  readonly isCanceling: boolean;
}

/** When a task that leaves its worker runs again: at once, after a delay, or never. */
export type Pace = 'now' | 'later' | 'never';

interface Move {
  /** States in which the event is allowed. */
  readonly from: readonly TaskState[];
  /** The next state; `undefined`: the event has no effect on this task. */
  readonly to: (task: Situation, pace: Pace, from: TaskState) => TaskState | undefined;
}

/** States of a task whose handler may decide: it runs, or waits without a lease. */
const HANDLED: readonly TaskState[] = ['started', 'deferred', 'queued'];

/** Each event: the states in which it is allowed, and the state that follows. */
export const MOVES: Readonly<Record<TaskEvent, Move>> = {
  due: { from: ['scheduled'], to: waitingState },
  // A task that waits for its time stays `scheduled` with or without dependencies; a join waits for its end.
  unblocked: {
    from: ['deferred', 'scheduled'],
    to: ({ isJoin }, _, from) => (isJoin || from === 'scheduled' ? from : 'queued'),
  },
  joined: {
    from: ['deferred'],
    to: ({ isJoin, isBlocked }) => (isJoin && !isBlocked ? 'finished' : undefined),
  },
  // Its run is paused: the task is set aside at its turn, and put back when the pause ends.
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
 * The state that follows; `undefined`: the event is not allowed now. That is an answer, not an
 * error: of two workers that race, one loses.
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

/** Queued, unless something blocks it, or it is a join. */
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
