import type { ValueCodec } from '../../codec/codec.ts';
import { errorOf, type TaskError } from '../../codec/task-error.ts';
import { type FailureType, failureTypeOf, readableCause } from '../../domain/task/cause.ts';
import type { TaskDependents } from '../../domain/task/dependents.ts';
import { isSealed, sealedWith } from '../../domain/task/sealed-text.ts';
import type { AttemptRecord, Level, TaskRecord, TaskRow } from '../../domain/task/task.ts';
import { namePartsIn, shownKey } from '../../domain/task/task-name.ts';
import type { ShownProgress } from './task-progress.ts';

/**
 * Facts about one task. Moments are ms since the epoch on the backend's clock; fields without a
 * meaning in the task's state are absent.
 */
export interface TaskInfo
  extends Omit<TaskRecord, 'level' | 'payload' | 'options' | 'result' | 'error'>,
    ShownProgress {
  /** Version of its code; absent: the newest of its worker. */
  readonly version?: string;
  /** Priority among its user's tasks, 1 to 6. */
  readonly priority: Level;
  /** Input of the task; absent if it cannot be read, and in listings without `values`. */
  readonly input?: unknown;
  /** `finished`: result of the handler; absent as `input`. */
  readonly result?: unknown;
  /** Input or result cannot be read here: id of the key that encrypts them. */
  readonly encryptedWith?: string;
  /** `failed`: kind of failure, see `cause`. */
  readonly failureType?: FailureType;
  /** The latest error. */
  readonly error?: TaskError;
  /** Metadata set with `ctx.metadata`; absent in listings, and without any. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Its dependents; absent in listings. */
  readonly dependents?: TaskDependents;
}

/** One attempt of a task. */
export interface AttemptInfo extends Omit<AttemptRecord, 'error'> {
  /** Error that the handler threw. */
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

/** The cause; its texts may be encrypted. */
function causeOf({ cause }: Pick<TaskRecord, 'cause'>): Pick<TaskRecord, 'cause'> {
  return cause === undefined ? {} : { cause: readableCause(cause) };
}

/** A listing shows a task even if its text is damaged. */
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
