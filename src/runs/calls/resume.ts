/** Resumes a failed run: the same run, under the same id, continues from its results. */

import { mapInChunks } from '../../base/chunks.ts';
import type { Logger } from '../../base/logger.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  isOwn,
  TaskBusyError,
  TaskNotFoundError,
  WrongStateError,
} from '../../domain/errors/errors.ts';
import type { Backend, EditedTask } from '../../domain/port/backend.ts';
import { cycleError } from '../../domain/port/refusal.ts';
import { isEnd, type TaskRecord } from '../../domain/task/task.ts';
import { recordsOf } from '../failure-cause.ts';
import {
  type Edits,
  editMark,
  editOf,
  GROUP_TASK,
  runGivenOf,
  runOptions,
  runPlaceOf,
  storedOptionsOf,
} from '../record.ts';
import { redriven } from '../redriven.ts';
import { endPause } from './pause.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** Number of tasks that are put back at once. */
const AT_ONCE = 16;

/**
 * Resumes a failed run. A run that is under way stays as it is; a resume that stopped halfway is
 * completed. `failedBy`: only a run that failed at that moment or before.
 *
 * @throws see `Runs.resume`.
 */
export async function resume(parts: ViewParts, id: string, failedBy?: number): Promise<void> {
  const view = await RunView.demand(parts, id);
  demandOpen(view.root);
  await putBackRun(parts, view, { failedBy });
}

/** @throws {@link WrongStateError} when the run has no part that could continue. */
export function demandOpen({ id, state }: TaskRecord): void {
  if (state === 'finished' || state === 'canceled') throw new WrongStateError('resume', id, state);
}

/**
 * Puts a run back. `payload` replaces the payload of its own task, which has the edited inputs of
 * its nodes.
 *
 * @throws {@link WrongStateError} when a concurrent call set other inputs.
 */
export async function putBackRun(
  parts: ViewParts,
  view: RunView,
  { payload, failedBy }: Pick<RunToResume, 'payload' | 'failedBy'> = {},
): Promise<void> {
  const backend = await parts.connection.open();
  const run = { root: view.root, payload, failedBy };
  const resumption = new Resumption(backend, parts, run);
  const { id, state, paused } = view.root;
  if (view.form === 'dispatched') await resumption.run();
  else if (state === 'failed') await resumption.putBackRoot();
  // It waits for a retry of a node, or for a worker with its code. A paused run may be delayed and stays so.
  else if (state === 'scheduled' && paused === undefined) await backend.tasks.runNow(id);
  // Last: tasks held by the pause must not start in a run that has ended.
  if (paused !== undefined) await endPause(parts, id);
}

/** Why a resume of a failed run would be refused now; `undefined` if it would not. Changes nothing. */
export async function resumeRefusal(parts: ViewParts, view: RunView): Promise<unknown> {
  if (view.form === 'driven') return undefined;
  const backend = await parts.connection.open();
  try {
    await new Resumption(backend, parts, { root: view.root }).find();
    return undefined;
  } catch (error) {
    if (isOwn(error, 'WRONG_STATE') || isOwn(error, 'TASK_NOT_FOUND')) return error;
    throw error;
  }
}

interface RunToResume {
  readonly root: TaskRecord;
  /** New payload of its own task; absent: unchanged. */
  readonly payload?: string | undefined;
  /** The latest moment at which it may have failed; absent: any. */
  readonly failedBy?: number | undefined;
}

/**
 * Finds and puts back the tasks of one run that must run again. For a driven run that is its own task:
 * its journal has the finished steps, so the failed ones run again.
 */
class Resumption {
  readonly #backend: Backend;
  readonly #codec: ValueCodec;
  readonly #log: Logger;
  readonly #root: TaskRecord;
  readonly #payload: string | undefined;
  readonly #failedBy: number | undefined;
  /** Edited inputs of its nodes, known once its own task is put back. */
  #edits: Edits | undefined;
  /** Unfinished tasks between the run and its finished tasks, including the run. */
  readonly #open = new Map<string, TaskRecord>();

  constructor(backend: Backend, parts: ViewParts, { root, payload, failedBy }: RunToResume) {
    this.#backend = backend;
    this.#codec = parts.codec;
    this.#log = parts.connection.log;
    this.#root = root;
    this.#payload = payload;
    this.#failedBy = failedBy;
  }

  async run(): Promise<void> {
    await this.find();
    this.#edits = runGivenOf(this.#codec, this.#payload ?? this.#root.payload).edits;
    for (const level of this.#levels()) {
      const failed = level.filter((id) => this.#open.get(id)?.state === 'failed');
      await mapInChunks(failed, AT_ONCE, (id) => this.#putBack(id));
    }
    await this.#undoIfCanceled();
  }

  /** The run's own task is put back before its nodes: it has their edited inputs. */
  async putBackRoot(): Promise<void> {
    const { tasks, inspect } = this.#backend;
    const { id, options } = this.#root;
    const payload = this.#payload;
    const edited = payload === undefined ? undefined : { payload, options };
    if (await putBack({ tasks, log: this.#log }, id, edited, this.#failedBy)) return;
    // A concurrent call was first, or the reply of this one was lost.
    const [root] = await inspect.get([id]);
    if (root === undefined) throw new TaskNotFoundError(id);
    // It was put back meanwhile and has failed again; `failedBy` excludes that failure.
    if (this.#failedBy !== undefined && root.state === 'failed')
      throw new WrongStateError('resume', id, root.state);
    if (payload !== undefined && root.payload !== payload) {
      throw new WrongStateError('resume', id, root.state);
    }
    this.#edits = runGivenOf(this.#codec, root.payload).edits;
  }

  async #putBack(id: string): Promise<void> {
    if (id === this.#root.id) return this.putBackRoot();
    const { tasks, inspect } = this.#backend;
    const edited = this.#editedOf(id);
    const isDone = await putBack({ tasks, log: this.#log }, id, edited, this.#failedBy);
    if (isDone || edited === undefined) return;
    const [record] = await inspect.get([id]);
    if (record !== undefined && record.payload !== edited.payload) {
      throw new WrongStateError('resume', id, record.state);
    }
  }

  /** The changes of a node's task; `undefined`: unchanged. */
  #editedOf(id: string): EditedTask | undefined {
    const record = this.#open.get(id);
    const place = record === undefined ? undefined : runPlaceOf(record.options);
    const payload = place === undefined ? undefined : editOf(this.#edits, place.node);
    if (record === undefined || place === undefined || payload === undefined) return undefined;
    const { late, past: _past, ...own } = place;
    if (late === undefined && record.payload === payload) return undefined;
    const run = { ...own, edited: editMark(payload) };
    return { payload, options: runOptions(storedOptionsOf(record.options), run) };
  }

  /** The search stops at finished tasks: a group that finished without a member stays so. */
  async find(): Promise<void> {
    let level: readonly TaskRecord[] = [this.#root];
    while (level.length > 0) {
      for (const record of level) this.#open.set(record.id, record);
      // For each task, whether it must finish.
      const needs = new Map<string, boolean>();
      for (const record of level) {
        for (const id of neededBy(record)) {
          if (!this.#open.has(id)) needs.set(id, needs.get(id) === true || !isLenient(record));
        }
      }
      const ids = [...needs.keys()];
      const records = await recordsOf(this.#backend.inspect, ids);
      level = ids.flatMap((id, at) => this.#behind(id, records[at], needs.get(id) === true));
    }
  }

  #behind(id: string, record: TaskRecord | undefined, mustFinish: boolean): readonly TaskRecord[] {
    if (record?.state === 'finished') return [];
    const isPart = record !== undefined && runPlaceOf(record.options)?.id === this.#root.id;
    if (isPart && record.state !== 'canceled') return [record];
    // A member that its group does not need stays failed; the group is decided again.
    if (!mustFinish) return [];
    if (record === undefined) throw new TaskNotFoundError(id);
    // Tasks outside the run belong to others and are not put back.
    if (isEnd(record.state)) throw new WrongStateError('resume', id, record.state);
    return [];
  }

  /**
   * The order in which tasks are put back. Each before its dependencies: a task that fails at once must find
   * its dependents waiting. Exception: a group whose policy reads its members follows them, since it would see
   * their former outcomes otherwise.
   */
  #levels(): readonly (readonly string[])[] {
    const before = new Map<string, string[]>([...this.#open.keys()].map((id) => [id, []]));
    const waits = new Map<string, number>();
    for (const record of this.#open.values()) {
      for (const id of record.dependsOn) {
        if (!this.#open.has(id)) continue;
        const [first, second] = isLenient(record) ? [id, record.id] : [record.id, id];
        before.get(first)?.push(second);
        waits.set(second, (waits.get(second) ?? 0) + 1);
      }
    }
    const levels: (readonly string[])[] = [];
    let level = [...this.#open.keys()].filter((id) => !waits.has(id));
    while (level.length > 0) {
      levels.push(level);
      const next: string[] = [];
      for (const id of level.flatMap((one) => before.get(one) ?? [])) {
        const left = (waits.get(id) ?? 0) - 1;
        waits.set(id, left);
        if (left === 0) next.push(id);
      }
      level = next;
    }
    return levels;
  }

  /** A concurrent cancel may have missed tasks that were put back after it read the run. */
  async #undoIfCanceled(): Promise<void> {
    const { tasks, inspect } = this.#backend;
    const [root] = await inspect.get([this.#root.id]);
    if (root?.state !== 'canceled') return;
    const cause = { type: 'run-ended', run: root.id } as const;
    for (const id of this.#open.keys()) await tasks.cancel(id, cause);
    throw new WrongStateError('resume', root.id, root.state);
  }
}

/** The dependencies of a task; of a blocked task only the open ones. */
function neededBy({ state, dependsOn, blockedBy }: TaskRecord): readonly string[] {
  return state === 'failed' ? dependsOn : blockedBy;
}

/** Whether a worker decides the group by the outcomes of its members. */
function isLenient({ name }: TaskRecord): boolean {
  return name === GROUP_TASK;
}

/** Puts one task back. @returns whether this call did it; false when another call already has. */
async function putBack(
  store: { readonly tasks: Backend['tasks']; readonly log: Logger },
  id: string,
  edited: EditedTask | undefined,
  failedBy: number | undefined,
): Promise<boolean> {
  const reply = await redriven(store, id, edited, failedBy);
  if (reply.kind === 'ok') return true;
  if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
  if (reply.kind === 'busy') throw new TaskBusyError('resume', id);
  if (reply.kind === 'cycle' || reply.kind === 'dependency-limit') throw cycleError(id, reply);
  // A concurrent resume put it back, and it has ended again since.
  if (reply.state === 'canceled') throw new WrongStateError('resume', id, reply.state);
  return false;
}
