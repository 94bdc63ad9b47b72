/**
 * In which async context code of users runs. Everything here notes the context in which it begins,
 * and enters one of its own, which no other may see.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Decider } from '../../../src/domain/attempt/decider.ts';
import { decide } from '../../../src/domain/attempt/decider.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { groupPolicy } from '../../../src/workflow/group-policy.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { processTask, threadTask } from '../../../src/workflow/tasks/module-task.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';

const als = new AsyncLocalStorage<string>();

/** Where code of users began, and in which context. */
let seen: (readonly [where: string, context: string | undefined])[] = [];

function enter(where: string): void {
  seen.push([where, als.getStore()]);
  als.enterWith(where);
}

function contextsOf(where: string): readonly (string | undefined)[] {
  return seen.filter(([one]) => one === where).map(([, context]) => context);
}

const decider: Decider = (outcome, facts) => {
  enter('decider');
  return decide(outcome, facts);
};

const schema: StandardSchemaV1<string, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      enter('schema');
      return { value: String(value) };
    },
  },
};

const codec = {
  encode: (value: unknown) => {
    enter('codec');
    return JSON.stringify(value ?? null);
  },
  decode: (text: string) => {
    enter('codec');
    return JSON.parse(text) as unknown;
  },
};

const quick = task('quick', (name: string) => {
  enter('handler');
  return name;
});
const slow = task('slow', async (name: string) => {
  enter('handler');
  await null;
  seen.push(['after a wait', als.getStore()]);
  return name;
});
const rich = task(
  'rich',
  {
    ...{ decider, input: schema, output: schema, retries: 1 },
    backoff: () => {
      enter('backoff');
      return 10;
    },
  },
  async (name: string) => {
    enter('handler');
    if (contextsOf('handler').length === 1) throw new Error('once');
    return name;
  },
);

eachBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    seen = [];
    harness = await open();
  });
  afterEach(() => harness.close());

  it.each([
    ['quick', quick],
    ['slow', slow],
  ])(
    // F10
    'handlers begin in no context, whichever client enqueues and handlers beside them enter: %s',
    async (_, step) => {
      const loom = harness.loom([quick, slow]);
      const worker = loom.worker({ concurrency: 10 });
      for (const name of ['task.started', 'task.finished'] as const) {
        worker.on(name, () => enter('listener'));
        worker.on(name, () => enter('listener'));
      }
      await als.run('starter', () => worker.start());
      await als.run('caller', async () => {
        for (let round = 0; round < 3; round++) {
          const handles = await loom.enqueueMany(step, ['a', 'b', 'c', 'd']);
          await Promise.all(handles.map((handle) => handle.result()));
          expect(als.getStore()).toBe('caller');
        }
      });
      await harness.quiet();
      expect(contextsOf('handler')).toEqual(Array.from({ length: 12 }, () => undefined));
      expect(contextsOf('listener')).toEqual(Array.from({ length: 48 }, () => undefined));
      // What a handler enters is its own to its end.
      expect(contextsOf('after a wait').every((context) => context === 'handler')).toBe(true);
    },
  );

  // F10
  it('deciders, backoff functions, schemas and codecs begin in the context they belong to', async () => {
    const loom = harness.loom([rich], { codec });
    await loom.worker({ concurrency: 3 }).start();
    const handle = await als.run('caller', async () => {
      const made = await loom.enqueue(rich, 'x');
      expect(als.getStore()).toBe('caller');
      return made;
    });
    expect([...new Set(seen.slice(0, 2).map(([, context]) => context))]).toEqual(['caller']);
    await harness.quiet();
    await harness.clock.advance('1s');
    await als.run('reader', async () => {
      seen = seen.filter(([, context]) => context !== 'caller');
      expect(await handle.result()).toBe('x');
      expect(als.getStore()).toBe('reader');
    });
    const isReading = ([where, context]: (typeof seen)[number]): boolean =>
      where === 'codec' && context === 'reader';
    expect(seen.filter(isReading).length).toBeGreaterThan(0);
    seen = seen.filter((one) => !isReading(one));
    expect(new Set(seen.map(([where]) => where))).toEqual(
      new Set(['handler', 'decider', 'backoff', 'schema', 'codec']),
    );
    expect(seen.filter(([, context]) => context !== undefined)).toEqual([]);
  });

  // F10
  it('a cancel by another caller does not lend its context to what comes next', async () => {
    const stuck = task('stuck', { decider }, async (_: string, ctx) => {
      enter('handler');
      await new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
      });
    });
    const loom = harness.loom([stuck, slow]);
    const worker = loom.worker({ concurrency: 1, queues: ['default'] });
    worker.on('task.canceled', () => enter('listener'));
    await worker.start();
    const first = await loom.enqueue(stuck, 'a');
    await harness.quiet();
    const next = await loom.enqueue(slow, 'b');
    await als.run('canceler', () => loom.tasks.cancel(first.id));
    // A worker whose line for cancels is not open yet hears of it by its next heartbeat.
    let isOver = false;
    void next.result().then(() => {
      isOver = true;
    });
    for (await harness.quiet(); !isOver; await harness.quiet()) await harness.clock.advance(250);
    expect(seen.filter(([where]) => where !== 'after a wait')).toEqual(
      expect.arrayContaining([
        ['handler', undefined],
        ['listener', undefined],
      ]),
    );
    expect(contextsOf('handler')).toEqual([undefined, undefined]);
    expect(contextsOf('listener')).toEqual([undefined]);
    expect(contextsOf('decider').filter((context) => context !== undefined)).toEqual([]);
  });

  // F10
  it('nodes of runs begin in no context, driven and dispatched, in groups and inside handlers', async () => {
    const all = groupPolicy('all', (members) => {
      enter('policy');
      return members.every(({ state }) => state === 'finished');
    });
    const outer = task('outer', async (name: string, ctx) => {
      enter('outer');
      const inner = await ctx.run(slow, name);
      seen.push(['after a sub-run', als.getStore()]);
      return inner;
    });
    const list = dynamic('list', async (_: string) => {
      enter('handler');
      return ['a', 'b', 'c'];
    });
    const group = parallel({ quick, slow, outer }, { policy: all } as never);
    const driven = list.pipe(each(slow) as never);
    const loom = harness.loom([group, driven, outer, all] as never);
    const worker = loom.worker({ concurrency: 4 });
    await als.run('starter', () => worker.start());
    await als.run('caller', async () => {
      const handles = [
        await loom.enqueue(group as never, 'x' as never),
        await loom.enqueue(driven as never, 'y' as never),
      ];
      await Promise.all(handles.map((handle) => handle.result()));
      expect(als.getStore()).toBe('caller');
    });
    const own = ['handler', 'policy', 'outer'].flatMap(contextsOf);
    expect(contextsOf('handler').length).toBeGreaterThanOrEqual(7);
    // What `outer` runs is a part of its own call.
    expect(own.filter((context) => context !== undefined)).toEqual(['outer']);
    expect(contextsOf('after a sub-run')).toEqual(['outer']);
  });

  // F10
  it('what is run here begins in the context of its caller, step after step', async () => {
    const policy = groupPolicy('some', () => {
      enter('policy');
      return true;
    });
    const steps = rich.pipe(parallel({ quick, slow }, { policy } as never) as never);
    const loom = harness.loom([rich, quick, slow], { codec });
    await als.run('caller', async () => {
      const running = loom.run(steps as never, 'x' as never);
      await harness.quiet();
      await harness.clock.advance('1s');
      await running;
      expect(als.getStore()).toBe('caller');
    });
    const began = seen.filter(([where]) => where !== 'after a wait');
    expect(new Set(began.map(([where]) => where))).toEqual(
      new Set(['handler', 'decider', 'backoff', 'schema', 'codec', 'policy']),
    );
    expect(began.filter(([, context]) => context !== 'caller')).toEqual([]);
  });

  // F10
  it('one thread or process runs task after task, each in no context', async () => {
    const code = {
      module: new URL('../../fixtures/scope-handlers.mjs', import.meta.url),
      exportName: 'enter',
    };
    type Enter = (name: string) => Promise<{ began: string; went: string }>;
    const hosted = [threadTask<Enter>('thread', code), processTask<Enter>('child', code)];
    const loom = harness.loom(hosted);
    await loom.worker({ concurrency: 1 }).start();
    for (const step of hosted) {
      const handles = await loom.enqueueMany(step, ['a', 'b', 'c']);
      const results = await Promise.all(handles.map((handle) => handle.result()));
      expect(results).toEqual(['a', 'b', 'c'].map((went) => ({ began: 'none', went })));
    }
  });

  // F10
  it('loggers and tracers enter what they like', async () => {
    const log = { ...silentLogger, warn: () => enter('log'), error: () => enter('log') };
    const tracer = {
      start: () => {
        enter('tracer');
        const within = (call: () => void): void => als.run('span', call);
        return { traceparent: undefined, within, end: () => enter('tracer') };
      },
    };
    const bad = task(
      'bad',
      {
        decider: () => {
          throw new Error('no');
        },
      },
      (name: string) => {
        enter('handler');
        return name;
      },
    );
    const loom = harness.loom([bad], { log, tracer: tracer as never });
    await loom.worker({ concurrency: 5 }).start();
    const handles = await loom.enqueueMany(bad, ['a', 'b', 'c']);
    await Promise.all(handles.map((handle) => handle.result()));
    expect(contextsOf('log').length).toBeGreaterThan(0);
    // The span is handed on, and nothing else.
    expect(contextsOf('handler')).toEqual(['span', 'span', 'span']);
    // Handlers that do not wait end, and are spoken of, within their spans.
    const others = new Set([...contextsOf('log'), ...contextsOf('tracer')]);
    expect(others).toEqual(new Set([undefined, 'span']));
  });
});
