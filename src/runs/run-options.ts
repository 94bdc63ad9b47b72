/** Options of a run, and how they apply to each of its tasks. */

import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { EdgePolicies, KeySpec, NewTask } from '../domain/task/task.ts';
import { isLevel } from '../domain/task/task.ts';
import {
  dependenciesOf,
  ENQUEUE_KEYS,
  type EnqueueOptions,
  edgesOf,
  idOf,
  keyOf,
  type Place,
  placeOf,
  rejectsDuplicate,
  type StoredOptions,
  startOf,
  storedOptions,
  versioningOf,
} from '../enqueue/enqueue-options.ts';
import type { TaskMaker } from '../enqueue/task-maker.ts';
import type { TaskNode } from '../graph/graph.ts';
import { integerOption, levelOf } from '../workflow/task-options.ts';
import type { SaidPlace } from './record.ts';

/** How a run is executed; see {@link RunEnqueueOptions.form}. */
export type RunForm = 'dispatched' | 'driven';

/** All forms. */
export const RUN_FORMS: readonly RunForm[] = ['dispatched', 'driven'];

/**
 * Options of one run. `user`, `queue`, `priority` and the options of attempts apply to all its
 * tasks and override definitions; `delay`, `executeAfter`, `expiresIn` and `dependsOn` apply to its
 * first tasks; `id` and `idempotencyKey` to the run itself.
 */
export interface RunEnqueueOptions extends Omit<EnqueueOptions, 'debounce' | 'throttle'> {
  /**
   * `dispatched`: every node is a task of the queue. `driven`: one worker at a time walks the graph
   * and dispatches groups. Default: `dispatched` if the graph allows it.
   */
  readonly form?: RunForm | undefined;
  /**
   * When a driven run stores its progress: after every node (`node`, the default), or only before a
   * group (`group`), which is faster, but repeats more nodes when its worker is lost.
   */
  readonly checkpoint?: Checkpoint | undefined;
  /**
   * Limit of executed tasks and groups, for the run and for each driven member; a driven run that
   * exceeds it fails with {@link MaxStepsError}, a dispatched run that would exceed it is refused.
   * From 1 to `LIMITS.runSteps`, the default.
   */
  readonly maxSteps?: number | undefined;
  /**
   * Start: name of an outermost node of the pipeline, whose input is the input of the run. Nodes that
   * do not follow it are left out. Refused when an executed node depends on one that is left out.
   */
  readonly startAt?: string | undefined;
}

const { debounce: _debounce, throttle: _throttle, ...UNWINDOWED_KEYS } = ENQUEUE_KEYS;

const RUN_KEYS: OptionKeys<RunEnqueueOptions> = keysOf<RunEnqueueOptions>()({
  ...UNWINDOWED_KEYS,
  form: true,
  checkpoint: true,
  maxSteps: true,
  startAt: true,
});

/** See {@link RunEnqueueOptions.checkpoint}. */
export type Checkpoint = 'node' | 'group';

/** Checked options of one enqueue. */
export interface RunSettings {
  readonly id: string;
  readonly user: string;
  /** Place of the run's own task. */
  readonly place: Place;
  /** Start of tasks without dependencies in the run. */
  readonly start: Pick<NewTask, 'delayMs' | 'executeAfter'>;
  readonly dependsOn: readonly string[];
  readonly edges: EdgePolicies;
  readonly stored: StoredOptions;
  readonly key: KeySpec | undefined;
  readonly rejects: boolean;
  readonly form: RunForm | undefined;
  readonly checkpoint: Checkpoint | undefined;
  readonly options: EnqueueOptions;
  /** The options that a rerun needs. */
  readonly overrides: SaidPlace | undefined;
}

interface SettingsTools {
  readonly maker: TaskMaker;
  readonly newId: () => string;
}

const FORMS: readonly unknown[] = [...RUN_FORMS, undefined];
const CHECKPOINTS: readonly unknown[] = ['node', 'group', undefined];

/** @throws {@link InvalidOptionError} for the first invalid option. */
export function runSettings(tools: SettingsTools, options: RunEnqueueOptions): RunSettings {
  const { form } = options;
  if (!FORMS.includes(form)) throw new InvalidOptionError('form', '"dispatched", "driven"', form);
  const { checkpoint } = options;
  if (!CHECKPOINTS.includes(checkpoint)) {
    throw new InvalidOptionError('checkpoint', '"node" or "group"', checkpoint);
  }
  demandNoWindow(options);
  const key = keyOf(options, undefined);
  if (key?.policy === 'replace-queued' || key?.policy === 'run-once-more') {
    throw new InvalidOptionError(
      'idempotency.policy',
      '"return" or "reject" for a run',
      key.policy,
    );
  }
  return {
    id: idOf(options, tools.newId),
    user: tools.maker.userOf(options.user),
    place: placeOf(options, tools.maker.base),
    start: startOf(options) ?? {},
    dependsOn: dependenciesOf(options),
    edges: edgesOf(options),
    stored: JSON.parse(storedOptions(options)),
    key,
    rejects: rejectsDuplicate(options),
    form,
    checkpoint,
    options,
    overrides: overridesOf(options),
  };
}

/** @throws {@link InvalidOptionError} for an option that runs do not have. */
export function checkRunOptions(options: EnqueueOptions): void {
  // A dynamic task is a run, but has the type of a task.
  demandNoWindow(options);
  checkOptions('enqueue', options, RUN_KEYS);
}

function demandNoWindow(options: EnqueueOptions | null): void {
  for (const option of ['debounce', 'throttle'] as const) {
    const value: unknown = options?.[option];
    if (value !== undefined) throw new InvalidOptionError(option, 'no value for a run', value);
  }
}

/** @throws {@link InvalidOptionError} when it is not a valid limit. */
export function maxStepsOf(maxSteps: number | undefined): number | undefined {
  if (maxSteps === undefined) return undefined;
  return integerOption('maxSteps', maxSteps, { least: 1, most: LIMITS.runSteps });
}

function overridesOf(options: RunEnqueueOptions): SaidPlace | undefined {
  const { queue, priority, cost } = options;
  const maxSteps = maxStepsOf(options.maxSteps);
  const isLatest = versioningOf(options) === 'latest';
  const isPlaced = queue !== undefined || priority !== undefined || cost !== undefined;
  if (!isPlaced && !isLatest && maxSteps === undefined) return undefined;
  return {
    ...(isLatest ? { latest: true } : {}),
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { level: levelOf('priority', priority) }),
    ...(cost === undefined ? {} : { cost }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
  };
}

/** The place of a node's task. Precedence: enqueue, definition, defaults. */
export function placeOfNode(
  { options }: TaskNode,
  { options: said }: RunSettings,
  base: Place,
): Place {
  const { queue, level, cost, expiresInMs } = options;
  return placeOf(said, {
    queue: typeof queue === 'string' ? queue : base.queue,
    level: isLevel(level) ? level : base.level,
    cost: typeof cost === 'number' ? cost : base.cost,
    expiresInMs: typeof expiresInMs === 'number' ? expiresInMs : base.expiresInMs,
  });
}
