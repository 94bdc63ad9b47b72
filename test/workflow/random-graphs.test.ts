/** Random workflows: their graphs have the order of an independent model, and a stable text. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/limits.ts';
import { flatten, type PlanValue, plan } from '../../src/graph/graph-plan.ts';
import { graphText, readGraph } from '../../src/graph/graph-text.ts';
import { PlanValues } from '../../src/graph/graph-values.ts';
import { compile } from '../../src/workflow/compile.ts';
import { rounds } from '../support/rounds.ts';
import { hashOf, tasksBefore } from './kit.ts';
import { anyRecipe, build, type Recipe, seriesParallel, workOf } from './random-steps.ts';

/** The name that the model gave a task, without those of the pipelines around it. */
function bare(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}

function checkOrder(recipe: Recipe): void {
  const sample = build(recipe);
  const made = plan(compile(sample.step));
  if (made.form !== 'dispatched') throw new Error('static, but driven');
  const before = tasksBefore(made.nodes);
  expect([...before.keys()].map(bare).sort()).toEqual(sample.tasks.toSorted());
  const order = [...before].flatMap(([id, all]) =>
    [...all].map((one) => `${bare(one)}<${bare(id)}`),
  );
  expect(order.sort()).toEqual([...sample.order].sort());
  const ids = made.nodes.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const widest = Math.max(...made.nodes.map(({ dependsOn }) => dependsOn.length));
  expect(widest).toBeLessThanOrEqual(LIMITS.dependencies);
}

// O48 O63
it('1,000 random series-parallel workflows have exactly the order that was written', () => {
  fc.assert(fc.property(seriesParallel, checkOrder), { numRuns: 1_000 });
});

// O48 O63
it('1,000 random workflows with flows have exactly the order that was written', () => {
  fc.assert(fc.property(anyRecipe, checkOrder), { numRuns: 1_000 });
});

it('1,000 random workflows give what their parts give, and read no more than they say', () => {
  fc.assert(
    fc.property(anyRecipe, (recipe) => {
      const sample = build(recipe);
      const flat = flatten(compile(sample.step));
      const values = new PlanValues(flat);
      const outputs = new Map<string, unknown>();
      const valueFor = (value: PlanValue): unknown => {
        const asked = new Set<string>();
        const built = values.build(value, {
          input: 'start',
          outcome: (id) => {
            asked.add(id);
            return { ok: true, value: outputs.get(id) };
          },
        });
        const said = new Set(values.reads(value));
        expect([...asked].filter((id) => !said.has(id))).toEqual([]);
        return built;
      };
      for (const node of flat.nodes) {
        if (node.kind === 'task') outputs.set(node.id, workOf(bare(node.id), valueFor(node.input)));
      }
      expect(valueFor(flat.output)).toEqual(sample.run('start'));
    }),
    { numRuns: 1_000 },
  );
});

// O67 B-W13
it('the order in which members, steps and edges are written is no part of a graph', () => {
  fc.assert(
    fc.property(anyRecipe, (recipe) => {
      const [one, other] = [build(recipe), build(recipe, true)].map((made) => compile(made.step));
      if (one === undefined || other === undefined) throw new Error('nothing built');
      const named = { ...other, name: one.name };
      expect(graphText(named)).toBe(graphText(one));
      expect(hashOf(named)).toBe(hashOf(one));
    }),
    { numRuns: rounds(10_000, 1_000) },
  );
});

// O67
it('what is read back from its text has the same hash and the same plan', () => {
  fc.assert(
    fc.property(anyRecipe, (recipe) => {
      const graph = compile(build(recipe).step);
      const copy = readGraph(graphText(graph));
      expect(copy).toEqual(graph);
      expect(hashOf(copy)).toBe(hashOf(graph));
      expect(flatten(copy)).toEqual(flatten(graph));
    }),
    { numRuns: 200 },
  );
});

// O67
it('any change of content is another hash', () => {
  fc.assert(
    fc.property(anyRecipe, fc.nat(), (recipe, pick) => {
      const graph = compile(build(recipe).step);
      const text = JSON.stringify(graph);
      const places = [...text.matchAll(/"(\w[\w.]*)"/g)];
      const place = places[pick % places.length];
      if (place === undefined) throw new Error('a graph without a word');
      const changed = `${text.slice(0, place.index + 1)}Z${text.slice(place.index + 1)}`;
      const other: typeof graph = JSON.parse(changed);
      expect(hashOf(other)).not.toBe(hashOf(graph));
    }),
    { numRuns: rounds(10_000, 1_000) },
  );
});
