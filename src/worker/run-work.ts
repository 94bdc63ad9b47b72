/** Work on tasks of runs besides a call of their handler. Other tasks skip it. */
import type { Attempt } from '../attempt/attempt.ts';
import type { SubRunner } from '../attempt/attempt-context.ts';
import type { PlanCache } from '../attempt/attempt-plan.ts';
import { followDecision } from '../attempt/decisions.ts';
import type { OwnEnd, OwnLease } from '../attempt/own-lease.ts';
import { driveBulk } from '../bulk/bulk-drive.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import type { Backend, UpstreamFact } from '../domain/port/backend.ts';
import { type DriveTools, drive, driveToolsOf, subRunnerOf } from '../runs/driven/drive.ts';
import { NodeInput } from '../runs/node-input.ts';
import { BULK_TASK, isDrive, type RunPlace, runPlaceOf } from '../runs/record.ts';
import type { Line } from './line.ts';

/** Limit of the upstream results of one task, in UTF-16 units (64 Mi): they are all in memory. */
const UPSTREAM_UNITS = 67_108_864;

/** Prepares tasks of runs for their handlers, and drives runs. */
export class RunWork {
  readonly #line: Line;
  readonly #inputs: NodeInput;
  readonly #tools: DriveTools;

  constructor(line: Line, plans: PlanCache) {
    const parts = { ...line.core, backend: line.backend, plans };
    this.#line = line;
    this.#inputs = new NodeInput(parts);
    this.#tools = driveToolsOf(parts);
  }

  /** Runs steps for a handler. */
  runnerOf(attempt: Attempt): SubRunner {
    return subRunnerOf(this.#tools, attempt, attempt.definition.options.version);
  }

  /** The engine's own code instead of a handler, if the task is a run or a bulk action. */
  driveOf(attempt: Attempt): ((own: OwnLease) => Promise<OwnEnd>) | undefined {
    const { name } = attempt.lease;
    if (isDrive(name)) return (own) => drive(this.#tools, own);
    if (name !== BULK_TASK) return undefined;
    const { core, backend } = this.#line;
    return (own) => driveBulk({ ...core, backend }, own);
  }

  /**
   * Loads results that exceed the budget of the lease, and builds the input from them; `undefined`
   * when that is not needed. If the input cannot be built, that decides the attempt.
   */
  prepare(attempt: Attempt): Promise<void> | undefined {
    const isCut = attempt.upstreams.some(({ cut }) => cut);
    const place = runPlaceOf(attempt.lease.options);
    const isLate = place?.late === true;
    if (!isCut && !isLate) return undefined;
    return this.#prepare(attempt, isCut, isLate ? place : undefined);
  }

  async #prepare(attempt: Attempt, isCut: boolean, late: RunPlace | undefined): Promise<void> {
    if (isCut) await this.#fetchUpstreams(attempt);
    if (late !== undefined && !attempt.isDecided) await this.#buildInput(attempt, late);
  }

  async #fetchUpstreams(attempt: Attempt): Promise<void> {
    try {
      const facts = await wholeUpstreams(this.#line.backend, attempt.upstreams);
      attempt.upstreams = facts ?? [];
      if (facts !== undefined) return;
      const error = new InvalidPayloadError('$.upstream', 'results of more than 64 Mi characters');
      attempt.failWith({ error, failureType: 'invalid-payload', retryable: false });
    } catch (error) {
      this.#line.report(`read the upstreams of ${attempt.taskId}`, error);
      attempt.giveBack({ type: 'unread', what: 'upstreams' });
    }
  }

  async #buildInput(attempt: Attempt, place: RunPlace): Promise<void> {
    const { lease, upstreams } = attempt;
    try {
      const input = await this.#inputs.build({ lease, place, upstreams });
      if (input.kind === 'input') attempt.payload = input.text;
      else if (input.kind === 'refused') attempt.failWith(input.failure);
      else if (input.kind === 'followed') {
        attempt.endWith({ type: 'settle', decision: followDecision(input.cause) });
      } else {
        const { waitFor } = input;
        attempt.endWith({ type: 'settle', decision: { type: 'suspend', waitFor, wakeOn: 'all' } });
      }
    } catch (error) {
      this.#line.report(`build the input of ${attempt.taskId}`, error);
      attempt.giveBack({ type: 'unread', what: 'input' });
    }
  }
}

/** Loads results that exceed the budget of a lease, one task at a time; `undefined` if they are too large. */
async function wholeUpstreams(
  backend: Backend,
  upstreams: readonly UpstreamFact[],
): Promise<readonly UpstreamFact[] | undefined> {
  const facts: UpstreamFact[] = [];
  let units = 0;
  for (const fact of upstreams) {
    const full = fact.cut ? await fetched(backend, fact) : fact;
    units += full.result?.length ?? 0;
    if (units > UPSTREAM_UNITS) return undefined;
    facts.push(full);
  }
  return facts;
}

async function fetched(backend: Backend, fact: UpstreamFact): Promise<UpstreamFact> {
  const [record] = await backend.inspect.get([fact.id]);
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
