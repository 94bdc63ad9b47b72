/** Whether a stored task meets the conditions. */
import { assertNever } from '../base/never.ts';
import { errorOf } from '../codec/task-error.ts';
import { errorGroupOf, failureTypeOf } from '../domain/task/cause.ts';
import type { TaskRow } from '../domain/task/task.ts';
import { isNamed } from '../domain/task/task-name.ts';
import { isRun, runPlaceOf } from '../runs/record.ts';
import type { Bound, Condition, SizeWord, ValueWord, Where } from './where.ts';

/** Compiles conditions to a check of tasks at a moment, in ms since the epoch. */
export function matcherOf(where: Where, now: number): (task: TaskRow) => boolean {
  return (task) => where.every((one) => isMet(one, task, now) !== one.isNot);
}

/**
 * Whether to show a task: one that a caller has enqueued, or an internal one that the conditions
 * name. With `runs`, internal tasks that are runs are shown too.
 */
export function isShown(
  where: Where,
  { runs = false }: { readonly runs?: boolean } = {},
): (task: TaskRow) => boolean {
  const isNamed = where.some(
    (one) => one.word === 'name' && !one.isNot && one.values.some((value) => value.startsWith('~')),
  );
  return (task) => isNamed || !task.name.startsWith('~') || (runs && isRun(task));
}

function isMet(one: Condition, task: TaskRow, now: number): boolean {
  if (one.word === 'text') return isIn(one.text, task);
  if ('values' in one) return one.values.some((value) => has(task, one.word, value));
  const size = sizeOf(task, one.word, now);
  return size !== undefined && one.bounds.some((bound) => holds(bound, size));
}

function has(task: TaskRow, word: ValueWord, value: string): boolean {
  switch (word) {
    case 'state':
    case 'user':
    case 'queue':
    case 'id':
      return task[word] === value;
    case 'name':
      return isNamed(task.name, value) || pipelineOf(task) === value;
    case 'run':
      return runPlaceOf(task.options)?.id === value;
    case 'error':
      return errorWords(task).includes(value);
  }
}

/** The name of a run is that of its pipeline. */
function pipelineOf(task: TaskRow): string | undefined {
  return task.name.startsWith('~') && isRun(task) ? runPlaceOf(task.options)?.name : undefined;
}

/** Texts by which its newest failure can be found. */
function errorWords({ name, error, cause }: TaskRow): readonly string[] {
  const thrown = errorOf(error)?.name;
  const type = cause === undefined ? undefined : failureTypeOf(cause);
  return [thrown, type, errorGroupOf(cause, name)].filter((one) => one !== undefined);
}

function isIn(text: string, task: TaskRow): boolean {
  const { id, name, user, queue } = task;
  const error = errorOf(task.error);
  const said = [id, name, user, queue, error?.name, error?.message].join('\n');
  return said.toLowerCase().includes(text.toLowerCase());
}

/** `undefined` if the task has no such size. */
function sizeOf(task: TaskRow, word: SizeWord, now: number): number | undefined {
  const { state, createdAt, failures } = task;
  switch (word) {
    case 'priority':
      return task.level;
    case 'attempts':
      return failures + (state === 'started' || state === 'finished' ? 1 : 0);
    case 'age':
      return Math.max(0, now - createdAt);
    case 'wait':
      if (state === 'queued' || state === 'deferred') return Math.max(0, now - createdAt);
      return state === 'started' ? Math.max(0, (task.leasedAt ?? now) - createdAt) : undefined;
  }
}

function holds({ is, size: bound }: Bound, size: number): boolean {
  switch (is) {
    case '<':
      return size < bound;
    case '<=':
      return size <= bound;
    case '=':
      return size === bound;
    case '>=':
      return size >= bound;
    case '>':
      return size > bound;
    default:
      return assertNever(is);
  }
}
