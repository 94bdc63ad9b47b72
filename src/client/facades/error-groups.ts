import { errorOf } from '../../codec/task-error.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { ErrorGroupFacts } from '../../domain/port/backend.ts';
import { errorGroupOf, failureTypeOf, isErrorGroup } from '../../domain/task/cause.ts';
import { likeness } from '../../domain/task/error-likeness.ts';
import type { TaskRow } from '../../domain/task/task.ts';
import { nameIn } from '../../domain/task/task-name.ts';
import { isRun, runPlaceOf } from '../../runs/record.ts';

/** Similar failures, and their number. Moments are ms since the epoch on the backend's clock. */
export interface ErrorGroup extends ErrorGroupFacts {
  /** Name of the task, or of the pipeline of a run that failed by itself; absent if the sample was removed. */
  readonly name?: string;
  /** Class of the error, or the kind of failure without one, such as `lost`; absent as `name`. */
  readonly error?: string;
  /** Common text of the messages, `…` for what differs; absent without an error or a sample. */
  readonly message?: string;
}

/** A group as callers read it: described by its sample, if that still has the same error. */
export function errorGroup(facts: ErrorGroupFacts, sample: TaskRow | undefined): ErrorGroup {
  if (sample === undefined) return facts;
  const { cause, options } = sample;
  if (facts.failed > 0 && errorGroupOf(cause, sample.name) !== facts.id) return facts;
  const pipeline = isRun(sample) ? runPlaceOf(options)?.name : undefined;
  const name = pipeline ?? nameIn(sample.name);
  const error = errorOf(sample.error);
  if (error !== undefined) {
    return { ...facts, name, error: error.name, message: likeness(error.message) };
  }
  const failure = cause === undefined ? undefined : (failureTypeOf(cause) ?? cause.type);
  return { ...facts, name, ...(failure === undefined ? {} : { error: failure }) };
}

/**
 * Checks a filter by group.
 *
 * @throws {@link InvalidOptionError} for a text that is no id of a group, such as the name of an error.
 */
export function errorGroupOption(error: unknown, option = 'error'): string {
  if (typeof error === 'string' && isErrorGroup(error)) return error;
  const expected =
    'the id of an error group, as "5d0c1f2a9be47c13" or "lost:resize" (a filter finds the name of an error: where "state:failed error:TypeError")';
  throw new InvalidOptionError(option, expected, error);
}
