/** Puts a failed run back, so that it goes on from what it has: the same run, under the same id. */

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

/** Tasks that are put back at once. */
const AT_ONCE = 16;

/**
 * Puts a failed run back. One that goes on already is left as it is, or helped to its end when an
 * earlier call broke off. With `failedBy` only one that failed at that moment or before.
 *
 * @throws see `Runs.resume`.
 */
export async function resume(parts: ViewParts, id: string, failedBy?: number): Promise<void> {
  const view = await RunView.demand(parts, id);
  demandOpen(view.root);
  await putBackRun(parts, view, { failedBy });
}

/** @throws {@link WrongStateError} when nothing is left of it to go on with. */
export function demandOpen({ id, state }: TaskRecord): void {
  if (state === 'finished' || state === 'canceled') throw new WrongStateError('resume', id, state);
}

/**
 * Puts a run back, with another payload for its own task if one is given: that one says which inputs
 * its nodes get in place of their own.
 *
 * @throws {@link WrongStateError} when another call was first, and gave it other ones.
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
  // It waits for a node's next attempt, or for a worker with its code. One that was paused may be delayed, and stays so.
  else if (state === 'scheduled' && paused === undefined) await backend.tasks.runNow(id);
  // After that: what the pause has set aside is not to meet a run that has ended.
  if (paused !== undefined) await endPause(parts, id);
}

/** Why a resume of a failed run would be refused now; `undefined`: it would not be. Nothing is changed. */
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
  /** Of its own task from now on; absent: as it is. */
  readonly payload?: string | undefined;
  /** When it has to have failed, if it has; absent: at any time. */
  readonly failedBy?: number | undefined;
}

/**
 * The tasks of one run that have to run again. Of a driven one that is its own: its journal tells what
 * has finished; what failed is not in it, and so runs again.
 */
class Resumption {
  readonly #backend: Backend;
  readonly #codec: ValueCodec;
  readonly #log: Logger;
  readonly #root: TaskRecord;
  readonly #payload: string | undefined;
  readonly #failedBy: number | undefined;
  /** Inputs that its nodes get in place of their own, once its own task is put back. */
  #edits: Edits | undefined;
  /** What stands between the run and what has finished, the run included. */
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

  /** The run's own task comes before its nodes: it says what these get. */
  async putBackRoot(): Promise<void> {
    const { tasks, inspect } = this.#backend;
    const { id, options } = this.#root;
    const payload = this.#payload;
    const edited = payload === undefined ? undefined : { payload, options };
    if (await putBack({ tasks, log: this.#log }, id, edited, this.#failedBy)) return;
    // Another call was first, or the answer to this one was lost.
    const [root] = await inspect.get([id]);
    if (root === undefined) throw new TaskNotFoundError(id);
    // It has been put back since, and has failed again: that is not what was meant.
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

  /** With what a node's task is put back; `undefined`: as it is. */
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

  /** Finished tasks are not gone behind: a group that did without a member does without it now. */
  async find(): Promise<void> {
    let level: readonly TaskRecord[] = [this.#root];
    while (level.length > 0) {
      for (const record of level) this.#open.set(record.id, record);
      // By what they are needed: whether each must finish.
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
    // What a group could do without stays lost, and the group is decided again.
    if (!mustFinish) return [];
    if (record === undefined) throw new TaskNotFoundError(id);
    // Tasks outside of the run are their owners' affair.
    if (isEnd(record.state)) throw new WrongStateError('resume', id, record.state);
    return [];
  }

  /**
   * The order in which tasks are put back. Each before those that it waits for: one that fails at once must
   * find its dependents. But a group whose policy looks at its members itself after these: put back before, it
   * would see their former outcomes.
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

  /** A cancel that came first did not know of what was put back after it had looked. */
  async #undoIfCanceled(): Promise<void> {
    const { tasks, inspect } = this.#backend;
    const [root] = await inspect.get([this.#root.id]);
    if (root?.state !== 'canceled') return;
    const cause = { type: 'run-ended', run: root.id } as const;
    for (const id of this.#open.keys()) await tasks.cancel(id, cause);
    throw new WrongStateError('resume', root.id, root.state);
  }
}

/** Of a task that waits only what it still waits for: the rest has not held it up. */
function neededBy({ state, dependsOn, blockedBy }: TaskRecord): readonly string[] {
  return state === 'failed' ? dependsOn : blockedBy;
}

/** A worker decides it by the outcomes of its members. */
function isLenient({ name }: TaskRecord): boolean {
  return name === GROUP_TASK;
}

/**
 * Whether this call has put it back. Another call may have done so before: then it is in no end state, and
 * nothing is left to do.
 */
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
  // Another resume was first, and it has run through since.
  if (reply.state === 'canceled') throw new WrongStateError('resume', id, reply.state);
  return false;
}
