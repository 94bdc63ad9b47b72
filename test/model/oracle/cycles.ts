/** Whether tasks would come to wait for each other: by walking over all edges, each time. */
import type { ChangeReply, EnqueueReply } from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { answerers, type Call, refused } from './call.ts';
import { ended, leads, sourceOf, type Task, unmetOf, type World, waitersFor } from './world.ts';

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

/** Whom an item comes to wait for: not for itself, whoever a key lets answer. */
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
