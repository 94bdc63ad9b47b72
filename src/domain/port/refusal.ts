import { assertNever } from '../../base/never.ts';
import {
  BatchRefusedError,
  CrossUserDependencyError,
  DependencyCycleError,
  DependencyLimitError,
  type FairloomError,
  GraphNotFoundError,
  KeyTakenError,
  LeaseLostError,
  QueueFullError,
  TaskConflictError,
  UnknownDependencyError,
} from '../errors/errors.ts';
import { shownKey } from '../task/task-name.ts';
import type { ChangeReply, EnqueueRefusal } from './backend.ts';

/** The error of what would close a cycle, or might. */
export function cycleError(
  id: string,
  reply: Extract<ChangeReply, { readonly kind: 'cycle' | 'dependency-limit' }>,
): FairloomError {
  if (reply.kind === 'cycle') return new DependencyCycleError(reply.path);
  return new DependencyLimitError(id, reply.limit);
}

/** The error that a caller gets for a refusal of the task of this id. */
export function refusalError(id: string, refusal: EnqueueRefusal): FairloomError {
  switch (refusal.type) {
    case 'task-conflict':
      return new TaskConflictError(refusal.id);
    case 'key-taken':
      return new KeyTakenError(shownKey(refusal.key), refusal.id);
    case 'queue-full':
      return new QueueFullError(refusal.user, refusal.limit, refusal.size);
    case 'unknown-dependency':
      return new UnknownDependencyError(id, refusal.dependency);
    case 'cross-user':
      return new CrossUserDependencyError(id, refusal.dependency);
    case 'cycle':
      return cycleError(id, { kind: 'cycle', path: refusal.path });
    case 'dependency-limit':
      return cycleError(id, { kind: 'dependency-limit', limit: refusal.limit });
    case 'lease-lost':
      return new LeaseLostError(id);
    case 'graph-missing':
      return new GraphNotFoundError(refusal.hash);
    case 'batch-refused':
      return new BatchRefusedError(0, new TaskConflictError(id));
    default:
      return assertNever(refusal);
  }
}
