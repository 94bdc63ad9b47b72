/** Promises that a context hands out: none ends the process, and a failure that is not looked at counts. */
import { describe, expect, it } from 'vitest';
import { AttemptContext } from '../../../src/attempt/attempt-context.ts';
import { DynamicAttemptContext } from '../../../src/runs/driven/dynamic-context.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { handlerTask } from '../../../src/workflow/tasks/handler-task.ts';
import { embedded, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

type Call = (ctx: TaskContext) => Promise<unknown>;

const go = signal<number>('go');
const told = channel<{ list: number[]; count: number }>('told');
const bad = task('bad', { retries: 0 }, async (n: number): Promise<number> => {
  throw new Error(`bad ${n}`);
});
const fine = task('fine', { retries: 0 }, async (n: number) => n);

/** Of every member of a context: calls that are refused, by the member that gives the promise; none without. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  run: { run: (ctx) => ctx.run(undefined as never) },
  sleep: { sleep: (ctx) => ctx.sleep('soon' as never) },
  sleepUntil: { sleepUntil: (ctx) => ctx.sleepUntil(Number.NaN) },
  waitFor: { waitFor: (ctx) => ctx.waitFor(go, { timeout: 'soon' as never }) },
  ask: { ask: (ctx) => ctx.ask({ title: '', choices: [] }) },
  channel: {
    get: (ctx) => ctx.channel(told).get('' as never),
    set: (ctx) => ctx.channel(told).set('count', undefined as never),
    delete: (ctx) => ctx.channel(told).delete('' as never),
    append: (ctx) => ctx.channel(told).append('list', undefined as never),
    add: (ctx) => ctx.channel(told).add('count', Number.NaN),
    'live.set': (ctx) => ctx.channel(told).live.set('count', undefined as never),
    'live.get': (ctx) => ctx.channel(told).live.get('' as never),
    'live.delete': (ctx) => ctx.channel(told).live.delete('' as never),
    'live.append': (ctx) => ctx.channel(told).live.append('list', undefined as never),
    'live.add': (ctx) => ctx.channel(told).live.add('count', Number.NaN),
  },
  stream: {
    write: (ctx) => ctx.stream('s').write(undefined),
    close: (ctx) => {
      void ctx.stream('s').close();
      return ctx.stream('s').close();
    },
  },
  metadata: {
    get: (ctx) => ctx.metadata.get(''),
    set: (ctx) => ctx.metadata.set('k', 'x'.repeat(9_000)),
    delete: (ctx) => ctx.metadata.delete(''),
  },
  xcom: {
    push: (ctx) => ctx.xcom.push('k', undefined),
    pull: (ctx) => ctx.xcom.pull(''),
    delete: (ctx) => ctx.xcom.delete(''),
    'in.push': (ctx) => ctx.xcom.in('n').push('k', undefined),
    'in.pull': (ctx) => ctx.xcom.in('n').pull(''),
    'in.delete': (ctx) => ctx.xcom.in('n').delete(''),
  },
  // What these give is no promise, nor has it calls that give one.
  ...{ taskId: {}, runId: {}, user: {}, attempt: {}, fencingToken: {}, traceparent: {} },
  ...{ signal: {}, log: {}, progress: {}, upstream: {} },
  ...{ cycle: {}, canIterate: {}, unreturned: {}, next: {}, goto: {}, again: {}, terminate: {} },
  ...{ cancelRun: {}, nextTask: {}, nextIteration: {}, canceled: {} },
};

/** Those of each object that a context hands out. */
const OBJECTS: Readonly<Record<string, (ctx: TaskContext) => object>> = {
  channel: (ctx) => ctx.channel(told),
  stream: (ctx) => ctx.stream('s'),
  metadata: (ctx) => ctx.metadata,
  xcom: (ctx) => ctx.xcom,
};

const CALLS: readonly (readonly [string, Call])[] = Object.entries(MEMBERS).flatMap(
  ([member, calls]) =>
    Object.entries(calls).map(([name, call]) => [`${member} ${name}`, call] as const),
);

function membersOf(prototype: object): readonly string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
}

/** Methods of an object and of what it derives from. */
function methodsOf(of: object): readonly string[] {
  const names = new Set<string>();
  for (
    let at = Object.getPrototypeOf(of);
    at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const name of membersOf(at)) {
      if (typeof Reflect.get(of, name) === 'function') names.add(name);
    }
  }
  return [...names];
}

/** Of the engine's own, and of an object like the one that it stands for. */
const OWN: ReadonlySet<string> = new Set(['sent', 'end', 'in']);

/** Where handlers run that are given a whole context. */
const HOSTS = ['task', 'node', 'handler', 'here'] as const;

embedded((open) => {
  const harness = opened(open);

  /** What a handler comes to that does this, in one of the hosts. */
  const outcomeIn = (host: (typeof HOSTS)[number], does: Call): Promise<unknown> => {
    const name = `does${Math.random().toString(36).slice(2)}`;
    const plain = task(name, { retries: 0 }, (_: number, ctx) => does(ctx));
    const own = handlerTask<number, unknown>(name, { handler: 'own', retries: 0 });
    const handlers = { own: { run: (_: unknown, ctx: TaskContext) => does(ctx) } };
    const step = plain.pipe(fine.as('next') as never);
    const used = host === 'handler' ? own : host === 'node' ? step : plain;
    const loom = harness.loom([used, fine, bad], { handlers });
    if (host === 'here') return settled(harness, loom.run(plain, 1)).then(ended, failed);
    return (async () => {
      const worker = loom.worker();
      await worker.start();
      const handle =
        host === 'node'
          ? await loom.enqueue(step, 1, { form: 'driven' })
          : await loom.enqueue(used as typeof plain, 1);
      const outcome = await settled(harness, handle.result().then(ended, failed));
      await worker.stop();
      return outcome;
    })();
  };

  // F78
  describe('a promise of a context', () => {
    it('has an answer for every member that gives one', async () => {
      const found = [AttemptContext.prototype, DynamicAttemptContext.prototype].flatMap(membersOf);
      expect(found.filter((name) => MEMBERS[name] === undefined)).toEqual([]);
      let methods: readonly (readonly [string, readonly string[]])[] = [];
      await outcomeIn('here', async (ctx) => {
        methods = Object.entries(OBJECTS).map(([name, of]) => [name, methodsOf(of(ctx))] as const);
      });
      const unknown = methods.flatMap(([name, all]) =>
        all.filter((method) => !OWN.has(method) && MEMBERS[name]?.[method] === undefined),
      );
      expect(methods.flatMap(([, all]) => all).length).toBeGreaterThan(10);
      expect(unknown).toEqual([]);
    });

    it.each(HOSTS)('fails its attempt when no one looks at its failure (%s)', async (host) => {
      for (const [name, call] of CALLS) {
        const outcome = await outcomeIn(host, async (ctx) => {
          void call(ctx);
          return 1;
        });
        expect([name, outcome]).toEqual([name, 'failed']);
      }
    });

    it.each(HOSTS)('is the handler’s own when it looks, also late (%s)', async (host) => {
      for (const [name, call] of CALLS) {
        const outcome = await outcomeIn(host, async (ctx) => {
          const late = call(ctx);
          await new Promise((resolve) => setImmediate(resolve));
          await refusal(late);
          return 1;
        });
        expect([name, outcome]).toEqual([name, 'ended']);
      }
    });

    it('that is still under way when its handler ends is dropped with it', async () => {
      const begun: number[] = [];
      const slow = task('slow', async (n: number) => begun.push(n));
      const sleeper = task('sleeper', async (_: number, ctx) => ctx.sleep('1s'));
      const left: Readonly<Record<string, (ctx: TaskContext) => unknown>> = {
        sleep: (ctx) => ctx.sleep('2s'),
        signal: (ctx) => ctx.waitFor(go),
        ask: (ctx) => ctx.ask({ title: 'q', choices: ['y'] }),
        second: (ctx) => [ctx.run(sleeper, 1), ctx.run(slow, 1)],
        'second, behind a group': (ctx) => [
          ctx.run(parallel({ fine, other: fine.as('other') }), 1),
          ctx.run(slow, 1),
        ],
        group: (ctx) => ctx.run(parallel({ fine, other: fine.as('other') }), 1),
      };
      for (const [name, leave] of Object.entries(left)) {
        for (const host of HOSTS) {
          // Nothing can be sent to what is not stored, and what it runs has no turns.
          if (host === 'here' && /^(signal|ask|second)/.test(name)) continue;
          const outcome = await outcomeIn(host, async (ctx) => {
            leave(ctx);
            return 1;
          });
          expect([name, host, outcome]).toEqual([name, host, 'ended']);
        }
      }
      expect(begun).toEqual([]);
    });

    it('of a step that fails beside another ends no process', async () => {
      const steps: Readonly<Record<string, readonly [Call, 'ended' | 'failed']>> = {
        'awaited first': [
          async (ctx) => {
            const [a, b] = [ctx.run(bad, 1), ctx.run(fine, 2)];
            return [await a, await b];
          },
          'failed',
        ],
        'never awaited': [
          async (ctx) => {
            const [a, b] = [ctx.run(bad, 1), ctx.run(fine, 2)];
            void a;
            return b;
          },
          'failed',
        ],
        'caught late': [
          async (ctx) => {
            const [a, b] = [ctx.run(bad, 1), ctx.run(fine, 2)];
            await b;
            await refusal(a);
            return 1;
          },
          'ended',
        ],
        'behind a handler that throws': [
          async (ctx) => {
            void ctx.run(bad, 1);
            throw new Error('mine');
          },
          'failed',
        ],
        'derived and left': [
          async (ctx) => {
            void ctx.run(bad, 1).then((n) => n + 1);
            return ctx.run(fine, 2);
          },
          'failed',
        ],
      };
      for (const [name, [handler, expected]] of Object.entries(steps)) {
        expect([name, await outcomeIn('task', handler)]).toEqual([name, expected]);
      }
    });
  });
});

function ended(): string {
  return 'ended';
}

function failed(): string {
  return 'failed';
}
