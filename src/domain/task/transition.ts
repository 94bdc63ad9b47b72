/**
 * The life of a task, as one pure function. Nothing here reads a clock, a random number or a
 * backend; every fact arrives in the event. The Lua scripts restate it next to the data, and the
 * model test holds both to the same answers.
 *
 *              enqueue
 *     ┌───────────┼───────────┐
 *  scheduled ─▶ deferred ─▶ queued ──leased──▶ started ──finished──▶ finished
 *     │   └─due, not blocked──▲ ▲               │ │ │
 *     │                       │ └──released─────┤ │ └──deadLettered─▶ failed ──redriven──▶ queued
 *     │          ▲ │          └──leaseEnded─────┤ └─retried, released──▶ scheduled
 *     │          │ └─joined──▶ finished         │
 *     │          └──────────────────suspended───┘ (queued again, when nothing blocks it)
 *     └────── any state before an end ──canceled──▶ canceled
 */

import { assertNever } from '../../base/never.ts';
import type { FailureType } from './cause.ts';
import type { TaskState } from './task.ts';
import { isEnd } from './task.ts';

/** The facts of one task that its life depends on. */
export interface Life {
  readonly state: TaskState;
  /** True while a dependency is not satisfied. */
  readonly blocked: boolean;
  /** `scheduled` only: when it is due, ms since the epoch. */
  readonly dueAt?: number;
  /** `started` only: the fencing token in force. */
  readonly token?: string;
  readonly cancelRequested: boolean;
  /** It is never queued: it waits as `deferred` and ends when nothing blocks it. */
  readonly join?: true;
}

export type TaskEvent =
  | { readonly type: 'due'; readonly at: number }
  | { readonly type: 'unblocked' }
  | { readonly type: 'leased'; readonly token: string }
  | { readonly type: 'finished'; readonly token: string }
  | { readonly type: 'retried'; readonly token: string; readonly until: number }
  | { readonly type: 'released'; readonly token: string; readonly until?: number }
  | { readonly type: 'deadLettered'; readonly token: string }
  /** `blocked`: one of those that it is to wait for has not ended. */
  | { readonly type: 'suspended'; readonly token: string; readonly blocked: boolean }
  | { readonly type: 'joined' }
  | { readonly type: 'leaseEnded'; readonly until?: number; readonly last: boolean }
  | { readonly type: 'gaveUp'; readonly failureType: FailureType }
  | { readonly type: 'cancelRequested' }
  | { readonly type: 'canceled' }
  | { readonly type: 'redriven' };

/** A refusal is an answer, not an error: two workers may race, and one must lose politely. */
export type Refusal = 'wrongState' | 'leaseLost' | 'tooEarly';

export type Transition =
  | { readonly ok: true; readonly life: Life }
  | { readonly ok: false; readonly refusal: Refusal };

/** From which states each event may leave. The tests hold `transition` to it, pair by pair. */
export const ALLOWED_FROM: Readonly<Record<TaskEvent['type'], readonly TaskState[]>> = {
  due: ['scheduled'],
  unblocked: ['deferred', 'scheduled'],
  leased: ['queued'],
  finished: ['started'],
  retried: ['started'],
  released: ['started'],
  deadLettered: ['started'],
  suspended: ['started'],
  joined: ['deferred'],
  leaseEnded: ['started'],
  gaveUp: ['scheduled', 'deferred', 'queued'],
  cancelRequested: ['started'],
  canceled: ['scheduled', 'deferred', 'queued', 'started'],
  redriven: ['failed'],
};

export function transition(life: Life, event: TaskEvent): Transition {
  if (!ALLOWED_FROM[event.type].includes(life.state)) return refused('wrongState');
  switch (event.type) {
    case 'due':
      if (life.dueAt !== undefined && life.dueAt > event.at) return refused('tooEarly');
      return waiting(life);
    case 'unblocked':
      if (life.state === 'scheduled') return ok({ ...life, blocked: false });
      return waiting({ ...life, blocked: false });
    case 'leased':
      return ok({ ...bare(life), state: 'started', token: event.token });
    case 'finished':
      return held(life, event.token) ?? canceledOr(life, () => to('finished', life));
    case 'retried':
      return held(life, event.token) ?? canceledOr(life, () => later(life, event.until));
    case 'released':
      return held(life, event.token) ?? canceledOr(life, () => again(life, event.until));
    case 'deadLettered':
      return held(life, event.token) ?? canceledOr(life, () => to('failed', life));
    case 'suspended':
      return (
        held(life, event.token) ??
        canceledOr(life, () => waiting({ ...life, blocked: event.blocked }))
      );
    case 'joined':
      return life.join && !life.blocked ? to('finished', life) : refused('wrongState');
    case 'leaseEnded':
      return canceledOr(life, () => (event.last ? to('failed', life) : again(life, event.until)));
    case 'gaveUp':
      return to('failed', life);
    case 'cancelRequested':
      return ok({ ...life, cancelRequested: true });
    case 'canceled':
      return to('canceled', life);
    case 'redriven':
      return waiting({ ...life, cancelRequested: false });
    default:
      return assertNever(event);
  }
}

/** Whether an event of this type may leave this state at all. */
export function allows(type: TaskEvent['type'], state: TaskState): boolean {
  return ALLOWED_FROM[type].includes(state);
}

function held(life: Life, token: string): Transition | undefined {
  return life.token === token ? undefined : refused('leaseLost');
}

/** A cancel that was requested reached the backend first: every way out of `started` is its end. */
function canceledOr(life: Life, otherwise: () => Transition): Transition {
  return life.cancelRequested ? to('canceled', life) : otherwise();
}

/** In line, unless something blocks it, or it is a join. */
function waiting(life: Life): Transition {
  return to(life.blocked || life.join ? 'deferred' : 'queued', life);
}

function again(life: Life, until: number | undefined): Transition {
  return until === undefined ? to('queued', life) : later(life, until);
}

function later(life: Life, dueAt: number): Transition {
  return ok({ ...bare(life), state: 'scheduled', dueAt });
}

function to(state: TaskState, life: Life): Transition {
  return ok({ ...bare(life), state });
}

/** Without the fields that belong to one state only. */
function bare(life: Life): Life {
  const { state, blocked, cancelRequested, join } = life;
  return { state, blocked, cancelRequested, ...(join === undefined ? {} : { join }) };
}

function ok(life: Life): Transition {
  return { ok: true, life: isEnd(life.state) ? { ...life, cancelRequested: false } : life };
}

function refused(refusal: Refusal): Transition {
  return { ok: false, refusal };
}
