/**
 * What one step does at most of this and that, and numbers that only scripts know. Like the limits of
 * `limits.ts` they come to Lua as `LIMIT.sweepStep`, and stand in docs/limits.md.
 */
import { LIMITS, type Limit } from '../limits.ts';

function bound(value: number, unit: string, why: string): Limit {
  return { value, unit, why };
}

/** All bounds by the name that scripts call them. */
export const STEP_BOUNDS = {
  commandValues: bound(500, 'values', 'of one command: the stack of Lua holds some thousands'),
  dealtAtOnce: bound(3_500, 'tasks', 'started by one command each for leases, lines and texts'),
  sweepStep: bound(50, 'leases', 'that have ended, taken back in one step'),
  promoteStep: bound(100, 'tasks', 'that are due, moved in one step'),
  throttleStep: bound(50, 'users', 'whose rate opens, looked at in one step'),
  expireStep: bound(50, 'tasks', 'whose deadline is over, looked at in one step'),
  retainStep: bound(50, 'tasks', 'whose time is over, removed in one step'),
  readStep: bound(100, 'tasks', 'that retention finds read by others, put apart in one step'),
  heldStep: bound(50, 'tasks', 'that waited for the redrive of one that is removed, in one step'),
  idleStep: bound(50, 'users', 'whose tag has passed, forgotten in one step'),
  tagsAtOnce: bound(50, 'tags', 'that are kept, dropped at once; of more some at a time'),
  snapshotStep: bound(50, 'snapshots', 'in memory, whose time is over, forgotten in one step'),
  xcomStep: bound(50, 'values', 'that are over, removed in one step'),
  ratedLook: bound(50, 'queues', 'of which a tick asks whether their rate holds anything back'),
  goneWorkers: bound(50, 'workers', 'long gone, forgotten when another comes'),
  listNamesStep: bound(
    50,
    'users',
    'taken off lists that nobody has, and silent workers, in a step',
  ),
  listNamesAtOnce: bound(500, 'users', 'the same when a worker comes or goes'),
  submissionStep: bound(
    250,
    'tasks',
    'of a sealed batch released, or waiters of one undone, in a step',
  ),
  undoneStep: bound(50, 'tasks', 'of a batch that nobody seals, undone by maintenance in a step'),
  rewaitedAtOnce: bound(100, 'tasks', 'that a store or a redrive tells that they may wait on'),
  askedWorkers: bound(100, 'workers', 'asked in line whether they know the name of a parked task'),
  skippedFor: bound(8, 'tasks', 'looked at behind each that a worker does not know'),
  goneStep: bound(2_000, 'tasks', 'that wait for one that is gone, repaired in a step'),
  countedAtOnce: bound(2_000, 'users', 'that are ready, counted by a repair at once'),
  repairPage: bound(200, 'rows', 'of a set, a list or a hash that one step of a repair looks at'),
  listedStep: bound(100, 'rows', 'of an index that a listing takes at a time'),
  leasedStep: bound(200, 'leases', 'of a worker that a listing takes at a time'),
  spreadFrom: bound(21, 'users', 'from so many on a ready set is kept from being a listpack'),
  spreadBytes: bound(65, 'bytes', 'a longer member than a listpack holds'),
  staleWaitMs: bound(
    1.2 * LIMITS.floorMs + 1_000,
    'ms',
    'a worker that waits and was not heard for its longest sleep has gone',
  ),
  alarmLateMs: bound(1_000, 'ms', 'a holder of the alarm that is this late has lost it'),
} as const satisfies Record<string, Limit>;

/** The numbers alone: `STEPS.sweepStep`. */
export const STEPS: Readonly<Record<keyof typeof STEP_BOUNDS, number>> = Object.fromEntries(
  Object.entries(STEP_BOUNDS).map(([name, { value }]) => [name, value]),
) as Record<keyof typeof STEP_BOUNDS, number>;
