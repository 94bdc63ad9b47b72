import { type Fairloom, type RunHandle, WrongStateError } from 'fairloom';
import { pause } from './chaos-harness.ts';
import { type Shape, SIGNALED, shapesOf, type Token } from './run-shapes.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Witness } from './wakers.ts';

/** A run that was accepted. */
export interface AcceptedRun {
  readonly id: string;
  readonly shape: Shape;
  readonly input: Token;
  readonly handle: RunHandle<unknown>;
  /** A cancel was asked for while it may have run. */
  readonly isCanceled: boolean;
  /** What was seen by those that ended its waits. */
  witness?: Witness;
}

/** Runs that are open at once: enough that every worker has work. */
const OPEN = 16;
/** How often it looks whether runs have ended, in ms. */
const LOOK_MS = 100;
/** Pause before a call that failed is sent again, in ms. */
const AGAIN_MS = 50;
const USERS = 5;
/** One run in so many is canceled, this long after it was accepted at most, in ms. */
const CANCELED = 12;
const CANCEL_MS = 1_500;
/** A signal is sent this long after the one before at most, in ms. */
const SIGNAL_MS = 1_200;

interface RunProducerParts {
  readonly loom: Fairloom;
  readonly seeded: SeededRandom;
  readonly count: number;
  /** Those of `--runs` when it does not say. */
  readonly shapes?: readonly Shape[];
}

/** Enqueues so many runs with ids of its own, a few at a time, and waits for their ends. */
export class RunProducer {
  readonly accepted: AcceptedRun[] = [];
  /** Calls that failed and were sent again. */
  resent = 0;
  /** Errors that no outage explains. */
  readonly trouble: string[] = [];
  /** Every run has ended. */
  isDone = false;
  readonly #parts: RunProducerParts;
  #stopped = false;
  #running: Promise<void> | undefined;

  constructor(parts: RunProducerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** No more runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { seeded, count } = this.#parts;
    const shapes = shapesOf(seeded, this.#parts.shapes);
    const open = new Set<Promise<void>>();
    for (let made = 1; made <= count && !this.#stopped; made++) {
      while (open.size >= OPEN) await Promise.race(open);
      const one = this.#one(`r${made}`, shapes.next().value).finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.all(open);
    this.isDone = true;
  }

  async #one(id: string, shape: Shape): Promise<void> {
    const { seeded, loom } = this.#parts;
    const input = { v: seeded.between(1, 50), mark: 'input', left: seeded.between(0, 3) };
    const isCanceled = seeded.between(1, CANCELED) === 1;
    const cancelMs = seeded.between(50, CANCEL_MS);
    const user = `u${seeded.between(1, USERS)}`;
    const options = { ...shape.options, id, user };
    const enqueue = (): Promise<RunHandle<unknown>> =>
      loom.enqueue(shape.step as never, input as never, options as never) as never;
    const handle = await this.#insist('enqueue', enqueue);
    const run: AcceptedRun = { id, shape, input, handle, isCanceled };
    this.accepted.push(run);
    const waking = shape.wake?.({
      ...{ id, user, loom },
      insist: (operation, send) => this.#insist(operation, send),
      isOver: async () => this.#stopped || this.#hasEnded(id),
      chance: (most) => seeded.between(0, most),
    });
    if (isCanceled) {
      await pause(cancelMs);
      await this.#insist('cancel', () => loom.runs.cancel(id));
    }
    for (let sent = 1; sent <= (shape.signals ?? 0); sent++) {
      await pause(seeded.between(0, SIGNAL_MS));
      await this.#insist('signal', () => this.#signal(id, `go${sent}`));
    }
    while (!this.#stopped && !(await this.#hasEnded(id))) await pause(LOOK_MS);
    const witness = await waking;
    if (witness !== undefined) run.witness = witness;
  }

  /** Sent again under its id it counts once; a run that was canceled takes none. */
  async #signal(id: string, signalId: string): Promise<void> {
    try {
      await this.#parts.loom.signal(id, 'go', { v: SIGNALED }, { signalId });
    } catch (error) {
      if (!(error instanceof WrongStateError)) throw error;
    }
  }

  async #hasEnded(id: string): Promise<boolean> {
    const record = await this.#insist('get', () => this.#parts.loom.tasks.get(id));
    return ['finished', 'failed', 'canceled'].includes(record?.state ?? 'finished');
  }

  /** Sends the same call until it is answered: that is safe. */
  async #insist<T>(operation: string, send: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await send();
      } catch (error) {
        this.resent += 1;
        if (!mayPass(error)) {
          this.trouble.push(`${operation}: ${error}`);
          throw error;
        }
        await pause(AGAIN_MS);
      }
    }
  }
}

/** An outage: the same call may go well the next time. */
function mayPass(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}
