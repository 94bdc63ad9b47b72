import { STEPS } from '../../../domain/step-bounds.ts';
import type { DeadLetter, DeadLetters } from '../../../domain/task/dead-letter.ts';
import type { TaskEntry } from '../store/entities.ts';
import type { Store } from '../store/store.ts';

/** Dead letters of the current step that no worker decided, for its answer; absent without any. */
export function madeDeadLetters({ deadLetters }: Store): { readonly deadLetters?: DeadLetters } {
  if (deadLetters.length === 0) return {};
  const listed = deadLetters.slice(0, STEPS.deadListed).map(letterOf);
  return { deadLetters: { listed, more: deadLetters.length - listed.length } };
}

function letterOf({ id, name, owner, optional }: TaskEntry): DeadLetter {
  const { failures, losses, cause, run } = optional;
  return {
    id,
    name,
    queue: owner.queue.queue,
    user: owner.user,
    attempt: failures + Math.min(1, losses),
    ...(run?.owner === undefined ? {} : { run: run.owner }),
    cause: cause ?? { type: 'lost', leases: losses },
  };
}
