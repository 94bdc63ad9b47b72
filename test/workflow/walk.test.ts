/** The law of a walk, held to models that know nothing of graphs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GotoInGroupError, MaxCyclesError, MaxStepsError } from '../../src/domain/errors/errors.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { GraphBlock, TaskGraph } from '../../src/graph/graph.ts';
import { groupOutput } from '../../src/graph/graph-values.ts';
import {
  type EndedMember,
  hasFinished,
  isLost,
  type MemberState,
} from '../../src/graph/group-verdict.ts';
import {
  type Ending,
  onlyTask,
  RunWalk,
  type StepOutcome,
  type WalkStep,
} from '../../src/graph/run-walk.ts';
import { compile } from '../../src/workflow/compile.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import type { AnyStep, Step } from '../../src/workflow/step.ts';
import { dynamic } from '../../src/workflow/task-definition.ts';
import { a, b, c, d, step } from './kit.ts';
import { anyRecipe, build, workOf } from './random-steps.ts';

type Decide = (step: WalkStep & { readonly type: 'task' }) => StepOutcome;
type Any = Step<unknown, unknown>;

interface Part {
  readonly graph: TaskGraph;
  readonly block: GraphBlock;
  readonly input: unknown;
  readonly isMember: boolean;
}

/** Walks to the end; groups are walked member by member, strictly. */
function walked(part: Part, decide: Decide): Ending {
  const walk = new RunWalk(part);
  for (;;) {
    const next = walk.next();
    expect(walk.next()).toBe(next);
    if (next.type === 'end') return next.ending;
    if (next.type === 'task') walk.settle(decide(next));
    else {
      const outcomes = next.members.map(({ key, block, input }) => {
        const ending = walked({ graph: next.graph, block, input, isMember: true }, decide);
        if (ending.type !== 'finished') throw new Error(ending.type);
        return [key, { ok: true, value: ending.value }] as const;
      });
      walk.settle({ type: 'output', value: groupOutput(next.node, outcomes) });
    }
  }
}

function whole(graph: TaskGraph, input: unknown, decide: Decide): Ending {
  return walked({ graph, block: graph, input, isMember: false }, decide);
}

function bare(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}

/** A dynamic task; what it does is said by the test. */
function choice(name: string, maxCycles?: number): Any {
  return dynamic(name, maxCycles === undefined ? {} : { maxCycles }, (input: unknown) => input);
}

function sequence(steps: readonly Any[]): AnyStep {
  const [first, ...rest] = steps;
  if (first === undefined) throw new Error('no step');
  return rest.reduce((before, next) => before.pipe(next), first);
}

/** What ran, by scripted controls; a task without one gives its name. */
function trace(
  root: AnyStep,
  script: Readonly<Record<string, StepOutcome>>,
): { readonly ran: readonly string[]; readonly ending: Ending } {
  const ran: string[] = [];
  const ending = whole(compile(root), 'in', ({ node, visit, input }) => {
    ran.push(`${node.id}#${visit}(${String(input)})`);
    return script[`${node.id}#${visit}`] ?? { type: 'output', value: `${node.id}!` };
  });
  return { ran, ending };
}

describe('a walk', () => {
  // O48 O63 O50
  it('1,000 random workflows run each task once, in order, and give what they should', () => {
    fc.assert(
      fc.property(anyRecipe, (recipe) => {
        const sample = build(recipe);
        const ran: string[] = [];
        const ending = whole(compile(sample.step), 'start', ({ node, input }) => {
          ran.push(bare(node.id));
          return { type: 'output', value: workOf(bare(node.id), input) };
        });
        expect(ending).toEqual({ type: 'finished', value: sample.run('start') });
        expect(ran.toSorted()).toEqual(sample.tasks.toSorted());
        for (const pair of sample.order) {
          const [from = '', to = ''] = pair.split('<');
          expect(ran.indexOf(from)).toBeLessThan(ran.indexOf(to));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('random controls in a sequence lead where a list of names says', () => {
    const names = ['n0', 'n1', 'n2', 'n3', 'n4'];
    const root = sequence(names.map((name) => choice(name, 1_000)));
    const act = fc.oneof(
      fc.constant({ type: 'output' as const }),
      fc.constant({ type: 'again' as const }),
      fc.constant({ type: 'next' as const }),
      fc.constant({ type: 'terminate' as const }),
      fc.record({ type: fc.constant('goto' as const), to: fc.nat(6) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        // The model: a position in the list, and an input.
        const expected: string[] = [];
        let end: unknown = 'in';
        for (let at = 0, turn = 0; at < names.length; turn++) {
          expected.push(`${names[at]}(${String(end)})`);
          const one = acts[turn] ?? { type: 'output' };
          end = `t${turn}`;
          if (one.type === 'terminate') break;
          if (one.type === 'next') {
            expected.push(`helper(${end})`);
            end = 'helped';
            at++;
          } else if (one.type === 'output') at++;
          else if (one.type === 'goto') {
            at = one.to;
            if (at >= names.length) {
              expected.push(`helper(${end})`);
              end = 'helped';
            }
          }
        }
        const ran: string[] = [];
        let turn = -1;
        const helper = compile(step('helper'));
        const ending = whole(compile(root), 'in', ({ node, input }) => {
          ran.push(`${node.id}(${String(input)})`);
          if (node.id === 'helper') return { type: 'output', value: 'helped' };
          const one = acts[++turn] ?? { type: 'output' };
          const value = `t${turn}`;
          if (one.type === 'goto') {
            const target = names[one.to] ?? 'nowhere';
            return { type: 'goto', target, graph: helper, input: value };
          }
          if (one.type === 'next') return { type: 'next', graph: helper, input: value };
          return one.type === 'again' ? { type: 'again', input: value } : { ...one, value };
        });
        expect(ran).toEqual(expected);
        expect(ending).toMatchObject({ value: end });
      }),
      { numRuns: 1_000 },
    );
  });

  it('next runs a step, then what follows; its output is the node’s', () => {
    const graph = compile(sequence([c, d]));
    const { ran, ending } = trace(sequence([a, choice('x'), b]), {
      'x#1': { type: 'next', graph, input: 'n' },
    });
    expect(ran).toEqual(['a#1(in)', 'x#1(a!)', 'c#1(n)', 'd#1(c!)', 'b#1(d!)']);
    expect(ending).toEqual({ type: 'finished', value: 'b!' });
  });

  it('goto skips what follows; a step outside of the graph ends the run with it', () => {
    const steps = sequence([choice('x'), a, b]);
    const graph = compile(c);
    const inside = trace(steps, { 'x#1': { type: 'goto', target: 'b', graph, input: 'g' } });
    expect(inside.ran).toEqual(['x#1(in)', 'b#1(g)']);
    const outside = trace(steps, { 'x#1': { type: 'goto', target: 'c', graph, input: 'g' } });
    expect(outside.ran).toEqual(['x#1(in)', 'c#1(g)']);
    expect(outside.ending).toEqual({ type: 'terminated', value: 'c!' });
  });

  it('goto finds nodes of the pipelines around, and runs what follows them again', () => {
    const inner = (sequence([c, choice('x')]) as Any & { as(name: string): Any }).as('in');
    const { ran } = trace(sequence([a, inner, b]), {
      'in.x#1': { type: 'goto', target: 'a', graph: compile(a), input: 'back' },
    });
    expect(ran).toEqual([
      'a#1(in)',
      'in.c#1(a!)',
      'in.x#1(in.c!)',
      'a#2(back)',
      'in.c#2(a!)',
      'in.x#2(in.c!)',
      'b#1(in.x!)',
    ]);
  });

  it('maxCycles bounds again, loops of next and loops of goto', () => {
    const graph = compile(choice('x', 2));
    for (const type of ['again', 'next', 'goto'] as const) {
      let visits = 0;
      const ending = whole(compile(sequence([choice('x', 2), a])), 'in', ({ input }) => {
        visits++;
        return type === 'again' ? { type, input } : { type, graph, input, target: 'x' };
      });
      expect([type, visits]).toEqual([type, 2]);
      expect(ending).toMatchObject({ type: 'failed', error: expect.any(MaxCyclesError) });
    }
  });

  it('a run of too many steps fails and names what was left', () => {
    let steps = 0;
    const ending = whole(compile(sequence([choice('x', 20_000), b])), 0, () => {
      steps++;
      return { type: 'again', input: 0 };
    });
    expect(steps).toBe(LIMITS.runSteps);
    if (ending.type !== 'failed' || !(ending.error instanceof MaxStepsError)) {
      throw new Error(ending.type);
    }
    expect(ending.error.left).toEqual(['b', 'x']);
  });

  it('a jump back to what was left out reads nothing that never ran', () => {
    const graph = compile(sequence([a, b, c, choice('x')]));
    const both = { from: 'array', items: ['a', 'b'].map((node) => ({ from: 'node', node })) };
    // As no pipeline is made, but a graph may be read.
    const nodes = graph.nodes.map((node) => (node.id === 'c' ? { ...node, input: both } : node));
    const crossed = { ...graph, nodes, start: 'x' } as typeof graph;
    const ending = whole(crossed, 'in', ({ node: { id } }) =>
      id === 'x' ? { type: 'goto', target: 'b', graph, input: 0 } : { type: 'output', value: id },
    );
    expect(ending).toMatchObject({
      type: 'failed',
      error: { message: expect.stringContaining('after node "a", which has no output') },
    });
  });

  it('a member has no way out by goto, and may go to nodes of its own', () => {
    const group = parallel({ m: sequence([a, choice('x'), b]) as Any, n: c });
    const node = compile(group).nodes[0];
    if (node?.kind !== 'parallel') throw new Error('no group');
    const block = node.members[0]?.block;
    if (block === undefined) throw new Error('no member');
    const part = { graph: compile(group), block, input: 'in', isMember: true };
    const to = (target: string) =>
      walked(part, ({ node: { id }, visit }) =>
        id === 'x' && visit === 1
          ? { type: 'goto', target, graph: compile(d), input: 0 }
          : { type: 'output', value: id },
      );
    expect(to('b')).toEqual({ type: 'finished', value: 'b' });
    expect(to('c')).toMatchObject({ type: 'failed', error: expect.any(GotoInGroupError) });
  });

  // O53
  it('empty groups and empty arrays are done at once', () => {
    expect(
      trace(sequence([parallel({}) as Any, each(a) as unknown as Any]), {}).ending,
    ).toMatchObject({
      type: 'failed',
    });
    expect(whole(compile(each(a)), [], () => ({ type: 'output', value: 0 }))).toEqual({
      type: 'finished',
      value: [],
    });
  });

  it('a failure ends it; so do terminate and cancel', () => {
    const error = new RangeError('mine');
    const outcomes: StepOutcome[] = [
      { type: 'failed', error },
      { type: 'terminate', value: 1 },
      { type: 'canceled', cause: { type: 'request', reason: 'r' } },
    ];
    const endings = outcomes.map((one) => trace(sequence([a, b]), { 'a#1': one }).ending);
    expect(endings).toEqual([
      { type: 'failed', error },
      { type: 'terminated', value: 1 },
      { type: 'canceled', cause: { type: 'request', reason: 'r' } },
    ]);
  });

  // O65
  it('a chain of 9,999 nodes is walked in linear time', () => {
    const steps = Array.from({ length: 9_999 }, (_, at) => step(`s${at}`));
    let ran = 0;
    whole(compile(sequence(steps)), 0, () => ({ type: 'output', value: ran++ }));
    expect(ran).toBe(9_999);
  });

  it('one plain task is known as such', () => {
    const block = (drawn: AnyStep): GraphBlock => compile(drawn);
    expect(onlyTask(block(a), 5)).toMatchObject({ node: { id: 'a' }, input: 5 });
    expect(onlyTask(block(choice('x')), 5)).toBeUndefined();
    expect(onlyTask(block(sequence([a, b])), 5)).toBeUndefined();
  });
});

describe('the verdict on a group', () => {
  const STATES = ['finished', 'failed', 'canceled'] as const;
  const never = (): boolean => {
    throw new Error('asked');
  };

  // O47 O50
  it('every way for three members to end, under every policy', () => {
    const keys = ['a', 'b', 'c'];
    for (const one of STATES) {
      for (const two of STATES) {
        for (const three of STATES) {
          const members = [one, two, three].map((state, at) => ({ key: keys[at] ?? '', state }));
          const good = members.filter(({ state }) => state === 'finished').length;
          const verdict = (policy: Parameters<typeof hasFinished>[0]) =>
            hasFinished(policy, members, never);
          expect(verdict({ kind: 'strict' })).toBe(good === 3);
          expect(verdict({ kind: 'bestEffort' })).toBe(true);
          for (const count of [0, 1, 2, 3]) {
            expect(verdict({ kind: 'atLeast', count })).toBe(good >= count);
          }
          expect(verdict({ kind: 'critical', members: ['a', 'c'] })).toBe(
            one === 'finished' && three === 'finished',
          );
          const own = { kind: 'registered', name: 'p' } as const;
          expect(hasFinished(own, members, (all) => all[1]?.state === 'failed')).toBe(
            two === 'failed',
          );
        }
      }
    }
  });

  it('a group is lost as soon as no end of the open members can save it', () => {
    const policies = [
      { kind: 'strict' },
      { kind: 'bestEffort' },
      { kind: 'atLeast', count: 2 },
      { kind: 'critical', members: ['k1'] },
    ] as const;
    const state = fc.constantFrom<MemberState['state']>('finished', 'failed', 'canceled', 'open');
    fc.assert(
      fc.property(fc.array(state, { minLength: 2, maxLength: 5 }), (states) => {
        const members = states.map((one, at): MemberState => ({ key: `k${at}`, state: one }));
        const best = members.map(
          (one): EndedMember =>
            one.state === 'open' ? { ...one, state: 'finished' } : { ...one, state: one.state },
        );
        for (const policy of policies) {
          expect(isLost(policy, members)).toBe(!hasFinished(policy, best, never));
        }
      }),
    );
  });
});
