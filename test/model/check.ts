/** Runs many random histories, and keeps the ones that failed so that they run first next time. */
import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { MOVES } from '../../src/domain/task/transition.ts';
import { historyOf } from './arbitraries.ts';
import { type Counters, Harness, newCounters, type Subject } from './harness.ts';
import { STEP_TYPES, type Step } from './steps.ts';

/** Longest history: enough for a task to fail, be redriven, and have dependents. */
const MAX_STEPS = 60;
const SEEDS = new URL('./seeds.json', import.meta.url);

/** Opens fresh, empty backends for one history. */
export type Open = () => Promise<readonly Subject[]>;

/** A history that failed once. */
export interface Seed {
  /** What was wrong, in a few words. */
  readonly note: string;
  readonly steps: readonly Step[];
}

export interface Failure {
  readonly steps: readonly Step[];
  readonly error: string;
  /** Of fast-check: the seed, and which of its histories it is, or was shortened to. */
  readonly seed: number;
  readonly path: string;
}

export interface Report {
  readonly runs: number;
  readonly seed: number;
  readonly counters: Counters;
  readonly failure?: Failure;
}

export interface RunOptions {
  readonly runs: number;
  readonly seed: number;
  /** The first one: as a failure told it; absent: from the first of the seed on. */
  readonly path?: string | undefined;
  /** Ends with the first failure as it is. */
  readonly quick?: boolean;
}

export async function runHistories(open: Open, options: RunOptions): Promise<Report> {
  const counters = newCounters();
  const property = fc.asyncProperty(historyOf(MAX_STEPS), (steps) => replay(open, steps, counters));
  const details = await fc.check(property, {
    numRuns: options.runs,
    seed: options.seed,
    ...(options.path !== undefined && { path: options.path }),
    // Looking for a shorter history takes a hundred times as long as finding one.
    endOnFailure: options.quick === true,
  });
  const report = { runs: details.numRuns, seed: options.seed, counters };
  if (!details.failed) return report;
  const [steps] = details.counterexample ?? [[]];
  const error = details.errorInstance;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const path = details.counterexamplePath ?? '';
  return { ...report, failure: { steps, error: text, seed: options.seed, path } };
}

/** Runs one history; throws with the place where something was not as it must be. */
export async function replay(
  open: Open,
  steps: readonly Step[],
  counters: Counters = newCounters(),
): Promise<void> {
  const subjects = await open();
  try {
    await new Harness(subjects, counters).run(steps);
  } finally {
    for (const subject of subjects) await subject.close();
  }
}

export function keptSeeds(): readonly Seed[] {
  return JSON.parse(readFileSync(SEEDS, 'utf8'));
}

export function keepSeed(seed: Seed): void {
  const kept = keptSeeds();
  if (kept.some(({ steps }) => JSON.stringify(steps) === JSON.stringify(seed.steps))) return;
  writeFileSync(SEEDS, `${JSON.stringify([...kept, seed], undefined, 2)}\n`);
}

/** Every kind of step, and every pair of state and event that a task may meet. */
export function neverMet({ steps, events }: Counters): readonly string[] {
  const pairs = allowedPairs().filter((pair) => !events.has(pair));
  const occasions = OCCASIONS.filter((occasion) => !events.has(occasion));
  return [...STEP_TYPES.filter((type) => !steps.has(type)), ...pairs, ...occasions];
}

/** What must have happened beside transitions, by the names that the oracle gives it. */
export const OCCASIONS: readonly string[] = [
  'orphan',
  'parked',
  'brought back',
  'parked again',
  'woken by time',
  'woken by a signal',
  'woken by a signal that was kept',
  'signal kept',
  'signal repeated',
  'woken by an event',
  'woken by an event of before',
  'event repeated',
  'event schedules',
  'event refused',
  'event starts a task',
  'set aside for its run',
  'canceled with the run that had set it aside',
  'checkpoint of one that is paused',
  'leased to decide while paused',
  'redriven with another input',
  'event wakes more than one step does',
  'woken by an event later',
  'event waited for in vain',
  'ask answered',
  'ask answered too late',
  'ask answered again by one call',
  'ask timed out',
  'sleep ended early',
  'woken by a failure',
  'woken when all had ended',
  'suspended by none that was left',
  'member stored by its run',
  'lease-lost',
  'graph-missing',
  'snapshot kept by a task',
  'snapshot expired',
  'checkpoint after a cancel',
  'time to start began with a release',
  'stored beside those it is not for',
  'cycle by an awaited id',
  'firing passes by another user',
  'channel written',
  'channel write refused',
  'channel write done before',
  'channel checkpoint sent again',
  'channel of a run that is gone',
  'value of a task',
  'value replaced',
  'value deleted',
  'value over',
  'value kept by a task',
  'schedule changed by others',
  'slot behind a decided one',
  'schedules held',
  'overdue slot taken',
  'schedule had moved on',
  'scheduler superseded',
  'firing created',
  'firing existing',
  'firing overlap',
  'firing over',
  'firing refused',
  'firing canceled another',
  'firing waits for another',
];

export function allowedPairs(): readonly string[] {
  return Object.entries(MOVES).flatMap(([event, { from }]) =>
    from.map((state) => `${state}:${event}`),
  );
}
