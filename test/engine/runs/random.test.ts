/**
 * A thousand random workflows per backend, run to their ends by workers. What must come before what,
 * which tasks run when some fail, and what a run gives, is said by `random-steps.ts`, which knows
 * nothing of graphs. `FAIRLOOM_SEED` looks at others; a failure names the seed and the workflow.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { Fatal } from '../../../src/domain/errors/handler-errors.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { rounds } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';
import {
  anyPolicy,
  anyRecipe,
  build,
  type Fate,
  type Recipe,
  type Sample,
  seriesParallel,
  workOf,
} from '../../workflow/random-steps.ts';

/** Workflows that are under way at once. */
const BATCH = 125;
/** Tasks of one workflow at most. */
const MOST_TASKS = 24;
/** One in so many is walked by one worker; the others are tasks of the queue. */
const DRIVEN_SHARE = 4;

const SEED = fc.readConfigureGlobal().seed ?? 0;

interface Case {
  readonly label: string;
  readonly recipe: Recipe;
  readonly sample: Sample;
  readonly failing: ReadonlySet<string>;
  readonly form: 'dispatched' | 'driven';
}

/** The same cases for both backends. */
function casesOf(name: string, recipe: fc.Arbitrary<Recipe>, count: number): readonly Case[] {
  // One task alone is no run, and what is large says little that is new and takes its time.
  const runs = recipe.filter((one) => {
    const { length } = build(one).tasks;
    return length > 1 && length <= MOST_TASKS;
  });
  const made = fc.record({ recipe: runs, picks: fc.array(fc.nat(), { maxLength: 3 }) });
  return fc.sample(made, { seed: SEED, numRuns: count }).map(({ recipe: one, picks }, at) => {
    const sample = build(one);
    const failing = new Set(
      name === 'policies'
        ? picks.map((pick) => sample.tasks[pick % sample.tasks.length] ?? '')
        : [],
    );
    const form = at % DRIVEN_SHARE === 0 ? 'driven' : 'dispatched';
    const label = `FAIRLOOM_SEED=${SEED} ${name} #${at} (${form}), failing: ${[...failing]}`;
    return { label, recipe: one, sample, failing, form };
  });
}

/** Errors of members away: which they are is not what is looked at here. */
function usual(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(usual);
  if (typeof value !== 'object' || value === null) return value;
  if ('ok' in value && value.ok === false) return { ok: false };
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, usual(one)]));
}

eachBackend((open, backendName) => {
  /** What ran in which run, in the order of the ends. */
  const log = new Map<string, string[]>();
  const failingIn = new Map<string, ReadonlySet<string>>();

  let harness: Harness;
  beforeEach(async () => {
    log.clear();
    failingIn.clear();
    harness = await open();
  });
  afterEach(() => harness.close());

  function workerOf(cases: readonly Case[]): Fairloom {
    const names = new Set(cases.flatMap(({ sample }) => sample.tasks));
    const handlers = [...names].map((name) =>
      task(name, (input: unknown, ctx: TaskContext) => {
        const run = ctx.runId ?? '';
        log.set(run, [...(log.get(run) ?? []), name]);
        if (failingIn.get(run)?.has(name)) throw new Fatal(`no ${name}`);
        return workOf(name, usual(input));
      }),
    );
    return harness.loom(handlers);
  }

  /** Stores them all, waits for their ends, then for the ends of what failed runs have left. */
  async function ends(loom: Fairloom, batch: readonly Case[], first: number): Promise<void> {
    const handles = await Promise.all(
      batch.map(({ sample, form, failing }, at) => {
        const id = `random-${first + at}`;
        failingIn.set(id, failing);
        const options = { id, form };
        return loom.enqueue(sample.step as never, INPUT as never, options as never) as Promise<
          RunHandle<unknown>
        >;
      }),
    );
    const results = await settled(harness, Promise.allSettled(handles.map((one) => one.result())));
    await harness.until(async () => {
      const { counts } = await loom.stats();
      if (counts.queued + counts.started + counts.deferred + counts.scheduled === 0) return true;
      await harness.clock.advance(250);
      return false;
    });
    for (const [at, one] of batch.entries()) {
      const result = results[at];
      if (result !== undefined) check(one, log.get(`random-${first + at}`) ?? [], result);
    }
  }

  it.each([
    ['series-parallel', seriesParallel, 350],
    ['flows', anyRecipe, 350],
    ['policies', anyPolicy, 300],
  ] as const)(
    // O37 O48 O50 O63
    'random workflows (%s) end in an order that the truth accepts',
    async (name, recipe, count) => {
      const most = rounds(count, backendName === 'memory' ? count / 2 : count / 5);
      const cases = casesOf(name, recipe, most);
      const loom = workerOf(cases);
      await loom.worker({ concurrency: 200 }).start();
      for (let at = 0; at < cases.length; at += BATCH) {
        await ends(loom, cases.slice(at, at + BATCH), at);
      }
      expect(cases).toHaveLength(most);
    },
  );
});

const INPUT = { n: 1 };

function check(
  { label, recipe, sample, failing, form }: Case,
  ran: readonly string[],
  result: PromiseSettledResult<unknown>,
): void {
  const where = `${label}\n${JSON.stringify(recipe)}\n`;
  const fate: Fate = sample.end(INPUT, failing);
  expect(result.status === 'fulfilled', `${where}it finishes`).toBe(fate.isGood);
  if (result.status === 'fulfilled') expect(usual(result.value), where).toEqual(fate.value);
  else expect(result.reason, where).toMatchObject({ code: 'RUN_FAILED' });
  const twice = ran.filter((one, at) => ran.indexOf(one) !== at);
  expect(twice, `${where}nothing ran twice`).toEqual([]);
  // A walk stops at its first failure, so it may leave out what does not depend on that.
  const isWhole = form === 'dispatched' || failing.size === 0;
  const expected = isWhole ? fate.ran : fate.ran.filter((one) => ran.includes(one));
  expect(ran.toSorted(), `${where}what ran`).toEqual(expected.toSorted());
  const early = ran.flatMap((one, at) =>
    ran.slice(at + 1).filter((later) => sample.order.has(`${later}<${one}`)),
  );
  expect(early, `${where}what ran too late`).toEqual([]);
}
