import { errorOf } from '../../codec/task-error.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { ErrorGroupFacts } from '../../domain/port/backend.ts';
import { errorGroupOf, failureTypeOf, isErrorGroup } from '../../domain/task/cause.ts';
import { likeness } from '../../domain/task/error-likeness.ts';
import type { TaskRow } from '../../domain/task/task.ts';
import { nameIn } from '../../domain/task/task-name.ts';
import { isRun, runPlaceOf } from '../../runs/record.ts';

/** Failures that are alike, and how many there are. Moments are ms since the epoch on the backend's clock. */
export interface ErrorGroup extends ErrorGroupFacts {
  /** Of the task, or of the pipeline of a run that failed by itself; absent when its sample is gone. */
  readonly name?: string;
  /** The class of the error, or how tasks failed that threw none, as `lost`; absent as `name` is. */
  readonly error?: string;
  /** What the messages have in common, `…` for what differs; absent when nothing was thrown, or the sample is gone. */
  readonly message?: string;
}

/** A group as callers read it: in the words of its sample, if that still failed so. */
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
 * A checked filter by group.
 *
 * @throws {@link InvalidOptionError} for what is no id of a group, as the name of an error, by which filters find.
 */
export function errorGroupOption(error: unknown, option = 'error'): string {
  if (typeof error === 'string' && isErrorGroup(error)) return error;
  const expected =
    'the id of an error group, as "5d0c1f2a9be47c13" or "lost:resize" (a filter finds the name of an error: where "state:failed error:TypeError")';
  throw new InvalidOptionError(option, expected, error);
}
