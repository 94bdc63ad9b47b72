/** End states of members of a group. */
import { isEnd, type TaskStatus } from '../../domain/task/task.ts';
import { allNodes, blocksOf, type EachNode, type ParallelNode } from '../../graph/graph.ts';
import type { MemberState } from '../../graph/group-verdict.ts';

/** A member and the state of its task. */
export interface Member extends MemberState {
  readonly id: string;
  readonly record: TaskStatus | undefined;
}

/** A missing record counts as canceled. */
export function memberOf(key: string, id: string, record: TaskStatus | undefined): Member {
  const { state = 'canceled' } = record ?? {};
  return { key, id, record, state: isEnd(state) ? state : 'open' };
}

/** Whether it has not ended. */
export function isOpen({ state }: MemberState): boolean {
  return state === 'open';
}

/** Whether it was canceled because its group had ended. */
export function isClosed(record: TaskStatus | undefined): boolean {
  return record?.state === 'canceled' && record.cause?.type === 'group-ended';
}

/** Whether it was canceled before its start because the run had ended. */
export function isAbandoned(record: TaskStatus | undefined): boolean {
  return record?.state === 'canceled' && record.cause?.type === 'run-ended';
}

/** Whether it ended its whole run; if by `terminate`, its journal has the result. */
export function hasEndedRun(record: TaskStatus | undefined): boolean {
  const type = record?.state === 'canceled' ? record.cause?.type : undefined;
  return type === 'cancel-run' || type === 'terminate';
}

/** Whether a member may end the run: its worker must wake before all others have ended. */
export function mayEndRun(node: ParallelNode | EachNode): boolean {
  return blocksOf(node).some(([, block]) => {
    for (const inner of allNodes(block)) {
      if (inner.kind === 'task' && inner.dynamic !== undefined) return true;
    }
    return false;
  });
}
