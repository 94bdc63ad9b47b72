/** Puts failed tasks back: alone, or as the runs that they are or belong to. */

import { isOwn, WrongStateError } from '../../domain/errors/errors.ts';
import type { PutBack } from '../../domain/explain/explain.ts';
import type { ChangeReply } from '../../domain/port/backend.ts';
import { TASK_STATES, type TaskRecord, type TaskState } from '../../domain/task/task.ts';
import { recordsOf } from '../../runs/shared/failure-cause.ts';
import { isRun, runPlaceOf } from '../../runs/shared/record.ts';
import { resume } from '../../runs/view/resume.ts';
import type { ViewParts } from '../../runs/view/run-view.ts';

/** Puts one failed task back. */
export type Redrive = (id: string) => Promise<ChangeReply>;

/** By the ids of tasks that are stored: what is put back for each. */
export async function putBackFor(
  { connection }: ViewParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PutBack>> {
  const { inspect } = await connection.open();
  const records = (await recordsOf(inspect, ids)).filter((one) => one !== undefined);
  const owners = [...new Set(records.map(ownerOf))];
  const found = await recordsOf(inspect, owners);
  const runs = new Set(owners.filter((_, at) => found[at] !== undefined && isRun(found[at])));
  return new Map(
    records.map((record) => {
      const owner = ownerOf(record);
      return [record.id, { id: owner, isRun: runs.has(owner) }];
    }),
  );
}

/** @throws {@link WrongStateError} for a part of a run: the run is what can be put back. */
export function redriveBy(parts: ViewParts): Redrive {
  return async (id) => {
    const { inspect, tasks } = await parts.connection.open();
    const [record] = await inspect.get([id]);
    if (record === undefined) return { kind: 'not-found' };
    if (runPlaceOf(record.options) === undefined) return tasks.redrive(id);
    const { state } = record;
    if (state !== 'failed') return { kind: 'wrong-state', state };
    const owner = ownerOf(record);
    if (owner !== id) throw new WrongStateError('redrive', id, state, owner);
    await resume(parts, id);
    return { kind: 'ok' };
  };
}

/**
 * The same for many: of what belongs together the first puts the whole back, and stands for the others.
 * A run that cannot be resumed is left as it is.
 */
export function redriveManyBy(parts: ViewParts): Redrive {
  const wholes = new Map<string, Promise<ChangeReply>>();
  return async (id) => {
    const { tasks } = await parts.connection.open();
    const whole = (await putBackFor(parts, [id])).get(id);
    if (whole === undefined) return { kind: 'not-found' };
    if (whole.id === id && !whole.isRun) return tasks.redrive(id);
    const reply =
      wholes.get(whole.id) ?? (whole.isRun ? resumed(parts, whole.id) : tasks.redrive(whole.id));
    wholes.set(whole.id, reply);
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

/** The run, or the task with the handler, that a task belongs to; itself when it stands alone. */
function ownerOf({ id, options }: TaskRecord): string {
  return runPlaceOf(options)?.id ?? id;
}
