/**
 * Bounds of one step, and other numbers of the scripts. As those of `limits.ts` they are passed to Lua as
 * `LIMIT.sweepStep`, and listed in docs/limits.md.
 */
import { keysIn, recordOf } from '../base/records.ts';
import type { Limit } from './limits.ts';

const ROWS = {
  commandValues: [500, 'values', 'per command: the stack of Lua holds some thousands'],
  dealtAtOnce: [3_500, 'tasks', 'started with one command each for leases, lines and texts'],
  keptStates: [64, 'queues and workers', 'whose unpacked state a server keeps'],
  sweepStep: [50, 'leases', 'ended ones, taken back in one step'],
  promoteStep: [100, 'tasks', 'due ones, moved in one step'],
  throttleStep: [50, 'users', 'whose rate allows a start, checked in one step'],
  expireStep: [50, 'tasks', 'whose deadline has passed, checked in one step'],
  deadListed: [20, 'tasks', 'failed without an attempt, listed in the answer of a step'],
  retainStep: [100, 'tasks', 'expired ones, removed in one step'],
  readStep: [100, 'tasks', 'expired ones with readers, moved to `kept` in one step'],
  awaitingRedriveStep: [
    50,
    'tasks',
    'that waited for the redrive of a removed one, canceled in one step',
  ],
  errorGroupsStep: [5, 'groups', 'of errors, checked for expiry when one is added'],
  placesRead: [16, 'tasks', 'returned to a line, read together to find the place of another'],
  leaversRead: [32, 'tags', 'of leavers, read together at first; then twice as many each time'],
  leaversPassed: [
    2_000,
    'tags',
    'of leavers that V passes, after which a lease gives no more turns',
  ],
  leaversReadMost: [1_000, 'tags', 'of leavers, the most read together'],
  idleStep: [50, 'users', 'whose tag V has passed, dropped in one step'],
  tagsAtOnce: [50, 'tags', 'kept ones dropped at once; beyond that in steps'],
  snapshotStep: [50, 'snapshots', 'expired ones in memory, removed in one step'],
  xcomStep: [50, 'values', 'expired ones, removed in one step'],
  ratedLook: [50, 'queues', 'whose rate a tick checks'],
  goneWorkers: [50, 'workers', 'long gone, removed when another registers'],
  listNamesStep: [50, 'users', 'removed from lists without a worker, and silent workers, per step'],
  listNamesAtOnce: [500, 'users', 'the same when a worker registers or unregisters'],
  submissionStep: [250, 'tasks', 'of a sealed batch released, or waiters of one undone, per step'],
  undoneStep: [50, 'tasks', 'of a batch without a seal, undone by maintenance per step'],
  rewaitedAtOnce: [100, 'tasks', 'whose limit of the wait an enqueue or a redrive lifts at once'],
  askedWorkers: [
    100,
    'workers',
    'waiting ones whose names are compared with that of a parked task',
  ],
  skippedFor: [8, 'tasks', 'read after each one with a name unknown to the worker'],
  goneStep: [2_000, 'tasks', 'that wait for a lost one, repaired per step'],
  countedAtOnce: [2_000, 'users', 'ready ones, counted by a repair at once'],
  repairPage: [200, 'rows', 'of a set, a list or a hash, read by one step of a repair'],
  listedStep: [100, 'rows', 'of an index, read by a listing at once'],
  leasedStep: [200, 'leases', 'of a worker, read by a listing at once'],
  spreadFrom: [21, 'users', 'number from which a ready set must not be a listpack'],
  spreadBytes: [65, 'bytes', 'a member too long for a listpack'],
  staleWaitMs: [
    7_000,
    'ms',
    'a waiting worker without a call for its longest sleep, and a second, is gone',
  ],
  alarmLateMs: [1_000, 'ms', 'a holder of the alarm that is this late has lost it'],
} as const;
ROWS satisfies Record<string, readonly [value: number, unit: string, why: string]>;

/** All bounds by their name in scripts. */
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
