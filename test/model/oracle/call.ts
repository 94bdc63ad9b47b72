/** An enqueue in the making. */
import type { EnqueueRefusal, EnqueueReply } from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import type { Task } from './world.ts';

/** One call: what it brings, and what became of its items so far. */
export interface Call {
  /** Items of an atomic call, which may name each other before they are stored. */
  readonly batch: ReadonlyMap<string, NewTask>;
  /** Who answers for items that a key absorbed; nobody that could be waited for: `undefined`. */
  readonly answered: Map<string, string | undefined>;
  /** It is made on behalf of a lease. */
  readonly fenced: boolean;
  /** Stored, but standing nowhere yet. */
  readonly made: {
    readonly task: Task;
    readonly item: NewTask;
    readonly after: Task | undefined;
    /** When its key lets it start, if it has one that says so. */
    readonly due: number | undefined;
  }[];
}

/** Whom these ids stand for in this call. */
export function answerers(ids: readonly string[], { answered }: Call): readonly string[] {
  const known = ids.map((id) => (answered.has(id) ? answered.get(id) : id));
  return known.filter((id) => id !== undefined);
}

export function refused(refusal: EnqueueRefusal): EnqueueReply {
  return { kind: 'refused', refusal };
}
