/**
 * Replays the steps of a server in their order on the memory engine and the oracle, at the moment that each step saw,
 * and compares what the clients were answered.
 */
import type { LeaseReply, SettleReply, WorkerSpec } from '../../../src/domain/port/backend.ts';
import type { Call } from '../calls.ts';
import { orEarlier, START_MS, type Subject } from '../harness.ts';
import { Oracle } from '../oracle/oracle.ts';
import { mustBeSame } from '../same.ts';
import { BY_AGE, memorySubject } from '../subjects.ts';
import type { Sent } from './actor.ts';
import { type Asked, answerOf, forecastOf, isLook } from './asked.ts';

/** Steps that are told with a difference. */
const TOLD = 20;

/** Shortest time for which values are kept on a shared backend, in ms; as in the harness of the model. */
const LEAST_KEPT_MS = 60_000;

/** Verbs that belong to a call and change nothing that the law speaks of: lists are written with their worker. */
const BESIDE = /^(?:listJoin|[!?]?reconcile|lag)$/;

/** A call that the server has done, as far as its steps were read. */
interface Done {
  readonly call: Asked;
  /** What the last of its steps must have answered. */
  wanted: unknown;
  steps: number;
}

/** A line of the log: what was called, and what its step is on an engine whose calls are one step each. */
export interface Taken {
  readonly call: Asked;
  readonly step?: Asked;
  /** What that must be answered. */
  readonly wanted?: unknown;
}

export interface Tally {
  /** Steps that were replayed, answers that were compared. */
  steps: number;
  answers: number;
  /** Looks that took several steps, which are no moment. */
  spread: number;
  /** Histories that ended before their time, at a call of several steps. */
  left: number;
  /** Processes that were killed while they called. */
  kills: number;
  readonly verbs: Map<string, number>;
}

export function newTally(): Tally {
  return { steps: 0, answers: 0, spread: 0, left: 0, kills: 0, verbs: new Map() };
}

/** The engines differ, with what led there. */
export class Difference extends Error {}

/** A call has taken several steps that are one on the engine in memory: what comes after it cannot be compared. */
export class Spread extends Error {}

export class Replayer {
  readonly oracle: Oracle = new Oracle(START_MS, BY_AGE, LEAST_KEPT_MS);
  readonly #memory: Subject;
  readonly #tally: Tally;
  readonly #done = new Map<string, Done>();
  readonly #specs = new Map<string, WorkerSpec>();
  readonly #last: string[] = [];
  /** When the latest step was, in ms. */
  now: number = START_MS;

  constructor(memory: Subject, tally: Tally) {
    this.#memory = memory;
    this.#tally = tally;
  }

  static async open(tally: Tally = newTally()): Promise<Replayer> {
    return new Replayer(await memorySubject(BY_AGE), tally);
  }

  /** One line of the log. */
  async take(line: string): Promise<Taken> {
    const [, verb = '', ms, mark = '', text = ''] =
      /^(\S+) (\d+) (\S+) (?:\+\d+ )?(.*)$/s.exec(line) ?? [];
    this.#last.push(line);
    if (this.#last.length > TOLD) this.#last.shift();
    if (text === '') throw new Error(`${line} was not asked for`);
    const { id, call }: Sent = JSON.parse(text);
    this.#tally.steps += 1;
    this.#tally.verbs.set(verb, (this.#tally.verbs.get(verb) ?? 0) + 1);
    this.now = Number(ms);
    const step = this.#stepOf(call, verb, mark);
    if (step === undefined) return { call };
    await this.#memory.setClock(this.now);
    this.oracle.clock = this.now;
    const wanted = await this.#answer(step);
    if (verb === 'register' && call.type !== verb) {
      return { call, step, wanted };
    }
    const done = this.#done.get(id) ?? { call, wanted, steps: 0 };
    done.steps += 1;
    done.wanted = joined(call, done.wanted, wanted);
    this.#done.set(id, done);
    return { call, step, wanted };
  }

  /** What a client was answered; all steps of that call have been taken. */
  answered(id: string, answer: unknown): void {
    const done = this.#done.get(id);
    this.#done.delete(id);
    if (done === undefined) return;
    if (isLook(done.call) && done.steps > 1) {
      this.#tally.spread += 1;
      return;
    }
    this.#tally.answers += 1;
    this.mustBe(`call ${id}: ${JSON.stringify(done.call)}`, answer, done.wanted);
  }

  get memory(): Subject {
    return this.#memory;
  }

  async close(): Promise<void> {
    await this.#memory.close();
  }

  /** What the step is on an engine whose calls are one step each; nothing when it has changed nothing. */
  #stepOf(call: Asked, verb: string, mark: string): Asked | undefined {
    if (BESIDE.test(verb)) return undefined;
    if (mark === 'more') throw new Spread(`${call.type} goes on`);
    if (verb === 'chunk' || verb === 'seal') throw new Spread('a batch was stored in parts');
    if (verb === 'register') return this.#registering(call);
    if (mark === 'unregistered' && verb === 'lease') return undefined;
    if (call.type !== 'settle' || call.request.lease === undefined) return call;
    if (verb === 'lease') return { type: 'lease', request: call.request.lease };
    const { lease: _lease, ...request } = call.request;
    return mark === '-' ? call : { type: 'settle', request };
  }

  /** A worker is registered anew by its next call when the server has forgotten it. */
  #registering(call: Asked): Call | undefined {
    if (call.type === 'register') {
      this.#specs.set(call.spec.id, call.spec);
      return call;
    }
    const worker = call.type === 'lease' || call.type === 'settle' ? call.request.worker : '';
    const spec = this.#specs.get(worker);
    if (spec?.assignedUsers ?? spec?.stealTargets) throw new Spread('lists are written anew');
    return spec && { type: 'register', spec, starts: false };
  }

  async #answer(step: Asked): Promise<unknown> {
    const actual = await answerOf(this.#memory.backend, step);
    if (isLook(step)) return actual;
    const wanted = orEarlier(forecastOf(this.oracle, step));
    this.mustBe(`memory, ${JSON.stringify(step)}`, actual, wanted);
    return wanted;
  }

  /** Throws with what led there when something is not as it must be. */
  mustBe(what: string, actual: unknown, wanted: unknown): void {
    try {
      mustBeSame(withoutAhead(actual), withoutAhead(wanted));
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      throw new Difference(
        [
          what,
          `step ${this.#tally.steps}`,
          `answered ${JSON.stringify(actual)}`,
          `must be ${JSON.stringify(wanted)}`,
          told,
        ]
          .concat('the last steps:', this.#last)
          .join('\n'),
      );
    }
  }
}

/** A settle that leased in a step of its own is answered once. */
function joined(call: Asked, before: unknown, now: unknown): unknown {
  if (call.type !== 'settle' || call.request.lease === undefined) return now;
  const isLease = typeof now === 'object' && now !== null && 'leases' in now;
  return isLease ? { ...(before as SettleReply), lease: now as LeaseReply } : now;
}

/**
 * How far a user is ahead of virtual time is left out: engines differ by grains of its tag, which are worth turns to a user of a great
 * weight. That turns come in the same order is held by what is leased.
 */
function withoutAhead(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAhead);
  if (typeof value !== 'object' || value === null) return value;
  // What the oracle allows in several ways is an object of a class.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const isUser = 'ahead' in value && 'ready' in value;
  const entries = Object.entries(value).filter(([name]) => !(isUser && name === 'ahead'));
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutAhead(one)]));
}
