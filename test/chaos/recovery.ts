import type { AttemptInfo } from 'fairloom';
import type { History, Run } from '../support/history.ts';
import type { Done } from './faults.ts';
import { FAULT_KINDS, type FaultKind } from './options.ts';

/** A distribution of times in ms. */
export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What faults of one kind came to. */
export interface Line {
  readonly kind: FaultKind;
  readonly done: number;
  /** Faults that met work in hand. */
  readonly hit: number;
  /** Tasks that were in hand. */
  readonly tasks: number;
  /** `kill`, `stop`: from the death or freeze until the backend had taken the task back. */
  readonly noticed: Times;
  /**
   * `kill`, `stop`: from the death or freeze to the next start of each task that was lost for the
   * first time. `term`: until the process had ended. `redis-restart`, `flush`, `cut`: from the
   * return of the server or network to the next start or end of any task.
   */
  readonly recovery: Times;
  /** The same for tasks that were lost once more: those wait 5 to 6 s on purpose. */
  readonly again: Times;
}

/** What the recovery is told from. */
interface Evidence {
  readonly faults: readonly Done[];
  readonly history: History;
  /** Task → its attempts, as the backend keeps them. */
  readonly attempts: ReadonlyMap<string, readonly AttemptInfo[]>;
}

/** Faults after which the tasks in hand have to be started again. */
const LOSING: ReadonlySet<FaultKind> = new Set(['kill', 'stop']);

/** The tasks whose attempts are needed. */
export function tasksHit(faults: readonly Done[]): ReadonlySet<string> {
  const losing = faults.filter(({ kind }) => LOSING.has(kind));
  return new Set(losing.flatMap(({ hit }) => hit.map(({ task }) => task)));
}

export function recoveryOf(evidence: Evidence): readonly Line[] {
  return FAULT_KINDS.map((kind) => {
    const done = evidence.faults.filter((fault) => fault.kind === kind);
    const times: Measured = { noticed: [], recovery: [], again: [] };
    for (const fault of done) {
      if (LOSING.has(kind)) for (const run of fault.hit) measure(run, fault.at, evidence, times);
      else if (kind === 'term') times.recovery.push(fault.endedMs ?? 0);
      else times.recovery.push(...signOfLife(fault, evidence.history));
    }
    return {
      kind,
      done: done.length,
      hit: done.filter(({ hit }) => hit.length > 0).length,
      tasks: done.reduce((sum, { hit }) => sum + hit.length, 0),
      noticed: timesOf(times.noticed),
      recovery: timesOf(times.recovery),
      again: timesOf(times.again),
    };
  });
}

interface Measured {
  readonly noticed: number[];
  readonly recovery: number[];
  readonly again: number[];
}

/** One task that was in hand when its worker died or froze. */
function measure(run: Run, at: number, { history, attempts }: Evidence, times: Measured): void {
  const lost = (attempts.get(run.task) ?? []).filter(({ outcome }) => outcome === 'lost');
  const own = lost.findLast(
    ({ worker, leasedAt }) => worker === run.worker && leasedAt <= run.startedAt,
  );
  // A frozen worker that woke early enough was in time, and lost nothing.
  if (own === undefined || own.endedAt < at) return;
  times.noticed.push(own.endedAt - at);
  const next = history.nextStart(run);
  if (next === undefined) return;
  const before = lost.filter(({ endedAt }) => endedAt <= own.leasedAt).length;
  (before === 0 ? times.recovery : times.again).push(next.startedAt - at);
}

function signOfLife({ at }: Done, history: History): readonly number[] {
  const sign = history.signs.find((moment) => moment >= at);
  return sign === undefined ? [] : [sign - at];
}

function timesOf(times: readonly number[]): Times {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
