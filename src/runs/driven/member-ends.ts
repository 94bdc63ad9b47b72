/** How members of a group have ended, and how they may. */
import { isEnd, type TaskStatus } from '../../domain/task/task.ts';
import { allNodes, blocksOf, type EachNode, type ParallelNode } from '../../graph/graph.ts';
import type { MemberState } from '../../graph/group-verdict.ts';

/** A member as its task stands. */
export interface Member extends MemberState {
  readonly id: string;
  readonly record: TaskStatus | undefined;
}

/** One that is not stored counts as canceled. */
export function memberOf(key: string, id: string, record: TaskStatus | undefined): Member {
  const { state = 'canceled' } = record ?? {};
  return { key, id, record, state: isEnd(state) ? state : 'open' };
}

/** Whether it has not ended. */
export function isOpen({ state }: MemberState): boolean {
  return state === 'open';
}

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
