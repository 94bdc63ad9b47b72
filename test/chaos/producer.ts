import { type EnqueueOptions, type Fairloom, ref, type Task } from 'fairloom';
import { pause } from './chaos-harness.ts';
import type { SeededRandom } from './seeded-random.ts';

/** How an accepted task is to end. `any`: a cancel was asked for while it may have run. */
export type Expected = 'finished' | 'failed' | 'any';

interface Input {
  readonly ms: number;
  readonly fails?: number;
}

interface Order {
  readonly id: string;
  readonly name: 'work' | 'hopeless';
  readonly input: Input;
  readonly options: EnqueueOptions;
  readonly expected: Expected;
  readonly cancel: boolean;
}

const STEPS = {
  work: ref<Task<Input, unknown>>('work'),
  hopeless: ref<Task<Input, unknown>>('hopeless'),
};

/**
 * Waiting tasks that the producer keeps in store: enough that every worker has work, few enough
 * that a task that was lost is not seen to wait for its turn among them.
 */
const BACKLOG = 24;
/** How often it looks at the backlog, in ms. */
const LOOK_MS = 100;
const USERS = 12;
/** Handlers: most are short, some are longer than a lease. */
const SHORT_MS = { least: 20, most: 400 };
const LONG_MS = { least: 1_000, most: 2_500 };
/** Pause before an enqueue that failed is sent again, in ms. */
const AGAIN_MS = 50;

interface ProducerParts {
  readonly loom: Fairloom;
  readonly seeded: SeededRandom;
  readonly log: (line: string) => void;
}

/** Enqueues tasks with ids of its own until it is stopped; sends each until it is accepted. */
export class Producer {
  /** Id → how it is to end, of every accepted task. */
  readonly accepted = new Map<string, Expected>();
  /** Calls that failed and were sent again. */
  resent = 0;
  /** Errors that no outage explains. */
  readonly trouble: string[] = [];
  readonly #parts: ProducerParts;
  readonly #canceling = new Set<Promise<void>>();
  #made = 0;
  #stopped = false;
  #running: Promise<void> | undefined;

  constructor(parts: ProducerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Fulfilled when everything that was begun is accepted. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await Promise.all(this.#canceling);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const waiting = await this.#waiting();
      if (waiting < BACKLOG) await this.#send(BACKLOG - waiting);
      await pause(LOOK_MS);
    }
  }

  async #waiting(): Promise<number> {
    try {
      const { counts } = await this.#parts.loom.stats();
      return counts.queued + counts.deferred;
    } catch (error) {
      this.#failed('stats', error);
      return BACKLOG;
    }
  }

  async #send(count: number): Promise<void> {
    const orders: Order[] = [];
    for (let made = 0; made < count; made++) orders.push(this.#order());
    await Promise.all(orders.map((order) => this.#deliver(order)));
  }

  #order(): Order {
    const { seeded } = this.#parts;
    this.#made += 1;
    const id = `t${this.#made}`;
    const chance = seeded.next();
    const long = seeded.next() < 0.06;
    const { least, most } = long ? LONG_MS : SHORT_MS;
    const input = {
      ms: seeded.between(least, most),
      fails: chance < 0.08 ? seeded.between(1, 2) : 0,
    };
    const name = chance > 0.97 ? 'hopeless' : 'work';
    const cancel = chance > 0.08 && chance < 0.11;
    const usual = { id, user: `u${seeded.between(1, USERS)}`, priority: seeded.pick(LEVELS) };
    return {
      id,
      name,
      input,
      options: { ...usual, ...this.#when(chance) },
      expected: cancel ? 'any' : name === 'work' ? 'finished' : 'failed',
      cancel,
    };
  }

  /** Some wait for a moment, some for another task. */
  #when(chance: number): EnqueueOptions {
    const { seeded } = this.#parts;
    if (chance > 0.11 && chance < 0.19) return { delay: seeded.between(100, 3_000) };
    const earlier = `t${this.#made - seeded.between(1, 40)}`;
    if (chance < 0.19 || chance > 0.27 || !this.accepted.has(earlier)) return {};
    return {
      dependsOn: [earlier],
      onUpstreamFailure: 'run',
      onUpstreamCancel: 'run',
      allowCrossUser: true,
    };
  }

  async #deliver({ id, name, input, options, expected, cancel }: Order): Promise<void> {
    const { loom } = this.#parts;
    await this.#insist('enqueue', () => loom.enqueue(STEPS[name], input, options));
    this.accepted.set(id, expected);
    if (!cancel) return;
    const canceling = pause(input.ms * 3)
      .then(() => this.#insist('cancel', () => loom.tasks.cancel(id)))
      .finally(() => this.#canceling.delete(canceling));
    this.#canceling.add(canceling);
  }

  /** Sends the same call until it is answered: that is safe. */
  async #insist(operation: string, send: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await send();
        return;
      } catch (error) {
        this.#failed(operation, error);
        await pause(AGAIN_MS);
      }
    }
  }

  #failed(operation: string, error: unknown): void {
    this.resent += 1;
    const retryable = error instanceof Error && 'retryable' in error && error.retryable === true;
    if (!retryable) this.trouble.push(`${operation}: ${error}`);
  }
}

/** Mostly ordinary ones. */
const LEVELS = ['normal', 'normal', 'normal', 'high', 'low', 'critical'] as const;
