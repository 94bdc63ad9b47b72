/** Puts a failed run back, so that it goes on from what it has: the same run, under the same id. */
import { mapInChunks } from '../../base/chunks.ts';
import { TaskBusyError, TaskNotFoundError, WrongStateError } from '../../domain/errors/errors.ts';
import type { Backend, ChangeReply } from '../../domain/port/backend.ts';
import { cycleError } from '../../domain/port/refusal.ts';
import { isEnd, type TaskRecord } from '../../domain/task/task.ts';
import { recordsOf } from '../shared/failure-cause.ts';
import { GROUP_TASK, runPlaceOf } from '../shared/record.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** Tasks that are put back at once. */
const AT_ONCE = 16;

/** Steps of maintenance for a task whose dependents are still being told of its end. */
const MOST_TICKS = 50;

/**
 * Puts a failed run back. One that goes on already is left as it is, or helped to its end when an
 * earlier call broke off.
 *
 * @throws see `Runs.resume`.
 */
export async function resume(parts: ViewParts, id: string): Promise<void> {
  const backend = await parts.connection.open();
  const view = await RunView.demand(parts, id);
  const { state } = view.root;
  if (state === 'finished' || state === 'canceled') throw new WrongStateError('resume', id, state);
  if (view.form === 'driven') await resumeDriven(backend, view.root);
  else await new Resumption(backend, view.root).run();
}

/** Its journal tells what has finished; what failed is not in it, and so runs again. */
async function resumeDriven({ tasks }: Backend, { id, state }: TaskRecord): Promise<void> {
  if (state === 'failed') await putBack(tasks, id);
  // It waits for a node's next attempt, or for a worker with its code.
  else if (state === 'scheduled') await tasks.runNow(id);
}

/** The tasks of one dispatched run that have to run again. */
class Resumption {
  readonly #backend: Backend;
  readonly #root: TaskRecord;
  /** What stands between the run and what has finished, the run included. */
  readonly #open = new Map<string, TaskRecord>();

  constructor(backend: Backend, root: TaskRecord) {
    this.#backend = backend;
    this.#root = root;
  }

  async run(): Promise<void> {
    await this.#find();
    for (const level of this.#levels()) {
      const failed = level.filter((id) => this.#open.get(id)?.state === 'failed');
      await mapInChunks(failed, AT_ONCE, (id) => putBack(this.#backend.tasks, id));
    }
    await this.#undoIfCanceled();
  }

  /** Finished tasks are not gone behind: a group that did without a member does without it now. */
  async #find(): Promise<void> {
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
    const isOwn = record !== undefined && runPlaceOf(record.options)?.id === this.#root.id;
    if (isOwn && record.state !== 'canceled') return [record];
    // What a group could do without stays lost, and the group is decided again.
    if (!mustFinish) return [];
    if (record === undefined) throw new TaskNotFoundError(id);
    // Tasks outside of the run are their owners' affair.
    if (isEnd(record.state)) throw new WrongStateError('resume', id, record.state);
    return [];
  }

  /**
   * In which order tasks are put back. Each before those that it waits for: one that fails at once
   * must find who hears of it. But a group whose policy looks at its members itself after these:
   * put back before, it would see what they came to the last time.
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

/** A worker decides it by what its members came to. */
function isLenient({ name }: TaskRecord): boolean {
  return name === GROUP_TASK;
}

/** Somebody else may have done so before: then it is in no end state, and nothing is left to do. */
async function putBack(tasks: Backend['tasks'], id: string): Promise<void> {
  const reply = await redriven(tasks, id);
  if (reply.kind === 'ok') return;
  if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
  if (reply.kind === 'busy') throw new TaskBusyError('resume', id);
  if (reply.kind === 'cycle' || reply.kind === 'dependency-limit') throw cycleError(id, reply);
  // Another resume was first, and it has run through since.
  if (reply.state === 'canceled') throw new WrongStateError('resume', id, reply.state);
}

async function redriven(tasks: Backend['tasks'], id: string): Promise<ChangeReply> {
  let reply = await tasks.redrive(id);
  for (let ticks = 0; reply.kind === 'busy' && ticks < MOST_TICKS; ticks++) {
    await tasks.tick();
    reply = await tasks.redrive(id);
  }
  return reply;
}
