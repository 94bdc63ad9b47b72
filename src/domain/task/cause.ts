/**
 * Why a task or a run did not finish, and why an attempt did not end its task: as data. Code
 * decides by `type` only; texts of people and deciders are never parsed. {@link causeText} renders
 * it.
 */
import { assertNever } from '../../base/never.ts';
import { shownNode } from './node-name.ts';
import { readableWords } from './sealed-text.ts';
import { nameIn } from './task-name.ts';

/** Kinds of failure of an attempt or a task; `failureTypeOf` derives that of an end from its cause. */
export type FailureType =
  | 'error'
  | 'timeout'
  | 'lost'
  | 'expired'
  | 'unknown-task'
  | 'invalid-payload'
  | 'invalid-result'
  | 'upstream';

/** Why a task or a run did not finish, or why an attempt did not end it. */
export type Cause =
  // It failed by itself, or was never run.
  /** `made` of `of` attempts have failed, the newest with `failure`. */
  | {
      readonly type: 'attempts';
      /** Kind of failure of the newest attempt. */
      readonly failure: FailureType;
      /** Number of failed attempts. */
      readonly made: number;
      /** Number of attempts that the task may have. */
      readonly of: number;
      /** Driven run: the node that failed. */
      readonly node?: string;
      /** The failed task, if that node is a group of tasks. */
      readonly task?: string;
      /** Fingerprint of the error, equal for similar errors; absent with `task`. */
      readonly fingerprint?: string;
    }
  /** A failure that no retry would fix; `node` and `task` as above. */
  | {
      readonly type: 'fatal';
      /** Kind of failure of that attempt. */
      readonly failure: FailureType;
      /** Driven run: the node that failed. */
      readonly node?: string;
      /** The failed task, if that node is a group of tasks. */
      readonly task?: string;
      /** Fingerprint of the error, equal for similar errors; absent with `task`. */
      readonly fingerprint?: string;
    }
  /** `leases` of its leases ended without an outcome. */
  | {
      readonly type: 'lost';
      /** Number of leases that ended without an outcome. */
      readonly leases: number;
    }
  /** It was not started in time. */
  | { readonly type: 'expired' }
  /** No worker has known its name for too long. */
  | { readonly type: 'unknown-task' }
  // It ended because something else did.
  /** A task that it depended on did not finish. */
  | {
      readonly type: 'upstream';
      /** Id of the dependency, or of the task that it waited for. */
      readonly id: string;
      /** State of that task; `removed`: its record was removed before it could finish. */
      readonly state: 'failed' | 'canceled' | 'removed';
    }
  /** It waited too long for the redrive of a task, or for one that is not stored. */
  | {
      readonly type: 'waited';
      /** Id of the missing task. */
      readonly id: string;
    }
  /** Its run had ended, or had given its group up, before it ended itself. */
  | {
      readonly type: 'run-ended';
      /** The run that it belonged to. */
      readonly run: string;
    }
  /** Its group ended before it did. */
  | {
      readonly type: 'group-ended';
      /** The group of which it was a member. */
      readonly group: string;
    }
  /** The schedule that stored it has reached its next slot. */
  | {
      readonly type: 'schedule';
      /** Id of the schedule. */
      readonly schedule: string;
      /** The next slot, in ms since the epoch. */
      readonly slot: number;
    }
  // A caller or a decider chose it.
  /** A call to cancel it, with an optional reason. */
  | {
      readonly type: 'request';
      /** Text of the caller, shown to people and never read by code. */
      readonly reason?: string;
    }
  /** A custom decider ended it; with `failure` as a failed task. */
  | {
      readonly type: 'decider';
      /** Text of the decider, shown to people. */
      readonly reason: string;
      /** Kind of failure; absent if it did not fail. */
      readonly failure?: FailureType;
      /** Driven run: the node that failed. */
      readonly node?: string;
      /** Fingerprint of the error, equal for similar errors; absent if it did not fail. */
      readonly fingerprint?: string;
    }
  /** A handler of the run canceled the run with `ctx.cancelRun`. */
  | {
      readonly type: 'cancel-run';
      /** Node of that handler. */
      readonly node: string;
      /** Text of the handler; may be empty. */
      readonly reason: string;
    }
  /** A member of a group ended its whole run with `terminate`, as finished. */
  | { readonly type: 'terminate' }
  // The task was released, and runs again later.
  /** Its handler asked to be called again later. */
  | { readonly type: 'retry-after'; readonly reason: string }
  /** The worker shuts down. */
  | { readonly type: 'shutdown' }
  /** This worker has no code of that name. */
  | {
      readonly type: 'unknown-here';
      /** The unknown name. */
      readonly task: string;
      /** Names that it knows, as far as the worker lists them. */
      readonly known: readonly string[];
    }
  /** It was leased by a request that its caller had abandoned. */
  | { readonly type: 'given-up' }
  /** Data that it needs could not be read from the store. */
  | {
      readonly type: 'unread';
      /** The data. */
      readonly what: 'input' | 'upstreams' | 'journal';
    }
  /** A node of a driven run waits for its next attempt. */
  | { readonly type: 'node-waits'; readonly node: string }
  /** Its run is paused. */
  | { readonly type: 'paused' };

/** The cause of a task that ended as `failed` or `canceled` because another one did. */
export type UpstreamCause = Extract<Cause, { type: 'upstream' }>;

/** Number of a worker's names in a text. */
const SHOWN = 20;

/** Text of a cause for people; its wording may change. */
export function causeText(given: Cause): string {
  const cause = readableCause(given);
  switch (cause.type) {
    case 'attempts':
      return attemptsText(cause);
    case 'fatal':
      return `${at(cause.node)}not retryable`;
    case 'lost':
      return `its lease ended ${cause.leases} times`;
    case 'expired':
      return 'it was not started in time';
    case 'unknown-task':
      return 'no worker has known its name for an hour';
    case 'upstream':
      return `upstream ${cause.id} ${cause.state}`;
    case 'waited':
      return `waited 30 d for ${cause.id}`;
    case 'run-ended':
      return `run ${cause.run} has ended`;
    case 'group-ended':
      return `its ${cause.group.startsWith('~') ? shownNode(cause.group) : `group ${cause.group}`} has ended`;
    case 'schedule':
      return `schedule ${cause.schedule} has reached its slot ${cause.slot}`;
    case 'request':
      return cause.reason === undefined ? 'by request' : `by request: ${cause.reason}`;
    case 'decider':
      return cause.reason;
    case 'cancel-run':
      return `${shownNode(cause.node)} canceled the run${cause.reason === '' ? '' : `: ${cause.reason}`}`;
    case 'terminate':
      return 'it has ended its run';
    default:
      return givenBackText(cause);
  }
}

/** The same cause with its text changed, if it has one. */
export function rewordedCause(cause: Cause, change: (words: string) => string): Cause {
  if (!('reason' in cause) || cause.reason === undefined) return cause;
  return { ...cause, reason: change(cause.reason) };
}

/** The same cause for display: an encrypted text is replaced by a note. */
export function readableCause(cause: Cause): Cause {
  return rewordedCause(cause, readableWords);
}

/** Kind of failure of a task; `undefined` if it did not fail. */
export function failureTypeOf(cause: Cause): FailureType | undefined {
  switch (cause.type) {
    case 'attempts':
    case 'fatal':
    case 'decider':
      return cause.failure;
    case 'lost':
    case 'expired':
    case 'unknown-task':
      return cause.type;
    case 'upstream':
      return 'upstream';
    default:
      return undefined;
  }
}

/** Driven run: the node that failed; `undefined` if none did, as when its worker was lost. */
export function failedNodeOf(cause: Cause | undefined): string | undefined {
  switch (cause?.type) {
    case 'attempts':
    case 'fatal':
    case 'decider':
      return cause.node;
    default:
      return undefined;
  }
}

/** Id of the task whose end caused this one; its own cause has the reason. */
export function culpritOf(cause: Cause | undefined): string | undefined {
  switch (cause?.type) {
    case 'upstream':
      return cause.id;
    case 'attempts':
    case 'fatal':
      return cause.task;
    default:
      return undefined;
  }
}

/**
 * The id of a failure's error group: failures with one name and kind, and with similar errors or
 * without one. `undefined` for a failure that another one caused: it has no group of its own.
 */
export function errorGroupOf(cause: Cause | undefined, name: string): string | undefined {
  if (cause === undefined || culpritOf(cause) !== undefined) return undefined;
  if ('fingerprint' in cause && cause.fingerprint !== undefined) return cause.fingerprint;
  return `${failureTypeOf(cause) ?? cause.type}:${nameIn(name)}`;
}

/** Whether a text has the form of an error group's id, which no error's name has. */
export function isErrorGroup(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text) || /^[a-z-]+:/.test(text);
}

type GivenBackCause = Extract<
  Cause,
  {
    readonly type:
      | 'retry-after'
      | 'shutdown'
      | 'unknown-here'
      | 'given-up'
      | 'unread'
      | 'node-waits'
      | 'paused';
  }
>;

function givenBackText(cause: GivenBackCause): string {
  switch (cause.type) {
    case 'retry-after':
      return cause.reason;
    case 'shutdown':
      return 'the worker shut down';
    case 'unknown-here': {
      const more = cause.known.length > SHOWN ? ', …' : '';
      const known = cause.known.slice(0, SHOWN).join(', ');
      return `no task named ${cause.task} is registered here (${known}${more})`;
    }
    case 'given-up':
      return 'leased by an abandoned request';
    case 'unread':
      return `its ${cause.what} could not be read`;
    case 'node-waits':
      return `${shownNode(cause.node)} waits for its next attempt`;
    case 'paused':
      return 'its run is paused';
    default:
      return assertNever(cause);
  }
}

function attemptsText({ made, of, node }: Cause & { readonly type: 'attempts' }): string {
  if (made < of) return `${at(node)}attempt ${made} of ${of} failed`;
  return `${at(node)}failed ${made} of ${of} attempts`;
}

function at(node: string | undefined): string {
  return node === undefined ? '' : `at ${shownNode(node)}: `;
}
