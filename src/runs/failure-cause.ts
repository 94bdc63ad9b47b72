/** Finds why a task of a run did not finish: the first failure behind those that followed it. */
import { inChunks } from '../base/chunks.ts';
import { errorFrom } from '../base/thrown.ts';
import { errorOf } from '../codec/task-error.ts';
import type { Inspect } from '../domain/port/backend.ts';
import { causeText, culpritOf } from '../domain/task/cause.ts';
import type { TaskRecord, TaskRow } from '../domain/task/task.ts';
import { runPlaceOf } from './record.ts';

/** Number of records that are read at once. */
const READ_AT_ONCE = 500;

/** The record of the task that caused the end of `record`, or `record` itself. */
export async function causeOf<T extends TaskRow>(
  inspect: Inspect,
  record: T,
): Promise<T | TaskRecord> {
  const [found = record] = await causesOf(inspect, [record]);
  return found;
}

/** The causes of many records, with as many reads as the longest chain has tasks. */
export async function causesOf<T extends TaskRow>(
  inspect: Inspect,
  records: readonly T[],
): Promise<readonly (T | TaskRecord)[]> {
  const found: (T | TaskRecord)[] = [...records];
  const seen = records.map(() => new Set<string>());
  for (;;) {
    const steps: { readonly at: number; readonly culprit: string }[] = [];
    for (const [at, { id, cause }] of found.entries()) {
      const culprit = culpritOf(cause);
      if (culprit === undefined || seen[at]?.has(id) !== false) continue;
      seen[at]?.add(id);
      steps.push({ at, culprit });
    }
    if (steps.length === 0) return found;
    const ids = steps.map(({ culprit }) => culprit);
    for (const [step, behind] of (await recordsOf(inspect, ids)).entries()) {
      const at = steps[step]?.at;
      // The dependency was removed, or put back since: the cause is unknown.
      if (at === undefined || behind?.cause === undefined || behind.state === 'finished') continue;
      found[at] = behind;
    }
  }
}

/** All tasks that caused the end of `record`: first that of {@link causeOf}, then by end time. */
export async function culpritsOf(
  inspect: Inspect,
  record: TaskRecord,
): Promise<readonly TaskRecord[]> {
  const first = await causeOf(inspect, record);
  const seen = new Set<string>([record.id]);
  const found: TaskRecord[] = [];
  let level: readonly TaskRecord[] = [record];
  while (level.length > 0) {
    const behind: string[] = [];
    for (const one of level) {
      const culprit = culpritOf(one.cause);
      if (culprit !== undefined) behind.push(culprit, ...one.dependsOn);
      else if (one.id !== first.id && one.cause?.type !== 'group-ended') found.push(one);
    }
    const fresh = [...new Set(behind)].filter((id) => !seen.has(id));
    for (const id of fresh) seen.add(id);
    const records = await recordsOf(inspect, fresh);
    level = records.filter((one) => one !== undefined).filter(isUnfinished);
  }
  return [first, ...found.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))];
}

/** The records of any number of tasks, in their order. */
export async function recordsOf(
  inspect: Inspect,
  ids: readonly string[],
): Promise<readonly (TaskRecord | undefined)[]> {
  const records: (TaskRecord | undefined)[] = [];
  for (const some of inChunks(ids, READ_AT_ONCE)) records.push(...(await inspect.get(some)));
  return records;
}

/** The failure of a record as an error. */
export function errorIn(record: Pick<TaskRecord, 'state' | 'cause' | 'error'>): Error {
  const { state, cause } = record;
  const message = cause === undefined ? `it is ${state}` : causeText(cause);
  const error = errorFrom(errorOf(record.error) ?? { name: 'Error', message });
  if (state === 'canceled') error.name = 'TaskCanceledError';
  return error;
}

/** The node of a record; the id of a task outside a run. */
export function nodeOf(record: TaskRecord): string {
  return runPlaceOf(record.options)?.node ?? record.id;
}

function isUnfinished({ state }: TaskRecord): boolean {
  return state === 'failed' || state === 'canceled';
}
