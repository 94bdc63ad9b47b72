/** Whether workers that drain have come to the end of what they could do, by a look at the store. */
import { inChunks } from '../../base/chunks.ts';
import { explain, type Obstacle } from '../../domain/explain/explain.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { Backend } from '../../domain/port/backend.ts';
import type { TaskRow } from '../../domain/task/task.ts';
import type { WorkerOptions } from '../../worker/worker-options.ts';

/** What there is for one worker. */
export interface Scope {
  readonly queues: readonly string[];
  /** The only users that it serves; absent: all. */
  readonly users: readonly string[] | undefined;
}

/** What a drain leaves in its queues. */
export interface Left {
  /** Tasks that are not due. */
  readonly scheduled: number;
  /** Tasks that wait for others. */
  readonly deferred: number;
  /** Tasks in line that nothing here may start. */
  readonly queued: number;
}

/** `reason` is what there is to wait for; without one everything else is `left`. */
export type Look =
  | { readonly isDrained: false; readonly reason: string }
  | { readonly isDrained: true; readonly left: Left };

/** Rows of one trip to the backend. */
const PAGE = 200;

/** What holds a task in line only until a worker comes to it, or one that runs has ended. */
const PASSING: ReadonlySet<Obstacle['kind']> = new Set([
  'in-line',
  'run-ended',
  'user-at-limit',
  'queue-at-limit',
]);

/** What a worker of these options serves. */
export function scopeOf({
  queues = ['default'],
  assignedUsers,
  stealTargets,
}: WorkerOptions): Scope {
  const servesAll = assignedUsers === undefined || stealTargets === 'any';
  return {
    queues: isNames(queues) ? queues : Object.keys(queues),
    users: servesAll ? undefined : [...assignedUsers, ...(stealTargets ?? [])],
  };
}

function isNames(queues: NonNullable<WorkerOptions['queues']>): queues is readonly string[] {
  return Array.isArray(queues);
}

/**
 * Looks once. Running tasks are counted again after the look at tasks that wait: a task that moved on
 * meanwhile is then in a state that is counted.
 */
export async function lookForWork(backend: Backend, scopes: readonly Scope[]): Promise<Look> {
  const queues = [...new Set(scopes.flatMap((scope) => scope.queues))];
  const first = await countWork(backend, queues, scopes);
  if (!first.isDrained) return first;
  for (const queue of queues) {
    const waiting = (await dueTask(backend, queue)) ?? (await awaitedTask(backend, queue));
    if (waiting !== undefined) return { isDrained: false, reason: waiting };
  }
  return countWork(backend, queues, scopes);
}

async function countWork(
  backend: Backend,
  queues: readonly string[],
  scopes: readonly Scope[],
): Promise<Look> {
  const left = { scheduled: 0, deferred: 0, queued: 0 };
  for (const queue of queues) {
    const info = await backend.queues.get(queue);
    if (info === undefined) continue;
    const { counts, runnable } = info;
    if (counts.started > 0) return { isDrained: false, reason: `tasks of queue ${queue} run` };
    if (runnable > 0 && (await mayStart(backend, queue, scopes))) {
      return { isDrained: false, reason: `tasks of queue ${queue} can start` };
    }
    for (const state of ['scheduled', 'deferred', 'queued'] as const) left[state] += counts[state];
  }
  return { isDrained: true, left };
}

/** Whether one of the workers serves a user of this queue with a task that nothing holds back. */
async function mayStart(
  backend: Backend,
  queue: string,
  scopes: readonly Scope[],
): Promise<boolean> {
  const serving = scopes.filter(({ queues }) => queues.includes(queue));
  if (serving.some(({ users }) => users === undefined)) return true;
  for (const user of new Set(serving.flatMap(({ users = [] }) => users))) {
    if ((await backend.users.get(user, queue))?.ready === true) return true;
  }
  return false;
}

/** A task that is due and was not put in line yet. The store's clock says what is due. */
async function dueTask(backend: Backend, queue: string): Promise<string | undefined> {
  const first = await firstScheduled(backend, queue);
  if (first === undefined) return undefined;
  const facts = await backend.inspect.facts(first.id);
  const { dueAt = Number.POSITIVE_INFINITY } = facts?.record ?? {};
  return facts !== undefined && dueAt <= facts.now ? `task ${first.id} is due` : undefined;
}

/** The one that is due first; those of other queues may stand before it on many pages. */
async function firstScheduled(backend: Backend, queue: string): Promise<TaskRow | undefined> {
  const pages = allPages(1, (page) => backend.inspect.list({ state: 'scheduled', queue }, page));
  for await (const { items } of pages) if (items[0] !== undefined) return items[0];
  return undefined;
}

/** A task for whose end one of this queue waits, directly or over others, and that can come to it. */
async function awaitedTask(backend: Backend, queue: string): Promise<string | undefined> {
  const seen = new Set<string>();
  const pages = allPages(PAGE, (page) => backend.inspect.list({ state: 'deferred', queue }, page));
  for await (const { items } of pages) {
    const moving = await movingOf(backend, items, seen);
    if (moving !== undefined) return moving;
  }
  return undefined;
}

/** Follows what deferred tasks wait for, a step for all of them at a time. */
async function movingOf(
  backend: Backend,
  deferred: readonly TaskRow[],
  seen: Set<string>,
): Promise<string | undefined> {
  let tasks = deferred;
  while (tasks.length > 0) {
    const freed = tasks.find(({ blockedBy }) => blockedBy.length === 0);
    if (freed !== undefined) return `task ${freed.id} is free to go on`;
    const ids = tasks.flatMap(({ blockedBy }) => blockedBy).filter((id) => isNew(seen, id));
    const next: TaskRow[] = [];
    for (const some of inChunks(ids, PAGE)) {
      for (const task of await backend.inspect.get(some)) {
        if (task === undefined) continue;
        if (task.state === 'deferred') next.push(task);
        else if (await movesOn(backend, task)) return `task ${task.id} is awaited`;
      }
    }
    tasks = next;
  }
  return undefined;
}

function isNew(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

/** Whether a task that is awaited runs, can run, or has just finished. */
async function movesOn(backend: Backend, { id, state }: TaskRow): Promise<boolean> {
  if (state !== 'queued') return state === 'started' || state === 'finished';
  const facts = await backend.inspect.facts(id);
  if (facts?.record.state !== 'queued') return true;
  return explain(facts).obstacles.every(({ kind }) => PASSING.has(kind));
}
