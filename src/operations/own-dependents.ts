/** Who waits for a task, for a caller that sees some users only: counted and listed without those of others. */

import type { DependentPage, PageRequest } from '../domain/port/backend.ts';
import {
  DEPENDENTS_NAMED,
  type Dependent,
  type TaskDependents,
} from '../domain/task/dependents.ts';
import type { Around } from './operation.ts';
import { pageOfOwn, type Source } from './own-pages.ts';

type Caller = Pick<Around, 'loom' | 'view' | 'look'>;

/** One page of them, and how many there are in all. */
export async function ownDependents(
  caller: Caller,
  id: string,
  request: PageRequest,
): Promise<Omit<DependentPage, 'awaitingRedrive'>> {
  const page = await pageOfOwn([sourceOf(caller, id)], request, caller.look);
  return { ...page, count: (await allOwn(caller, id)).length };
}

/** The first of them, and how many there are. */
export async function ownDependentFacts(caller: Caller, id: string): Promise<TaskDependents> {
  const all = await allOwn(caller, id);
  return {
    count: all.length,
    awaitingRedrive: all.filter(({ waits }) => waits === 'redrive').length,
    ids: all.slice(0, DEPENDENTS_NAMED).map((one) => one.id),
  };
}

function sourceOf({ loom, view }: Caller, id: string): Source<Dependent> {
  return {
    read: (page) => loom.tasks.dependents(id, page),
    sees: ({ user }) => view.sees(user),
  };
}

async function allOwn(caller: Caller, id: string): Promise<readonly Dependent[]> {
  const limit = Number.MAX_SAFE_INTEGER;
  return (await pageOfOwn([sourceOf(caller, id)], { limit }, caller.look)).items;
}
