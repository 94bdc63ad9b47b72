import { keysIn, recordOf } from '../base/records.ts';
import { type Limit, limit } from './limit.ts';
import { SEARCH_LIMITS, type SearchLimitName } from './search-limits.ts';
import { SERIES_LIMITS, type SeriesLimitName } from './series-limits.ts';
import { SOCKET_LIMITS, type SocketLimitName } from './socket-limits.ts';
import { STREAM_LIMITS, type StreamLimitKey } from './stream-limits.ts';
import { WAIT_LIMITS, type WaitLimitName } from './wait-limits.ts';
import { XCOM_LIMITS, type XComLimitKey } from './xcom-limits.ts';

export type { Limit } from './limit.ts';

/** Names of the limits. */
export type LimitName =
  | WaitLimitName
  | SearchLimitName
  | SeriesLimitName
  | SocketLimitName
  | 'idBytes'
  | 'nameLength'
  | 'graphNodes'
  | 'graphDepth'
  | 'maxCycles'
  | 'runSteps'
  | 'nodeWaitMs'
  | 'notationLength'
  | 'payloadBytes'
  | 'payloadWarnBytes'
  | 'apartBytes'
  | 'errorBytes'
  | 'oldErrorBytes'
  | 'attemptsKept'
  | 'dependencies'
  | 'cycleEdges'
  | 'cycleStep'
  | 'cycleFan'
  | 'plainBatch'
  | 'graphTtlMs'
  | 'graphScriptBytes'
  | 'channelValueBytes'
  | 'channelKeys'
  | 'channelBytes'
  | 'channelWrites'
  | StreamLimitKey
  | XComLimitKey
  | 'scriptUnits'
  | 'scriptBytes'
  | 'leaseBatch'
  | 'settleBatch'
  | 'settleLeaseBatch'
  | 'leaseMs'
  | 'leaseMinMs'
  | 'leaseMaxMs'
  | 'maxLost'
  | 'lostBackoffMs'
  | 'unknownNodeBaseMs'
  | 'unknownNodeMaxMs'
  | 'unknownNamesPerLease'
  | 'unknownTaskMs'
  | 'releaseMinMs'
  | 'releases'
  | 'retries'
  | 'retriesMax'
  | 'backoffMs'
  | 'backoffMaxMs'
  | 'timeoutMs'
  | 'abortGraceMs'
  | 'cancelGraceMs'
  | 'killGraceMs'
  | 'stderrLines'
  | 'delayMaxMs'
  | 'waitMaxMs'
  | 'submissionMs'
  | 'resendMs'
  | 'readMs'
  | 'absorbed'
  | 'weightMin'
  | 'weightMax'
  | 'weightClasses'
  | 'priorityWeightMax'
  | 'costMax'
  | 'listNames'
  | 'listsPerUser'
  | 'queuesPerWorker'
  | 'concurrencyMax'
  | 'workerSilenceMs'
  | 'workerIdMs'
  | 'floorMs'
  | 'handMs'
  | 'alarmGapMs'
  | 'tickMs'
  | 'outageMs'
  | 'outagePauseMs'
  | 'clockStepMs'
  | 'wakeTokens'
  | 'noticeBytes'
  | 'promoteTurn'
  | 'cascadeStep'
  | 'refreshStep'
  | 'refreshAtOnce'
  | 'pageMax'
  | 'pageBytes'
  | 'pageScan'
  | 'versionsScan'
  | 'bulkMax'
  | 'errorGroups'
  | 'errorGroupMs'
  | 'retainFinishedMs'
  | 'retainFailedMs'
  | 'retainCanceledMs'
  | 'upstreamBytes'
  | 'concurrency'
  | 'connectMs'
  | 'configBytes'
  | 'configWorkers'
  | 'graceMs'
  | 'flushMs'
  | 'goodbyeMs'
  | 'cronLength'
  | 'everyMinMs'
  | 'scheduleLockMs'
  | 'scheduleOverdueMs'
  | 'scheduleRetryMs'
  | 'scheduleDue'
  | 'scheduleFirings'
  | 'missedAfterMs'
  | 'missedCap'
  | 'missedCapMax'
  | 'jitterMaxMs'
  | 'backfillMax';

/**
 * Every limit and default of Fairloom. `docs/limits.md` and the constants that Lua needs are
 * generated from here.
 */
export const LIMIT_TABLE: Readonly<Record<LimitName, Limit>> = {
  idBytes: limit(128, 'bytes', 'ids are part of key names; longer ones cost memory in every index'),
  nameLength: limit(64, 'characters', 'names are shown in tables and are parts of key names'),
  graphNodes: limit(100_000, 'nodes', 'ten times an ordinary large workflow'),
  graphDepth: limit(100, 'levels', 'nested groups and values; three are many'),
  maxCycles: limit(10, 'runs', 'default of a dynamic node; an endless loop is a bug'),
  runSteps: limit(10_000, 'steps', 'tasks and groups of one walk; an endless run is a bug'),
  nodeWaitMs: limit(
    1_000,
    'ms',
    'a node that waits longer for its next attempt releases the run meanwhile',
  ),
  notationLength: limit(1_000_000, 'characters', 'longest workflow written as text'),
  payloadBytes: limit(1_048_576, 'bytes', 'a queue is no blob store; one script takes one'),
  payloadWarnBytes: limit(
    262_144,
    'bytes',
    'above this a reference to stored data is usually better',
  ),
  apartBytes: limit(
    65_536,
    'bytes',
    'a longer result is stored separately, and read only on request',
  ),
  errorBytes: limit(16_384, 'bytes', 'the newest stack is kept in full up to this'),
  oldErrorBytes: limit(1_024, 'bytes', 'older attempts keep their message only'),
  attemptsKept: limit(
    20,
    'attempts',
    'enough to see a pattern, bounded for a task that fails for ever',
  ),
  dependencies: limit(
    200,
    'per task',
    'one script must be able to unlink them all; join nodes avoid it',
  ),
  cycleEdges: limit(
    10_000,
    'dependencies',
    'that an enqueue follows, each way, in search of a cycle; more would take too long',
  ),
  cycleStep: limit(
    500,
    'dependencies',
    'the same for a redrive or a firing, and for one script: one to two milliseconds',
  ),
  cycleFan: limit(
    250,
    'tasks',
    'dependents of one task; beyond that only its dependencies are searched for a cycle',
  ),
  scriptUnits: limit(
    250,
    'units',
    'of about 10 µs, per request or answer of one script: one to three milliseconds',
  ),
  plainBatch: limit(
    1_000,
    'tasks',
    'plain tasks that one script stores all or none, in some milliseconds; a seal costs far more',
  ),
  scriptBytes: limit(
    1_310_720,
    'bytes',
    'in arguments or answer of one script, except for a single value: 3 ms per MiB',
  ),
  graphTtlMs: limit(86_400_000, 'ms', 'an unused snapshot is removed after a day'),
  graphScriptBytes: limit(131_072, 'bytes', 'a longer snapshot is not passed to a script'),
  channelValueBytes: limit(
    262_144,
    'bytes',
    'an append reads and writes the whole list, while other calls wait',
  ),
  channelKeys: limit(10_000, 'keys', 'of all channels of a run; one for each member of a group'),
  channelBytes: limit(1_048_576, 'bytes', 'of all channels of a run, keys included; as a payload'),
  channelWrites: limit(
    1_000,
    'keys',
    'that one attempt writes: its settle applies them in about a millisecond',
  ),
  ...WAIT_LIMITS,
  ...XCOM_LIMITS,
  ...STREAM_LIMITS,
  ...SEARCH_LIMITS,
  ...SERIES_LIMITS,
  ...SOCKET_LIMITS,
  leaseBatch: limit(62, 'tasks', 'four units each within one script'),
  settleBatch: limit(64, 'outcomes', 'two units each, and room for a lease in the same call'),
  settleLeaseBatch: limit(40, 'of each', 'settle and lease together within one script'),
  leaseMs: limit(15_000, 'ms', 'a dead worker is noticed in seconds; three heartbeats fit'),
  leaseMinMs: limit(100, 'ms', 'below this a garbage collection looks like a dead worker'),
  leaseMaxMs: limit(86_400_000, 'ms', 'a day; longer leases hide dead workers'),
  maxLost: limit(3, 'losses', 'a task that killed three workers is poison'),
  lostBackoffMs: limit(
    5_000,
    'ms',
    'separates a poison task from the tasks that were lost with it',
  ),
  unknownNodeBaseMs: limit(
    1_000,
    'ms',
    'first pause of a run at a node whose task its worker does not know',
  ),
  unknownNodeMaxMs: limit(
    60_000,
    'ms',
    'longest such pause, so that a new worker finds it within a minute',
  ),
  unknownNamesPerLease: limit(64, 'tasks', 'bounds the work of a lease that meets unknown names'),
  unknownTaskMs: limit(3_600_000, 'ms', 'a rolling deployment is over in an hour'),
  releaseMinMs: limit(100, 'ms', 'a handler that always releases must not spin'),
  releases: limit(1_000, 'per task', 'then it counts as a failed attempt'),
  retries: limit(3, 'retries', 'four starts in all; the default'),
  retriesMax: limit(1_000_000, 'retries', 'the power in the backoff stays exact'),
  backoffMs: limit(1_000, 'ms', 'default base of the exponential backoff'),
  backoffMaxMs: limit(3_600_000, 'ms', 'default cap of one wait between attempts'),
  timeoutMs: limit(900_000, 'ms', 'default handler timeout, 15 minutes'),
  abortGraceMs: limit(5_000, 'ms', 'how long a timed-out handler may take to notice its signal'),
  cancelGraceMs: limit(30_000, 'ms', 'how long a canceled handler may take to notice its signal'),
  killGraceMs: limit(
    3_000,
    'ms',
    'from SIGTERM to SIGKILL; less than abortGraceMs, so that the end of a killed program is noticed',
  ),
  stderrLines: limit(1_000, 'lines', 'of a program that are logged; the last ones explain its end'),
  delayMaxMs: limit(315_576_000_000, 'ms', 'ten years'),
  waitMaxMs: limit(
    2_592_000_000,
    'ms',
    '30 days of waiting for a dependency that failed or is missing',
  ),
  submissionMs: limit(
    60_000,
    'ms',
    'the batch of a client that died during enqueueMany is undone then',
  ),
  resendMs: limit(
    60_000,
    'ms',
    'no record in Redis or a folder is removed before a repeated call can arrive',
  ),
  readMs: limit(
    1_000,
    'ms',
    'no record in memory is removed before the waiters for its end have read it',
  ),
  absorbed: limit(32, 'ids', 'ids of earlier calls that an idempotency key answers'),
  weightMin: limit(1, 'hundredths', 'weight 0.01'),
  weightMax: limit(100_000, 'hundredths', 'weight 1000'),
  weightClasses: limit(31, 'classes', 'distinct weights with their own class'),
  priorityWeightMax: limit(1_024, 'turns', 'largest weight of a priority level'),
  costMax: limit(1_000_000, 'turns', 'largest cost of one task'),
  listNames: limit(1_000, 'users', 'longest list of assigned users or steal targets'),
  listsPerUser: limit(32, 'lists', 'a user is written to each of them when it becomes ready'),
  queuesPerWorker: limit(16, 'queues', 'one lease reads each of them'),
  concurrencyMax: limit(10_000, 'slots', 'beyond this, start more processes'),
  workerSilenceMs: limit(15_000, 'ms', 'a worker without a call for this long is not live'),
  workerIdMs: limit(
    7_500,
    'ms',
    'the id of a worker without a call for this long is free for another',
  ),
  floorMs: limit(5_000, 'ms', 'longest sleep of an idle worker, ± 20 %'),
  handMs: limit(
    2_000,
    'ms',
    'a task handed to a waiting worker that has not fetched it returns after this time',
  ),
  alarmGapMs: limit(500, 'ms', 'the second holder of the alarm wakes this much later'),
  tickMs: limit(800, 'ms', 'a busy worker ticks this long after it last did, ± 20 %'),
  outageMs: limit(8_000, 'ms', 'no script for this long means that the backend was unavailable'),
  outagePauseMs: limit(
    5_000,
    'ms',
    'after an outage workers get this long to extend before a sweep',
  ),
  clockStepMs: limit(5_000, 'ms', 'a clock that steps back further than this is accepted'),
  wakeTokens: limit(16, 'tokens', 'workers woken by one script at most'),
  noticeBytes: limit(
    4_096,
    'bytes',
    'result, error and cause in the notice of an end; longer ones are read',
  ),
  promoteTurn: limit(20, 'tasks', 'due tasks of one user that are moved before the next user'),
  cascadeStep: limit(60, 'tasks', 'dependents that one step updates'),
  refreshStep: limit(25, 'users', 'or queues of one, whose settings one step updates'),
  refreshAtOnce: limit(500, 'users', 'that get new defaults of their queue before the call ends'),
  pageMax: limit(500, 'rows', 'largest page of a listing'),
  pageBytes: limit(
    4_194_304,
    'bytes',
    'inputs, results and errors of one page; it ends behind the row that reaches this',
  ),
  pageScan: limit(1_000, 'rows', 'that one page of tasks reads when few match a filter'),
  versionsScan: limit(100_000, 'tasks', 'that a report of versions reads by default'),
  bulkMax: limit(
    10_000,
    'tasks',
    'that one bulk change touches, or of `consequences`; their ids are in memory',
  ),
  errorGroups: limit(1_000, 'groups', 'of errors without a failed task, the newest'),
  errorGroupMs: limit(86_400_000, 'ms', 'such a group is removed a day after its newest attempt'),
  retainFinishedMs: limit(86_400_000, 'ms', 'finished tasks are kept 24 h'),
  retainFailedMs: limit(604_800_000, 'ms', 'dead letters are kept 7 days'),
  retainCanceledMs: limit(86_400_000, 'ms', 'canceled tasks are kept 24 h'),
  upstreamBytes: limit(65_536, 'bytes', 'results and errors of dependencies in a lease'),
  concurrency: limit(10, 'slots', 'default slots of a worker'),
  connectMs: limit(
    5_000,
    'ms',
    'default length of one attempt to connect; a network answers in less',
  ),
  configBytes: limit(
    262_144,
    'bytes',
    'a configuration is written by hand; thousands of users fit',
  ),
  configWorkers: limit(100, 'workers', 'workers of one configuration; one process runs them all'),
  graceMs: limit(25_000, 'ms', 'default time that a shutdown gives running handlers'),
  flushMs: limit(5_000, 'ms', 'how long a shutdown waits until decisions are stored'),
  goodbyeMs: limit(
    1_000,
    'ms',
    'how long unregistering may take; a silent worker is dropped anyway',
  ),
  cronLength: limit(256, 'characters', 'longest cron pattern'),
  everyMinMs: limit(1_000, 'ms', 'shortest interval of a schedule; anything faster is a loop'),
  scheduleLockMs: limit(5_000, 'ms', 'a scheduler without a call for this long is replaced'),
  scheduleOverdueMs: limit(2_000, 'ms', 'a slot this late is fired by any scheduler that finds it'),
  scheduleRetryMs: limit(1_000, 'ms', 'idle workers check again for a slot that has not fired'),
  scheduleDue: limit(100, 'schedules', 'due ones that one call answers'),
  scheduleFirings: limit(50, 'slots', 'of one schedule that one step fires'),
  missedAfterMs: limit(60_000, 'ms', 'a slot that has not fired by then counts as missed'),
  missedCap: limit(100, 'slots', 'default most missed slots that `missed: all` fires, the newest'),
  missedCapMax: limit(1_000, 'slots', 'largest such cap'),
  jitterMaxMs: limit(86_400_000, 'ms', 'longest jitter of a schedule, a day'),
  backfillMax: limit(10_000, 'slots', 'slots that one backfill stores'),
};

/** The numbers alone: `LIMITS.leaseMs`. */
export const LIMITS: Readonly<Record<LimitName, number>> = recordOf(
  keysIn(LIMIT_TABLE),
  (name) => LIMIT_TABLE[name].value,
);

/** Turns of the levels 1 to 5 while all have work: each gets twice as many as the one below. */
export const PRIORITY_WEIGHTS: readonly number[] = [1, 2, 4, 8, 16];
