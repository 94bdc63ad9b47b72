/**
 * Two things at once to one driven run: on the embedded backend in every order of their calls, on
 * Redis as they come.
 */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { everyOrder, freely, type Order, someOrders } from '../../support/orders.ts';
import { Witness } from '../../support/witness.ts';

const driven = { form: 'driven' } as const;

/** Most orders of a scenario whose orders are all tried. */
const MOST = 500;
/** Orders by chance of one that has too many. */
const SOME = 30;
/** Rounds on Redis. */
const ROUNDS = 8;

/** A member that waits for the test, and what the group's followers saw. */
class Play {
  readonly harness: Harness;
  readonly witness: Witness;
  readonly order: Order;
  readonly started: Gate = gate();
  readonly go: Gate = gate();
  /** Inputs of the node behind the group. */
  readonly shown: unknown[] = [];

  constructor(harness: Harness, order: Order) {
    this.harness = harness;
    this.order = order;
    this.witness = new Witness(harness.backend);
  }

  /** Counts as started once so many of them have begun. */
  gated(name: string, of: number) {
    let begun = 0;
    return task(name, { retries: 0 }, async (n: number, ctx: TaskContext) => {
      this.witness.ran(ctx);
      if (++begun === of) this.started.open();
      await this.go.passed;
      return n + 1;
    });
  }

  quick(name: string) {
    return task(name, async (n: number, ctx: TaskContext) => {
      this.witness.ran(ctx);
      return n + 1;
    });
  }

  show() {
    return task('show', async (value: unknown, ctx: TaskContext) => {
      this.witness.ran(ctx);
      this.shown.push(value);
      return value;
    });
  }

  async process(tasks: readonly unknown[], concurrency: number, clock = this.harness.clock) {
    const backend = this.order.through(this.witness.backend);
    const loom = this.harness.loom(tasks as never, { backend, clock });
    await loom.worker({ concurrency }).start();
    return loom;
  }

  /** Of each run `finished` or the name of its error; nothing may be left open then. */
  async end(...runs: readonly RunHandle<unknown>[]): Promise<string> {
    let ends: readonly string[] | undefined;
    const endOf = (run: RunHandle<unknown>): Promise<string> =>
      run.result().then(
        () => 'finished',
        (error: Error) => error.name,
      );
    void Promise.all(runs.map(endOf)).then((all) => {
      ends = all;
    });
    await this.order.until(this.harness, () => ends !== undefined);
    const { inspect } = this.harness.backend;
    await this.harness.until(async () => {
      const { counts } = await inspect.stats();
      if (counts.started + counts.deferred + counts.queued + counts.scheduled === 0) return true;
      await this.harness.clock.advance(LIMITS.leaseMs / 3);
      return false;
    });
    expect(this.witness.complaints).toEqual([]);
    expect((await inspect.reconcile({ repair: false })).drift).toEqual([]);
    return (ends ?? []).join();
  }
}

type Scenario = (play: Play) => Promise<string>;

/** The two last members of a group end at once, on two workers. */
const lastTwo: Scenario = async (play) => {
  const member = play.gated('member', 2);
  const step = each(member).pipe(play.show());
  const one = await play.process([step], 1);
  await play.process([step], 1);
  const run = (await one.enqueue(step as never, [1, 2] as never, driven)) as RunHandle<unknown>;
  await play.started.passed;
  play.order.hold();
  play.go.open();
  const end = await play.end(run);
  expect(play.shown).toEqual([[2, 3]]);
  return end;
};

/** A member ends when the time of its group is up. */
const timeUp: Scenario = async (play) => {
  const member = play.gated('member', 1);
  const group = parallel({ x: member, y: play.quick('y') }, { timeout: '20s' });
  const step = group.pipe(play.show());
  const one = await play.process([step], 1);
  await play.process([step], 1);
  const run = await one.enqueue(step, 1, driven);
  await play.started.passed;
  await play.harness.until(async () => (await stateOf(one, run)) === 'deferred');
  play.order.hold();
  await play.harness.clock.advance('20s');
  play.go.open();
  const end = await play.end(run);
  expect(play.shown).toEqual(end === 'finished' ? [{ x: 2, y: 2 }] : []);
  return end;
};

/** The run is canceled when its last member ends. */
const canceled: Scenario = async (play) => {
  const member = play.gated('member', 1);
  const step = parallel({ x: member, y: play.quick('y') }).pipe(play.show());
  const one = await play.process([step], 1);
  await play.process([step], 1);
  const run = await one.enqueue(step, 1, driven);
  await play.started.passed;
  await play.harness.until(async () => (await stateOf(one, run)) === 'deferred');
  const api = play.harness.loom([step], { backend: play.order.through(play.witness.backend) });
  play.order.hold();
  play.go.open();
  const canceling = api.runs.cancel(run.id);
  const end = await play.end(run);
  const { run: reply } = await canceling;
  // The answer says what came of it.
  const isTooLate = reply.kind === 'already-ended';
  expect([end, reply.kind]).toEqual([isTooLate ? 'finished' : 'RunCanceledError', reply.kind]);
  return end;
};

/** A producer was away for longer than its lease, and goes on while another one resumes the run. */
const slowProducer: Scenario = async (play) => {
  const [began, thaw] = [gate(), gate()];
  let isFirst = true;
  const head = task('head', async (n: number, ctx: TaskContext) => {
    play.witness.ran(ctx);
    if (!isFirst) return [n, n + 1];
    isFirst = false;
    began.open();
    await thaw.passed;
    return [n, n + 1];
  });
  const step = head.pipe(each(play.quick('member'))).pipe(play.show());
  const { harness, order } = play;
  const frozen = new ManualClock(harness.clock.now());
  const slow = await play.process([step], 1, frozen);
  const run = await slow.enqueue(step, 1, driven);
  await began.passed;
  order.hold();
  harness.clock.jump(LIMITS.leaseMs + 1);
  thaw.open();
  await play.process([step], 1);
  const end = await play.end(run);
  // The slow one may have been in time: a lease past its end counts until it is swept.
  expect(play.shown).toEqual([[2, 3]]);
  return end;
};

/** Two runs of one pipeline on two workers. */
const twoRuns: Scenario = async (play) => {
  const member = play.quick('member');
  const step = each(each(member, { name: 'inner' }), { name: 'outer' }).pipe(play.show());
  await play.process([step], 2);
  await play.process([step], 1);
  play.order.hold();
  const api = play.harness.loom([step]);
  const runs = await Promise.all(
    [
      [[1], [2, 3]],
      [[1], [2, 3]],
    ].map((input) => api.enqueue(step, input, driven)),
  );
  const ends = await play.end(...runs);
  expect(play.shown).toEqual([
    [[2], [3, 4]],
    [[2], [3, 4]],
  ]);
  return ends;
};

async function stateOf(loom: Fairloom, run: RunHandle<unknown>): Promise<string | undefined> {
  return (await loom.tasks.get(run.id))?.state;
}

eachBackend((open, name) => {
  async function tried(order: Order, scenario: Scenario): Promise<string> {
    const harness = await open();
    const end = await scenario(new Play(harness, order));
    await harness.close();
    return end;
  }

  /** How the scenario may end, over all orders that are tried. */
  async function endsOf(scenario: Scenario, isWide = false): Promise<readonly string[]> {
    const ends = new Set<string>();
    const once = async (order: Order): Promise<void> => {
      ends.add(await tried(order, scenario));
    };
    if (name === 'redis') {
      for (let round = 0; round < ROUNDS; round++) await once(freely());
    } else if (isWide) await someOrders(SOME, 7, once);
    else {
      const { isAll, tried: count } = await everyOrder(MOST, once);
      expect([isAll, count > 1]).toEqual([true, true]);
    }
    return [...ends].sort();
  }

  describe('at once', () => {
    // O46 O61
    it('the last two arrivals: the run goes on once', async () => {
      expect(await endsOf(lastTwo)).toEqual(['finished']);
    });

    // O50
    it('an arrival and the timeout of its group: one of both', async () => {
      const ends = await endsOf(timeUp, true);
      if (name === 'memory') expect(ends).toEqual(['RunFailedError', 'finished']);
      else expect(['RunFailedError', 'finished']).toEqual(expect.arrayContaining([...ends]));
    });

    // O76
    it('a cancel and an arrival: one end, and the answer tells it', async () => {
      const ends = await endsOf(canceled, true);
      if (name === 'memory') expect(ends).toEqual(['RunCanceledError', 'finished']);
      else expect(['RunCanceledError', 'finished']).toEqual(expect.arrayContaining([...ends]));
    });

    // O62
    it('a resume and a producer that was only slow: nothing counts twice', async () => {
      expect(await endsOf(slowProducer, true)).toEqual(['finished']);
    });

    // O68
    it('two runs of one pipeline keep apart', async () => {
      expect(await endsOf(twoRuns, true)).toEqual(['finished,finished']);
    });
  });
});
