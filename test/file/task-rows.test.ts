/** Tasks of one call as rows of a log: what comes back is what went in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argsOf, jsonArgs } from '../../src/backends/file/log/calls.ts';

const EDGES = { onFailure: 'wait', onCancel: 'wait', onMissing: 'refuse', allowCrossUser: false };

/** Few values each, so that neighbours are often alike. */
const task = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    name: fc.constantFrom('mail', 'resize'),
    queue: fc.constantFrom('default', 'other'),
    user: fc.constantFrom('ann', 'bob'),
    level: fc.constantFrom(1, 3),
    cost: fc.constantFrom(1, 0.5),
    payload: fc.constantFrom('{}', '{"n":1}'),
    options: fc.constant('{}'),
    delayMs: fc.constantFrom(undefined, 0, 5),
    dependsOn: fc.constantFrom([], ['a'], ['a', 'b']),
    edges: fc.oneof(fc.constant(EDGES), fc.constant({ ...EDGES, allowCrossUser: true })),
    idempotency: fc.constantFrom({ key: 'k', policy: 'join' }, { key: 'k', policy: 'reject' }),
    join: fc.constant(true),
    owner: fc.constantFrom('r1', 'r2'),
  },
  { requiredKeys: ['id', 'name', 'queue', 'user', 'level', 'cost', 'payload', 'options', 'edges'] },
);

function written(args: readonly unknown[]): string {
  return JSON.stringify(jsonArgs('tasks.enqueue', args));
}

describe('tasks of one call', () => {
  it('come back from their rows as they were', () => {
    fc.assert(
      fc.property(fc.array(task, { maxLength: 6 }), (tasks) => {
        const args = [tasks, { atomic: true }];
        const read = argsOf('tasks.enqueue', JSON.parse(written(args)));
        expect(read).toEqual(JSON.parse(JSON.stringify(args)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('say only once what they have in common', () => {
    const one = { name: 'mail', queue: 'default', user: 'ann', payload: '{}', dependsOn: [] };
    const tasks = [1, 2, 3].map((nth) => ({ id: `t-${nth}`, ...one, dependsOn: [] }));
    const last = { ...one, id: 't-4', payload: '{"n":1}', dependsOn: ['t-1'] };
    expect(written([[...tasks, last]])).toBe(
      `[[${JSON.stringify(tasks[0])},{"id":"t-2"},{"id":"t-3"},` +
        '{"id":"t-4","payload":"{\\"n\\":1}","dependsOn":["t-1"]}]]',
    );
  });

  it('stand whole where one lacks what the one before has, and where the name is another', () => {
    const first = { id: 't-1', name: 'mail', user: 'ann', delayMs: 5 };
    const second = { id: 't-2', name: 'mail', user: 'ann' };
    const third = { id: 't-3', name: 'resize', user: 'ann' };
    expect(JSON.parse(written([[first, second, third]]))).toEqual([[first, second, third]]);
  });
});
