/** Values that fit nowhere, in every argument of everything public: refused in our words, or taken. */
import * as fairloom from 'fairloom';
import { Fairloom, FairloomError, InvalidOptionError, memory, silentLogger, task } from 'fairloom';
import { loadConfig, toYaml } from 'fairloom/config';
import { openTelemetryMetrics, prometheus, serveMonitoring } from 'fairloom/metrics';
import { redis } from 'fairloom/redis';
import { ManualClock, testLoom } from 'fairloom/testing';
import { openTelemetry } from 'fairloom/tracing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embedded, type Harness } from '../../support/backends.ts';
import { line, plainTask } from '../../support/docs/option-calls.ts';

type Calls = Readonly<Record<string, () => unknown>>;

/** What a call throws or rejects with. */
async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The calls that end with an error which is none of ours. */
async function rawIn(calls: Calls): Promise<readonly string[]> {
  const raw: string[] = [];
  for (const [name, act] of Object.entries(calls)) {
    const error = await thrownBy(act);
    if (error !== undefined && !(error instanceof FairloomError)) raw.push(`${name}: ${error}`);
  }
  return raw;
}

const NASTY: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['a symbol', Symbol('s')],
  ['NaN', Number.NaN],
  ['a bigint', 1n],
  ['an empty text', ''],
  ['true', true],
  ['a list', [undefined]],
  ['a list of holes', new Array(3)],
  ['a list of symbols', [Symbol('s')]],
  ['a function', () => undefined],
  ['a date', new Date(Number.NaN)],
  ['a map', new Map()],
  ['an instance', new (class Thing {})()],
  ['a bare object', Object.create(null)],
];

type Method = (...args: readonly unknown[]) => unknown;

/** A call per place of an argument, the ones before it with what would be right. */
function everyPlace(name: string, act: Method, [id, x]: readonly [unknown, unknown]): Calls {
  return {
    [`${name}(x)`]: () => act(x),
    [`${name}(id, x)`]: () => act(id, x),
    [`${name}(id, {}, x)`]: () => act(id, {}, x),
    [`${name}(x, x, x)`]: () => act(x, x, x),
  };
}

/** Every method of an object's class, by reflection: one that is new is called too. */
function everyMethod(name: string, of: object, args: readonly [unknown, unknown]): Calls {
  const proto: object = Object.getPrototypeOf(of);
  const calls = Object.getOwnPropertyNames(proto).map((key) => {
    const method: unknown = Object.getOwnPropertyDescriptor(proto, key)?.value;
    if (key === 'constructor' || typeof method !== 'function') return {};
    return everyPlace(`${name}.${key}`, (...given) => Reflect.apply(method, of, given), args);
  });
  return Object.assign({}, ...calls);
}

/** Functions that are given what the library itself has made, not what a caller writes. */
const OF_OURS: readonly string[] = ['causeText', 'failureTypeOf', 'decide'];

/** Every function of the main entry. */
function everyFunction(x: unknown): Calls {
  const calls = Object.entries(fairloom).map(([name, act]) => {
    if (typeof act !== 'function' || /^[A-Z]/.test(name) || OF_OURS.includes(name)) return {};
    return {
      ...everyPlace(name, act as Method, ['name', x]),
      ...everyPlace(`${name} plain`, act as Method, [plainTask, x]),
    };
  });
  return Object.assign({}, ...calls);
}

/** Fields of options, and entries beside the main one. */
function fieldsAndEntries(harness: Harness, value: unknown): Calls {
  const x = value as never;
  const { backend } = harness;
  const fields = [
    'tasks',
    'handlers',
    'defaults',
    'retention',
    'scheduler',
    'xcom',
    'log',
    'codec',
  ];
  const others = ['logLevel', 'metrics', 'tracer', 'clock', 'random', 'newId', 'requireUser'];
  const clients = [...fields, ...others].map((field) => [
    `new Fairloom ${field}`,
    () => new Fairloom({ backend, [field]: x }),
  ]);
  return {
    ...Object.fromEntries(clients),
    'new Fairloom': () => new Fairloom(x),
    'new Fairloom backend': () => new Fairloom({ backend: x }),
    'memory clock': () => memory({ clock: x }),
    'redis url': () => redis(x),
    'redis options': () => redis('redis://localhost:1', x),
    'redis prefix': () => redis('redis://localhost:1', { prefix: x }),
    loadConfig: () => loadConfig(x),
    'loadConfig file': () => loadConfig({ file: x, env: {} }),
    'loadConfig env': () => loadConfig({ file: false, env: x }),
    'loadConfig overrides': () => loadConfig({ file: false, env: {}, overrides: x }),
    toYaml: () => toYaml(x),
    prometheus: () => prometheus(x),
    openTelemetryMetrics: () => openTelemetryMetrics(x),
    openTelemetry: () => openTelemetry(x),
    serveMonitoring: () => serveMonitoring(x, { port: 0 }),
    testLoom: () => testLoom(x),
    'testLoom options': () => testLoom([plainTask], x),
    'new ManualClock': () => new ManualClock(x),
    'loom.fail': () => testLoom([plainTask]).fail(x),
    'loom.stub': () => testLoom([plainTask]).stub(x, x),
    'loom.replay': () => testLoom([plainTask]).clock.advance(x),
    'commandTask args': () => fairloom.commandTask('c', { command: 'true', args: x }),
    'containerTask mounts': () => fairloom.containerTask('c', { image: 'a', mounts: x }),
    'containerTask passEnv': () => fairloom.containerTask('c', { image: 'a', passEnv: x }),
    'containerTask env': () => fairloom.containerTask('c', { image: 'a', env: x }),
    'containerTask engineArgs': () => fairloom.containerTask('c', { image: 'a', engineArgs: x }),
    'encrypted keys': () => fairloom.encrypted({ keys: x }),
    'parallel critical': () => fairloom.parallel({ plain: plainTask }, { policy: { critical: x } }),
    'flow after': () =>
      fairloom.flow<number, number>('f', (f) => f.step(plainTask, f.input, { after: x })),
    'redis sentinels': () => redis({ sentinels: x, name: 'm' } as never),
    'task retries': () => task('t', { retries: x }, async () => 1),
    'task input': () => task('t', { input: x }, async () => 1),
    'as name': () => plainTask.as(x),
    pipe: () => plainTask.pipe(x),
  };
}

/** Fields of the options of one client, and what it makes. */
async function fieldsOf(loom: Fairloom, value: unknown): Promise<Calls> {
  const x = value as never;
  const ended = await loom.enqueue(plainTask, 1);
  const run = await loom.enqueue(line, 1);
  // What waits for either is answered at once.
  await loom.tasks.cancel(ended.taskId);
  await run.cancel();
  const worker = loom.worker();
  const fields = [
    'user',
    'id',
    'queue',
    'priority',
    'delay',
    'executeAfter',
    'debounce',
    'retries',
  ];
  const more = [
    'dependsOn',
    'idempotencyKey',
    'traceparent',
    'backoff',
    'timeout',
    'cost',
    'throttle',
  ];
  const enqueues = [...fields, ...more].map((field) => [
    `enqueue ${field}`,
    () => loom.enqueue(plainTask, 1, { [field]: x }),
  ]);
  return {
    ...Object.fromEntries(enqueues),
    'enqueue input': () => loom.enqueue(plainTask, x),
    'enqueueMany plain': () => loom.enqueueMany(plainTask, x),
    'enqueueMany options': () => loom.enqueueMany(plainTask, [1], x),
    'run input': () => loom.run(plainTask, x),
    'run options': () => loom.run(plainTask, 1, x),
    'handle id': () => loom.handle(plainTask, x),
    'runs.handle id': () => loom.runs.handle(line, x),
    'worker id': () => loom.worker({ id: x }),
    'worker queues': () => loom.worker({ queues: x }),
    'worker assignedUsers': () => loom.worker({ assignedUsers: x }),
    'worker stealTargets': () => loom.worker({ assignedUsers: ['a'], stealTargets: x }),
    'worker concurrency': () => loom.worker({ concurrency: x }),
    'worker.on': () => worker.on(x, () => undefined),
    'worker.on listener': () => worker.on('task.failed', x),
    'worker.stop': () => worker.stop(x),
    'scheduler id': () => loom.scheduler({ id: x }),
    'scheduler.on': () => loom.scheduler().on(x, () => undefined),
    'schedules.set task': () => loom.schedules.set('s', { task: x, input: 1, cron: '@daily' }),
    'schedules.set cron': () => loom.schedules.set('s', { task: plainTask, input: 1, cron: x }),
    'users.set weight': () => loom.users.set('u', { weight: x }),
    'tasks.list state': () => loom.tasks.list({ state: x }),
    'tasks.list cursor': () => loom.tasks.list({ state: 'failed', cursor: x }),
    'handle.result': () => ended.result(x),
    'handle.result timeout': () => ended.result({ timeout: x }),
    'run.result': () => run.result(x),
    'run.cancel': () => run.cancel(x),
  };
}

/** Methods that a value may really start or end: their own test has them. */
const OWN_TEST = /^loom\.(serve|close)\(/;

embedded((open) => {
  // F72
  describe('values that fit nowhere', () => {
    let harness: Harness;
    let loom: Fairloom;

    beforeEach(async () => {
      harness = await open();
      loom = harness.loom([plainTask, line]);
    });
    afterEach(() => harness.close());

    // F72
    it.each(NASTY)('takes %s for nothing that it is not', async (_, x) => {
      await loom.enqueue(plainTask, 1, { id: 'id' });
      await loom.enqueue(line, 1, { id: 'run' });
      await loom.schedules.set('id', { task: plainTask, input: 1, cron: '@daily' });
      const methods = everyMethod('loom', loom, [plainTask, x]);
      const raw = await rawIn({
        ...fieldsAndEntries(harness, x),
        ...(await fieldsOf(loom, x)),
        ...everyFunction(x),
        ...Object.fromEntries(Object.entries(methods).filter(([name]) => !OWN_TEST.test(name))),
        ...everyMethod('tasks', loom.tasks, ['id', x]),
        ...everyMethod('users', loom.users, ['id', x]),
        ...everyMethod('queues', loom.queues, ['id', x]),
        ...everyMethod('dead', loom.dead, [{ all: true }, x]),
        ...everyMethod('runs', loom.runs, ['run', x]),
        ...everyMethod('graphs', loom.graphs, ['0'.repeat(64), x]),
        ...everyMethod('schedules', loom.schedules, ['id', x]),
        ...everyMethod('xcom', loom.xcom, ['key', x]),
      });
      expect(raw).toEqual([]);
    });

    // F72
    it('refuses options of serve and close before it starts or ends anything', async () => {
      const wrong = [null, 5, 'text', Symbol('s'), 1n, () => undefined];
      for (const x of wrong as never[]) {
        const other = (): Fairloom => new Fairloom({ backend: memory(), log: silentLogger });
        expect(await thrownBy(() => loom.close(x))).toBeInstanceOf(InvalidOptionError);
        expect(await thrownBy(() => other().serve(x))).toBeInstanceOf(InvalidOptionError);
        expect(await thrownBy(() => other().serve([x]))).toBeInstanceOf(InvalidOptionError);
      }
      expect(await thrownBy(() => loom.stats())).toBeUndefined();
    });

    // F72
    it('logs an async listener that rejects as one that throws', async () => {
      const lines: unknown[] = [];
      const note = (_: string, fields?: { readonly event?: unknown }): void => {
        if (fields?.event === 'listener.threw') lines.push(fields);
      };
      const log = { ...silentLogger, error: note };
      const heard = harness.loom([plainTask], { log });
      const error = new Error('late');
      const rejects = (() => Promise.reject(error)) as () => void;
      const throws = (): void => {
        throw error;
      };
      const worker = heard.worker();
      worker.on('worker.started', rejects);
      worker.on('worker.started', throws);
      await worker.start();
      await harness.until(() => lines.length === 2);
      const told = { event: 'listener.threw', on: 'worker.started', error };
      expect(lines).toEqual([told, told]);
      lines.length = 0;
      const scheduler = heard.scheduler();
      scheduler.on('schedule.fired', rejects);
      scheduler.on('schedule.fired', throws);
      await heard.schedules.set('s', { task: plainTask, input: 1, every: '1m' });
      await scheduler.start();
      await harness.clock.advance(61_000);
      await harness.until(() => lines.length >= 2);
      expect(lines.slice(0, 2)).toEqual([0, 1].map(() => ({ ...told, on: 'schedule.fired' })));
    });

    // F72
    it('refuses an event that there is not, and a listener that is none', () => {
      const [worker, scheduler] = [loom.worker(), loom.scheduler()];
      expect(() => worker.on('task.finnished' as never, () => undefined)).toThrow(
        'event: there is no event "task.finnished"; did you mean "task.finished"?',
      );
      for (const name of ['nonsense', Symbol('s'), 5, null] as never[]) {
        expect(() => worker.on(name, 5 as never)).toThrow(InvalidOptionError);
        expect(() => scheduler.on(name, 5 as never)).toThrow(InvalidOptionError);
      }
      expect(() => scheduler.on('task.finished' as never, () => undefined)).toThrow(
        InvalidOptionError,
      );
      expect(() => worker.on('task.failed', 5 as never)).toThrow('listener: expected a function');
    });

    // F72
    it('refuses holes in lists, wherever they stand', async () => {
      const holes = new Array(1) as never;
      const { commandTask, containerTask, encrypted, flow, parallel } = fairloom;
      const key = { id: 'a', key: new Uint8Array(32) };
      const refused: readonly (() => unknown)[] = [
        () => loom.enqueueMany(plainTask, holes),
        () => loom.enqueueMany(holes),
        () => loom.enqueue(plainTask, 1, { dependsOn: holes }),
        () => loom.tasks.consequences(holes, { ending: 'cancel' }),
        () => loom.worker({ queues: holes }),
        () => loom.worker({ assignedUsers: holes }),
        () => loom.worker({ assignedUsers: ['a'], stealTargets: holes }),
        () => harness.loom(holes),
        () => commandTask('c', { command: 'true', args: holes }),
        () => containerTask('c', { image: 'a', mounts: holes }),
        () => containerTask('c', { image: 'a', passEnv: holes }),
        () => containerTask('c', { image: 'a', engineArgs: holes }),
        () => encrypted({ keys: Object.assign(new Array(2), [key]) }),
        () => parallel({ plain: plainTask }, { policy: { critical: holes } }),
        () => flow<number, number>('f', (f) => f.step(plainTask, f.input, { after: holes })),
        () => fairloom.notation(holes),
      ];
      for (const act of refused) {
        expect(await thrownBy(act), String(act)).toBeInstanceOf(InvalidOptionError);
      }
    });

    // F72
    it('refuses signals, names, options and lists that are none', async () => {
      const handle = await loom.enqueue(plainTask, 1);
      const run = await loom.enqueue(line, 1);
      const refused: (() => unknown)[] = [{}, 5, 'text', null, new EventTarget()].flatMap(
        (signal) => {
          const options = { signal } as never;
          return [
            () => handle.result(options),
            () => run.result(options),
            () => loom.run(plainTask, 1, options),
          ];
        },
      );
      const name = Symbol('s') as never;
      const nothing = null as never;
      refused.push(
        () => loom.enqueue(plainTask, 1, nothing),
        () => loom.worker(nothing),
        () => loom.tasks.list(nothing),
        () => loom.runs.consequences('r', nothing),
        () => task(name, async () => 1),
        () => loom.enqueueByName(name, 1),
        () => loom.users.set(name, {}),
        () => loom.queues.pause(name),
        () => loom.schedules.pause(name),
        () => loom.enqueue(plainTask, 1, { user: name }),
        () => memory(nothing),
        () => loom.enqueueMany(plainTask, new Array(3)),
      );
      for (const act of refused) {
        expect(await thrownBy(act), String(act)).toBeInstanceOf(InvalidOptionError);
      }
      expect(await thrownBy(() => loom.enqueueMany(plainTask, new Array(3)))).toMatchObject({
        option: 'inputs[0]',
      });
      expect(await loom.tasks.counts()).toMatchObject({ queued: 2 });
    });
  });
});
