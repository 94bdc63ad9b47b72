/** What a caller of some users asks costs by what these have, not by what others have. */
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import type { Backend } from '../../../src/domain/port/backend.ts';
import type { Access } from '../../../src/operations/view.ts';
import { askerOf } from '../../support/http/api.ts';
import {
  addressOf,
  EVERY_ROUTE,
  named,
  WALKED_TASKS,
  type Walked,
  walkedThings,
} from '../../support/http/every-route.ts';
import { eachStore } from '../../support/http/stores.ts';

/** Queues of others, each with a task. */
const QUEUES = 150;

const [say] = WALKED_TASKS;

/** Reading a stream of changes reads the routes that are walked here. */
const READS = EVERY_ROUTE.filter(({ method, path }) => method === 'GET' && path !== '/events');

/** What is asked beside the bare address. */
const MORE: readonly (readonly [string, string])[] = [
  ['tasks in line', '/tasks?state=queued'],
  ['tasks of a filter', '/tasks?where=state:queued'],
  ['tasks of a queue', '/tasks?where=queue:default'],
  ['users of a queue', '/users?queue=q1'],
  ['the series of a user', '/series?step=minute&user=acme'],
];

/** What the store was asked for, and how many rows it has answered. */
class Cost {
  readonly calls: string[] = [];
  rows = 0;

  note(call: string, reply: unknown): void {
    this.calls.push(call);
    const items: unknown =
      Reflect.get(Object(reply), 'items') ?? Reflect.get(Object(reply), 'cells');
    for (const rows of [reply, items]) this.rows += Array.isArray(rows) ? rows.length : 0;
  }

  clear(): void {
    this.calls.length = 0;
    this.rows = 0;
  }
}

/** The same backend; what its parts are asked for and answer is counted. */
function counting(backend: Backend, cost: Cost): Backend {
  const wrapped = (part: object, name: string): object =>
    new Proxy(part, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member === 'object' && member !== null && name === '') {
          return wrapped(member, String(key));
        }
        if (typeof member !== 'function') return member;
        return (...args: readonly unknown[]) => {
          const reply: unknown = Reflect.apply(member, target, args);
          if (!(reply instanceof Promise)) return reply;
          return reply.then((value: unknown) => {
            cost.note(`${name}.${String(key)}`, value);
            return value;
          });
        };
      },
    });
  return wrapped(backend, '') as Backend;
}

eachStore(({ open, beside }) => {
  const cost = new Cost();
  const before = new Map<string, string>();
  let loom: TestLoom;
  let acme: Walked;
  let costOf: (path: string, access?: Access) => Promise<string>;

  const paths = (): readonly (readonly [string, string])[] => [
    ...named(READS).map(([name, one]) => [name, addressOf(one, acme)] as const),
    ...MORE,
  ];

  beforeAll(async () => {
    loom = await open(WALKED_TASKS);
    acme = await walkedThings(loom, 'acme');
    await loom.enqueue(say, 'x', { user: 'acme', queue: 'mail' });
    await loom.users.set('acme', { weight: 2 });
    const other = beside(loom, WALKED_TASKS, { wrap: (backend) => counting(backend, cost) });
    await other.health();
    costOf = async (path, access = { can: 'all', users: ['acme', 'beta'] }) => {
      const ask = askerOf(other, { access: () => access });
      cost.clear();
      const { status } = await ask(path);
      return JSON.stringify({ status, calls: [...cost.calls].sort(), rows: cost.rows });
    };
    // The second time, as what is kept of the first is not read again.
    for (const [, path] of [...paths(), ...paths()]) before.set(path, await costOf(path));
    for (let at = 0; at < QUEUES; at++) {
      await loom.enqueue(say, 'x', { user: 'mallory', queue: `q${at}` });
    }
  });

  // F109
  it('no route asks the store for more when others have more queues', async () => {
    expect(before.size).toBeGreaterThan(20);
    for (const [name, path] of paths()) {
      expect([name, await costOf(path)]).toEqual([name, before.get(path)]);
    }
    // The counter sees what grows: a caller of all users reads every queue.
    const all = JSON.parse(await costOf('/overview', 'all')) as { readonly rows: number };
    expect(all.rows).toBeGreaterThan(QUEUES);
  });

  // F109
  it('an overview names the queues of its own users alone, also of one with settings for all queues', async () => {
    const ask = askerOf(loom, { access: () => ({ can: ['read'], users: ['acme'] }) });
    const { body, text } = await ask('/overview');
    const rows: unknown = Reflect.get(Object(body), 'users');
    expect(rows).toMatchObject([
      { user: 'acme', queue: 'default', later: 2 },
      { user: 'acme', queue: 'mail', queued: 1, settings: { weight: 2 } },
    ]);
    expect(text).not.toContain('"q0"');
  });
});
