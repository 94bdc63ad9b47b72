import { Attempt, NOWHERE } from '../attempt/attempt.ts';
import type { SubRunner } from '../attempt/attempt-context.ts';
import type { AttemptHost } from '../attempt/attempt-host.ts';
import { Deadlines } from '../attempt/deadlines.ts';
import { strangerDecision } from '../attempt/decisions.ts';
import type { KeptJournal } from '../attempt/own-lease.ts';
import { type ParkedStack, ParkedStacks } from '../attempt/parked-stacks.ts';
import { wholeUpstreams } from '../attempt/upstream-facts.ts';
import { WriteBooks } from '../attempt/write-book.ts';
import { atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { ClosedError, InvalidPayloadError, LeaseLostError } from '../domain/errors/errors.ts';
import type {
  Backend,
  Decision,
  Leased,
  LeaseRef,
  Suspension,
  UpstreamFact,
} from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { PlanBook } from '../enqueue/attempt-plan.ts';
import type { CancelNotifier } from '../events/cancel-notifier.ts';
import type { HandlerSource } from '../handlers/handler-source.ts';
import type { Registry } from '../handlers/registry.ts';
import { NodeInput } from '../runs/dispatched/node-input.ts';
import { type DriveTools, drive, driveToolsOf, subRunnerOf } from '../runs/driven/drive.ts';
import type { NodeTools } from '../runs/driven/node-call.ts';
import type { GraphCache } from '../runs/shared/graph-cache.ts';
import { DRIVE_TASK, type RunPlace, runPlaceOf } from '../runs/shared/record.ts';
import { traceUnknownName } from '../tracing/spans/work.ts';
import type { Tracing } from '../tracing/trace.ts';
import type { Tracer } from '../tracing/tracer.ts';

/** What the slots tell their worker. */
export interface SlotsHost {
  /** A decision to settle; `attempt` is absent when none was begun. */
  settle(ref: LeaseRef, decision: Decision | Suspension, attempt?: Attempt): void;
  started(attempt: Attempt): void;
  /** A slot is free, or may be filled again. */
  freed(): void;
  misbehaved(operation: string, error: unknown): void;
}

interface SlotsParts extends NodeTools {
  readonly concurrency: number;
  readonly backend: Backend;
  readonly plans: PlanBook;
  readonly handlers: HandlerSource;
  readonly graphs: GraphCache;
  readonly registry: Registry;
  readonly tracer: Tracer | undefined;
  readonly cancels: CancelNotifier;
  readonly host: SlotsHost;
}

/**
 * The slots of one worker and what is in them. A slot is taken from the lease until the handler's
 * promise has settled, which may be later than its decision: a handler that ignores its signal
 * keeps its slot, and no other attempt of the same task runs beside it here.
 */
export class Slots implements AttemptHost<Attempt> {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly tracing: Tracing;
  readonly books: WriteBooks;
  readonly #parts: SlotsParts;
  readonly #deadlines: Deadlines;
  readonly #inputs: NodeInput;
  readonly #driveTools: DriveTools;
  readonly #stacks = new ParkedStacks();
  /**
   * Attempts whose leases are not settled yet, each at its `place`. No map: tables that are rehashed
   * under way refer to each other, so a collection of the young would keep what they held.
   */
  readonly #held: Attempt[] = [];
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
    this.tracing = parts;
    this.books = new WriteBooks(parts);
    this.#deadlines = new Deadlines(parts.clock);
    this.#inputs = new NodeInput(parts);
    this.#driveTools = driveToolsOf(parts);
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
    const running = this.#held.filter((attempt) => attempt.running);
    return [...running, ...this.#zombies.values()].map(({ taskId }) => taskId);
  }

  /** Attempts whose leases are not settled yet. */
  held(): readonly Attempt[] {
    return [...this.#held];
  }

  /** Whether a lease that somebody else names is held. */
  holds({ id, token }: LeaseRef): boolean {
    return this.#held.some(({ lease }) => lease.id === id && lease.token === token);
  }

  /** The attempt's lease is not held any more; false when it was not before. */
  forget(attempt: Attempt): boolean {
    if (!attempt.isHeld) return false;
    const { place } = attempt;
    const last = this.#held.pop();
    if (last !== undefined && last !== attempt) {
      this.#held[place] = last;
      last.place = place;
    }
    attempt.place = NOWHERE;
    return true;
  }

  /** Takes a lease in, or gives it back when nothing is to be started any more. */
  take(lease: Leased): void {
    const { handlers, plans, host } = this.#parts;
    const definition = handlers.definition(lease.name);
    if (this.#closing || definition === undefined) {
      if (!this.#closing) traceUnknownName(this.tracing, lease);
      host.settle(lease, this.#closing ? SHUT_DOWN : strangerDecision(handlers.names(), lease));
      return;
    }
    const plan = plans.planFor(definition, lease.options, lease.attemptSettings);
    const attempt = new Attempt(this, lease, definition, plan);
    attempt.place = this.#held.length;
    this.#held.push(attempt);
    this.#used++;
    if (lease.alone) this.#alone = attempt;
    this.#taken.push(attempt);
  }

  startTaken(): void {
    const taken = this.#taken;
    if (taken.length === 0) return;
    this.#taken = [];
    atRoot(() => {
      for (const attempt of taken) this.#start(attempt);
    });
  }

  /** Gives back what was not started, and starts nothing more. */
  close(): void {
    this.#closing = true;
    this.#stacks.leaveAll(new ClosedError('the worker'));
    const waiting = [...this.#taken, ...this.#waiting];
    this.#taken = [];
    this.#waiting.clear();
    for (const attempt of waiting) {
      attempt.giveBack({ type: 'shutdown' });
      this.#free(attempt);
    }
  }

  /** Asks every handler to end. */
  shutDown(): void {
    for (const attempt of this.held()) attempt.shutDown();
  }

  /** Drops what is still running: its results are not wanted any more, its leases lapse. */
  abandon(): readonly string[] {
    this.#stacks.leaveAll(new ClosedError('the worker'));
    const ids = this.runningIds();
    for (const attempt of this.held()) {
      this.forget(attempt);
      attempt.lose();
    }
    this.#deadlines.stop();
    return ids;
  }

  /** Somebody asked for its end. */
  cancel(attempt: Attempt, cause: Cause): void {
    if (!attempt.isHeld) return;
    attempt.cancel(cause);
    if (attempt.isDecided && this.#waiting.delete(attempt)) this.#free(attempt);
  }

  /** The lease is another's now. */
  lose(attempt: Attempt): void {
    this.forget(attempt);
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

  setDeadline(attempt: Attempt, ms: number, now: number): void {
    this.#deadlines.set(attempt, ms, now);
  }

  clearDeadline(attempt: Attempt): void {
    this.#deadlines.clear(attempt);
  }

  decided(attempt: Attempt, decision: Decision | Suspension): void {
    this.#parts.host.settle(attempt.lease, decision, attempt);
    if (attempt.running) this.#becomeZombie(attempt);
  }

  ended(attempt: Attempt): void {
    if (this.#zombies.get(attempt.taskId) === attempt) this.#zombies.delete(attempt.taskId);
    else this.#active--;
    this.#free(attempt);
  }

  parked(attempt: Attempt, suspension: Suspension, journal: KeptJournal): void {
    this.#stacks.keep(attempt, journal);
    this.#active--;
    this.#parts.host.settle(attempt.lease, suspension, attempt);
    this.#free(attempt);
    if (this.#closing) this.#stacks.leaveAll(new ClosedError('the worker'));
  }

  unparked(attempt: Attempt): void {
    this.#stacks.forget(attempt);
  }

  /** A task that waits will not be leased again: nobody goes on with its handler. */
  leaveParked(taskId: string, reason: Error): void {
    this.#stacks.leave(taskId, reason);
  }

  runnerOf(attempt: Attempt): SubRunner {
    return subRunnerOf(this.#driveTools, attempt);
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
    const stack = this.#stacks.take(attempt);
    if (stack === undefined) this.#begin(attempt);
    else void this.#goOn(attempt, stack);
  }

  /** A handler waited for this lease: it goes on, unless another worker has gone on without it. */
  async #goOn(fresh: Attempt, { attempt, journal }: ParkedStack): Promise<void> {
    let isSame = false;
    try {
      isSame = journal.isEqualTo(await this.#parts.backend.runs.load(fresh.taskId));
    } catch (error) {
      this.#parts.host.misbehaved(`read the journal of ${fresh.taskId}`, error);
      fresh.giveBack({ type: 'unread', what: 'journal' });
    }
    if (fresh.isDecided || !isSame) {
      attempt.leave(new LeaseLostError(fresh.taskId));
      if (fresh.isDecided) this.#drop(fresh);
      else this.#begin(fresh);
      return;
    }
    // The one that waited stands in for the one that was taken in.
    this.#held[fresh.place] = attempt;
    attempt.place = fresh.place;
    fresh.place = NOWHERE;
    if (this.#alone === fresh) this.#alone = attempt;
    attempt.resume(fresh.lease);
  }

  /** From the top. */
  #begin(attempt: Attempt): void {
    if (attempt.name === DRIVE_TASK) {
      this.#parts.host.started(attempt);
      attempt.startOwn((own) => drive(this.#driveTools, own));
      return;
    }
    const { upstreams } = attempt;
    if (upstreams.length > 0 && upstreams.some(({ cut }) => cut))
      void this.#startWithUpstreams(attempt);
    else this.#ready(attempt);
  }

  /** Everything that came with the lease is here; a node's input may have to be built of it. */
  #ready(attempt: Attempt): void {
    const place = runPlaceOf(attempt.lease.options);
    if (place?.late === true) void this.#startLate(attempt, place);
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
    atRoot(() => {
      for (const attempt of waiting) if (this.#waiting.delete(attempt)) this.#start(attempt);
    });
  }

  #becomeZombie(attempt: Attempt): void {
    this.#active--;
    this.#zombies.set(attempt.taskId, attempt);
    if (this.#waiting.size > 0) this.#retryWaiting();
  }

  /** Fetches what did not fit into the lease, one task at a time, then starts. */
  async #startWithUpstreams(attempt: Attempt): Promise<void> {
    let facts: readonly UpstreamFact[] | undefined = attempt.upstreams;
    try {
      facts = await wholeUpstreams(this.#parts.backend, facts);
    } catch (error) {
      this.#parts.host.misbehaved(`read the upstreams of ${attempt.taskId}`, error);
      attempt.giveBack({ type: 'unread', what: 'upstreams' });
    }
    if (facts === undefined) {
      const error = new InvalidPayloadError('$.upstream', 'results of more than 64 Mi characters');
      attempt.refuse({ error, failureType: 'invalid-payload', retryable: false });
    }
    attempt.upstreams = facts ?? [];
    if (attempt.isDecided) this.#drop(attempt);
    else this.#ready(attempt);
  }

  /** Builds the input of a node of a run, then starts. */
  async #startLate(attempt: Attempt, place: RunPlace): Promise<void> {
    const { lease, upstreams } = attempt;
    try {
      const input = await this.#inputs.build({ lease, place, upstreams });
      if (input.kind === 'input') attempt.payload = input.text;
      else if (input.kind === 'refused') attempt.refuse(input.failure);
      else if (input.kind === 'followed') attempt.follow(input.cause);
      else attempt.waitFor(input.waitFor);
    } catch (error) {
      this.#parts.host.misbehaved(`build the input of ${attempt.taskId}`, error);
      attempt.giveBack({ type: 'unread', what: 'input' });
    }
    if (attempt.isDecided) this.#drop(attempt);
    else this.#call(attempt);
  }

  /** It was decided before its handler was called. */
  #drop(attempt: Attempt): void {
    this.#active--;
    this.#free(attempt);
  }
}

const SHUT_DOWN: Decision = { type: 'release', cause: { type: 'shutdown' } };
