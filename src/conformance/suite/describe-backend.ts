/**
 * The specification of a backend, as tests: every rule of docs/mechanics.md that can be seen
 * through the `Backend` port. A backend runs all of it from one file of its own:
 *
 *     describeBackend('memory', { describe, it, expect }, openMemory);
 *
 * The cases use only the port and a clock that they move by hand. What a single backend promises
 * on top of it is tested next to that backend.
 */

import type { Retention } from '../../domain/fairness/settings.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import type { QueueInfo, UserInfo } from '../../domain/port/backend.ts';
import { TASK_STATES } from '../../domain/task/task.ts';
import type { Case, Cases, Run } from '../cases.ts';
import { clockJumps } from '../clock-jumps.ts';
import { configured } from '../configured.ts';
import { eventSchedules } from '../event-schedules.ts';
import { failures } from '../failures.ts';
import type { OpenHarness, TestApi } from '../harness.ts';
import * as inspection from '../inspection.ts';
import { Kit } from '../kit.ts';
import { late, neverStarted } from '../late.ts';
import { names } from '../names.ts';
import { weighed } from '../pages.ts';
import { places } from '../places.ts';
import * as restricted from '../restricted.ts';
import * as asks from '../runs/asks.ts';
import { attendedWaits } from '../runs/attended-waits.ts';
import * as channels from '../runs/channels.ts';
import { cycles } from '../runs/cycles.ts';
import { deciding } from '../runs/deciding.ts';
import * as dependencies from '../runs/dependencies.ts';
import { dependentsOf } from '../runs/dependents.ts';
import * as edges from '../runs/edges.ts';
import * as events from '../runs/events.ts';
import * as graphs from '../runs/graphs.ts';
import { pauseEnds } from '../runs/pause-ends.ts';
import * as pauses from '../runs/pauses.ts';
import * as runReads from '../runs/run-reads.ts';
import * as runStores from '../runs/run-stores.ts';
import * as runs from '../runs/runs.ts';
import * as streams from '../runs/streams.ts';
import * as waits from '../runs/waits.ts';
import * as xcom from '../runs/xcom.ts';
import * as schedules from '../schedules.ts';
import * as series from '../series.ts';
import * as attemptSettings from '../tasks/attempt-settings.ts';
import * as canceling from '../tasks/canceling.ts';
import { madeDeadLetters } from '../tasks/dead-letters.ts';
import * as enqueue from '../tasks/enqueue.ts';
import * as fairness from '../tasks/fairness.ts';
import * as ids from '../tasks/ids.ts';
import * as keys from '../tasks/keys.ts';
import * as leasing from '../tasks/leasing.ts';
import * as limits from '../tasks/limits.ts';
import * as manyAtOnce from '../tasks/many-at-once.ts';
import * as overlaps from '../tasks/overlaps.ts';
import * as redrive from '../tasks/redrive.ts';
import * as retention from '../tasks/retention.ts';
import * as settling from '../tasks/settling.ts';
import * as sweeping from '../tasks/sweeping.ts';
import { ties } from '../tasks/ties.ts';
import * as time from '../tasks/time.ts';
import { timed } from '../tasks/timed.ts';
import * as unknownNames from '../tasks/unknown-names.ts';
import * as waiting from '../tasks/waiting.ts';
import * as windows from '../tasks/windows.ts';
import * as workers from '../workers.ts';

/** The longest duration of a case, in ms; the largest store tens of thousands of tasks, on busy machines. */
const CASE_MS = 240_000;

/** Retention of cases without their own. */
const RETENTION: Retention = {
  finishedMs: LIMITS.retainFinishedMs,
  failedMs: LIMITS.retainFailedMs,
  canceledMs: LIMITS.retainCanceledMs,
};

const SECTIONS: Readonly<Record<string, Cases>> = {
  enqueue: enqueue.storing,
  'enqueue again': enqueue.sendingAgain,
  batches: enqueue.batches,
  'full queues': enqueue.fullQueues,
  'idempotency keys': keys.policies,
  'life of a key': keys.lives,
  'debounced keys': windows.debounces,
  'throttled keys': windows.throttles,
  'dependencies at enqueue': dependencies.atEnqueue,
  'dependencies at the end of an upstream': dependencies.atTheEnd,
  'dependencies across users': edges.acrossUsers,
  'cycles of dependencies': cycles,
  'who waits for a task': dependentsOf,
  graphs: graphs.graphs,
  'dependents that wait for a redrive': redrive.awaitingRedrive,
  redrive: redrive.redrives,
  'redrive with another input': redrive.edits,
  remove: redrive.removals,
  leases: leasing.leasing,
  extend: leasing.extending,
  'attempts by what the queue says': attemptSettings.attempts,
  'leases by what the queue says': attemptSettings.leases,
  decisions: settling.decisions,
  'who may settle': settling.holders,
  'many retries at once': manyAtOnce.retries,
  'many ends at once': manyAtOnce.finishes,
  'many turns at once': manyAtOnce.turns,
  'many redrives at once': manyAtOnce.redrives,
  'lost leases': sweeping.losses,
  'lost leases of a fleet': sweeping.fleets,
  outages: sweeping.outages,
  cancel: canceling.cancels,
  'run now': canceling.early,
  'turns between users': fairness.betweenUsers,
  'turns within a user': fairness.withinUser,
  'names of users': names,
  'turns by time': timed,
  'limits of users': limits.users,
  'places of running tasks': limits.places,
  queues: limits.queues,
  'configured users': configured,
  'queues of users': places,
  'assigned users and steal targets': restricted.choosing,
  pools: restricted.pools,
  'unknown names': unknownNames.unknownNames,
  ties,
  delays: time.delays,
  expiry: time.expiry,
  'clocks that jump': time.clocks,
  'moments after a step of the clock': clockJumps,
  'dead letters that no worker has decided on': madeDeadLetters,
  joins: runs.joins,
  'fences of runs': runs.fences,
  'suspended runs': runs.suspensions,
  'waits for time': waits.sleeps,
  'waits that a handler ends': attendedWaits,
  signals: waits.signals,
  questions: asks.asks,
  events: events.events,
  'what comes after its time': late,
  'what is over before it starts': neverStarted,
  'what joins and runs read': runReads.runReads,
  'journals of runs': runStores.journals,
  'pauses set aside': pauses.aside,
  'pauses of runs': pauseEnds,
  'a paused run that decides': deciding,
  'values of channels': channels.values,
  'bounds of channels': channels.bounds,
  'who writes to channels': channels.writers,
  'life of channels': channels.lives,
  'values of xcom': xcom.values,
  'who writes to xcom': xcom.writers,
  'life of xcom values': xcom.lives,
  'values of streams': streams.values,
  'bounds of streams': streams.bounds,
  'who writes to streams': streams.writers,
  'who reads streams': streams.readers,
  'life of streams': streams.lives,
  'snapshots of graphs': runStores.snapshots,
  schedules: schedules.keeping,
  'schedules that fall due': schedules.falling,
  'firing of schedules': schedules.firing,
  'overlapping firings': overlaps.overlapping,
  'schedules that fire at events': eventSchedules,
  retention: retention.keeping,
  readers: retention.readers,
  leftovers: retention.leftovers,
  'nasty ids': ids.nasty,
  lists: inspection.listing,
  pages: weighed,
  failures,
  facts: inspection.facts,
  'workers that watch': workers.watching,
  'attempts of workers': workers.attempts,
  'ids of workers': workers.ids,
  health: inspection.health,
  'counts by minute and hour': series.counts,
  'who has a row of its own': series.rows,
  'waiting for work': waiting.workers,
  'waiting for an end': waiting.ends,
};

/**
 * Declares the whole suite for one backend.
 *
 * @param name - Name of the backend in the titles.
 * @param api - `describe`, `it` and `expect` of the test runner.
 * @param open - Creates a new, empty backend; called once per case.
 */
export function describeBackend(name: string, api: TestApi, open: OpenHarness): void {
  api.describe(`backend contract: ${name}`, () => {
    for (const [section, cases] of Object.entries(SECTIONS)) {
      api.describe(section, () => {
        for (const [title, each] of Object.entries(cases)) {
          api.it(title, () => runCase(each, api, open), CASE_MS);
        }
      });
    }
  });
}

async function runCase(each: Run | Case, api: TestApi, open: OpenHarness): Promise<void> {
  const { run, retention = {} } = typeof each === 'function' ? { run: each } : each;
  const harness = await open();
  try {
    await harness.backend.open({ retention: { ...RETENTION, ...retention } });
    const kit = new Kit(harness, api.expect);
    await run(kit, api.expect);
    await audit(kit);
  } finally {
    await harness.close();
  }
}

/** Invariants after the history of every case. */
async function audit(kit: Kit): Promise<void> {
  if (kit.closed) return;
  const { drift } = await kit.backend.inspect.reconcile({ repair: false });
  kit.expect(drift).toEqual([]);
  const { counts } = await kit.stats();
  const queues = await kit.backend.queues.list();
  for (const state of TASK_STATES) {
    const sum = queues.reduce((total, queue) => total + queue.counts[state], 0);
    kit.expect([state, sum]).toEqual([state, counts[state]]);
  }
  for (const queue of queues) await auditQueue(kit, queue);
}

/** Sums over the users of a queue equal the counts of the queue. */
async function auditQueue(
  kit: Kit,
  { queue, counts, settings, ...info }: QueueInfo,
): Promise<void> {
  const users = await everyUser(kit, queue);
  const sum = (of: (user: UserInfo) => number): number =>
    users.reduce((total, user) => total + of(user), 0);
  kit
    .expect({
      queued: sum((user) => user.queued),
      started: sum((user) => user.running),
      later: sum((user) => user.later),
      readyUsers: sum((user) => (user.ready ? 1 : 0)),
    })
    .toEqual({
      queued: counts.queued,
      started: counts.started,
      later: counts.scheduled + counts.deferred,
      readyUsers: info.readyUsers,
    });
  // A queue's own pause, cap and rate hide what its users could run.
  if (settings.paused || settings.maxRunning !== undefined || settings.rate !== undefined) return;
  const headroom = (user: UserInfo): number =>
    user.ready
      ? Math.min(
          user.queued - (user.parked ?? 0),
          (user.settings.maxRunning ?? Infinity) - user.running,
        )
      : 0;
  kit.expect(info.runnable).toBe(sum(headroom));
}

async function everyUser(kit: Kit, queue: string): Promise<readonly UserInfo[]> {
  const users: UserInfo[] = [];
  const pages = allPages(500, (page) => kit.backend.users.list(queue, page));
  for await (const { items } of pages) users.push(...items);
  return users;
}
