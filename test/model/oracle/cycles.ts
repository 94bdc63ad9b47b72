/** An enqueue in the making, and whether tasks would come to wait for each other: by walking over all edges, each time. */
import type {
  ChangeReply,
  EnqueueRefusal,
  EnqueueReply,
} from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { ended, leads, sourceOf, type Task, unmetOf, type World, waitersFor } from './world.ts';

/** One call: what it brings, and what became of its items so far. */
export interface Call {
  /** Items of an atomic call, which may name each other before they are stored. */
  readonly batch: ReadonlyMap<string, NewTask>;
  /** The task that answers for an item that a key absorbed; none that could be waited for: `undefined`. */
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

/** Whether a task that is awaited already would wait for one of those that await it. */
export function cycleOf(
  world: World,
  item: NewTask,
  call: Call,
  isTurned: boolean,
): EnqueueReply | undefined {
  const isAwaited = waitersFor(world, item.id, item.user).length > 0;
  const isSelf = item.dependsOn.includes(item.id);
  if (!isAwaited && !isSelf && !isTurned) return undefined;
  const seen = new Set<string>();
  const open = isSelf ? [item.id] : [...answerersFor(item, call)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === item.id) {
      world.happened.push(isTurned ? 'cycle by keys' : 'cycle by an awaited id');
      return refused({ type: 'cycle', path: [id, id] });
    }
    if (seen.has(id)) continue;
    seen.add(id);
    const made = call.made.find(({ task }) => task.id === id);
    if (made !== undefined) open.push(...answerersFor(made.item, call));
    else open.push(...awaitedBy(world, id, item));
  }
  return undefined;
}

/** What an item comes to wait for: not itself, also where a key lets another answer. */
function answerersFor(item: NewTask, call: Call): readonly string[] {
  return answerers(item.dependsOn, call).filter((id) => id !== item.id);
}

/** Whom a stored task waits for, or will once the item is stored. */
function awaitedBy(world: World, id: string, item: NewTask): readonly string[] {
  const task = world.tasks.get(id);
  if (task === undefined || ended(task)) return [];
  return unmetOf(task).filter((other) => {
    const user = other === item.id ? item.user : world.tasks.get(other)?.user;
    return task.awaited.get(other) === 'unmet' || leads(task, user);
  });
}

/** Whether it would wait for one that waits for its redrive. */
export function closesBack(world: World, task: Task): ChangeReply | undefined {
  const seen = new Set<string>();
  const open = awaitedNow(world, task);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === task.id) {
      world.happened.push('redrive into a cycle');
      return { kind: 'cycle', path: [id, id] };
    }
    const other = world.tasks.get(id);
    if (other === undefined || ended(other) || seen.has(id)) continue;
    seen.add(id);
    open.push(...awaitedNow(world, other));
  }
  return undefined;
}

function awaitedNow(world: World, task: Task): string[] {
  return unmetOf(task).filter(
    (id) => task.awaited.get(id) === 'unmet' || sourceOf(world, task, id) !== undefined,
  );
}
