/** Which lists exist: those that a worker counts on. */
import { begins, refresh } from './fairness.ts';
import { listKey, namesOf } from './rosters.ts';
import { byBytes, personOf, queueOf, type Worker, type World } from './world.ts';

/** Makes the lists of a worker where they are missing; a new one starts level with its users. */
export function joinLists(world: World, worker: Worker): void {
  worker.listed = true;
  for (const { queue: queueName, kind, names } of listsOf(worker)) {
    const queue = queueOf(world, queueName);
    if (queue.lists.has(listKey(kind, names))) continue;
    for (const name of [...names].sort(byBytes)) refresh(world, queueName, name);
    const ready = names.map((name) => personOf(queue, name)).filter((person) => person.ready);
    const clock = ready.length > 0 ? Math.min(...ready.map(begins)) : queue.v;
    queue.lists.set(listKey(kind, names), { kind, names: new Set(names), clock });
  }
}

/** Forgets the lists that no worker counts on any more. */
export function dropLists(world: World): void {
  const used = new Set(
    [...world.workers.values()]
      .filter((worker) => worker.listed)
      .flatMap(listsOf)
      .map(({ queue, kind, names }) => JSON.stringify([queue, listKey(kind, names)])),
  );
  for (const queue of world.queues.values()) {
    for (const [key, { names }] of [...queue.lists]) {
      if (used.has(JSON.stringify([queue.queue, key]))) continue;
      queue.lists.delete(key);
      for (const name of [...names].sort(byBytes)) {
        if (queue.people.has(name)) refresh(world, queue.queue, name);
      }
    }
  }
}

/** Whether the worker stands on any list, so that its silence matters. */
export function hasLists(worker: Worker): boolean {
  return listsOf(worker).length > 0;
}

interface Use {
  readonly queue: string;
  readonly kind: 'a' | 's';
  readonly names: readonly string[];
}

function listsOf(worker: Worker): readonly Use[] {
  return worker.queues.flatMap((queue) =>
    (['a', 's'] as const).flatMap((kind): Use[] => {
      const names = namesOf(worker, kind);
      return names === undefined ? [] : [{ queue, kind, names }];
    }),
  );
}
