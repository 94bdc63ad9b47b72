import type { AttemptInfo, Fairloom } from 'fairloom';
import { ChaosHarness, pause } from './chaos-harness.ts';
import { type Done, Faults } from './faults.ts';
import { type ChaosOptions, FAULT_KINDS } from './options.ts';
import { placeOf } from './place.ts';
import { Producer } from './producer.ts';
import { type Line, recoveryOf, tasksHit } from './recovery.ts';
import { SeededRandom } from './seeded-random.ts';
import { judge, type Verdict } from './verdict.ts';

/** What a run came to. */
export interface ChaosReport {
  readonly seed: number;
  readonly seconds: number;
  /** What the tasks live in. */
  readonly place: string;
  /** Kills of the process that owned the data folder. */
  readonly owners: number;
  readonly lines: readonly Line[];
  readonly verdict: Verdict;
  /** Calls of the producer that failed in an outage and were sent again. */
  readonly resent: number;
  /** Ends of processes that no fault explains, drift in the indexes, errors that no fault explains. */
  readonly trouble: readonly string[];
}

/** Everything that was accepted must have ended this long after the last fault, in ms. */
const DRAIN_MS = 90_000;
/** How often the drain is looked at, in ms. */
const LOOK_MS = 200;
/** A line about the state of affairs after so many faults. */
const SAY_EVERY = 25;

/** Runs the faults in an order that the seed decides, and judges what is left. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const started = performance.now();
  const harness = await ChaosHarness.open(options);
  const place = placeOf(harness);
  const { loom } = place;
  try {
    const seeded = new SeededRandom(options.seed);
    const producer = new Producer({
      loom,
      seeded: new SeededRandom(options.seed + 1),
      log: options.log,
    });
    producer.start();
    await harness.until(() => harness.inFlight().length > 0);
    const faults = new Faults({ harness, seeded, options, place });
    const done = await strikeAll(faults, seeded, options, harness);
    await faults.settle();
    await producer.stop();
    const trouble = [...producer.trouble, ...(await drain(loom, harness))];
    const verdict = await judge({ loom, history: harness.history, accepted: producer.accepted });
    const attempts = await attemptsOf(loom, tasksHit(done));
    trouble.push(...(await aftermath(loom, harness, done)));
    return {
      seed: options.seed,
      seconds: Math.round((performance.now() - started) / 1000),
      place: await place.described(),
      owners: done.filter(({ wasOwner }) => wasOwner === true).length,
      lines: recoveryOf({ faults: done, history: harness.history, attempts }),
      verdict,
      resent: producer.resent,
      trouble,
    };
  } finally {
    await place.close();
    await harness.close();
  }
}

async function strikeAll(
  faults: Faults,
  seeded: SeededRandom,
  options: ChaosOptions,
  harness: ChaosHarness,
): Promise<readonly Done[]> {
  const kinds = FAULT_KINDS.flatMap((kind) =>
    Array.from({ length: options.faults[kind] }, () => kind),
  );
  const done: Done[] = [];
  for (const kind of seeded.shuffled(kinds)) {
    await pause(seeded.between(options.paceMs * 0.5, options.paceMs * 1.5));
    done.push(await faults.strike(kind));
    if (done.length % SAY_EVERY === 0) {
      options.log(`${done.length} of ${kinds.length} faults, ${harness.history.starts} starts`);
    }
  }
  return done;
}

/** Waits until nothing is left to do; says what is left when it does not end. */
export async function drain(loom: Fairloom, harness: ChaosHarness): Promise<readonly string[]> {
  const deadline = Date.now() + DRAIN_MS;
  for (;;) {
    harness.look();
    const { counts } = await loom.stats();
    const { scheduled, deferred, queued, started } = counts;
    if (scheduled + deferred + queued + started === 0) return [];
    if (Date.now() > deadline) return [`not drained: ${JSON.stringify(counts)}`];
    await pause(LOOK_MS);
  }
}

async function attemptsOf(
  loom: Fairloom,
  tasks: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly AttemptInfo[]>> {
  const attempts = new Map<string, readonly AttemptInfo[]>();
  for (const task of tasks) attempts.set(task, await loom.tasks.attempts(task));
  return attempts;
}

export async function aftermath(
  loom: Fairloom,
  harness: ChaosHarness,
  done: readonly Done[],
): Promise<readonly string[]> {
  const { drift } = await loom.reconcile({ repair: false });
  const rude = await harness.dismissAll();
  harness.look();
  const troubles = done.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble]));
  return [...harness.crashes, ...troubles, ...rude, ...drift.map((line) => `drift: ${line}`)];
}
