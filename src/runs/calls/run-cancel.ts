/** Cancels a run: its own task first, so that nothing new starts, then its open tasks. */
import { mapInChunks } from '../../base/chunks.ts';
import type { CancelReply } from '../../domain/port/backend.ts';
import { isEnd } from '../../domain/task/task.ts';
import { type Consequences, ConsequenceWalk } from '../consequences.ts';
import { RunView, type ViewParts } from './run-view.ts';

/** The outcome of the cancel of a run. */
export interface RunCancelReport {
  /** The outcome for the run itself. */
  readonly run: CancelReply;
  /** Every node that had not ended, with its outcome. */
  readonly nodes: readonly {
    /** Name of the node in the graph. */
    readonly node: string;
    /** Outcome for the task of the node. */
    readonly reply: CancelReply;
  }[];
}

/** Cancels one task. */
type CancelTask = (id: string, reason: string | undefined) => Promise<CancelReply>;

/** Resolves when a task has ended, or is not stored any more. */
type WaitForEnd = (id: string) => Promise<void>;

/** Number of concurrent cancels. */
const AT_ONCE = 50;

/** Cancels everything that has not ended; repeatable. With `ended` it waits for all ends. */
export async function cancelRun(
  tools: ViewParts,
  cancelTask: CancelTask,
  id: string,
  { reason, ended }: { readonly reason?: string | undefined; readonly ended?: WaitForEnd } = {},
): Promise<RunCancelReport> {
  const view = await RunView.find(tools, id);
  if (view === undefined) return { run: { kind: 'not-found' }, nodes: [] };
  // A driven run is read before the cancel: afterwards it waits for nothing. A dispatched run is
  // read after it: a concurrent `resume` takes back tasks that it puts back later.
  const members = view.form === 'driven' ? await openTasks(view) : [];
  const run = await cancelTask(id, reason);
  const open = view.form === 'driven' ? members : await openTasks(view);
  const nodes = await mapInChunks(open, AT_ONCE, async ({ node, taskId, isShown }) => {
    return { node, isShown, reply: await cancelTask(taskId, reason) };
  });
  if (ended !== undefined) {
    await mapInChunks([id, ...open.map(({ taskId }) => taskId)], AT_ONCE, ended);
    await endStragglers(view, cancelTask, { reason, ended });
  }
  const shown = nodes.filter(({ isShown }) => isShown);
  return { run, nodes: shown.map(({ node, reply }) => ({ node, reply })) };
}

/**
 * Cancels and awaits tasks of an ended run that still run and were not seen before: members stored at the
 * moment of the cancel, or left running by an earlier cancel. A task that has not started by then never
 * does.
 */
async function endStragglers(
  view: RunView,
  cancelTask: CancelTask,
  { reason, ended }: { readonly reason: string | undefined; readonly ended: WaitForEnd },
): Promise<void> {
  for (let ids = await view.started(); ids.length > 0; ids = await view.started()) {
    await mapInChunks(ids, AT_ONCE, async (id) => {
      await cancelTask(id, reason);
      await ended(id);
    });
  }
}

/** Effects of a cancel of the run. */
export interface RunConsequences extends Consequences {
  /** Its nodes that have not ended. */
  readonly nodes: readonly string[];
}

/** Lists what `cancelRun` would end: open nodes, and dependents of these and of the run. */
export async function runConsequences(
  tools: ViewParts,
  id: string,
  limit: number,
): Promise<RunConsequences> {
  const view = await RunView.demand(tools, id);
  const { inspect } = await tools.connection.open();
  const open = await openTasks(view);
  const ids = [id, ...open.map(({ taskId }) => taskId)];
  const outside = await new ConsequenceWalk(inspect, limit).from(ids, 'cancel');
  const nodes = open.filter(({ isShown }) => isShown).map(({ node }) => node);
  return { nodes, ...outside };
}

interface OpenTask {
  readonly node: string;
  readonly taskId: string;
  /** False for joins, which are not listed as nodes. */
  readonly isShown: boolean;
}

async function openTasks(view: RunView): Promise<readonly OpenTask[]> {
  if (view.form === 'driven') {
    const members = await view.openMembers();
    return members.map(({ node, record }) => ({ node, taskId: record.id, isShown: true }));
  }
  const { dispatch } = await view.known();
  const open = [...(await view.records())].flatMap(([node, { id: taskId, state }]) => {
    if (isEnd(state)) return [];
    return [{ node, taskId, isShown: dispatch.byId.get(node)?.plan?.kind !== 'join' }];
  });
  const ids = open.map(({ taskId }) => taskId);
  const below = await view.openBelow(ids);
  return [
    ...open,
    ...below.map(({ node, record }) => ({ node, taskId: record.id, isShown: true })),
  ];
}
