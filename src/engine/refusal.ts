import { assertNever } from '../base/never.ts';
import type { EnqueueRefusal } from '../domain/backend.ts';
import {
  BatchRefusedError,
  CrossUserDependencyError,
  DependencyCycleError,
  type FairloomError,
  GraphNotFoundError,
  KeyTakenError,
  LeaseLostError,
  QueueFullError,
  TaskConflictError,
  UnknownDependencyError,
} from '../domain/errors.ts';

/** The error that a caller gets for a refusal of the task of this id. */
export function refusalError(id: string, refusal: EnqueueRefusal): FairloomError {
  switch (refusal.type) {
    case 'task-conflict':
      return new TaskConflictError(refusal.id);
    case 'key-taken':
      return new KeyTakenError(refusal.key, refusal.id);
    case 'queue-full':
      return new QueueFullError(refusal.user, refusal.limit, refusal.size);
    case 'unknown-dependency':
      return new UnknownDependencyError(id, refusal.dependency);
    case 'cross-user':
      return new CrossUserDependencyError(id, refusal.dependency);
    case 'cycle':
      return new DependencyCycleError(refusal.path);
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
