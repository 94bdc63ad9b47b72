/** All metrics: one table for Prometheus, OpenTelemetry and docs/metrics.md. */

/** Kind of a metric: only rises · rises and falls · distribution of values. */
export type MetricKind = 'counter' | 'gauge' | 'histogram';

/**
 * Scope of a figure: the clients and workers of this process, or the store, where every process
 * reads the same value.
 */
export type MetricScope = 'process' | 'store';

/** One metric. */
export interface MetricSpec {
  /** Name without the prefix `fairloom_`. */
  readonly name: string;
  /** Kind of the metric. */
  readonly kind: MetricKind;
  /** Scope of the figure. */
  readonly scope: MetricScope;
  /** Names of its labels. */
  readonly labels: readonly string[];
  /** Description in one line. */
  readonly help: string;
  /** A counter that is stored elsewhere, and read at each scrape. */
  readonly isLookedAt?: boolean;
  /** Upper ends of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/**
 * In seconds: waits, from the speed of Redis to the longest wait of a user; delays of what should
 * be immediate; calls of the backend.
 */
const WAITS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600];
const DELAYS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300];
const CALLS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];

/** Names of the metrics in code. */
export type MetricKey =
  | 'storeUp'
  | 'storeProblems'
  | 'tasks'
  | 'runnable'
  | 'readyUsers'
  | 'deferred'
  | 'dead'
  | 'oldest'
  | 'userMaxWait'
  | 'userQueued'
  | 'userRunning'
  | 'userAhead'
  | 'deadLetters'
  | 'leasesLost'
  | 'steals'
  | 'liveWorkers'
  | 'unmet'
  | 'dependents'
  | 'missing'
  | 'waiting'
  | 'waitingOldest'
  | 'schedulerLag'
  | 'enqueued'
  | 'ended'
  | 'attempts'
  | 'wait'
  | 'run'
  | 'slots'
  | 'workerHealthy'
  | 'eventLoopLag'
  | 'jain'
  | 'minShare'
  | 'release'
  | 'scheduleFired'
  | 'scheduleLateness'
  | 'calls'
  | 'callErrors'
  | 'graphSaves'
  | 'graphLoads'
  | 'graphHits'
  | 'graphExtensions'
  | 'graphBytes';

/** All metrics, in the order of their display. */
export const METRICS: Readonly<Record<MetricKey, MetricSpec>> = {
  storeUp: gauge('store', 'store_up', [], '1 if the store answered the last read'),
  storeProblems: gauge(
    'store',
    'store_problems',
    [],
    'Problems of the store that make no call fail, such as a failed snapshot of a data folder',
  ),
  tasks: gauge('store', 'tasks', ['queue', 'state'], 'Stored tasks by state'),
  runnable: gauge('store', 'runnable', ['queue'], 'Further slots that would start a task at once'),
  readyUsers: gauge('store', 'ready_users', ['queue'], 'Users in line that no limit holds back'),
  deferred: gauge('store', 'deferred_tasks', ['queue'], 'Tasks that wait for other tasks'),
  dead: gauge(
    'store',
    'dead_tasks',
    ['queue'],
    'Kept failed tasks, without those that failed because another did',
  ),
  oldest: gauge(
    'store',
    'oldest_queued_age_seconds',
    ['queue'],
    'Age of the oldest first task in line, over the sampled users that no limit holds back',
  ),
  userMaxWait: gauge(
    'store',
    'user_max_wait_seconds',
    ['queue', 'user'],
    'Age of the first task in line of a user; selected users only',
  ),
  userQueued: gauge(
    'store',
    'user_queued_tasks',
    ['queue', 'user'],
    'Tasks in line of a user; selected users only',
  ),
  userRunning: gauge(
    'store',
    'user_running_tasks',
    ['queue', 'user'],
    'Running tasks of a user; selected users only',
  ),
  userAhead: gauge(
    'store',
    'user_ahead_turns',
    ['queue', 'user'],
    'Turns that a user is ahead of its fair share; selected users only',
  ),
  deadLetters: lookedAt(
    'store',
    'dead_letters_total',
    [],
    'Tasks that have failed for good, without those that failed because another did',
  ),
  leasesLost: lookedAt('store', 'leases_lost_total', [], 'Leases that ended without an outcome'),
  steals: lookedAt('store', 'steals_total', [], 'Turns of users that a worker steals from'),
  liveWorkers: gauge('store', 'live_workers', [], 'Live workers'),
  unmet: gauge(
    'store',
    'unmet_dependencies',
    ['queue', 'quantile'],
    'Open dependencies of a deferred task, over the sampled tasks: 0.5 and 1',
  ),
  dependents: gauge(
    'store',
    'dependents',
    ['stat'],
    'Dependents of a task, over the dependencies of the sampled tasks: largest and total',
  ),
  missing: gauge('store', 'missing_dependencies', [], 'Ids of dependencies that are not stored'),
  waiting: gauge(
    'store',
    'waiting_tasks',
    ['kind'],
    'Suspended tasks that wait for a time, a signal, an event or a person, by kind',
  ),
  waitingOldest: gauge(
    'store',
    'waiting_oldest_seconds',
    ['kind'],
    'Longest wait of these tasks; 0 without any',
  ),
  schedulerLag: gauge(
    'store',
    'scheduler_lag_seconds',
    [],
    'How late the latest due schedule is; 0 when none is due',
  ),

  enqueued: counter('process', 'enqueued_total', ['queue', 'name'], 'Tasks stored by this process'),
  ended: counter(
    'process',
    'ended_total',
    ['name', 'outcome'],
    'Tasks ended by workers of this process: finished, failed or canceled',
  ),
  attempts: counter(
    'process',
    'attempts_total',
    ['name', 'outcome'],
    'Attempts by outcome: finished, failed, retried, canceled, released or lost',
  ),
  wait: histogram(
    'process',
    'wait_seconds',
    ['queue'],
    'From enqueue to the start of the first attempt, delays included',
    WAITS,
  ),
  run: histogram('process', 'run_seconds', ['name'], 'Duration of handlers', WAITS),
  slots: gauge('process', 'worker_slots', ['worker', 'state'], 'Slots, busy and free'),
  workerHealthy: gauge('process', 'worker_healthy', ['worker'], '1 while a worker is healthy'),
  eventLoopLag: gauge(
    'process',
    'event_loop_lag_seconds',
    ['quantile'],
    'Delay of the event loop since the last read: 0.5, 0.99 and 1',
  ),
  jain: gauge(
    'process',
    'fairness_jain_index',
    ['queue'],
    'Jain index of turns by weight since the last read, over users that could be served; 1 is fair',
  ),
  minShare: gauge(
    'process',
    'fairness_min_share',
    ['queue'],
    'Least turns divided by fair turns since the last read, over the same users; 1 is fair',
  ),
  release: histogram(
    'process',
    'dependency_release_seconds',
    ['queue'],
    'From the end of the last dependency of a task until it was queued, counted at its first start',
    DELAYS,
  ),
  scheduleFired: counter(
    'process',
    'schedule_fired_total',
    ['outcome'],
    'Slots of schedules by outcome: fired, missed, overlap, existing or refused',
  ),
  scheduleLateness: histogram(
    'process',
    'schedule_lateness_seconds',
    [],
    'From the due time of a slot until it was fired by this process',
    DELAYS,
  ),
  calls: histogram(
    'process',
    'backend_command_seconds',
    ['operation'],
    'Duration of calls of the backend',
    CALLS,
  ),
  callErrors: counter(
    'process',
    'backend_errors_total',
    ['operation'],
    'Failed calls of the backend',
  ),
  graphSaves: lookedAt('process', 'graph_store_saves_total', [], 'Graphs uploaded'),
  graphLoads: lookedAt('process', 'graph_store_loads_total', [], 'Graphs loaded from the store'),
  graphHits: lookedAt('process', 'graph_store_hits_total', [], 'Graphs found in memory'),
  graphExtensions: lookedAt(
    'process',
    'graph_store_extensions_total',
    [],
    'Extensions of the time of stored graphs',
  ),
  graphBytes: lookedAt(
    'process',
    'graph_store_bytes_total',
    ['stage'],
    'Bytes of uploaded graphs: before and after compression',
  ),
};

/** One value of one metric. */
export interface Sample {
  readonly key: MetricKey;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of one read, by metric. */
export type Samples = ReadonlyMap<MetricKey, readonly Sample[]>;

/** Groups samples in one pass, so that each metric reads its own only. */
export function byMetric(samples: readonly Sample[]): Samples {
  const found = new Map<MetricKey, Sample[]>();
  for (const sample of samples) {
    const known = found.get(sample.key);
    if (known === undefined) found.set(sample.key, [sample]);
    else known.push(sample);
  }
  return found;
}

/** A row of the table, without fields of some kinds. */
type Columns = readonly [scope: MetricScope, name: string, labels: readonly string[], help: string];

function counter(...columns: Columns): MetricSpec {
  return row('counter', columns);
}

/** A counter that is stored elsewhere. */
function lookedAt(...columns: Columns): MetricSpec {
  return { ...row('counter', columns), isLookedAt: true };
}

function gauge(...columns: Columns): MetricSpec {
  return row('gauge', columns);
}

function histogram(
  ...[scope, name, labels, help, buckets]: readonly [...Columns, buckets: readonly number[]]
): MetricSpec {
  return { ...row('histogram', [scope, name, labels, help]), buckets };
}

function row(kind: MetricKind, [scope, name, labels, help]: Columns): MetricSpec {
  return { kind, scope, name, labels, help };
}
