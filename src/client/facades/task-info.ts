import type { ValueCodec } from '../../codec/codec.ts';
import { errorOf, type TaskError } from '../../codec/task-error.ts';
import { type FailureType, failureTypeOf, readableCause } from '../../domain/task/cause.ts';
import type { TaskDependents } from '../../domain/task/dependents.ts';
import { isSealed, sealedWith } from '../../domain/task/sealed-text.ts';
import type { AttemptRecord, Level, TaskRecord, TaskRow } from '../../domain/task/task.ts';
import { namePartsIn, shownKey } from '../../domain/task/task-name.ts';
import type { ShownProgress } from './task-progress.ts';

/**
 * Everything that is known about one task. Moments are ms since the epoch on the backend's clock;
 * fields that have no meaning in the task's state are absent.
 */
export interface TaskInfo
  extends Omit<TaskRecord, 'level' | 'payload' | 'options' | 'result' | 'error'>,
    ShownProgress {
  /** Of the code that it keeps; absent: its worker runs it with the newest. */
  readonly version?: string;
  /** Where it stands among its user's tasks, 1 to 6. */
  readonly priority: Level;
  /** As it was enqueued; absent when it cannot be read, and in listings that do not ask for `values`. */
  readonly input?: unknown;
  /** `finished`: what the handler returned; absent as `input` is. */
  readonly result?: unknown;
  /** Input or result cannot be read here: the id of the key with which they are encrypted. */
  readonly encryptedWith?: string;
  /** `failed`: in which way, as `cause` says. */
  readonly failureType?: FailureType;
  /** Of the newest failure. */
  readonly error?: TaskError;
  /** What it tells of itself by `ctx.metadata`; absent in listings, and when it does not. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Who waits for it; absent in listings. */
  readonly dependents?: TaskDependents;
}

/** One try at a task. */
export interface AttemptInfo extends Omit<AttemptRecord, 'error'> {
  /** What the handler threw. */
  readonly error?: TaskError;
}

/** A stored task as callers read it: payload, result and error decoded. */
export function taskInfo(record: TaskRow, codec: ValueCodec): TaskInfo {
  const { level, payload, options: _stored, result, error: text, ...rest } = record;
  const failureType = rest.cause === undefined ? undefined : failureTypeOf(rest.cause);
  const error = errorOf(text);
  const { idempotencyKey: key } = rest;
  return {
    ...rest,
    ...namePartsIn(rest.name),
    ...(key === undefined ? {} : { idempotencyKey: shownKey(key) }),
    ...(failureType === undefined ? {} : { failureType }),
    ...causeOf(rest),
    priority: level,
    ...(payload === undefined ? {} : readable('input', payload, codec)),
    ...(record.state === 'finished' && result !== undefined
      ? readable('result', result, codec)
      : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/** A past attempt as callers read it: error and cause decoded. */
export function attemptInfo({ error: text, ...rest }: AttemptRecord): AttemptInfo {
  const error = errorOf(text);
  const shown = { ...rest, ...causeOf(rest) };
  return error === undefined ? shown : { ...shown, error };
}

/** With words that may be encrypted. */
function causeOf({ cause }: Pick<TaskRecord, 'cause'>): Pick<TaskRecord, 'cause'> {
  return cause === undefined ? {} : { cause: readableCause(cause) };
}

/** A listing must show a task also when its text is damaged. */
function readable(
  field: 'input' | 'result',
  text: string,
  codec: ValueCodec,
): Pick<TaskInfo, 'input' | 'result' | 'encryptedWith'> {
  try {
    return { [field]: codec.read(text) };
  } catch {
    return isSealed(text) ? { encryptedWith: sealedWith(text) } : {};
  }
}
