import { RunCanceledError } from 'fairloom';
import { ChaosHarness, pause } from './chaos-harness.ts';
import { type Done, Faults } from './faults.ts';
import { type ChaosOptions, canStrike, type FaultKind } from './options.ts';
import { placeOf } from './place.ts';
import { aftermath, drain } from './programme.ts';
import { type AcceptedRun, RunProducer } from './run-producer.ts';
import { judgeRuns, type RunEnd, type RunVerdict } from './run-verdict.ts';
import { SeededRandom } from './seeded-random.ts';
import { WAIT_SHAPES } from './wait-shapes.ts';

/** What a programme of runs came to. */
export interface RunsReport {
  readonly seed: number;
  readonly seconds: number;
  /** What the tasks live in. */
  readonly place: string;
  readonly faults: readonly Done[];
  readonly verdict: RunVerdict;
  /** Calls of the producer that failed in an outage and were sent again. */
  readonly resent: number;
  /** Tasks that are open, drift in the indexes, ends of processes that no fault explains, and more. */
  readonly trouble: readonly string[];
}

/** The faults in the order in which the seed shuffles them, again and again: most of them kills. */
const MIX: readonly FaultKind[] = [
  ...Array.from({ length: 10 }, () => 'kill' as const),
  ...(['term', 'term', 'stop', 'stop', 'flush', 'cut', 'cut', 'redis-restart'] as const),
];

/** All runs must have ended by then, in ms, for any number of them. */
const PATIENCE_MS = 120_000;
/** And so long for each. */
const RUN_MS = 4_000;
/** A line about the state of affairs after so many faults. */
const SAY_EVERY = 25;

/** Hurts workers and server until so many runs have ended, and judges what is left. */
export async function runWorkflowChaos(options: ChaosOptions): Promise<RunsReport> {
  const started = performance.now();
  const harness = await ChaosHarness.open(options);
  const place = placeOf(harness);
  const { loom } = place;
  try {
    const seeded = new SeededRandom(options.seed);
    const producer = new RunProducer({
      loom,
      seeded: new SeededRandom(options.seed + 1),
      count: options.runs,
      ...(options.waits > 0 ? { shapes: WAIT_SHAPES } : {}),
    });
    producer.start();
    await harness.until(() => harness.inFlight().length > 0);
    const faults = new Faults({ harness, seeded, options, place });
    const done = await strikeUntilDone(faults, { seeded, options, producer });
    await faults.settle();
    await producer.stop();
    const trouble = [...producer.trouble, ...(await drain(loom, harness))];
    const ends = await endsOf(producer.accepted);
    // One that is only just starting does not know yet how to leave.
    await harness.until(() => harness.able().length === options.workers);
    trouble.push(...(await aftermath(loom, harness, done)));
    return {
      seed: options.seed,
      seconds: Math.round((performance.now() - started) / 1000),
      place: await place.described(),
      faults: done,
      verdict: judgeRuns({ runs: producer.accepted, ends, lines: harness.lines }),
      resent: producer.resent,
      trouble,
    };
  } finally {
    await place.close();
    await harness.close();
  }
}

interface StrikeParts {
  readonly seeded: SeededRandom;
  readonly options: ChaosOptions;
  readonly producer: RunProducer;
}

async function strikeUntilDone(
  faults: Faults,
  { seeded, options, producer }: StrikeParts,
): Promise<readonly Done[]> {
  const deadline = Date.now() + PATIENCE_MS + options.runs * RUN_MS;
  const done: Done[] = [];
  let left: readonly FaultKind[] = [];
  while (!producer.isDone && Date.now() < deadline) {
    await pause(seeded.between(options.paceMs * 0.5, options.paceMs * 1.5));
    if (left.length === 0) {
      left = seeded.shuffled(MIX.filter((kind) => canStrike(kind, options.backend)));
    }
    const [kind = 'kill', ...others] = left;
    left = others;
    done.push(await faults.strike(kind));
    if (done.length % SAY_EVERY === 0) {
      options.log(
        `${done.length} faults, ${producer.accepted.length} of ${options.runs} runs sent`,
      );
    }
  }
  return done;
}

async function endsOf(runs: readonly AcceptedRun[]): Promise<ReadonlyMap<string, RunEnd>> {
  const ends = new Map<string, RunEnd>();
  for (const { id, handle } of runs) {
    const end = handle.result({ timeout: 1_000 }).then(
      (output): RunEnd => ({ state: 'finished', output }),
      (error: Error): RunEnd => {
        if (error.name === 'ResultTimeoutError') return { state: 'open' };
        const state = error instanceof RunCanceledError ? 'canceled' : 'failed';
        return { state, message: error.message };
      },
    );
    ends.set(id, await end);
  }
  return ends;
}
