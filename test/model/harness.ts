/**
 * Runs one history against backends and the oracle at once. After each step every answer and the
 * whole visible state must be what the oracle says, and the invariants must hold.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { Retention } from '../../src/domain/fairness/settings.ts';
import type {
  Backend,
  DueReply,
  FireRequest,
  LeaseReply,
  LeaseRequest,
  Settlement,
} from '../../src/domain/port/backend.ts';
import { isEnd } from '../../src/domain/task/task.ts';
import { type Call, forecast, send } from './calls.ts';
import { Client } from './client.ts';
import {
  CROWD_LEASE,
  CROWD_LEASES,
  CROWD_USER,
  CROWD_WORKER,
  crowdEvent,
  crowdSettlements,
  crowdTasks,
} from './crowd.ts';
import { DRAINER, farewell, obstacles } from './drain.ts';
import { Ledger } from './ledger.ts';
import { expectedLists, listsOf } from './lists.ts';
import { Oracle } from './oracle/oracle.ts';
import { mayReturnTo } from './oracle/snapshots.ts';
import { areNoneOver } from './oracle/xcom.ts';
import { mustBeSame, NotLater } from './same.ts';
import { ownerName } from './schedulers.ts';
import { compareStates, expectedState, stateOf } from './state.ts';
import { QUEUES, type Step } from './steps.ts';

/** A backend whose time is set by hand. */
export interface Subject {
  readonly name: string;
  readonly backend: Backend;
  /** How it was opened; the same of all subjects of one history. */
  readonly retention: Retention;
  setClock(ms: number): void | Promise<void>;
  /** Forgets its scripts, if it has any. */
  flush?(): Promise<void>;
  /** What is still stored when nothing should be; keys that no live object owns. */
  residue?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Short enough that histories see records go, and by age as well as by number. */
export const RETENTION: Retention = {
  finishedMs: 86_400_000,
  failedMs: 604_800_000,
  canceledMs: 60_000,
  canceledCount: 5,
};

/** Some Tuesday; the number only has to be large, as real clocks are. */
export const START_MS = 1_800_000_000_000;

/** Schedules that a scheduler asks for before it fires one. */
const ASKED = 3;

/** How long a scheduler of a history sleeps at most. */
const ASLEEP_MS = 120_000;

/** A history that is over must come to rest within so many rounds of work. */
const DRAIN_ROUNDS = 400;

/** Longer than any value of a history is kept, and than it takes to notice. */
const VALUE_MS = 4_000_000;

/** … and after so many steps past retention nothing of it is left. */
const FORGET_PASSES = 20;

export interface Counters {
  /** How often each step was taken … */
  readonly steps: Map<string, number>;
  /** … and each pair of state and event was met. */
  readonly events: Map<string, number>;
}

export function newCounters(): Counters {
  return { steps: new Map(), events: new Map() };
}

export class Harness {
  readonly #subjects: readonly Subject[];
  readonly #counters: Counters;
  readonly #oracle: Oracle;
  readonly #client = new Client();
  readonly #ledger = new Ledger();
  #clock = START_MS;
  #crowds = 0;
  /** The latest moment that it ever was: values that were pushed then may outlive a step back. */
  #latest = 0;

  constructor(subjects: readonly Subject[], counters: Counters) {
    this.#subjects = subjects;
    this.#counters = counters;
    const leastMs = subjects.some((one) => one.backend.capabilities.shared) ? 60_000 : 1_000;
    this.#oracle = new Oracle(START_MS, subjects[0]?.retention ?? RETENTION, leastMs);
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#setClock(START_MS);
    for (const [at, step] of steps.entries()) {
      await within(`step ${at}: ${JSON.stringify(step)}`, () => this.#step(step));
    }
    await within('the end, when all faults have stopped', () => this.#drain());
  }

  async #step(step: Step): Promise<void> {
    count(this.#counters.steps, step.type);
    const client = this.#client;
    switch (step.type) {
      case 'lease':
        await this.#ready(step.worker);
        return this.#lease(step.worker, client.leaseRequest(step));
      case 'resendLease': {
        const { request } = client.worker(step.worker);
        if (request === undefined) return;
        await this.#ready(step.worker);
        return this.#lease(step.worker, request);
      }
      case 'settle':
        return this.#settle(step);
      case 'resendSettle': {
        const request = client.lastSettle;
        if (request === undefined || !this.#oracle.world.workers.has(request.worker)) return;
        return this.#call({ type: 'settle', request });
      }
      case 'extend':
        await this.#ready(step.worker);
        return this.#call({ type: 'extend', request: client.extendRequest(step) });
      case 'dueSchedules':
        return this.#askDue(step.owner, step.limit);
      case 'fire': {
        if (step.asks === 'when due') await this.#sleepUntilDue();
        if (step.asks !== 'not') await this.#askDue(step.owner, ASKED);
        const request = client.schedulers.request(step, client.ids, this.#oracle.world);
        return this.#fire(request);
      }
      case 'resendFire':
        return this.#fire(client.schedulers.lastFire);
      case 'publish':
        return this.#publish(step);
      case 'crowd':
        return this.#crowd(step.cancels);
      case 'register':
        client.worker(step.worker).spec = step.spec;
        return this.#register(step.worker, step.starts);
      case 'lose':
        return client.lose(step.worker);
      case 'reconcile':
        await this.#notice();
        await this.#mustNotDrift(step.repair);
        return this.#check();
      case 'advance':
        return this.#pass(this.#clock + step.ms);
      case 'advanceTo':
        if (this.#oracle.nextDueAt === undefined) return;
        return this.#pass(this.#oracle.nextDueAt + step.offset);
      case 'flush':
        for (const subject of this.#subjects) await subject.flush?.();
        return;
      default: {
        const call = client.call(step, this.#oracle.world);
        return call && this.#call(call);
      }
    }
  }

  async #settle(step: Extract<Step, { readonly type: 'settle' }>): Promise<void> {
    const client = this.#client;
    await this.#ready(step.worker);
    const settlements = client.settlements(step.worker, step.settlements, this.#oracle.world);
    if (settlements.length === 0) return;
    const lease = step.lease && client.leaseRequest({ ...step.lease, worker: step.worker });
    const { id } = client.worker(step.worker);
    const request = { worker: id, settlements, ...(lease === undefined ? {} : { lease }) };
    client.lastSettle = request;
    const reply = await this.#answer({ type: 'settle', request });
    client.settled(step.worker, settlements);
    const given = (reply as { readonly lease?: LeaseReply }).lease;
    if (lease !== undefined && given !== undefined) this.#given(step.worker, lease, given);
    await this.#check();
  }

  async #publish(step: Extract<Step, { readonly type: 'publish' }>): Promise<void> {
    const { world } = this.#oracle;
    const { user, event } = step;
    const starts = this.#client.schedulers.starts(step, this.#client.ids, world);
    const tasks = starts.flatMap(({ task }) => task ?? []);
    const known = new Set(world.tasks.keys());
    this.#client.used(tasks.map(({ id }) => id));
    await this.#answer({ type: 'publish', user, event, starts });
    const now = this.#oracle.world.tasks;
    this.#ledger.stored(tasks.filter(({ id }) => now.has(id) && !known.has(id)));
    await this.#check();
  }

  async #crowd(cancels: boolean): Promise<void> {
    const nth = ++this.#crowds;
    const tasks = crowdTasks(nth);
    const ids = tasks.map(({ id }) => id);
    this.#client.used(ids);
    await this.#answer({ type: 'enqueue', tasks, options: { atomic: false } });
    await this.#answer({ type: 'register', spec: CROWD_WORKER, starts: true });
    const queues = CROWD_WORKER.queues.map((queue) => ({ queue, weight: 1, pass: 0 }));
    const worker = CROWD_WORKER.id;
    for (let call = 0; call < CROWD_LEASES; call++) {
      const requestId = `crowd${nth}.${call}`;
      const request = {
        requestId,
        worker,
        limit: CROWD_LEASE,
        leaseMs: 60_000,
        queues,
        wait: false,
      };
      const reply = (await this.#answer({ type: 'lease', request })) as LeaseReply;
      this.#ledger.leased(reply);
      const settlements = crowdSettlements(reply.leases);
      if (settlements.length === 0) break;
      await this.#answer({ type: 'settle', request: { worker, settlements } });
    }
    await this.#call({
      type: 'publish',
      user: CROWD_USER,
      event: crowdEvent(nth),
      starts: [],
    });
    const left = (): readonly string[] =>
      ids.filter((id) => this.#oracle.record(id)?.state === 'deferred');
    // Those that would go on next are canceled first.
    if (cancels) for (const id of left().slice(0, 2)) await this.#endOf(id);
    await this.#call({ type: 'tick' });
    deepStrictEqual(left(), [], 'a crowd waits on');
    // They go at once: so many would take several steps of retention.
    for (const id of ids) await this.#endOf(id);
    await this.#check();
    this.#client.forget(ids);
  }

  async #endOf(id: string): Promise<void> {
    await this.#answer({ type: 'cancel', id, cause: { type: 'request' } });
    await this.#answer({ type: 'remove', id });
  }

  async #lease(worker: number, request: LeaseRequest): Promise<void> {
    const reply = await this.#answer({ type: 'lease', request });
    this.#given(worker, request, reply as LeaseReply);
    await this.#check();
  }

  async #askDue(at: number, limit: number): Promise<void> {
    const owner = ownerName(at);
    const reply = await this.#answer({ type: 'dueSchedules', request: { owner, limit } });
    this.#client.schedulers.told(owner, reply as DueReply);
  }

  /** As a scheduler does; not for days, which would end all that the history is about. */
  async #sleepUntilDue(): Promise<void> {
    const moments = this.#oracle.schedules().flatMap(({ next }) => next?.dueAt ?? []);
    const first = Math.min(...moments);
    if (first > this.#clock && first < this.#clock + ASLEEP_MS) await this.#pass(first);
  }

  async #fire(request: FireRequest | undefined): Promise<void> {
    if (request === undefined) return;
    this.#client.schedulers.lastFire = request;
    this.#client.used(request.firings.map(({ task }) => task.id));
    return this.#call({ type: 'fire', request });
  }

  #given(worker: number, request: LeaseRequest, reply: LeaseReply): void {
    this.#client.given(worker, request, reply.leases);
    this.#ledger.leased(reply);
  }

  /** A worker registers before its first lease, and again when it was forgotten. */
  async #ready(at: number): Promise<void> {
    const worker = this.#client.worker(at);
    if (worker.registered && this.#oracle.world.workers.has(worker.id)) return;
    await this.#register(at);
  }

  async #register(at: number, starts = false): Promise<void> {
    this.#client.worker(at).registered = true;
    await this.#call({ type: 'register', spec: this.#client.spec(at), starts });
  }

  async #call(call: Call): Promise<void> {
    await this.#answer(call);
    await this.#check();
  }

  /** The oracle's answer, which is that of every backend. */
  async #answer(call: Call): Promise<unknown> {
    const expected = forecast(this.#oracle, call);
    const wanted = orEarlier(expected);
    for (const { name, backend } of this.#subjects) {
      const actual = await send(backend, call);
      await within(`${name} answers ${call.type}`, async () => mustBeSame(actual, wanted));
    }
    this.#ledger.answered(call, expected);
    for (const event of this.#oracle.world.happened.splice(0)) count(this.#counters.events, event);
    return expected;
  }

  async #check(): Promise<void> {
    const { ids } = this.#client;
    const expected = expectedState(this.#oracle, ids);
    for (const { name, backend } of this.#subjects) {
      const actual = await stateOf(backend, ids);
      await within(`${name} shows`, async () => compareStates(actual, expected));
    }
    // What every backend shows, since it is the same.
    const waiting = [...this.#oracle.world.tasks.values()].filter(
      ({ wait, asideFor }) => wait !== undefined || asideFor !== undefined,
    );
    this.#ledger.check(expected, new Set(waiting.map(({ id }) => id)));
    this.#ledger.seen(expected);
  }

  /** Time passes, and that is taken notice of. */
  async #pass(ms: number): Promise<void> {
    // How soon it is noticed that a snapshot or a value is over is the backend's own affair, too.
    const { world } = this.#oracle;
    if (ms < this.#clock && !(mayReturnTo(world, ms) && areNoneOver(world))) return;
    await this.#setClock(ms);
    await this.#notice();
  }

  /** A step that changes nothing: whether one that is refused, or looks, sees the time is the backend's own affair. */
  #notice(): Promise<void> {
    return this.#call({ type: 'setQueue', queue: QUEUES[0] ?? '', patch: {} });
  }

  async #setClock(ms: number): Promise<void> {
    this.#clock = ms;
    this.#latest = Math.max(this.#latest, ms);
    this.#oracle.clock = ms;
    for (const subject of this.#subjects) await subject.setClock(ms);
  }

  /** I9: with every obstacle gone and workers that do their work, everything comes to an end. */
  async #drain(): Promise<void> {
    await this.#audit();
    for (const call of obstacles(this.#oracle)) await this.#call(call);
    for (let round = 0; round < DRAIN_ROUNDS; round += 1) {
      if (!this.#oracle.world.workers.has(DRAINER.id)) {
        await this.#call({ type: 'register', spec: DRAINER, starts: true });
      }
      const reply = await this.#answer({ type: 'lease', request: this.#drainRequest(round) });
      const { leases } = reply as LeaseReply;
      this.#ledger.leased(reply as LeaseReply);
      const settlements = leases.map(({ id, token }): Settlement => {
        return { id, token, decision: { type: 'finish', result: '1' } };
      });
      if (settlements.length > 0) {
        // Answers are compared in each round; what is shown, in every other.
        await this.#call({ type: 'settle', request: { worker: DRAINER.id, settlements } });
      } else if (this.#oracle.stats().counts.queued > 0) {
        // What depended on a member without a run is in line from the end of this lease on.
      } else if (this.#oracle.nextDueAt === undefined) {
        return this.#atRest();
      } else {
        await this.#setClock(Math.max(this.#clock, this.#oracle.nextDueAt));
      }
    }
    throw new Error(`I9: not at rest after ${DRAIN_ROUNDS} rounds`);
  }

  #drainRequest(round: number): LeaseRequest {
    const requestId = `drain${String(round).padStart(5, '0')}`;
    const queues = DRAINER.queues.map((queue) => ({ queue, weight: 1, pass: 0 }));
    return { requestId, worker: DRAINER.id, limit: 40, leaseMs: 60_000, queues, wait: false };
  }

  /** Everything has ended; past retention nothing is left, not even a trace of who was served. */
  async #atRest(): Promise<void> {
    const live = this.#oracle.records().filter(({ state }) => !isEnd(state));
    deepStrictEqual(live, [], 'I9');
    await this.#audit();
    for (const call of farewell(this.#oracle)) await this.#call(call);
    // In turns: what a failed task read can go once that task is gone.
    for (let pass = 0; pass < FORGET_PASSES && this.#oracle.records().length > 0; pass += 1) {
      const ends = this.#oracle.records().map(({ endedAt }) => endedAt ?? 0);
      await this.#setClock(Math.max(this.#clock, ...ends) + RETENTION.failedMs);
      await this.#call({ type: 'tick' });
    }
    // Once more, for what only waited for the last of them, and for values, which go by themselves.
    await this.#setClock(Math.max(this.#clock, this.#latest) + VALUE_MS);
    await this.#call({ type: 'tick' });
    await this.#audit();
    deepStrictEqual(this.#oracle.records(), [], 'past retention');
    for (const { name, residue } of this.#subjects) {
      deepStrictEqual(await residue?.(), residue && [], `I13: ${name} keeps keys without an owner`);
    }
  }

  /** I2 by the indexes: every list holds exactly the tasks that it should, in order. */
  async #audit(): Promise<void> {
    const { ids } = this.#client;
    const expected = expectedLists(this.#oracle, ids);
    for (const { name, backend } of this.#subjects) {
      const lists = await listsOf(backend, ids);
      await within(`I2 of ${name}`, async () => mustBeSame(lists, expected));
    }
    await this.#mustNotDrift(false);
  }

  async #mustNotDrift(repair: boolean): Promise<void> {
    for (const { name, backend } of this.#subjects) {
      const { drift } = await backend.inspect.reconcile({ repair });
      deepStrictEqual(drift, [], `drift of ${name}`);
    }
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** When something falls due may be told too early: a look at that time finds nothing, and is told anew. */
export function orEarlier(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { nextDueAt, lease, ...rest } = answer as Partial<Record<string, unknown>>;
  if (lease !== undefined) return { ...answer, lease: orEarlier(lease) };
  return typeof nextDueAt === 'number' ? { ...rest, nextDueAt: new NotLater(nextDueAt) } : answer;
}

/** Says where it was when it failed. */
async function within<T>(where: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Error) error.message = `${where}\n${error.message}`;
    throw error;
  }
}
