import { hostname } from 'node:os';
import type { Duration } from '../base/time.ts';
import type { Decider } from '../domain/attempt/decider.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { WorkerSpec } from '../domain/port/backend.ts';
import { durationOption, integerOption } from '../workflow/task-options.ts';

/** Options of a worker. */
export interface WorkerOptions {
  /**
   * Its id, unique among live workers: a second worker with it waits until the first was silent for 8 s, and is refused
   * with `INVALID_OPTION` otherwise. Default: process id and random letters.
   */
  readonly id?: string | undefined;
  /** Number of slots: tasks that run at once. Default 10. */
  readonly concurrency?: number | undefined;
  /** Names of its queues, with weights if some should get more turns. Default `default`. */
  readonly queues?: readonly string[] | Readonly<Record<string, number>> | undefined;
  /** Users that it serves first, at most 1,000. Default: all users alike. */
  readonly assignedUsers?: readonly string[] | undefined;
  /** Users that it serves when its assigned users have no tasks. Default: none. */
  readonly stealTargets?: 'any' | readonly string[] | undefined;
  /** How long it may be silent before its leases end, 100 ms to 24 h. Default 15 s. */
  readonly lease?: Duration | undefined;
  /** Longest time for running handlers to end during a shutdown. Default 25 s. */
  readonly grace?: Duration | undefined;
  /** Fires due schedules, also those of other processes. Default true. */
  readonly scheduler?: boolean | undefined;
  /** Decides on outcomes of tasks whose definition has no decider. */
  readonly decider?: Decider | undefined;
}

const KEYS: OptionKeys<WorkerOptions> = keysOf<WorkerOptions>()({
  id: true,
  concurrency: true,
  queues: true,
  assignedUsers: true,
  stealTargets: true,
  lease: true,
  grace: true,
  scheduler: true,
  decider: true,
});

/** Options of a stop. */
export interface StopOptions {
  /** Longest time for running handlers to end. Default: the worker's grace. */
  readonly grace?: Duration | undefined;
}

const STOP_KEYS: OptionKeys<StopOptions> = keysOf<StopOptions>()({ grace: true });

/** Checked options with defaults. */
export interface WorkerPlan {
  readonly id: string;
  readonly concurrency: number;
  readonly queues: ReadonlyMap<string, number>;
  readonly assignedUsers: readonly string[] | undefined;
  readonly stealTargets: 'any' | readonly string[] | undefined;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly scheduler: boolean;
  readonly decider: Decider | undefined;
}

/** Smallest and largest weight of a queue: beyond these limits a queue would starve. */
const QUEUE_WEIGHTS = { least: 0.01, most: 1_000 };

/** @throws {@link InvalidOptionError} for the first invalid option. */
export function workerPlan(options: WorkerOptions, newId: () => string): WorkerPlan {
  checkOptions('worker', options, KEYS);
  const { id, concurrency, lease, grace, decider, scheduler = true } = options;
  const leaseBounds = { least: LIMITS.leaseMinMs, most: LIMITS.leaseMaxMs };
  const slotBounds = { least: 1, most: LIMITS.concurrencyMax };
  if (decider !== undefined && typeof decider !== 'function') {
    throw new InvalidOptionError('decider', 'a function', decider);
  }
  if (typeof scheduler !== 'boolean') {
    throw new InvalidOptionError('scheduler', 'true or false', scheduler);
  }
  return {
    id: id === undefined ? newId() : checkName('id', id),
    concurrency:
      concurrency === undefined
        ? LIMITS.concurrency
        : integerOption('concurrency', concurrency, slotBounds),
    queues: queuesOf(options.queues),
    ...usersOf(options),
    leaseMs: lease === undefined ? LIMITS.leaseMs : durationOption('lease', lease, leaseBounds),
    graceMs: grace === undefined ? LIMITS.graceMs : graceOption(grace),
    scheduler,
    decider,
  };
}

/** The grace of a stop in ms; `undefined` without one. */
export function graceOf(options: StopOptions): number | undefined {
  checkOptions('stop', options, STOP_KEYS);
  return options.grace === undefined ? undefined : graceOption(options.grace);
}

/** A grace in ms. */
function graceOption(grace: unknown): number {
  return durationOption('grace', grace, { least: 0, most: LIMITS.leaseMaxMs });
}

function queuesOf(queues: WorkerOptions['queues']): ReadonlyMap<string, number> {
  if (queues === undefined) return new Map([['default', 1]]);
  if (typeof queues !== 'object' || queues === null) {
    throw new InvalidOptionError('queues', 'a list of names, or an object of weights', queues);
  }
  const weights = new Map<string, number>();
  const pairs = Array.isArray(queues)
    ? Array.from(queues, (queue: unknown) => [queue, 1] as const)
    : Object.entries(queues);
  for (const [queue, weight] of pairs) {
    const { least, most } = QUEUE_WEIGHTS;
    if (typeof weight !== 'number' || !(weight >= least && weight <= most)) {
      throw new InvalidOptionError(`queues.${queue}`, `a weight from ${least} to ${most}`, weight);
    }
    weights.set(checkName('queues', queue), weight);
  }
  if (weights.size === 0 || weights.size > LIMITS.queuesPerWorker) {
    throw new InvalidOptionError('queues', `1 to ${LIMITS.queuesPerWorker} names`, weights.size);
  }
  return weights;
}

function usersOf(options: WorkerOptions): Pick<WorkerPlan, 'assignedUsers' | 'stealTargets'> {
  const { assignedUsers, stealTargets } = options;
  const assigned = assignedUsers === undefined ? undefined : list('assignedUsers', assignedUsers);
  const steal =
    stealTargets === undefined || stealTargets === 'any'
      ? stealTargets
      : list('stealTargets', stealTargets);
  if (assigned?.length === 0 || (assigned === undefined && steal?.length === 0)) {
    throw new InvalidOptionError('assignedUsers', 'at least one user to serve', 'none');
  }
  const both = Array.isArray(steal) ? steal.find((user) => assigned?.includes(user)) : undefined;
  if (both !== undefined) {
    throw new InvalidOptionError('stealTargets', 'users outside assignedUsers', both);
  }
  return { assignedUsers: assigned, stealTargets: steal };
}

function list(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new InvalidOptionError(option, 'a list of users', value);
  if (value.length > LIMITS.listNames) {
    throw new InvalidOptionError(option, `at most ${LIMITS.listNames} users`, value.length);
  }
  // `Array.from` fills holes with `undefined`; `map` would skip them.
  const users = Array.from(value, (user: unknown) => checkId(option, user));
  const twice = users.find((user, at) => users.indexOf(user) !== at);
  if (twice !== undefined) throw new InvalidOptionError(option, 'users without repetition', twice);
  return users;
}

/** Names that a process has code for. */
interface Known {
  readonly names: readonly string[];
  readonly pipelines: readonly string[];
}

/** The description of a worker for the backend. */
export function specOf(plan: WorkerPlan, { names, pipelines }: Known): WorkerSpec {
  const { id, concurrency, assignedUsers, stealTargets } = plan;
  return {
    id,
    queues: [...plan.queues.keys()],
    names,
    concurrency,
    host: `${hostname()}:${process.pid}`,
    ...(pipelines.length === 0 ? {} : { pipelines }),
    ...(assignedUsers === undefined ? {} : { assignedUsers }),
    ...(stealTargets === undefined ? {} : { stealTargets }),
  };
}
