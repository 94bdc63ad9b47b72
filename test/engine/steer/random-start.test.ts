/**
 * Random workflows, begun at nodes of theirs: as tasks of the queue, and walked by one worker. The
 * plan and the walk find out by themselves what runs, and must come to the same.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { allNodes } from '../../../src/graph/graph.ts';
import { leftOut, startedAt } from '../../../src/graph/graph-start.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { compile } from '../../../src/workflow/compile.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { rounds } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';
import { anyRecipe, build, seriesParallel, workOf } from '../../workflow/random-steps.ts';

const SEED = fc.readConfigureGlobal().seed ?? 0;

/** Nodes of one workflow at which it is begun. */
const STARTS = 3;
const MOST_TASKS = 16;
const INPUT = { n: 1 };

eachBackend((open, backendName) => {
  const log = new Map<string, string[]>();
  let harness: Harness;
  beforeEach(async () => {
    log.clear();
    harness = await open();
  });
  afterEach(() => harness.close());

  it.each([
    ['series-parallel', seriesParallel, 30],
    ['flows', anyRecipe, 40],
  ] as const)(
    'random workflows (%s) begin at a node alike in both forms',
    async (name, recipes, count) => {
      const fitting = recipes.filter((one) => {
        const { length } = build(one).tasks;
        return length > 1 && length <= MOST_TASKS;
      });
      const numRuns = rounds(count, backendName === 'memory' ? count : count / 5);
      const samples = fc.sample(fitting, { seed: SEED, numRuns }).map((one) => build(one));
      const names = new Set(samples.flatMap(({ tasks }) => tasks));
      const loom = harness.loom(
        [...names].map((one) =>
          task(one, (input: unknown, ctx: TaskContext) => {
            const run = ctx.runId ?? '';
            log.set(run, [...(log.get(run) ?? []), one]);
            return workOf(one, input);
          }),
        ),
      );
      await loom.worker({ concurrency: 50 }).start();
      let begun = 0;
      for (const [at, { step }] of samples.entries()) {
        const graph = compile(step as never);
        for (const { id: startAt } of graph.nodes.slice(0, STARTS)) {
          const where = `FAIRLOOM_SEED=${SEED} ${name} #${at} at ${startAt}`;
          const run = (form: string): Promise<RunHandle<unknown>> => {
            const options = { id: `${form}-${at}-${startAt}`, form, startAt };
            return loom.enqueue(step as never, INPUT as never, options as never) as never;
          };
          const handles = await Promise.allSettled([run('dispatched'), run('driven')]);
          const [first, second] = handles;
          if (first?.status !== 'fulfilled' || second?.status !== 'fulfilled') {
            for (const one of handles) {
              expect(one, where).toMatchObject({ reason: expect.any(InvalidOptionError) });
            }
            expect(() => startedAt(graph, startAt), where).toThrow(InvalidOptionError);
            continue;
          }
          begun++;
          const results = await settled(
            harness,
            Promise.all([first.value.result(), second.value.result()]),
          );
          expect(results[1], where).toEqual(results[0]);
          const left = leftOut(startedAt(graph, startAt));
          const tasks = [...allNodes(graph)].filter((node) => node.kind === 'task');
          const runs = tasks.filter((node) => !left.has(node.id)).map((node) => node.task);
          const lost = tasks.filter((node) => left.has(node.id)).map((node) => node.id);
          for (const { value } of [first, second]) {
            expect((log.get(value.id) ?? []).toSorted(), where).toEqual(runs.toSorted());
            const { nodes = [] } = (await loom.runs.get(value.id)) ?? {};
            const skipped = nodes
              .filter(({ state }) => state === 'skipped')
              .map(({ node }) => node);
            expect(skipped, where).toEqual(expect.arrayContaining(lost));
            expect(
              skipped.filter((node) => !left.has(node)),
              where,
            ).toEqual([]);
          }
        }
      }
      expect(begun).toBeGreaterThan(numRuns / 2);
    },
  );
});
