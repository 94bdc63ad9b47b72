/** What a verb would end, beside what it was asked for: shown before it is done, or instead. */
import { mapInChunks } from '../../base/chunks.ts';
import type { Fairloom } from '../../client/client.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Ending } from '../../domain/task/dependents.ts';
import type { EndState, TaskState } from '../../domain/task/task.ts';
import type { Change } from '../../operations/change-answers.ts';
import type { Output } from '../terminal/output.ts';
import { CHANGE_VIEW } from './bulk.ts';

/** One that would end with another. */
export interface Follower {
  readonly id: string;
  readonly state: EndState;
  /** The one with which it would end. */
  readonly with: string;
}

/** Those that would end beside what was asked for. */
export interface Followers {
  readonly all: readonly Follower[];
  /** How many in all. */
  readonly count: number;
  /** There are more than were counted. */
  readonly more: boolean;
}

/** Ids that are asked about at once. */
const AT_ONCE = 16;

/** Tasks that would end with these. */
export async function followersOf(
  loom: Fairloom,
  ids: readonly string[],
  ending: Ending,
): Promise<Followers> {
  if (ids.length === 0) return { all: [], count: 0, more: false };
  const limit = LIMITS.bulkMax;
  const { tasks, count, more } = await loom.tasks.consequences(ids, { ending, limit });
  return { all: tasks, count, more };
}

/** Nodes of these runs, and tasks outside of them, that would end with them. */
export async function followersOfRuns(loom: Fairloom, ids: readonly string[]): Promise<Followers> {
  const all: Follower[] = [];
  let count = 0;
  let more = false;
  for (const id of ids) {
    const run = await loom.runs.get(id);
    if (run === undefined) continue;
    const found = await loom.runs.consequences(id, { limit: LIMITS.bulkMax });
    for (const node of found.nodes) all.push({ id: node, state: 'canceled', with: id });
    all.push(...found.tasks);
    count += found.nodes.length + found.count;
    more ||= found.more;
  }
  return { all, count, more };
}

/** How something stands that a verb was asked to change; `undefined`: it is not stored. */
type StateOf = (id: string) => Promise<TaskState | undefined>;

/** What a dry run says of those that were asked for. */
export interface DryRunWords {
  /** What would become of each, as `canceled`. */
  readonly done: string;
  /** Why it would not, in this state; `undefined`: it would. */
  readonly refusal: (state: TaskState, id: string) => string | undefined;
}

/** Prints what would be done for programs; a table says it with the question. */
export async function wouldChange(
  output: Output,
  call: DryRunWords & {
    readonly ids: readonly string[];
    readonly followers?: Followers;
    readonly stateOf: StateOf;
  },
): Promise<undefined> {
  if (output.form === 'table') return undefined;
  const { ids, done, followers, stateOf, refusal } = call;
  const changes: Change[] = await mapInChunks(ids, AT_ONCE, async (id) => {
    const state = await stateOf(id);
    const refused = state === undefined ? 'it is not stored' : refusal(state, id);
    return { id, ok: refused === undefined, outcome: refused ?? `would be ${done}` };
  });
  for (const { id, state, with: upstream } of followers?.all ?? []) {
    changes.push({ id, ok: true, outcome: `would be ${state}`, with: upstream });
  }
  output.rows(output.form === 'id' ? changes.filter(({ ok }) => ok) : changes, CHANGE_VIEW);
  return undefined;
}
