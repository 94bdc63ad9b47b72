/** What a caller that sees some users only is shown of tasks and runs: nothing of others, nor of workers. */
import type { Fairloom } from '../client/client.ts';
import type { RunExplanation } from '../client/facades/run-explanation.ts';
import type { AttemptInfo, TaskInfo } from '../client/facades/task-info.ts';
import { isOwn, TaskBusyError, WrongStateError } from '../domain/errors/errors.ts';
import type { Explanation, Obstacle } from '../domain/explain/explain.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { RunDetails, RunInfo } from '../runs/run-info.ts';
import type { Around } from './operation.ts';
import { seenOf } from './owned.ts';
import type { View } from './view.ts';

/**
 * Tasks without ids of others, and without the lease; who waits for them is told by `ownDependentFacts`. As they are
 * for a caller that sees all. An id under which nothing is stored is left out as one of others is: that it comes
 * and goes would tell what others store.
 */
export async function narrowTasks(
  loom: Fairloom,
  view: View,
  tasks: readonly TaskInfo[],
): Promise<readonly TaskInfo[]> {
  if (view.users === undefined) return tasks;
  const named = tasks.flatMap(({ dependsOn, cause }) => [...dependsOn, ...idsIn(cause)]);
  const seen = await seenIn(loom, view, named);
  const own = (ids: readonly string[]): readonly string[] => ids.filter((id) => seen.has(id));
  return tasks.map(({ token: _token, worker: _worker, dependents: _dependents, ...task }) => {
    const { cause } = task;
    return {
      ...task,
      dependsOn: own(task.dependsOn),
      blockedBy: own(task.blockedBy),
      ...(cause === undefined ? {} : { cause: ownCause(cause, seen) }),
    };
  });
}

/** Attempts without the names of workers. */
export function narrowAttempts(
  view: View,
  attempts: readonly AttemptInfo[],
): readonly AttemptInfo[] {
  if (view.users === undefined) return attempts;
  return attempts.map((one) => ({ ...one, worker: '' }));
}

/** Runs without ids of runs of others. */
export async function narrowRuns(
  loom: Fairloom,
  view: View,
  runs: readonly RunInfo[],
): Promise<readonly RunInfo[]> {
  if (view.users === undefined) return runs;
  const seen = await seenIn(loom, view, runs.flatMap(idsOfRun));
  return runs.map(({ past, forkedFrom, cause, ...rest }) => ({
    ...rest,
    ...ownOfRun({ past, forkedFrom, cause }, seen),
  }));
}

/** The same of one with its nodes, which are all of its user. */
export async function narrowRun(loom: Fairloom, view: View, run: RunDetails): Promise<RunDetails> {
  if (view.users === undefined) return run;
  const seen = await seenIn(loom, view, idsOfRun(run));
  const { past, forkedFrom, cause, ...rest } = run;
  return { ...rest, ...ownOfRun({ past, forkedFrom, cause }, seen) };
}

/** What a run says of others. */
interface RunOthers {
  readonly past?: readonly string[] | undefined;
  readonly forkedFrom?: string | undefined;
  readonly cause?: Cause | undefined;
}

function idsOfRun({ past = [], forkedFrom, cause }: RunOthers): readonly string[] {
  return [...past, ...(forkedFrom === undefined ? [] : [forkedFrom]), ...idsIn(cause)];
}

function ownOfRun(
  { past, forkedFrom, cause }: RunOthers,
  seen: ReadonlySet<string>,
): Pick<RunInfo, 'past' | 'forkedFrom' | 'cause'> {
  return {
    ...(past === undefined ? {} : { past: past.filter((id) => seen.has(id)) }),
    ...(forkedFrom === undefined || !seen.has(forkedFrom) ? {} : { forkedFrom }),
    ...(cause === undefined ? {} : { cause: ownCause(cause, seen) }),
  };
}

/** Why a task waits, without what it says of others, of the queue and of workers. */
export function narrowExplanation(view: View, whole: Explanation): Explanation {
  if (view.users === undefined) return whole;
  const { id, state, obstacles, position, error, timeLeftMs } = whole;
  return {
    id,
    state,
    obstacles: obstacles.map(({ kind, text }) => ({
      kind,
      text: kind === 'in-line' ? placeText(position?.place) : (SHARED_WORDS[kind] ?? text),
    })),
    ...(error === undefined ? {} : { error }),
    ...(timeLeftMs === undefined ? {} : { timeLeftMs }),
  };
}

/** The same of a run; what began with a task of another user is left out. */
export async function narrowRunExplanation(
  loom: Fairloom,
  view: View,
  { command: _command, ...whole }: RunExplanation,
): Promise<RunExplanation> {
  const seen = await seenOf(
    loom,
    view,
    whole.causes.map(({ taskId }) => taskId),
  );
  return {
    ...whole,
    waitsFor: whole.waitsFor.map(({ node, why }) => ({ node, why: narrowExplanation(view, why) })),
    causes: whole.causes.filter(({ taskId }) => seen.has(taskId)),
  };
}

/** What is said instead of what tells of others, of the queue, or of workers. */
const SHARED_WORDS: Readonly<Partial<Record<Obstacle['kind'], string>>> = {
  blocked: 'it waits for other tasks',
  suspended: 'it is suspended until others have ended',
  'run-ended': 'its run has ended',
  'queue-paused': 'its queue is paused',
  'queue-at-limit': 'its queue is at its limit',
  'queue-rate': 'its queue is at its rate',
  parked: 'no worker takes it now',
  'no-worker': 'no worker takes it now',
  running: 'it runs',
  ended: 'it has ended',
};

function placeText(place: number | undefined): string {
  return place === undefined ? 'it is in line' : `it is number ${place} of its level`;
}

/** Those of some ids under which a task of the caller is stored, each asked for once. */
function seenIn(loom: Fairloom, view: View, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return seenOf(
    loom,
    view,
    [...new Set(ids)].filter((id) => id !== ''),
  );
}

function idsIn(cause: Cause | undefined): readonly string[] {
  return cause !== undefined && 'id' in cause ? [cause.id] : [];
}

function ownCause(cause: Cause, seen: ReadonlySet<string>): Cause {
  return 'id' in cause && !seen.has(cause.id) ? { ...cause, id: '' } : cause;
}

/**
 * What a change was refused with, without what it says of others: that a task is still needed, and not by whom; and
 * where another task stands in the way, neither which nor how that stands.
 */
export async function narrowError(
  { loom, view }: Pick<Around, 'loom' | 'view'>,
  { operation, named }: { readonly operation: string; readonly named: string },
  error: unknown,
): Promise<unknown> {
  if (view.users === undefined || !isOwn(error) || !('taskId' in error)) return error;
  const taskId = String(error.taskId);
  if (isOwn(error, 'TASK_BUSY')) return new TaskBusyError(operation, named, 'still in use');
  if (taskId === named || (await seenOf(loom, view, [taskId])).has(taskId)) return error;
  return new WrongStateError(operation, named, 'held by a task that it needs');
}
