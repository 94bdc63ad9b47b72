/** Flows: wires as data, and what they refuse. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError, InvalidPayloadError } from '../../src/domain/errors/errors.ts';
import { type Binding, fill, nodesRead } from '../../src/graph/graph-binding.ts';
import { compile } from '../../src/workflow/compile.ts';
import { type Flow, flow, type Ref } from '../../src/workflow/flow.ts';
import { parallel } from '../../src/workflow/parallel.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { a, b, c, nodeOf, shapeOf } from './kit.ts';

const fetchRows = task('fetch', async (day: { day: string }) => [{ n: 1, day: day.day }]);
const total = task('total', async (rows: { n: number }[]) => rows.length);
const peak = task('peak', async (rows: { n: number }[]) => rows[0]?.n ?? 0);
const publish = task('publish', async (r: { total: number; peak: number }) => `${r.total}`);

const report = flow('report', (f: Flow<{ day: string }>) => {
  const rows = f.step(fetchRows, f.input);
  return f.step(publish, { total: f.step(total, rows), peak: f.step(peak, rows) });
});

describe('a flow', () => {
  it('wires inputs by hand', () => {
    expect(compile(report)).toEqual({
      format: 1,
      name: 'report',
      nodes: [
        taskNode('fetch', { from: 'input' }),
        taskNode('peak', { from: 'node', node: 'fetch' }),
        taskNode('publish', {
          from: 'object',
          members: [
            ['peak', { from: 'node', node: 'peak' }],
            ['total', { from: 'node', node: 'total' }],
          ],
        }),
        taskNode('total', { from: 'node', node: 'fetch' }),
      ],
      output: { from: 'node', node: 'publish' },
    });
  });

  it('nests wires, takes parts, and keeps constants as values', () => {
    const built = flow('built', (f: Flow<{ deep: { list: number[] } }>) => {
      const first = f.step(a, { k: f.input.get('deep').get('list').get(1), n: [1, { two: 2 }] });
      return f.step(b, [first, 'x', null, { all: f.input }]);
    });
    const graph = compile(built);
    expect(nodeOf(graph, 'a').input).toEqual({
      from: 'object',
      members: [
        ['k', { from: 'input', path: ['deep', 'list', 1] }],
        ['n', { from: 'constant', value: [1, { two: 2 }] }],
      ],
    });
    const source = { input: () => ({ deep: { list: [7, 8] } }), output: (id: string) => `<${id}>` };
    expect(fill(nodeOf(graph, 'a').input, source)).toEqual({ k: 8, n: [1, { two: 2 }] });
    expect(fill(nodeOf(graph, 'b').input, source)).toEqual([
      '<a>',
      'x',
      null,
      { all: { deep: { list: [7, 8] } } },
    ]);
  });

  it('orders steps by `after` without reading them', () => {
    const built = flow('built', (f: Flow<number>) => {
      const first = f.step(a, 1);
      const second = f.step(b, 2, { after: [f.input, first] });
      return f.step(c, second, { after: [second, first, first] });
    });
    const graph = compile(built);
    expect(nodeOf(graph, 'b')).toMatchObject({ input: { from: 'constant' }, after: ['a'] });
    expect(nodeOf(graph, 'c').after).toEqual(['a', 'b']);
  });

  it('names steps by `as`, also flows inside of it', () => {
    const built = flow('two', (f: Flow<{ day: string }>) => {
      const one = f.step(report, f.input, { as: 'monday' });
      return f.step(report, { day: one });
    });
    const graph = compile(built);
    expect(nodeOf(graph, 'monday.publish')).toMatchObject({ task: 'publish' });
    expect(nodeOf(graph, 'report.publish')).toMatchObject({ task: 'publish' });
    expect(nodeOf(graph, 'report').input).toMatchObject({ from: 'object' });
  });

  it('takes pipelines without a name as if their steps were its own', () => {
    const built = flow('built', (f: Flow<unknown>) => {
      const pair = f.step(parallel({ a, b }), f.input);
      return f.step(c, pair.get('a'));
    });
    expect(nodeOf(compile(built), 'c').input).toEqual({
      from: 'node',
      node: '~group.a',
      path: ['a'],
    });
    const inline = flow('inline', (f: Flow<unknown>) => f.step(a.pipe(b).pipe(c), f.input));
    expect(shapeOf(inline)).toBe(shapeOf(a.pipe(b).pipe(c)));
  });

  it('gives a part of what its last step gives', () => {
    const built = flow('part', (f: Flow<string>) => f.step(fetchRows, { day: f.input }).get(0));
    expect(compile(built).output).toEqual({ from: 'node', node: 'fetch', path: [0] });
  });
});

describe('a flow refuses', () => {
  it('refs of another flow, and what is no ref', () => {
    let stolen: Ref<unknown> | undefined;
    flow('first', (f: Flow<unknown>) => {
      stolen = f.step(a, f.input);
      return stolen;
    });
    const foreign = stolen as Ref<unknown>;
    expect(() => flow('second', (f) => f.step(b, foreign))).toThrow(InvalidOptionError);
    expect(() => flow('second', () => foreign)).toThrow(InvalidOptionError);
    expect(() => flow('second', (f) => f.step(b, 1, { after: [foreign] }))).toThrow(
      InvalidOptionError,
    );
  });

  it('to give nothing, its input, or anything but a ref', () => {
    expect(() => flow('none', () => undefined as never)).toThrow(InvalidOptionError);
    expect(() => flow('none', (f: Flow<string>) => f.input)).toThrow(InvalidOptionError);
    expect(() => flow('none', (async () => 1) as never)).toThrow(InvalidOptionError);
    expect(() => flow('none', 'build' as never)).toThrow(InvalidOptionError);
    expect(() => flow('no name', (f) => f.step(a, 1))).toThrow(InvalidOptionError);
  });

  it('steps after it was built', () => {
    let late: Flow<unknown> | undefined;
    flow('built', (f: Flow<unknown>) => {
      late = f;
      return f.step(a, f.input);
    });
    expect(() => late?.step(b, 1)).toThrow(InvalidOptionError);
  });

  it.each<[string, unknown, string]>([
    ['a Date', { when: [new Date(0)] }, '$.when[0]'],
    ['NaN', Number.NaN, '$'],
    ['a function', { f: () => 1 }, '$.f'],
    ['a step where its output is meant', { x: a }, '$.x'],
    ['a lone surrogate', { x: '\ud800' }, '$.x'],
    ['a key with a lone surrogate', { '\ud800': 1 }, '$.\ud800'],
  ])('%s in a wire', (_, wire, path) => {
    const build = (): unknown => flow('bad', (f) => f.step(a, wire as object));
    expect(build).toThrow(InvalidPayloadError);
    expect(build).toThrow(expect.objectContaining({ path }));
  });

  it('wires that never end', () => {
    const ring: Record<string, unknown> = {};
    ring['self'] = ring;
    expect(() => flow('bad', (f) => f.step(a, ring))).toThrow(/nested deeper/);
  });

  it('keys that are neither text nor number', () => {
    const symbol = Symbol('key');
    expect(() =>
      flow('bad', (f: Flow<{ [symbol]: number }>) => f.step(a, f.input.get(symbol))),
    ).toThrow(InvalidOptionError);
  });
});

describe('a binding', () => {
  const source = { input: () => ({ a: { b: null } }), output: () => 5 };

  it('gives undefined for a part that is not there', () => {
    expect(fill({ from: 'input', path: ['c'] }, source)).toBeUndefined();
    expect(fill({ from: 'constant' }, source)).toBeUndefined();
    expect(fill({ from: 'input', path: ['a', 'toString'] }, source)).toBeUndefined();
    expect(fill({ from: 'input', path: ['__proto__'] }, source)).toBeUndefined();
  });

  // B-W7
  it('refuses a part of what has none, instead of passing nothing on', () => {
    expect(() => fill({ from: 'input', path: ['a', 'b', 'c'] }, source)).toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD', path: '$.a.b.c' }),
    );
    expect(() => fill({ from: 'node', node: 'n', path: [0] }, source)).toThrow(/output of n/);
  });

  it('makes a property of any key', () => {
    const value = fill({ from: 'object', members: [['__proto__', { from: 'input' }]] }, source);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
  });

  it('tells which nodes it reads, each once', () => {
    const n = (node: string): Binding => ({ from: 'node', node });
    const items: Binding = { from: 'array', items: [n('x'), n('y'), n('x')] };
    expect(nodesRead({ from: 'object', members: [['k', items]] })).toEqual(['x', 'y']);
  });
});

function taskNode(id: string, input: object): object {
  return { kind: 'task', id, task: id, options: {}, input, after: [] };
}
