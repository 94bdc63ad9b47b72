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

/** No wait will help: the account may not do this, or there is none. */
const FORBIDDEN = /\b(NOAUTH|WRONGPASS|NOPERM)\b|^ERR The user executing the script can't /;

/** A script broke off: what it was given, or the script itself, will break it off again. */
const BROKEN = /^ERR (?:(?:Error running script.*?)?@?user_\w+:\d+:|.* on @user_\w+:\d+\.)/;

/** A key holds something else than it should: no wait will help. */
const WRONG_TYPE = /\bWRONGTYPE\b|\bvalue is not (?:an integer|a valid float|a float)\b/;

/** A slot of a Cluster is on its way to another node, which refuses every script until it has arrived. */
const MOVING = /\bTRYAGAIN\b|\bASK \d|\bnon local key\b/;

const MOVING_TEXT =
  'the Cluster is moving the slot of this namespace to another node; calls pass again once it has arrived';

/** A node of a Cluster, reached by a client that follows it nowhere. */
const REDIRECTED = /^MOVED \d/;

/** A replica, an account that may not write, a server that cannot write its files. */
const READ_ONLY = /\b(READONLY|NOPERM|MISCONF)\b/;

/** Whether a call was refused since it would have written: what only reads may pass. */
export function isWriteRefused(error: unknown): boolean {
  return isOwn(error, 'BACKEND_FULL') || READ_ONLY.test(messageOf(error));
}

/** Why a node of a Cluster is refused that is given by its address. */
export const NODE_TEXT =
  "this server is one node of a Cluster, and a URL or options reach that node only: pass a Cluster client of ioredis, as redis(new Cluster(nodes), { prefix: '{fq}' })";

/** Whether a call was refused since the slot of its keys is being moved. */
export function isSlotMoving(cause: unknown): boolean {
  return MOVING.test(messageOf(cause));
}

/** Whether a call broke off on what it read: the same call, more careful, may pass. */
export function isBrokenOff(error: unknown): boolean {
  if (isOwn(error, 'CORRUPT_RECORD')) return true;
  const text = isOwn(error, 'BACKEND_UNSUPPORTED') ? messageOf(error.cause) : '';
  return BROKEN.test(text) && !FORBIDDEN.test(text);
}

/** The error of the catalogue that a client's error stands for. */
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
      `a key holds something else than it should (${text})`,
      cause,
    );
  }
  if (FORBIDDEN.test(text)) {
    return new BackendUnsupportedError(`${operation}: the server refuses this account: ${text}`, {
      cause,
    });
  }
  if (BROKEN.test(text)) {
    return new BackendUnsupportedError(`${operation}: a script broke off: ${text}`, { cause });
  }
  // A lost connection, LOADING, READONLY, MASTERDOWN, CLUSTERDOWN, BUSY: they pass.
  return new BackendUnavailableError(operation, cause);
}

/** How deep causes of causes are looked at. */
const DEEP = 5;

/**
 * ioredis hangs the command on its errors: scripts, payloads and, of AUTH, the password, which belong
 * in no log; also on what caused them.
 */
function forgetArguments(cause: unknown, depth = 0): void {
  if (typeof cause !== 'object' || cause === null || depth > DEEP) return;
  if ('command' in cause) delete cause.command;
  for (const name of ['cause', 'lastNodeError', 'errors']) {
    const inner: unknown = Reflect.get(cause, name);
    for (const one of Array.isArray(inner) ? inner : [inner]) forgetArguments(one, depth + 1);
  }
}

/** The server does not know the script yet, or no longer. */
export function isUnknownScript(cause: unknown): boolean {
  return messageOf(cause).includes('NOSCRIPT');
}

/** The server does not know the function yet, or no longer. */
export function isUnknownFunction(cause: unknown): boolean {
  return messageOf(cause).includes('Function not found');
}

/** Another process has taught the server the same library. */
export function isKnownLibrary(cause: unknown): boolean {
  return /^ERR Library '.*' already exists/.test(messageOf(cause));
}

const UNKNOWN_COMMAND = /^ERR unknown (?:sub)?command/i;

/** The server has no such command, as one that is older has none. */
export function isUnknownCommand(cause: unknown): boolean {
  return UNKNOWN_COMMAND.test(messageOf(cause));
}

const FUNCTION_REFUSED = /^(?:ERR unknown (?:sub)?command|NOPERM|READONLY|MISCONF|NOREPLICAS|OOM)/i;

/**
 * Whether the server let a function not begin: it has no functions, does not let this account call or load them, or refuses
 * what may write, since its memory is full, its disk fails, it is a replica. A script passes as far as it reads or frees.
 */
export function isFunctionRefused(cause: unknown): boolean {
  const text = messageOf(cause);
  return FUNCTION_REFUSED.test(text) && !/ on @user_/.test(text);
}
