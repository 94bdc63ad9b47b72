/** Items of an enqueue: what each refers to, by the places that the step names. */
import type { NewTask } from '../../src/domain/task/task.ts';
import { ended, type Task, type World } from './oracle/world.ts';
import type { DependencyStep, ItemStep, OwnerStep } from './steps.ts';

/** Ids that are not stored, unless a later step stores them. */
export const UNKNOWN = 3;

/** Policies of keys that gather calls. */
const GATHERS: ReadonlySet<string> = new Set(['debounce', 'throttle']);

/** What an item may refer to. */
export interface Around {
  readonly id: string;
  readonly others: readonly string[];
  /** Every id of the batch. */
  readonly batch: readonly string[];
  readonly ids: readonly string[];
  readonly world: World;
  /** Of a batch that is stored as a whole. */
  readonly atomic: boolean;
}

/** The task that an item of a batch stands for. */
export function newTask(item: ItemStep, around: Around): NewTask {
  const { delayMs, executeInMs, expiresInMs, key } = item;
  const due =
    delayMs !== undefined
      ? { delayMs }
      : executeInMs !== undefined
        ? { executeAfter: around.world.clock + executeInMs }
        : {};
  const dependsOn = item.dependsOn
    .flatMap((dependency) => dependencyOf(dependency, around))
    // Against the direction of the batch there would be cycles inside it, which a client refuses.
    .filter((id) => !around.batch.includes(id) || around.others.includes(id))
    .filter((id) => id !== around.id);
  return {
    id: around.id,
    name: item.name,
    queue: item.queue,
    user: item.user,
    level: item.level,
    cost: item.cost,
    payload: item.payload,
    options: `{"salt":${item.salt}}`,
    ...due,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(item.salt % 2 === 1 ? { expiresFrom: 'release' as const } : {}),
    dependsOn: [...new Set(dependsOn)],
    edges: {
      onFailure: item.onFailure,
      onCancel: item.onCancel,
      onMissing: item.onMissing,
      allowCrossUser: item.allowCrossUser,
    },
    ...(key === undefined || (around.atomic && GATHERS.has(key.policy))
      ? {}
      : { idempotency: key }),
    ...ties(item, around),
  };
}

/** What ties a task to a run. */
function ties(item: ItemStep, around: Around): Pick<NewTask, 'join' | 'owner' | 'graph'> {
  const owner = item.owner === undefined ? undefined : ownerOf(item.owner, around);
  return {
    ...(item.join === undefined ? {} : { join: item.join }),
    ...(owner === undefined ? {} : { owner }),
    ...(item.graph === undefined ? {} : { graph: graphOf(item.graph).hash }),
  };
}

function ownerOf({ of, pick }: OwnerStep, { id, ids, world }: Around): string | undefined {
  if (of === 'unknown') return `unknown${pick % UNKNOWN}`;
  const group = ids.filter((other) => {
    const task = world.tasks.get(other);
    return task !== undefined && ended(task) === (of === 'ended') && other !== id;
  });
  // Runs are mostly at work while they store their members.
  const started = group.filter((other) => world.tasks.get(other)?.state === 'started');
  const from = started.length > 0 && pick % 4 > 0 ? started : group;
  return from[pick % Math.max(1, from.length)];
}

/** One of the graphs of every history. */
export function graphOf(at: number): { readonly hash: string; readonly body: string } {
  return { hash: `hash${at}`, body: `p{"graph":"é${at}"}` };
}

function dependencyOf({ of, pick }: DependencyStep, around: Around): readonly string[] {
  if (of === 'unknown') return [`unknown${pick % UNKNOWN}`];
  const ends = (task: Task | undefined): boolean => task?.endedAt !== undefined;
  const { ids, others, world } = around;
  const from = {
    known: ids,
    live: ids.filter((id) => world.tasks.has(id) && !ends(world.tasks.get(id))),
    ended: ids.filter((id) => ends(world.tasks.get(id))),
    batch: others,
  }[of];
  const chosen = from[pick % Math.max(1, from.length)];
  return chosen === undefined ? [] : [chosen];
}
