/** Putting steps together loses no edge and makes none; where the ancestors did, by their defect. */
import { describe, expect, it } from 'vitest';
import { DuplicateNodeError, InvalidOptionError } from '../../src/domain/errors/errors.ts';
import { allNodes } from '../../src/graph/graph.ts';
import { flatten, plan } from '../../src/graph/graph-plan.ts';
import { compile } from '../../src/workflow/compile.ts';
import { type Flow, flow, type Ref } from '../../src/workflow/flow.ts';
import { groupPolicy } from '../../src/workflow/group-policy.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import { partsOf } from '../../src/workflow/parts.ts';
import type { AnyStep, Pipeline, Step } from '../../src/workflow/step.ts';
import { definitionOf, ref, task } from '../../src/workflow/task-definition.ts';
import { a, b, c, d, nodeOf, orderOf, shapeOf, step } from './kit.ts';

type Any = Step<unknown, unknown>;

function chain(steps: readonly Any[]): Any {
  const [first, ...rest] = steps;
  if (first === undefined) throw new Error('no steps');
  return rest.reduce((whole: Any, next) => whole.pipe(next), first);
}

function many(count: number): readonly Any[] {
  return Array.from({ length: count }, (_, at) => step(`t${at}`));
}

function group(steps: readonly Any[]): Any {
  return parallel(Object.fromEntries(steps.map((one) => [one.name, one])));
}

/** Runs d for each element. */
const eachD = each(d) as unknown as Any;

describe('edges', () => {
  // A-W26
  it('((a >> b) | c) >> d keeps a -> b', () => {
    const whole = parallel(a.pipe(b), c).pipe(d);
    expect(orderOf(whole)).toEqual(['a<b', 'a<d', 'b<d', 'c<d']);
  });

  // A-W26
  it('a group before a step does not make its members wait for each other', () => {
    expect(orderOf(parallel(a, b).pipe(c))).toEqual(['a<c', 'b<c']);
  });

  // B-W17
  it('a diamond runs its sink once, after both sides', () => {
    const diamond = flow('diamond', (f: Flow<unknown>) => {
      const top = f.step(a, f.input);
      return f.step(d, { left: f.step(b, top), right: f.step(c, top) });
    });
    for (const whole of [diamond, a.pipe(parallel(b, c)).pipe(d)]) {
      const { nodes } = flatten(compile(whole));
      expect(nodes.filter(({ kind }) => kind === 'task').map(({ id }) => id)).toHaveLength(4);
      expect(orderOf(whole)).toEqual(['a<b', 'a<c', 'a<d', 'b<d', 'c<d']);
    }
  });

  // B-W18
  it('a | (b | c) runs each once, with no edge between them', () => {
    const whole = parallel(a, parallel(b, c));
    expect(orderOf(whole)).toEqual([]);
    const tasks = [...allNodes(compile(whole))].filter(({ kind }) => kind === 'task');
    expect(tasks.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  });

  // B-W19
  it('a >> (b | c) has one entry and may be the whole workflow', () => {
    const whole = a.pipe(parallel(b, c));
    expect(flatten(compile(whole)).nodes.filter(({ dependsOn }) => dependsOn.length === 0)).toEqual(
      [expect.objectContaining({ id: 'a' })],
    );
  });

  // B-W25
  it('a policy survives every step that is built around its group', () => {
    const lenient = parallel({ a, b }, { policy: { atLeast: 1 } });
    const whole = parallel({ x: c.pipe(lenient).as('inner'), d }, { failFast: true });
    expect(nodeOf(compile(whole), '~group.inner.a')).toMatchObject({
      policy: { kind: 'atLeast', count: 1 },
      failFast: false,
    });
  });

  // O48
  it('a group of sequences waits for the last of each', () => {
    const whole = parallel(a.pipe(b), c.pipe(d));
    const join = flatten(compile(whole)).nodes.at(-1);
    expect(join).toMatchObject({ kind: 'group', dependsOn: ['b', 'd'] });
  });

  // O53
  it('empty groups are steps like others, also at the end', () => {
    const none = parallel({});
    const whole = chain([a, none, none, none] as unknown as readonly Any[]);
    const { nodes, ends } = flatten(compile(whole));
    expect(nodes.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['a', []],
      ['~empty1', ['a']],
      ['~empty2', ['~empty1']],
      ['~empty3', ['~empty2']],
    ]);
    expect(ends).toEqual(['~empty3']);
    expect(flatten(compile(none)).nodes).toMatchObject([{ kind: 'group', dependsOn: [] }]);
  });

  it('a sequence is the same however it was put together', () => {
    const left = a.pipe(b).pipe(c).pipe(d);
    const right = a.pipe(b.pipe(c.pipe(d)));
    expect(shapeOf(right)).toBe(shapeOf(left));
    expect(shapeOf(a.pipe(b).pipe(c.pipe(d)))).toBe(shapeOf(left));
  });

  it('the seeds’ dependency examples: D after A, B, C; E after A, B; F after C', () => {
    const [stepA, stepB, stepC] = [step('A'), step('B'), step('C')];
    const [stepD, stepE, stepF] = [step('D'), step('E'), step('F')];
    const example = flow('example', (f: Flow<unknown>) => {
      const [refA, refB] = [f.step(stepA, f.input), f.step(stepB, f.input)];
      const refC = f.step(stepC, f.input);
      f.step(stepD, f.input, { after: [refA, refB, refC] });
      f.step(stepE, f.input, { after: [refA, refB] });
      return f.step(stepF, refC);
    });
    expect(orderOf(example)).toEqual(['A<D', 'A<E', 'B<D', 'B<E', 'C<D', 'C<F']);
    expect(flatten(compile(example)).ends).toEqual(['D', 'E', 'F']);
  });

  it('the seed’s ETL: three sources, then one aggregate of all of them', () => {
    const [one, two, three] = [step('one'), step('two'), step('three')];
    const etl = parallel({ one, two, three }, { name: 'parallel_extract' }).pipe(step('aggregate'));
    expect(flatten(compile(etl)).nodes).toMatchObject([
      { id: 'parallel_extract.one', dependsOn: [] },
      { id: 'parallel_extract.three', dependsOn: [] },
      { id: 'parallel_extract.two', dependsOn: [] },
      { kind: 'group', id: 'parallel_extract', members: { length: 3 } },
      { id: 'aggregate', dependsOn: ['parallel_extract'] },
    ]);
  });

  it('a flow precedes and follows as a whole, also the steps that are not read', () => {
    const side = flow('side', (f: Flow<unknown>) => {
      f.step(a, f.input);
      return f.step(b, f.input);
    });
    expect(orderOf(c.pipe(side).pipe(d))).toEqual([
      'c<d',
      'c<side.a',
      'c<side.b',
      'side.a<d',
      'side.b<d',
    ]);
  });
});

describe('definitions', () => {
  it('are not changed by what is built of them', () => {
    const first = a.pipe(b);
    const before = shapeOf(first);
    first.pipe(c);
    parallel(first, d);
    first.as('named').pipe(d);
    expect(shapeOf(first)).toBe(before);
    expect(first.name).toBe('a-to-b');
    expect(Object.isFrozen(first)).toBe(true);
  });

  // B-W14
  it('are shared by runs, which can leave nothing in them', () => {
    const definition = definitionOf(task('t', { retries: 1 }, async () => 1));
    expect([definition, definition.options].map(Object.isFrozen)).toEqual([true, true]);
    expect(() => Object.assign(definition, { context: 1 })).toThrow(TypeError);
  });

  it('have graphs that cannot be changed', () => {
    const graph = compile(a.pipe(parallel({ b, c })).pipe(eachD));
    const open: unknown[] = [];
    const left: unknown[] = [graph];
    for (let value = left.pop(); value !== undefined; value = left.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      if (!Object.isFrozen(value)) open.push(value);
      left.push(...Object.values(value));
    }
    expect(open).toEqual([]);
  });

  it('refuse what is no step', () => {
    expect(() => a.pipe('b' as never)).toThrow(InvalidOptionError);
    expect(() => parallel({ a: 1 } as never)).toThrow(InvalidOptionError);
    expect(() => parallel(a, undefined as never)).toThrow(InvalidOptionError);
    expect(() => parallel([a] as never)).toThrow(InvalidOptionError);
    expect(() => each({} as never)).toThrow(InvalidOptionError);
    expect(() => compile({ name: 'a' })).toThrow(InvalidOptionError);
  });

  it.each<[string, object]>([
    ['policy', { policy: 'critical' }],
    ['policy', { policy: { critical: ['nobody'] } }],
    ['policy', { policy: { atLeast: 3 } }],
    ['policy', { policy: { atLeast: -1 } }],
    ['policy', { policy: { name: 'no name' } }],
    ['timeout', { timeout: 'soon' }],
    ['failFast', { failFast: 1 }],
    ['concurrency', { concurrency: 0 }],
    ['name', { name: '' }],
    ['polisy', { polisy: 'strict' }],
    // B-W25
  ])('refuse a wrong %s when they are made', (option, options) => {
    expect(() => parallel({ a, b }, options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option: expect.stringContaining(option) }),
    );
  });

  it('refuse `critical` for each(), whose members have no names', () => {
    expect(() => each(a, { policy: { critical: ['0'] } } as never)).toThrow(InvalidOptionError);
  });
});

describe('names', () => {
  // O66
  it('refuses a task that is there twice, and says where both are', () => {
    const twice = (): unknown => compile(a.pipe(parallel({ x: b, y: c.pipe(a) })).as('whole'));
    expect(twice).toThrow(DuplicateNodeError);
    expect(twice).toThrow(
      expect.objectContaining({ node: 'a', paths: ['whole[0]', 'whole[1].y[1]'] }),
    );
    expect(() => compile(a.pipe(parallel({ x: b, y: c.pipe(a.as('a2')) })))).not.toThrow();
  });

  it('a task under another name runs the handler of the first', () => {
    const graph = compile(a.pipe(a.as('again').as('once-more')));
    expect(nodeOf(graph, 'once-more')).toMatchObject({ kind: 'task', task: 'a' });
  });

  it('refuses two handlers of one name, which a graph could not tell apart', () => {
    const other = step('a').as('other');
    expect(() => compile(a.pipe(other))).toThrow(InvalidOptionError);
    expect(() => compile(a.pipe(ref<typeof a>('a').as('other')))).not.toThrow();
  });

  it('names the definitions and policies that a worker needs for it', () => {
    const quorum = groupPolicy('quorum', () => true);
    const inner = parallel({ c, d: d.pipe(a.as('a2')) }, { policy: quorum });
    const whole = flow('whole', (f: Flow<unknown>) => {
      const first = f.step(a, f.input);
      return f.step(b.pipe(inner as Any), first);
    });
    expect(partsOf(whole)).toEqual({ tasks: [a, b, c, d].map(definitionOf), policies: [quorum] });
    expect(partsOf(each(a, { policy: quorum }))).toEqual({
      tasks: [definitionOf(a)],
      policies: [quorum],
    });
    const far = ref<typeof a>('a').as('far');
    expect(partsOf(far.pipe(a)).tasks).toEqual([definitionOf(a)]);
    expect(partsOf(far).tasks).toEqual([definitionOf(far)]);
    expect(partsOf(chain(many(10_000))).tasks).toHaveLength(10_000);
    expect(() => partsOf('a')).toThrow(InvalidOptionError);
  });

  it('a name of a pipeline stands before its nodes, so that it may be there twice', () => {
    const part = a.pipe(b);
    const whole = parallel(part.as('one'), part.as('two')).pipe(part).as('whole');
    const ids = [...allNodes(compile(whole))].map(({ id }) => id).sort();
    expect(ids).toEqual([
      'a',
      'b',
      'one',
      'one.a',
      'one.b',
      'two',
      'two.a',
      'two.b',
      '~group.one.a',
    ]);
  });

  it('a name of a group is the name of its node, and stands before its members', () => {
    const whole = a
      .pipe(parallel({ b, c }, { name: 'both' }))
      .pipe((eachD as unknown as Pipeline<unknown, unknown>).as('all'));
    const ids = [...allNodes(compile(whole))].map(({ id }) => id).sort();
    expect(ids).toEqual(['a', 'all', 'all.d', 'both', 'both.b', 'both.c']);
  });

  it('groups without a name get one that no order of writing changes', () => {
    const nested = parallel({ x: parallel({ q: b, p: a }), y: c });
    const other = parallel({ y: c, x: parallel({ p: a, q: b }) });
    expect(shapeOf(other)).toBe(shapeOf(nested));
    const ids = [...allNodes(compile(nested))].map(({ id }) => id).sort();
    expect(ids).toEqual(['a', 'b', 'c', '~group.a', '~group2.a']);
  });

  it('refuses names that grow too long, and nesting that goes too deep', () => {
    let named: Any = a;
    for (let at = 0; at < 40; at++) named = named.pipe(step(`s${at}`)).as(`level${at}`);
    expect(() => compile(named)).toThrow(InvalidOptionError);
    let deep: AnyStep = a;
    for (let at = 0; at < 10_000; at++) deep = parallel({ deep });
    expect(() => compile(deep)).toThrow(/levels of nesting/);
  });
});

describe('size', () => {
  /** Things put into lists, sets and maps: a measure that no slow machine changes. */
  function cost(run: () => unknown): number {
    let calls = 0;
    const restore = [
      counted(Array.prototype, 'push', () => calls++),
      counted(Map.prototype, 'set', () => calls++),
      counted(Set.prototype, 'add', () => calls++),
      counted(Object, 'freeze', () => calls++),
    ];
    try {
      run();
    } finally {
      for (const one of restore) one();
    }
    return calls;
  }

  /** Counts the calls of a method. @returns what puts the method back. */
  function counted(owner: object, method: string, count: () => void): () => void {
    const own: (...args: unknown[]) => unknown = Reflect.get(owner, method);
    Reflect.set(owner, method, function (this: unknown, ...args: unknown[]): unknown {
      count();
      return Reflect.apply(own, this, args);
    });
    return () => Reflect.set(owner, method, own);
  }

  it.each<[string, (steps: readonly Any[]) => unknown]>([
    ['a chain', chain],
    ['a chain from the right', (steps) => steps.reduceRight((whole, one) => one.pipe(whole))],
    ['a group', group],
    ['a group between two steps', (steps) => step('x').pipe(group(steps)).pipe(step('y'))],
    // A-W27
  ])('%s of twice the steps costs twice as much', (_, build) => {
    const [small, large] = [many(1_000), many(2_000)];
    const costs = [small, large].map((steps) => cost(() => plan(compile(build(steps)))));
    expect((costs[1] ?? 0) / (costs[0] ?? 1)).toBeLessThan(2.1);
    expect(costs[0]).toBeGreaterThan(1_000);
  });

  it.each([['chain', chain] as const, ['group', group] as const])(
    // O65
    'a %s of 10,000 needs no deep stack',
    (_, build) => {
      const made = plan(compile(build(many(10_000))));
      expect(made.form).toBe('dispatched');
      if (made.form !== 'dispatched') return;
      expect(made.nodes.filter(({ kind }) => kind === 'task')).toHaveLength(10_000);
      expect(Math.max(...made.nodes.map(({ dependsOn }) => dependsOn.length))).toBeLessThan(201);
    },
  );

  it('a flow of 10,000 steps and 100,000 edges is ordinary', () => {
    const steps = many(10_000);
    const large = flow('large', (f: Flow<unknown>) => {
      const refs: Ref<unknown>[] = [];
      for (const [at, one] of steps.entries()) {
        refs.push(f.step(one, f.input, { after: refs.slice(Math.max(0, at - 10), at) }));
      }
      return refs.at(-1) ?? f.step(a, f.input);
    });
    const made = flatten(compile(large));
    expect(made.nodes).toHaveLength(10_000);
    expect(made.nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0)).toBe(99_945);
  });
});
