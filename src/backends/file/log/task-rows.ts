/**
 * The tasks of one call as rows: the first is whole, and each other one has its id and the fields in which it differs from
 * the one before it. Tasks that are stored together are much the same: a row of many of them is a tenth as long.
 */
import { isRecord } from '../../../base/records.ts';

/** What stands in no row but a whole one. */
const WHOLE = 'name';

/** Tasks as rows. */
export function taskRows(tasks: readonly unknown[]): readonly unknown[] {
  if (tasks.length < 2) return tasks;
  let before: unknown;
  return tasks.map((task) => {
    const row = isRecord(task) && isRecord(before) ? rowAfter(before, task) : task;
    before = task;
    return row;
  });
}

/** … and back. */
export function tasksOf(rows: readonly unknown[]): readonly unknown[] {
  let before: unknown;
  return rows.map((row) => {
    if (isRecord(row) && isRecord(before) && !(WHOLE in row)) before = { ...before, ...row };
    else before = row;
    return before;
  });
}

/** The whole task where one of them lacks a field of the other: what is not in a row is as it was. */
function rowAfter(before: Fields, task: Fields): Fields {
  for (const key in before) if (task[key] === undefined && before[key] !== undefined) return task;
  const row: Record<string, unknown> = { id: task['id'] };
  for (const key in task) {
    const value = task[key];
    if (isSame(value, before[key])) continue;
    if (key === WHOLE) return task;
    row[key] = value;
  }
  return row;
}

/** Objects only where they are one, or are both empty lists: to compare others costs what it saves. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return Array.isArray(one) && Array.isArray(other) && one.length === 0 && other.length === 0;
}

type Fields = Readonly<Record<string, unknown>>;
