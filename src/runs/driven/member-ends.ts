/** How members of a group have ended, and how they may. */
import type { TaskStatus } from '../../domain/task/task.ts';
import { allNodes, blocksOf, type EachNode, type ParallelNode } from '../../graph/graph.ts';

/** Canceled because its group had ended. */
export function isClosed(record: TaskStatus | undefined): boolean {
  return record?.state === 'canceled' && record.cause?.type === 'group-ended';
}

/** Canceled in place of a start, since the run had ended. */
export function isAbandoned(record: TaskStatus | undefined): boolean {
  return record?.state === 'canceled' && record.cause?.type === 'run-ended';
}

/** It ended its whole run; of one that ended it well, its journal has the result. */
export function hasEndedRun(record: TaskStatus | undefined): boolean {
  const type = record?.state === 'canceled' ? record.cause?.type : undefined;
  return type === 'cancel-run' || type === 'terminate';
}

/** Whether a member may end the run: its worker must not sleep until all others have ended. */
export function mayEndRun(node: ParallelNode | EachNode): boolean {
  return blocksOf(node).some(([, block]) => {
    for (const inner of allNodes(block)) {
      if (inner.kind === 'task' && inner.dynamic !== undefined) return true;
    }
    return false;
  });
}
