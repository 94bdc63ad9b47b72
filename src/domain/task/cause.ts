/**
 * Why a task or a run did not finish, and why an attempt did not end its task: as data. Code decides by
 * `type`, and by nothing else; words of people and of deciders are carried along and never read.
 * {@link causeText} makes the one text of it, where it is shown.
 */
import { assertNever } from '../../base/never.ts';
import { shownNode } from './node-name.ts';
import { readableWords } from './sealed-text.ts';
import { nameIn } from './task-name.ts';

/** In which way an attempt or a task failed; of an end, `failureTypeOf` reads it off the cause. */
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
  // It failed by itself, or nothing ran it.
  /** So many attempts of so many have failed, the newest in the way that `failure` says. */
  | {
      readonly type: 'attempts';
      /** In which way the newest attempt failed. */
      readonly failure: FailureType;
      /** Attempts that have failed so far. */
      readonly made: number;
      /** Attempts that the task may have in all. */
      readonly of: number;
      /** Of a driven run: the node at which it failed. */
      readonly node?: string;
      /** The task that was to blame, where that node is a group of tasks. */
      readonly task?: string;
      /** The same for errors that are alike; absent where `task` is there. */
      readonly fingerprint?: string;
    }
  /** No further attempt would help; `node` and `task` as above. */
  | {
      readonly type: 'fatal';
      /** In which way that attempt failed. */
      readonly failure: FailureType;
      /** Of a driven run: the node at which it failed. */
      readonly node?: string;
      /** The task that was to blame, where that node is a group of tasks. */
      readonly task?: string;
      /** The same for errors that are alike; absent where `task` is there. */
      readonly fingerprint?: string;
    }
  /** So many of its leases ended without an outcome. */
  | {
      readonly type: 'lost';
      /** Leases that ended without an outcome. */
      readonly leases: number;
    }
  /** It was not started in time. */
  | { readonly type: 'expired' }
  /** No worker has known its name for long. */
  | { readonly type: 'unknown-task' }
  // Something else ended, and it with that.
  /** A task that it depended on did not finish. */
  | {
      readonly type: 'upstream';
      /** The task that this one depended on, or waited for. */
      readonly id: string;
      /** What became of that; `removed`: its record was taken away before it could finish. */
      readonly state: 'failed' | 'canceled' | 'removed';
    }
  /** It waited for the redrive of a task, or for one that is not stored, as long as a task may. */
  | {
      readonly type: 'waited';
      /** The task that did not come. */
      readonly id: string;
    }
  /** Its run had ended, or had given its group up, before it had ended itself. */
  | {
      readonly type: 'run-ended';
      /** The run that it belonged to. */
      readonly run: string;
    }
  /** Its group has come to its end without it. */
  | {
      readonly type: 'group-ended';
      /** The group of which it was a member. */
      readonly group: string;
    }
  /** The schedule that made it has come to its next slot. */
  | {
      readonly type: 'schedule';
      /** The schedule that made it. */
      readonly schedule: string;
      /** The slot whose time has come, in ms since the epoch. */
      readonly slot: number;
    }
  // A caller or a decider chose it.
  /** A call to cancel it, with the words of the caller, if there were any. */
  | {
      readonly type: 'request';
      /** Words of the caller, shown to people and never read by code. */
      readonly reason?: string;
    }
  /** The words of a decider of the user; `failure`: of a task that it let fail. */
  | {
      readonly type: 'decider';
      /** Words of the decider, shown to people. */
      readonly reason: string;
      /** Absent of what it did not let fail. */
      readonly failure?: FailureType;
      /** Of a driven run: the node at which it failed. */
      readonly node?: string;
      /** The same for errors that are alike; absent of what it did not let fail. */
      readonly fingerprint?: string;
    }
  /** A handler of the run canceled the run by `ctx.cancelRun`. */
  | {
      readonly type: 'cancel-run';
      /** Of whose handler. */
      readonly node: string;
      /** Words of the handler; may be empty. */
      readonly reason: string;
    }
  /** A member of a group ended its whole run by `terminate`, and well. */
  | { readonly type: 'terminate' }
  // The task was given back, and goes on later.
  /** Its handler asked to be called again later. */
  | { readonly type: 'retry-after'; readonly reason: string }
  /** The worker shuts down. */
  | { readonly type: 'shutdown' }
  /** This worker has no code of that name; it knows these. */
  | {
      readonly type: 'unknown-here';
      /** The name that it does not know. */
      readonly task: string;
      /** Names that it does know, as far as the worker tells them. */
      readonly known: readonly string[];
    }
  /** It was leased by a request whose caller had given up. */
  | { readonly type: 'given-up' }
  /** What it needs could not be read from the store. */
  | {
      readonly type: 'unread';
      /** What could not be read. */
      readonly what: 'input' | 'upstreams' | 'journal';
    }
  /** A node of a driven run waits for its next attempt. */
  | { readonly type: 'node-waits'; readonly node: string }
  /** Its run is paused. */
  | { readonly type: 'paused' };

/** The cause of a task that ended as `failed` or `canceled` because another ended so. */
export type UpstreamCause = Extract<Cause, { type: 'upstream' }>;

/** Names of a worker that a text shows. */
const SHOWN = 20;

/** The one text of a cause, for people; it may be worded anew at any time. */
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
      return `schedule ${cause.schedule} has come to its slot ${cause.slot}`;
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

/** The same cause with other words of people, if it has any. */
export function rewordedCause(cause: Cause, change: (words: string) => string): Cause {
  if (!('reason' in cause) || cause.reason === undefined) return cause;
  return { ...cause, reason: change(cause.reason) };
}

/** A cause as it may be shown: words that cannot be read say so. */
export function readableCause(cause: Cause): Cause {
  return rewordedCause(cause, readableWords);
}

/** In which way a task failed, for programs; `undefined` of what did not fail. */
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

/** Of a driven run: the node at which it failed; `undefined` when it was none, as when its worker was lost. */
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

/** The task that did not finish, so that this one ended with it; then what became of that says more. */
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
 * The group of a failure: failures under one name, in the same way, with errors that are alike or with no
 * thrown error. `undefined` of a failure that followed another: it has no group of its own.
 */
export function errorGroupOf(cause: Cause | undefined, name: string): string | undefined {
  if (cause === undefined || culpritOf(cause) !== undefined) return undefined;
  if ('fingerprint' in cause && cause.fingerprint !== undefined) return cause.fingerprint;
  return `${failureTypeOf(cause) ?? cause.type}:${nameIn(name)}`;
}

/** Whether a text has the form of the id of an error group, which no name of an error has. */
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
      return 'leased by a request that was given up';
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
