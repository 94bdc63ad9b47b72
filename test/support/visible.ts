/** Everything that a backend shows of what is stored, to compare two of them. */
import type { Store } from '../../src/backends/memory/store/store.ts';
import type {
  Backend,
  Page,
  QueueInfo,
  TaskFacts,
  UserInfo,
} from '../../src/domain/port/backend.ts';
import { isEnd, TASK_STATES } from '../../src/domain/task/task.ts';

/** Tags are sums of fractions; a backend may add them in another order. */
const DIGITS = 1e6;

/** More than any page has. */
const PAGE = { limit: 1_000 };

/** Tasks that are looked at one by one; of more the first. */
const LOOKED_AT = 300;

/** What backends may keep from others: who works there. */
export async function visible(backend: Backend, store: Store): Promise<object> {
  const ids = [...store.records.keys()];
  const some = ids.slice(0, LOOKED_AT);
  const missing = new Set([...store.records.values()].flatMap(({ dependsOn }) => dependsOn));
  const { inspect, runs, streams, xcom, schedules, asks, graphs, series } = backend;
  const places = [...store.xcom.all()].map(({ place }) => place);
  const asked = [...store.records.values()].flatMap(({ optional }) =>
    [...(optional.run?.asks?.values() ?? [])].map(({ record }) => record.id),
  );
  return {
    records: await inPages(ids, (page) => inspect.get(page)),
    attempts: await each(some, (id) => inspect.attempts(id)),
    facts: await each(some, async (id) => factsOf(await inspect.facts(id))),
    lists: await each(TASK_STATES, async (state) =>
      (await listed(backend, state)).map(({ id }) => id),
    ),
    failed: await each([...new Set([...store.records.values()].map(({ name }) => name))], (name) =>
      every((cursor) => inspect.list({ state: 'failed', name }, pageFrom(cursor))),
    ),
    errorGroups: await every((cursor) => inspect.errorGroups(pageFrom(cursor))),
    dependents: await each([...new Set([...some, ...missing])], (id) =>
      inspect.dependents(id, PAGE),
    ),
    journals: await each(some, (id) => runs.load(id)),
    channels: await each(some, (id) => runs.readChannel(id)),
    streams: await each(some, async (id) => {
      const facts = await streams.list(id);
      const entries = await each(
        facts.map(({ name }) => name),
        (name) => streams.read(id, name, 0, 1_000),
      );
      return { facts, entries };
    }),
    values: await xcom.read(places),
    valueKeys: await each(places, async ({ user, namespace }) => ({
      namespaces: (await xcom.namespaces(user, PAGE)).items,
      keys: (await xcom.list({ user, namespace }, PAGE)).items,
    })),
    schedules: await every((cursor) => schedules.list(pageFrom(cursor))),
    lag: await schedules.lag(),
    asks: await each(asked, (id) => asks.get(id)),
    openAsks: await every((cursor) => asks.list({}, pageFrom(cursor))),
    figures: await backend.waits.figures(),
    stats: await inspect.stats(),
    missing: await inspect.missing(),
    queues: (await backend.queues.list()).map(queueOf),
    users: await each([...store.queues.keys()], async (queue) => {
      const names = [...(store.queues.get(queue)?.users.keys() ?? [])].sort();
      const infos = await each(names, (user) => backend.users.get(user, queue));
      const configured = await every((cursor) =>
        backend.users.list(queue, pageFrom(cursor), { configured: true }),
      );
      return [infos.flatMap(userOf), configured.flatMap(userOf)];
    }),
    settings: await each([...store.settingsForAll.keys()], async (user) =>
      userOf(await backend.users.get(user, 'default')),
    ),
    series: await each(['minute', 'hour'] as const, async (step) => {
      const { cells } = await series.read({ step, from: 0 });
      const rows = cells.map(({ row, ...place }) => ({ ...place, row: row.text() }));
      return rows.map((row) => JSON.stringify(row)).sort();
    }),
    graphs: await each([...store.snapshots.keys()], async (hash) => (await graphs.load(hash)).kind),
  };
}

async function listed(
  backend: Backend,
  state: (typeof TASK_STATES)[number],
): Promise<readonly { readonly id: string }[]> {
  return every((cursor) => backend.inspect.list({ state }, pageFrom(cursor)));
}

async function every<T>(
  ask: (cursor: string | undefined) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

function pageFrom(cursor: string | undefined): { limit: number; cursor?: string } {
  return cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
}

async function each<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}

async function inPages<T, R>(
  items: readonly T[],
  ask: (page: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < items.length; at += 100)
    answers.push(...(await ask(items.slice(at, at + 100))));
  return answers;
}

/** Who works is left out, and of one that has ended how its user stands now. */
function factsOf(facts: TaskFacts | undefined): object | undefined {
  if (facts === undefined) return undefined;
  const { liveWorkers: _workers, shares, user, queue, now: _now, ...rest } = facts;
  const own = {
    ...(user === undefined ? {} : { user: userOf(user) }),
    ...(queue === undefined ? {} : { queue: queueOf(queue) }),
  };
  if (isEnd(rest.record.state)) return rest;
  // Turns between levels count while there is a choice.
  return rest.record.state === 'queued' && (user?.levels.filter((one) => one > 0).length ?? 0) > 1
    ? { ...rest, ...own, shares }
    : { ...rest, ...own };
}

function queueOf({
  queue,
  settings,
  counts,
  deadLetters,
  readyUsers,
  runnable,
}: QueueInfo): object {
  return { queue, settings, counts, deadLetters, readyUsers, runnable };
}

/** A user without work and without settings may be known or not: that is the backend's own affair. */
function userOf(user: UserInfo | undefined): readonly object[] {
  if (user === undefined) return [];
  const isBusy = user.queued + user.running + user.later > 0;
  const isSet = Object.values(user.origins).some(
    (one) => one === 'user' || one === 'user-in-queue',
  );
  if (!isBusy && !isSet) return [];
  const ahead = user.ready ? user.ahead : Math.max(0, user.ahead);
  return [{ ...user, ahead: isBusy ? Math.round(ahead * DIGITS) / DIGITS + 0 : 0 }];
}
