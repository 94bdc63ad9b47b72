/** What `fairloom doctor` looks at, one check after the other. */

import type { DataReport } from '../../backends/file/examine.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import type { ReconcileReport } from '../../domain/port/backend.ts';
import { versionedName } from '../../domain/task/task-name.ts';
import { tickLogged } from '../../logging/dead-letter-lines.ts';
import { shownLength } from '../terminal/moments.ts';

/** How a check ended. */
export type Verdict = 'ok' | 'warning' | 'failed';

/** Stable names, for programs. */
export type CheckName =
  | 'data'
  | 'snapshots'
  | 'commits'
  | 'repair'
  | 'backend'
  | 'durability'
  | 'clock'
  | 'overdue'
  | 'workers'
  | 'drift'
  | 'libraries';

/** One thing that was looked at. */
export interface Check {
  /** What was looked at. */
  readonly check: CheckName;
  /** `failed` is what needs a hand; it makes the exit code 3. */
  readonly verdict: Verdict;
  /** A sentence for people. */
  readonly text: string;
  /** A command that shows more or mends it. */
  readonly hint?: string;
}

/** Everything that was found; the JSON of `fairloom doctor`. */
export interface Diagnosis extends ReconcileReport {
  /** Each thing that was looked at. */
  readonly checks: readonly Check[];
  /** Of a data folder: what its files tell. Where it cannot be opened, nothing else was looked at. */
  readonly data?: DataReport;
}

/** Clocks that differ by less are no reason to look at a log twice. */
const SKEW_MS = 1_000;

/** Work that is due for longer has no process that sweeps: sweeping waits 5 s after an outage. */
const OVERDUE_MS = 15_000;

/** Users of a queue whose first task is looked at. */
const USERS_LOOKED_AT = 100;

/** Tasks that are named in a sentence. */
const NAMED = 5;

/** Looks at everything; mends indexes when asked, and nothing else. */
export async function diagnose(loom: Fairloom, repair: boolean): Promise<Diagnosis> {
  const checks = [
    ...(await backendChecks(loom)),
    await overdueCheck(loom),
    // Takes a step of maintenance, so it comes after what that would sweep.
    await clockCheck(loom),
    await unservedCheck(loom),
  ];
  const report = await loom.reconcile({ repair });
  const libraries = libraryChecks(report, repair);
  return { checks: [...checks, driftCheck(report, repair), ...libraries], ...report };
}

async function backendChecks(loom: Fairloom): Promise<readonly Check[]> {
  const { connection } = coreOf(loom);
  const info = await connection.info();
  // What refuses every call is said before one is tried.
  await (await connection.open()).inspect.ping();
  const warnings = info.warnings.map(
    (text): Check => ({ check: 'durability', verdict: 'warning', text }),
  );
  return [{ check: 'backend', verdict: 'ok', text: info.description }, ...warnings];
}

/** Every moment is the store's; a machine whose clock differs shows them wrongly, and in its logs. */
async function clockCheck(loom: Fairloom): Promise<Check> {
  const { connection, clock } = coreOf(loom);
  const { tasks } = await connection.open();
  const before = clock.now();
  const { now } = await tickLogged(tasks, connection.log);
  const middle = (before + clock.now()) / 2;
  const skew = Math.abs(now - middle);
  const text = `this clock and the store's differ by ${shownLength(skew)}`;
  if (skew < SKEW_MS) return { check: 'clock', verdict: 'ok', text };
  return { check: 'clock', verdict: 'warning', text: `${text}: times shown here are off by that` };
}

/** Leases that ended and delays that are over wait for a worker's next step, never for long. */
async function overdueCheck(loom: Fairloom): Promise<Check> {
  const now = coreOf(loom).clock.now();
  const [started, scheduled] = await Promise.all([
    loom.tasks.list({ state: 'started', limit: NAMED }),
    loom.tasks.list({ state: 'scheduled', limit: NAMED }),
  ]);
  const lost = started.items.filter(({ leaseUntil = now }) => leaseUntil < now - OVERDUE_MS);
  const late = scheduled.items.filter(({ dueAt = now }) => dueAt < now - OVERDUE_MS);
  const stuck = [...lost, ...late].map(({ id }) => id);
  if (stuck.length === 0) {
    return { check: 'overdue', verdict: 'ok', text: 'nothing that is due waits for a sweep' };
  }
  return {
    check: 'overdue',
    verdict: 'failed',
    text: `due for over ${shownLength(OVERDUE_MS)}, and no process sweeps: ${stuck.join(', ')}`,
    hint: 'fairloom workers list',
  };
}

/** Tasks first in their user's line that no live worker may or can take. */
async function unservedCheck(loom: Fairloom): Promise<Check> {
  const unserved: string[] = [];
  for (const { queue, counts } of await loom.queues.list()) {
    if (counts.queued === 0) continue;
    const request = { queue, configured: false, limit: USERS_LOOKED_AT };
    const { items } = await loom.users.list(request);
    const waiting = items.filter(({ queued }) => queued > 0);
    const found = await Promise.all(waiting.map(({ user }) => unservedHead(loom, queue, user)));
    unserved.push(...found.flatMap((line) => line ?? []));
  }
  if (unserved.length === 0) {
    return { check: 'workers', verdict: 'ok', text: 'a live worker serves everything in line' };
  }
  const more = unserved.length > NAMED ? ` and ${unserved.length - NAMED} more` : '';
  return {
    check: 'workers',
    verdict: 'failed',
    text: `no live worker serves ${unserved.slice(0, NAMED).join(', ')}${more}`,
    hint: 'fairloom workers list',
  };
}

async function unservedHead(
  loom: Fairloom,
  queue: string,
  user: string,
): Promise<string | undefined> {
  const { items } = await loom.tasks.list({ state: 'queued', queue, user, limit: 1 });
  const [head] = items;
  if (head === undefined) return undefined;
  const { obstacles } = await loom.tasks.explain(head.id);
  if (!obstacles.some(({ kind }) => kind === 'no-worker')) return undefined;
  return `task ${versionedName(head.name, head.version)} of user ${user} in queue ${queue}`;
}

function driftCheck({ drift, checked, repaired }: ReconcileReport, repair: boolean): Check {
  if (drift.length === 0) {
    return { check: 'drift', verdict: 'ok', text: `${checked} records and their indexes agree` };
  }
  const found = `of ${checked} records ${drift.length} do not agree with their indexes`;
  if (repair) return { check: 'drift', verdict: 'warning', text: `${found}; ${repaired} repaired` };
  return {
    check: 'drift',
    verdict: 'failed',
    text: `${found}: ${drift.slice(0, NAMED).join('; ')}`,
    hint: 'fairloom doctor --repair',
  };
}

/** A process that needs a library loads it again, so that it can always be removed. */
function libraryChecks(
  { otherLibraries = [] }: ReconcileReport,
  repair: boolean,
): readonly Check[] {
  if (otherLibraries.length === 0) return [];
  const what = `libraries of functions of other versions: ${otherLibraries.join(', ')}`;
  const text = repair ? `removed ${what}` : `the server keeps ${what}`;
  const check = { check: 'libraries', verdict: 'ok', text } as const;
  return [repair ? check : { ...check, hint: 'fairloom doctor --repair removes them' }];
}
