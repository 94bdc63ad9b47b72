/** Graphs as text: read back as they were, or refused with the place. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairloomError, InvalidPayloadError } from '../../src/domain/errors/errors.ts';
import { flatten } from '../../src/graph/graph-plan.ts';
import { graphText, readGraph } from '../../src/graph/graph-text.ts';
import { compile } from '../../src/workflow/compile.ts';
import { type Flow, flow } from '../../src/workflow/flow.ts';
import { each, parallel } from '../../src/workflow/parallel.ts';
import { dynamic, task } from '../../src/workflow/task-definition.ts';
import { a, b, c, d } from './kit.ts';

/** One of everything. */
const rich = flow('rich', (f: Flow<{ list: string[] }>) => {
  const versioned = task('v', { version: '2', retries: 1, backoff: {} }, async (x: unknown) => x);
  const first = f.step(versioned, [f.input.get('list').get(0), { n: 1 }]);
  const group = parallel({ a, b: b.pipe(c).as('in') }, { policy: { critical: ['a'] } });
  const second = f.step(group, { first, deep: [first] }, { after: [first] });
  f.step(parallel({ d }, { policy: { atLeast: 1 }, concurrency: 2, timeout: '1m' }), second);
  f.step(each(a.as('e'), { policy: { name: 'quorum' } }), []);
  return f.step(
    dynamic('loop', async (x: unknown) => x),
    second.get('a'),
  );
});

const HEAD = 'fairloom-graph\n';
const json = graphText(compile(rich)).slice(HEAD.length);

/** A place in a value of JSON: its keys, from the outside in. */
function placesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, part]) => placesOf(part, [...path, key]));
  return [path, ...inner];
}

function changed(path: readonly string[], to: unknown): string {
  const copy = JSON.parse(json) as object;
  const owner = path.slice(0, -1).reduce<object>((part, key) => Reflect.get(part, key), copy);
  const last = path.at(-1);
  if (last === undefined) return HEAD + JSON.stringify(to);
  Reflect.set(owner, last, to);
  return HEAD + JSON.stringify(copy);
}

describe('a graph as text', () => {
  it('is read back as it was, and frozen', () => {
    const graph = readGraph(HEAD + json);
    expect(graph).toEqual(compile(rich));
    expect(graphText(graph)).toBe(HEAD + json);
    expect(Object.isFrozen(graph.nodes[0]?.input)).toBe(true);
  });

  it.each([
    ['', '$'],
    ['{}', '$'],
    [`${HEAD}{`, '$'],
    [`${HEAD}null`, '$'],
    [`${HEAD}{"format":2}`, '$.format'],
    [`${HEAD}{"format":1,"name":1}`, '$.name'],
    [`${HEAD}{"format":1,"name":"g","output":{"from":"air"}}`, '$.output.from'],
    [`${HEAD}{"format":1,"name":"g","output":{"from":"input"},"nodes":[{}]}`, '$.nodes[0].id'],
  ])('is refused as %j, at %s', (text, path) => {
    expect(() => readGraph(text)).toThrow(InvalidPayloadError);
    expect(() => readGraph(text)).toThrow(expect.objectContaining({ path }));
  });

  it('is refused or is a graph, after any change in it', () => {
    const places = placesOf(JSON.parse(json));
    const other = fc.constantFrom<unknown>(undefined, null, true, -1, 1.5, '', 'x', [], {}, [[]]);
    fc.assert(
      fc.property(fc.constantFrom(...places), other, (path, to) => {
        let ends: readonly string[] | undefined;
        let refusal: unknown;
        try {
          ends = flatten(readGraph(changed(path, to))).ends;
        } catch (error) {
          refusal = error;
        }
        expect(ends !== undefined || refusal instanceof FairloomError).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused when it is nested too deep', () => {
    const block = (inner: string): string =>
      `{"nodes":[${inner}],"output":{"from":"input"},"format":1,"name":"g"}`;
    const node = (inner: string): string =>
      `{"id":"x","kind":"block","after":[],"input":{"from":"input"},"block":${block(inner)}}`;
    let inner = '';
    for (let at = 0; at < 200; at++) inner = node(inner);
    expect(() => readGraph(HEAD + block(inner))).toThrow(/nested deeper/);
    let part = '{"from":"input"}';
    for (let at = 0; at < 200; at++) part = `{"from":"array","items":[${part}]}`;
    const wide = `{"format":1,"name":"g","nodes":[],"output":${part}}`;
    expect(() => readGraph(HEAD + wide)).toThrow(/nested deeper/);
  });
});
