/** Every fact that a store of the embedded backend has to have after it was copied and copied back. */
import type { TaskEntry, UserEntry } from '../../src/backends/memory/store/entities.ts';
import { digestOfFirst } from '../../src/backends/memory/store/first-payload.ts';
import type { RunFacts } from '../../src/backends/memory/store/run-facts.ts';
import { recordOf } from '../../src/backends/memory/store/schedule-entry.ts';
import type { Store } from '../../src/backends/memory/store/store.ts';
import { startTag } from '../../src/backends/memory/store/tag-order.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { lookedText } from '../../src/domain/series/additions.ts';
import { SERIES_STEPS } from '../../src/domain/series/series-steps.ts';
import { isEnd } from '../../src/domain/task/task.ts';

/** As plain data. What stands for an order is told as a rank: numbers may be others, their order may not. */
export function storedFacts(store: Store): unknown {
  const now = store.clock.now();
  const tasks = [...store.records.values()].sort((a, b) => a.order - b.order);
  const ended = ranks(
    tasks.filter(({ state }) => isEnd(state)),
    ({ endOrder }) => endOrder,
  );
  const places = placesOf(tasks);
  const facts = {
    clock: { seen: store.seen, sweepAfter: store.sweepAfter },
    scheduler: { owner: store.scheduler.owner, fence: store.scheduler.fence },
    names: [...store.names].sort(),
    tasks: tasks.map((entry) => ({
      end: ended.get(entry),
      place: places.get(entry),
      ...taskFacts(store, entry),
    })),
    keys: keyFacts(store),
    queues: [...store.queues.values()].map((queue) => ({
      queue: queue.queue,
      ...{ settings: queue.settings, clock: queue.clock, counts: queue.counts },
      ...{ totals: queue.totals, deadLetters: queue.deadLetters, mean: queue.meanRun },
      ...{ tat: queue.tat, runnable: queue.runnable, ready: queue.readyUsers },
      lasts: [...queue.lasts].sort(),
      own: [...queue.ownSettings].sort(byFirst),
      parked: queue.parked.count,
      users: [...queue.users.values()]
        .flatMap((user) => userFacts(store, user))
        .sort((a, b) => (a.user < b.user ? -1 : 1)),
    })),
    settings: [...store.settingsForAll].sort(byFirst),
    schedules: [...store.schedules.values()].map((entry) => {
      return { ...recordOf(entry), active: entry.active };
    }),
    due: [...store.schedulesDue].map(({ id }) => id),
    graphs: [...store.snapshots].flatMap(([hash, { body, until, neededBy }]) => {
      const isNeeded = neededBy.size > 0;
      // That it was there is known for a week.
      if (!isNeeded && until + 7 * LIMITS.graphTtlMs <= now) return [];
      const isThere = isNeeded || until > now;
      return [[hash, isThere ? body : undefined, isNeeded ? 0 : until, [...neededBy].sort()]];
    }),
    values: [...store.xcom.all()],
    events: [...store.events.all()]
      .filter(([, { keptUntil }]) => keptUntil > now)
      .map(([place, { newest, events }]) => {
        return [
          place,
          newest,
          [...events].map(([n, { at, event }]) => [n, at, event.payload, event.eventId]),
        ];
      }),
    groups: store.failures.all().map(({ id, attempts, firstAt, lastAt, newest }) => {
      return { id, attempts, firstAt, lastAt, newest };
    }),
    series: [...store.series.all()].flatMap(([step, at, rows]) => {
      const { ms, kept } = SERIES_STEPS[step];
      if ((at + kept + 1) * ms <= now) return [];
      return [[step, at, [...rows].map(([name, row]) => [name, row.text()]).sort()]];
    }),
    looked: [...store.series.looked].map(([queue, one]) => [queue, lookedText(one)]).sort(),
    order: {
      deadlines: [...store.deadlines].map(({ id, optional }) => [id, optional.deadline]),
      cascade: [...store.cascade].map(({ id }) => id),
      due: [...store.dueUsers].map(({ key, dueKey }) => [key, dueKey]),
      throttled: [...store.throttled].map(({ key, throttledUntil }) => [key, throttledUntil]),
    },
  };
  return JSON.parse(JSON.stringify({ ...facts, ...sorted(facts) }));
}

/** Of these the order says nothing. */
function sorted(facts: { readonly [name: string]: unknown }): object {
  const lists = ['keys', 'queues', 'schedules', 'graphs', 'values', 'events', 'groups', 'series'];
  return Object.fromEntries(
    lists.map((name) => {
      const rows = facts[name];
      const texts = Array.isArray(rows) ? rows.map((row: unknown) => JSON.stringify(row)) : [];
      return [name, texts.sort().map((text): unknown => JSON.parse(text))];
    }),
  );
}

function byFirst([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function ranks<T>(items: readonly T[], key: (item: T) => number): ReadonlyMap<T, number> {
  return new Map([...items].sort((a, b) => key(a) - key(b)).map((item, at) => [item, at]));
}

/** Of each user's tasks that were ever in line and have not ended. */
function placesOf(tasks: readonly TaskEntry[]): ReadonlyMap<TaskEntry, number> {
  const users = new Map<unknown, TaskEntry[]>();
  for (const entry of tasks) {
    if (entry.seq === 0 || isEnd(entry.state)) continue;
    users.set(entry.owner, [...(users.get(entry.owner) ?? []), entry]);
  }
  return new Map([...users.values()].flatMap((own) => [...ranks(own, ({ seq }) => seq)]));
}

function taskFacts(store: Store, entry: TaskEntry): object {
  const { id, name, level, cost, createdAt, payload, options, state, dueAt, optional } = entry;
  const { grant, settledToken, endedAt, result, dependsOn, owner, leaseUntil } = entry;
  const { run, streams, key, waiting, awaitingRedrive } = optional;
  const isStarted = state === 'started';
  const isInLine = isStarted || state === 'queued';
  return {
    ...{ id, name, level, cost, createdAt, payload, options, state, dueAt, dependsOn },
    ...{ settledToken, endedAt, result, leaseUntil, user: owner.user, queue: owner.queue.queue },
    edges: dependsOn.length > 0 ? entry.edges : undefined,
    token: grant?.token,
    worker: grant?.worker,
    leasedAt: isStarted ? grant?.leasedAt : undefined,
    epoch: isStarted ? entry.chargedEpoch : undefined,
    ...{ failures: optional.failures, losses: optional.losses, releases: optional.releases },
    ...{ cause: optional.cause, error: optional.error, attempts: optional.attempts },
    ...{ expiresAt: optional.expiresAt, expiresInMs: optional.expiresInMs },
    waitUntil: optional.waitUntil,
    // Of the moments at which a worker looks at a parked one Redis knows the first.
    parkedUntil: optional.parkedUntil === undefined ? undefined : optional.deadline,
    ...{ readers: optional.readers, left: optional.left, charged: optional.charged },
    turn: optional.parkedUntil === undefined ? undefined : owner.queue.parked.turnOf(entry),
    cancelCause: isStarted ? optional.cancelCause : undefined,
    releasedMs: isInLine ? optional.releasedMs : undefined,
    blocked: [...(optional.blocked ?? [])].sort(),
    missing: [...(optional.blocked ?? [])]
      .filter((one) => store.missing.all(one).some(([, list]) => list.has(entry)))
      .sort(),
    absent: [...(optional.absent ?? [])].sort(),
    waiting: [...(waiting ?? [])].map((one) => one.id),
    awaitingRedrive: [...(awaitingRedrive ?? [])].map((one) => one.id),
    isInCascade: optional.cascadeAt !== undefined,
    first: optional.firstPayload === undefined ? undefined : digestOfFirst(optional.firstPayload),
    key: key?.key,
    run: run === undefined ? undefined : runFacts(store, entry, run),
    streams: [...(streams ?? [])].map(([stream, { entries, writers, next, bytes, closed }]) => {
      return { stream, entries, writers: [...writers].sort(byFirst), next, bytes, closed };
    }),
  };
}

function runFacts(store: Store, entry: TaskEntry, run: RunFacts): object | undefined {
  const { isJoin, owner, graph, waitFor, wakeAt, wait, newestWrites, pause, pausedBy } = run;
  const { withinMs: _within, ...awaited } = { withinMs: 0, ...wait };
  const isSuspended = entry.state === 'deferred' && waitFor.length > 0;
  const facts = {
    ...{ owner, graph, wakeAt, newestWrites, pause, pausedBy, asideFor: run.asideFor },
    attendedBy: run.attendedBy,
    timeLeft: run.timeLeft,
    decidesAfter: run.decidesAfter,
    isJoin: isJoin ? true : undefined,
    waitFor: waitFor.length === 0 ? undefined : waitFor,
    wakeOn: isSuspended ? run.wakeOn : undefined,
    wait: wait === undefined ? undefined : awaited,
    since: wait === undefined ? undefined : store.waiters.since(entry),
    number: store.events.begunAt(entry),
    journal: run.journal.size === 0 ? undefined : [...run.journal].sort(byFirst),
    channels: run.channels && Object.entries(run.channels.read()).sort(byFirst),
    marks: run.channels && [...run.channels.marks()].sort(),
    signals: run.signals && [...run.signals.all()].sort(byFirst),
    sent: run.signals && [...run.signals.allIds()],
    asks: run.asks === undefined ? undefined : [...run.asks].sort(byFirst),
    aside: (run.aside?.size ?? 0) === 0 ? undefined : [...(run.aside ?? [])].sort(),
  };
  return Object.values(facts).every((one) => one === undefined) ? undefined : facts;
}

function keyFacts(store: Store): readonly unknown[] {
  return [...store.keys.values()].flatMap((key) => {
    const { owner, follower, scope, until, from, endedAt, absorbed, firstPayload } = key;
    const isKept =
      store.records.has(owner.id) || (until !== undefined && until > store.clock.now());
    if (!isKept) return [];
    const first = digestOfFirst(firstPayload);
    return [
      { owner: owner.id, follower: follower?.id, scope, until, from, endedAt, absorbed, first },
    ];
  });
}

/** Who has nothing to do, nothing to wait for and no settings may be known or not. */
function userFacts(
  store: Store,
  user: UserEntry,
): readonly { readonly user: string; readonly lines?: unknown }[] {
  const { queue, tag, weight, epoch, tat, meanRun, shares } = user;
  const isAhead = epoch === queue.clock.epoch && (user.ready || startTag(user) > queue.clock.v);
  if (user.live === 0 && !isAhead && user.throttledUntil === undefined) return [];
  const levels = user.counts.filter((count) => count > 0).length;
  return [
    {
      user: user.user,
      ...(isAhead ? { tag, weight, inW: user.ready || user.leavingIn === epoch } : {}),
      ...(store.settingsOf(user).rate !== undefined && tat > store.clock.now() ? { tat } : {}),
      ...(queue.chargesTime ? { meanRun } : {}),
      // Turns between levels count while there is a choice.
      ...(levels > 1 ? { shares } : {}),
      ...{ class: user.class?.kind, headroom: user.headroom, queued: user.queued },
      ...{ live: user.live, running: user.running, parked: user.parked, counts: user.counts },
      ...{ dueKey: user.dueKey, throttledUntil: user.throttledUntil, idleUntil: user.idleUntil },
      lines: [0, 1, 2, 3, 4, 5].map((at) => [...(user.levels[at] ?? [])].map(({ id }) => id)),
    },
  ];
}
