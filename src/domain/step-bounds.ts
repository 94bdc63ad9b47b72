/**
 * What one step does at most of this and that, and numbers that only scripts know. Like the limits of
 * `limits.ts` they come to Lua as `LIMIT.sweepStep`, and stand in docs/limits.md.
 */
import { keysIn, recordOf } from '../base/records.ts';
import type { Limit } from './limits.ts';

const ROWS = {
  commandValues: [500, 'values', 'of one command: the stack of Lua holds some thousands'],
  dealtAtOnce: [3_500, 'tasks', 'started by one command each for leases, lines and texts'],
  keptStates: [64, 'queues and workers', 'of which a server keeps what it has unpacked'],
  sweepStep: [50, 'leases', 'that have ended, taken back in one step'],
  promoteStep: [100, 'tasks', 'that are due, moved in one step'],
  throttleStep: [50, 'users', 'whose rate opens, looked at in one step'],
  expireStep: [50, 'tasks', 'whose deadline is over, looked at in one step'],
  deadListed: [20, 'tasks', 'failed by no attempt of which the answer of a step tells'],
  retainStep: [100, 'tasks', 'whose time is over, removed in one step'],
  readStep: [100, 'tasks', 'that retention finds read by others, put apart in one step'],
  awaitingRedriveStep: [
    50,
    'tasks',
    'that waited for the redrive of one that is removed, in one step',
  ],
  errorGroupsStep: [5, 'groups', 'of errors looked at to be forgotten when another comes'],
  placesRead: [
    16,
    'tasks',
    'that came back to a line, looked at together for the place of another',
  ],
  leaversRead: [
    32,
    'tags',
    'of those that left ahead of V, read together at first; then twice as many each time',
  ],
  leaversPassed: [
    2_000,
    'tags',
    'of them that V passes, after which a lease deals out no more turns',
  ],
  leaversReadMost: [1_000, 'tags', 'the most of them that are read together'],
  idleStep: [50, 'users', 'whose tag has passed, forgotten in one step'],
  tagsAtOnce: [50, 'tags', 'that are kept, dropped at once; of more some at a time'],
  snapshotStep: [50, 'snapshots', 'in memory, whose time is over, forgotten in one step'],
  xcomStep: [50, 'values', 'that are over, removed in one step'],
  ratedLook: [50, 'queues', 'of which a tick asks whether their rate holds anything back'],
  goneWorkers: [50, 'workers', 'long gone, forgotten when another comes'],
  listNamesStep: [50, 'users', 'taken off lists that no worker has, and silent workers, in a step'],
  listNamesAtOnce: [500, 'users', 'the same when a worker comes or goes'],
  submissionStep: [250, 'tasks', 'of a sealed batch released, or waiters of one undone, in a step'],
  undoneStep: [50, 'tasks', 'of a batch that is never sealed, undone by maintenance in a step'],
  rewaitedAtOnce: [100, 'tasks', 'that a store or a redrive tells that they may wait on'],
  askedWorkers: [100, 'workers', 'asked in line whether they know the name of a parked task'],
  skippedFor: [8, 'tasks', 'looked at behind each that a worker does not know'],
  goneStep: [2_000, 'tasks', 'that wait for one that is gone, repaired in a step'],
  countedAtOnce: [2_000, 'users', 'that are ready, counted by a repair at once'],
  repairPage: [200, 'rows', 'of a set, a list or a hash that one step of a repair looks at'],
  listedStep: [100, 'rows', 'of an index that a listing takes at a time'],
  leasedStep: [200, 'leases', 'of a worker that a listing takes at a time'],
  spreadFrom: [21, 'users', 'from so many on a ready set is kept from being a listpack'],
  spreadBytes: [65, 'bytes', 'a longer member than a listpack holds'],
  staleWaitMs: [
    7_000,
    'ms',
    'a worker that waits and was not heard for its longest sleep, and a second, has gone',
  ],
  alarmLateMs: [1_000, 'ms', 'a holder of the alarm that is this late has lost it'],
} as const;
ROWS satisfies Record<string, readonly [value: number, unit: string, why: string]>;

/** All bounds by the name that scripts call them. */
export const STEP_BOUNDS: Readonly<Record<keyof typeof ROWS, Limit>> = recordOf(
  keysIn(ROWS),
  (name) => {
    const [value, unit, why] = ROWS[name];
    return { value, unit, why };
  },
);

/** The numbers alone: `STEPS.sweepStep`. */
export const STEPS: Readonly<Record<keyof typeof ROWS, number>> = recordOf(
  keysIn(ROWS),
  (name) => ROWS[name][0],
);
