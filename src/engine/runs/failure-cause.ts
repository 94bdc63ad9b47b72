/** Why a task of a run did not finish: what failed first, behind those that only followed it. */
import { errorFrom } from '../../base/thrown.ts';
import type { Inspect } from '../../domain/backend.ts';
import { causeText, isFollower } from '../../domain/cause.ts';
import type { TaskRecord } from '../../domain/task.ts';
import { errorOf } from '../task-error.ts';
import { runPlaceOf } from './record.ts';

/** Records that are read at once. */
const READ_AT_ONCE = 500;

/** The record of the task that did not finish by itself, searched for behind `record`. */
export async function causeOf(inspect: Inspect, record: TaskRecord): Promise<TaskRecord> {
  const seen = new Set<string>();
  let found = record;
  while (isFollower(found.cause) && !seen.has(found.id)) {
    seen.add(found.id);
    const [behind] = await inspect.get([found.cause.id]);
    // Removed, or put back since: then nobody knows more.
    if (behind?.cause === undefined || behind.state === 'finished') break;
    found = behind;
  }
  return found;
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
