import { messageOf } from '../../../base/message-of.ts';
import {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  CorruptRecordError,
  type FairloomError,
  isOwn,
} from '../../../domain/errors/errors.ts';

const FULL = /\bOOM command not allowed/;

const FULL_TEXT = 'the memory of the server is full';

/** Retrying does not help: the account is unknown or lacks the right. */
const FORBIDDEN = /\b(NOAUTH|WRONGPASS|NOPERM)\b|^ERR The user executing the script can't /;

/** A script failed: its arguments, or the script itself, will fail again. */
const BROKEN = /^ERR (?:(?:Error running script.*?)?@?user_\w+:\d+:|.* on @user_\w+:\d+\.)/;

/** A key has a value of another type: retrying does not help. */
const WRONG_TYPE = /\bWRONGTYPE\b|\bvalue is not (?:an integer|a valid float|a float)\b/;

/** A slot of a Cluster is moving to another node, which refuses every script until it has arrived. */
const MOVING = /\bTRYAGAIN\b|\bASK \d|\bnon local key\b/;

const MOVING_TEXT =
  'the Cluster is moving the slot of this namespace to another node; calls succeed again once it has arrived';

/** A node of a Cluster, with a client that does not follow redirections. */
const REDIRECTED = /^MOVED \d/;

/** A replica, an account that may not write, or a server that cannot write its files. */
const READ_ONLY = /\b(READONLY|NOPERM|MISCONF)\b/;

/** Whether a call was refused because it would have written: reads may succeed. */
export function isWriteRefused(error: unknown): boolean {
  return isOwn(error, 'BACKEND_FULL') || READ_ONLY.test(messageOf(error));
}

/** Why the address of a Cluster's node is refused. */
export const NODE_TEXT =
  "this server is one node of a Cluster, and a URL or options reach that node only: pass a Cluster client of ioredis, as redis(new Cluster(nodes), { prefix: '{fq}' })";

/** Whether a call was refused because the slot of its keys is moving. */
export function isSlotMoving(cause: unknown): boolean {
  return MOVING.test(messageOf(cause));
}

/** Whether a call failed on what it read: the same call with care may succeed. */
export function isBrokenOff(error: unknown): boolean {
  if (isOwn(error, 'CORRUPT_RECORD')) return true;
  const text = isOwn(error, 'BACKEND_UNSUPPORTED') ? messageOf(error.cause) : '';
  return BROKEN.test(text) && !FORBIDDEN.test(text);
}

/** The catalogued error for a client's error. */
export function failure(operation: string, cause: unknown): FairloomError {
  if (isOwn(cause)) return cause;
  forgetArguments(cause);
  const text = messageOf(cause);
  if (FULL.test(text)) return new BackendFullError(operation, cause, FULL_TEXT);
  if (MOVING.test(text)) return new BackendUnavailableError(operation, cause, MOVING_TEXT);
  if (REDIRECTED.test(text)) {
    return new BackendUnsupportedError(`${operation}: ${NODE_TEXT}`, { cause });
  }
  if (WRONG_TYPE.test(text)) {
    return new CorruptRecordError(
      operation,
      `a key holds a value of another type (${text})`,
      cause,
    );
  }
  if (FORBIDDEN.test(text)) {
    return new BackendUnsupportedError(`${operation}: the server refuses this account: ${text}`, {
      cause,
    });
  }
  if (BROKEN.test(text)) {
    return new BackendUnsupportedError(`${operation}: a script failed: ${text}`, { cause });
  }
  // A lost connection, LOADING, READONLY, MASTERDOWN, CLUSTERDOWN, BUSY: these are temporary.
  return new BackendUnavailableError(operation, cause);
}

/** Most levels of causes that are read. */
const DEEP = 5;

/**
 * ioredis attaches the command to its errors: scripts, payloads and, for AUTH, the password, which
 * must not be logged; also to their causes.
 */
function forgetArguments(cause: unknown, depth = 0): void {
  if (typeof cause !== 'object' || cause === null || depth > DEEP) return;
  if ('command' in cause) delete cause.command;
  for (const name of ['cause', 'lastNodeError', 'errors']) {
    const inner: unknown = Reflect.get(cause, name);
    for (const one of Array.isArray(inner) ? inner : [inner]) forgetArguments(one, depth + 1);
  }
}

/** Whether the server does not have the script, or no longer. */
export function isUnknownScript(cause: unknown): boolean {
  return messageOf(cause).includes('NOSCRIPT');
}

/** Whether the server does not have the function, or no longer. */
export function isUnknownFunction(cause: unknown): boolean {
  return messageOf(cause).includes('Function not found');
}

/** Whether another process has loaded the same library. */
export function isKnownLibrary(cause: unknown): boolean {
  return /^ERR Library '.*' already exists/.test(messageOf(cause));
}

const UNKNOWN_COMMAND = /^ERR unknown (?:sub)?command/i;

/** Whether the server is too old to have the command. */
export function isUnknownCommand(cause: unknown): boolean {
  return UNKNOWN_COMMAND.test(messageOf(cause));
}

const FUNCTION_REFUSED = /^(?:ERR unknown (?:sub)?command|NOPERM|READONLY|MISCONF|NOREPLICAS|OOM)/i;

/**
 * Whether the server refused to start a function: it has none, denies this account to call or load them, or refuses
 * writes, since its memory is full, its disk fails, or it is a replica. A script succeeds if it only reads or frees.
 */
export function isFunctionRefused(cause: unknown): boolean {
  const text = messageOf(cause);
  return FUNCTION_REFUSED.test(text) && !/ on @user_/.test(text);
}
