import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { Backend, Decision, Leased, LeaseRef, UpstreamFact } from '../domain/backend.ts';
import { InvalidPayloadError, UnknownTaskError } from '../domain/errors.ts';
import { Attempt, type AttemptHost } from './attempt.ts';
import type { PlanBook } from './attempt-plan.ts';
import type { ValueCodec } from './codec.ts';
import { Deadlines } from './deadlines.ts';
import type { HandlerSource } from './handler-source.ts';

/** What the slots tell their worker. */
export interface SlotsHost {
  /** A decision to settle; `attempt` is absent when none was begun. */
  settle(ref: LeaseRef, decision: Decision): void;
  started(attempt: Attempt): void;
  /** A slot is free, or may be filled again. */
  freed(): void;
  misbehaved(operation: string, error: unknown): void;
}

interface SlotsParts {
  readonly concurrency: number;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly plans: PlanBook;
  readonly handlers: HandlerSource;
  readonly host: SlotsHost;
}

/** Upstream results that one task is given at most, in UTF-16 units (64 Mi): they are all in memory. */
const UPSTREAM_UNITS = 67_108_864;

/**
 * The slots of one worker and what is in them. A slot is taken from the lease until the handler's
 * promise has settled, which may be later than its decision: a handler that ignores its signal
 * keeps its slot, and no other attempt of the same task runs beside it here.
 */
export class Slots implements AttemptHost {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly #parts: SlotsParts;
  readonly #deadlines: Deadlines;
  /**
   * Leases that are not settled yet, each by its very object: that is cheaper than a text of id
   * and token, and what is settled or extended brings it along.
   */
  readonly #held = new Map<LeaseRef, Attempt>();
  /** Attempts whose decision is made and whose handlers go on, by task. */
  readonly #zombies = new Map<string, Attempt>();
  /** Leased, and not to be started yet: a zombie of the task, or others beside the last chance. */
  readonly #waiting = new Set<Attempt>();
  /** Taken in with the latest reply, to be started. */
  #taken: Attempt[] = [];
  /** Slots in use. */
  #used = 0;
  /** Handlers that run and are not zombies. */
  #active = 0;
  /** A task on its last chance: nothing is leased until it has ended. */
  #alone: Attempt | undefined;
  /** Nothing is leased or started any more. */
  #closing = false;

  constructor(parts: SlotsParts) {
    this.#parts = parts;
    this.codec = parts.codec;
    this.log = parts.log;
    this.#deadlines = new Deadlines(parts.clock);
  }

  get used(): number {
    return this.#used;
  }

  /** Slots that a lease may fill now. */
  get free(): number {
    if (this.#closing || this.#alone !== undefined) return 0;
    return Math.max(0, this.#parts.concurrency - this.#used);
  }

  /** Tasks whose handlers are running, zombies included. */
  runningIds(): readonly string[] {
    const running = [...this.#held.values()].filter((attempt) => attempt.running);
    return [...running, ...this.#zombies.values()].map(({ taskId }) => taskId);
  }

  held(): readonly LeaseRef[] {
    return [...this.#held.keys()];
  }

  get holdsAny(): boolean {
    return this.#held.size > 0;
  }

  /** The attempt that holds this lease, unless it was settled. Only `held` gives such a reference. */
  holder(ref: LeaseRef): Attempt | undefined {
    return this.#held.get(ref);
  }

  /** Whether a lease that somebody else names is held. */
  holds({ id, token }: LeaseRef): boolean {
    return [...this.#held.keys()].some((ref) => ref.id === id && ref.token === token);
  }

  /** The lease is not held any more. */
  forget(ref: LeaseRef): void {
    this.#held.delete(ref);
  }

  /** Takes a lease in, or gives it back when nothing is to be started any more. */
  take(lease: Leased): void {
    const { handlers, plans, host } = this.#parts;
    const definition = handlers.definition(lease.name);
    if (this.#closing || definition === undefined) {
      host.settle(lease, this.#giveBack(lease));
      return;
    }
    const plan = plans.planFor(definition, lease.options);
    const attempt = new Attempt(this, lease, definition, plan);
    this.#held.set(lease, attempt);
    this.#used++;
    if (lease.alone) this.#alone = attempt;
    this.#taken.push(attempt);
  }

  startTaken(): void {
    const taken = this.#taken;
    if (taken.length === 0) return;
    this.#taken = [];
    for (const attempt of taken) this.#start(attempt);
  }

  /** Gives back what was not started, and starts nothing more. */
  close(): void {
    this.#closing = true;
    const waiting = [...this.#taken, ...this.#waiting];
    this.#taken = [];
    this.#waiting.clear();
    for (const attempt of waiting) {
      attempt.giveBack('the worker shuts down');
      this.#free(attempt);
    }
  }

  /** Asks every handler to end. */
  shutDown(): void {
    for (const attempt of [...this.#held.values()]) attempt.shutDown();
  }

  /** Drops what is still running: its results are not wanted any more, its leases lapse. */
  abandon(): readonly string[] {
    const ids = this.runningIds();
    for (const attempt of [...this.#held.values()]) attempt.lose();
    this.#held.clear();
    this.#deadlines.stop();
    return ids;
  }

  /** Somebody asked for its end. */
  cancel(attempt: Attempt, reason: string): void {
    attempt.cancel(reason);
    if (attempt.isDecided && this.#waiting.delete(attempt)) this.#free(attempt);
  }

  /** The lease is another's now. */
  lose(attempt: Attempt): void {
    this.#held.delete(attempt.lease);
    const wasDecided = attempt.isDecided;
    attempt.lose();
    if (this.#waiting.delete(attempt)) this.#free(attempt);
    else if (attempt.running && !wasDecided) this.#becomeZombie(attempt);
  }

  random(): number {
    return this.#parts.random();
  }

  now(): number {
    return this.#parts.clock.now();
  }

  setDeadline(attempt: Attempt, ms: number): void {
    this.#deadlines.set(attempt, ms);
  }

  clearDeadline(attempt: Attempt): void {
    this.#deadlines.clear(attempt);
  }

  decided(attempt: Attempt, decision: Decision): void {
    this.#parts.host.settle(attempt.lease, decision);
    if (attempt.running) this.#becomeZombie(attempt);
  }

  ended(attempt: Attempt): void {
    if (this.#zombies.get(attempt.taskId) === attempt) this.#zombies.delete(attempt.taskId);
    else this.#active--;
    this.#free(attempt);
  }

  misbehaved(operation: string, error: unknown): void {
    this.#parts.host.misbehaved(operation, error);
  }

  #start(attempt: Attempt): void {
    if (attempt.isDecided) {
      this.#free(attempt);
      return;
    }
    if (this.#mustWait(attempt)) {
      this.#waiting.add(attempt);
      return;
    }
    this.#active++;
    if (attempt.lease.upstreams.some(({ cut }) => cut)) void this.#startWithUpstreams(attempt);
    else this.#call(attempt);
  }

  #call(attempt: Attempt): void {
    const handler = this.#parts.handlers.handler(attempt.definition);
    this.#parts.host.started(attempt);
    attempt.start(handler);
  }

  #mustWait(attempt: Attempt): boolean {
    if (this.#zombies.has(attempt.taskId)) return true;
    return this.#alone === attempt && this.#active > 0;
  }

  #free(attempt: Attempt): void {
    this.#used--;
    if (this.#alone === attempt) this.#alone = undefined;
    if (this.#waiting.size > 0) this.#retryWaiting();
    this.#parts.host.freed();
  }

  #retryWaiting(): void {
    const waiting = [...this.#waiting].filter((attempt) => !this.#mustWait(attempt));
    for (const attempt of waiting) {
      if (this.#waiting.delete(attempt)) this.#start(attempt);
    }
  }

  #becomeZombie(attempt: Attempt): void {
    this.#active--;
    this.#zombies.set(attempt.taskId, attempt);
    if (this.#waiting.size > 0) this.#retryWaiting();
  }

  #giveBack(lease: Leased): Decision {
    const { handlers } = this.#parts;
    if (this.#closing) return { type: 'release', reason: 'the worker shuts down' };
    const known = handlers.names().join(', ');
    const { message } = new UnknownTaskError(lease.name);
    return { type: 'release', delayMs: 1_000, reason: `${message} (${known})` };
  }

  /** Fetches what did not fit into the lease, one task at a time, then starts. */
  async #startWithUpstreams(attempt: Attempt): Promise<void> {
    const facts: UpstreamFact[] = [];
    let units = 0;
    try {
      for (const fact of attempt.lease.upstreams) {
        const full = fact.cut ? await this.#fetch(fact) : fact;
        units += full.result?.length ?? 0;
        if (units > UPSTREAM_UNITS) break;
        facts.push(full);
      }
    } catch (error) {
      this.#parts.host.misbehaved(`read the upstreams of ${attempt.taskId}`, error);
      attempt.giveBack('its upstreams could not be read');
    }
    if (units > UPSTREAM_UNITS) {
      const error = new InvalidPayloadError('$.upstream', 'results of more than 64 Mi characters');
      attempt.refuse({ error, failureType: 'invalid-payload', retryable: false });
    }
    if (attempt.isDecided) {
      this.#active--;
      this.#free(attempt);
      return;
    }
    attempt.upstreams = facts;
    this.#call(attempt);
  }

  async #fetch(fact: UpstreamFact): Promise<UpstreamFact> {
    const [record] = await this.#parts.backend.inspect.get([fact.id]);
    const whole = { id: fact.id, name: fact.name, cut: false };
    if (record === undefined) return { ...whole, state: 'missing' };
    const { result, error } = record;
    return {
      ...whole,
      state: fact.state,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
  }
}
