/** Why a task of a run did not finish: what failed first, behind those that only followed it. */
import { errorFrom } from '../../base/thrown.ts';
import type { Inspect } from '../../domain/backend.ts';
import { causeText, isFollower } from '../../domain/cause.ts';
import type { TaskRecord } from '../../domain/task.ts';
import { errorOf } from '../task-error.ts';
import { runPlaceOf } from './record.ts';

/** Records that are read at once. */
const READ_AT_ONCE = 500;

/**
 * The record of the task that did not finish by itself, searched for behind `record`; the earliest
 * when there are several.
 */
export async function causeOf(inspect: Inspect, record: TaskRecord): Promise<TaskRecord> {
  const seen = new Set<string>([record.id]);
  let level: readonly TaskRecord[] = [record];
  let earliest: TaskRecord | undefined;
  while (level.length > 0) {
    const behind: string[] = [];
    for (const one of level) {
      if (!isFollower(one.cause)) earliest = earlier(earliest, one);
      else behind.push(...one.dependsOn.filter((id) => !seen.has(id)));
    }
    for (const id of behind) seen.add(id);
    const records = await recordsOf(inspect, [...new Set(behind)]);
    level = records.filter((one) => one !== undefined).filter(isUnfinished);
  }
  return earliest ?? record;
}

/** The records of any number of tasks, in their order. */
export async function recordsOf(
  inspect: Inspect,
  ids: readonly string[],
): Promise<readonly (TaskRecord | undefined)[]> {
  const records: (TaskRecord | undefined)[] = [];
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    records.push(...(await inspect.get(ids.slice(at, at + READ_AT_ONCE))));
  }
  return records;
}

/** What a record says of its failure, as an error. */
export function errorIn(record: Pick<TaskRecord, 'state' | 'cause' | 'error'>): Error {
  const { state, cause } = record;
  const message = cause === undefined ? `it is ${state}` : causeText(cause);
  const error = errorFrom(errorOf(record.error) ?? { name: 'Error', message });
  if (state === 'canceled') error.name = 'TaskCanceledError';
  return error;
}

/** The node that a record is of; its id when it is of none. */
export function nodeOf(record: TaskRecord): string {
  return runPlaceOf(record.options)?.node ?? record.id;
}

function isUnfinished({ state }: TaskRecord): boolean {
  return state === 'failed' || state === 'canceled';
}

function earlier(a: TaskRecord | undefined, b: TaskRecord): TaskRecord {
  if (a === undefined) return b;
  // A failure says more than a cancel.
  if (a.state !== b.state) return a.state === 'failed' ? a : b;
  return (b.endedAt ?? 0) < (a.endedAt ?? 0) ? b : a;
}
