/** Redrives failed tasks: alone, or with the runs that they belong to. */

import { isOwn, WrongStateError } from '../../domain/errors/errors.ts';
import type { PutBack } from '../../domain/explain/explain.ts';
import type { ChangeReply } from '../../domain/port/backend.ts';
import { TASK_STATES, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import { resume } from '../../runs/calls/resume.ts';
import { retryCommand } from '../../runs/calls/retry-command.ts';
import type { ViewParts } from '../../runs/calls/run-view.ts';
import { recordsOf } from '../../runs/failure-cause.ts';
import { isRun, runPlaceOf } from '../../runs/record.ts';

/** Redrives one failed task. */
export type Redrive = (id: string) => Promise<ChangeReply>;

/** What to redrive for each stored task, and the command for it, by the ids of tasks. */
export async function putBackFor(
  parts: ViewParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PutBack>> {
  const found = new Map<string, PutBack>();
  for (const [id, { record, whole, isRun }] of await wholesOf(parts, ids)) {
    const command = await retryCommand(parts, record, whole);
    found.set(id, { id: ownerOf(record), isRun, command });
  }
  return found;
}

/** A task, and the record of the whole that it belongs to, if that is stored. */
interface Part {
  readonly record: TaskRecord;
  readonly whole: TaskRecord | undefined;
  readonly isRun: boolean;
}

async function wholesOf(
  { connection }: ViewParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Part>> {
  const { inspect } = await connection.open();
  const records = (await recordsOf(inspect, ids)).filter((one) => one !== undefined);
  const owners = [...new Set(records.map(ownerOf))];
  const found = await recordsOf(inspect, owners);
  const wholes = new Map(owners.map((owner, at) => [owner, found[at]]));
  return new Map(
    records.map((record) => {
      const whole = wholes.get(ownerOf(record));
      return [record.id, { record, whole, isRun: whole !== undefined && isRun(whole) }];
    }),
  );
}

/** @throws {@link WrongStateError} for a part of a run: only the run can be redriven. */
export function redriveBy(parts: ViewParts): Redrive {
  return async (id) => {
    const { inspect, tasks } = await parts.connection.open();
    const [record] = await inspect.get([id]);
    if (record === undefined) return { kind: 'not-found' };
    if (runPlaceOf(record.options) === undefined) return tasks.redrive(id);
    const { state } = record;
    if (state !== 'failed') return { kind: 'wrong-state', state };
    const owner = ownerOf(record);
    if (owner !== id) {
      const way = (await putBackFor(parts, [id])).get(id)?.command;
      throw new WrongStateError('redrive', id, state, { runId: owner, way });
    }
    await resume(parts, id);
    return { kind: 'ok' };
  };
}

/**
 * The same for many: the first part of a whole redrives the whole, and represents the others. A run
 * that cannot be resumed stays as it is.
 */
export function redriveManyBy(parts: ViewParts): Redrive {
  const wholes = new Map<string, Promise<ChangeReply>>();
  return async (id) => {
    const { tasks } = await parts.connection.open();
    const part = (await wholesOf(parts, [id])).get(id);
    if (part === undefined) return { kind: 'not-found' };
    const owner = ownerOf(part.record);
    if (owner === id && !part.isRun) return tasks.redrive(id);
    const reply = wholes.get(owner) ?? (part.isRun ? resumed(parts, owner) : tasks.redrive(owner));
    wholes.set(owner, reply);
    return reply;
  };
}

async function resumed(parts: ViewParts, id: string): Promise<ChangeReply> {
  try {
    await resume(parts, id);
    return { kind: 'ok' };
  } catch (error) {
    const state = isOwn<WrongStateError>(error, 'WRONG_STATE') ? stateIn(error.state) : undefined;
    if (state !== undefined) return { kind: 'wrong-state', state };
    if (isOwn(error) && !error.retryable) return { kind: 'not-found' };
    throw error;
  }
}

function stateIn(text: string): TaskState | undefined {
  return TASK_STATES.find((state) => state === text);
}

/** The run, or the task with the handler, that a task belongs to; otherwise itself. */
function ownerOf({ id, options }: TaskRecord): string {
  return runPlaceOf(options)?.id ?? id;
}
