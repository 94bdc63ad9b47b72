/** Figures of a client, for Prometheus and for OpenTelemetry. */
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import * as client from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FairnessWindow } from '../../../src/metrics/fairness.ts';
import {
  METRICS,
  openTelemetryMetrics,
  prometheus,
  serveMonitoring,
} from '../../../src/metrics.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate as newGate } from '../../support/gate.ts';
import { observe } from '../../support/workers.ts';

const quick = task('quick', async (n: number) => n);
const flaky = task(
  'flaky',
  { retries: 1, backoff: { kind: 'fixed', base: '1s', jitter: 'none' } },
  async () => {
    throw new RangeError('broken');
  },
);

/** Lines of one metric, without its help, as `{labels} value`. */
function linesOf(text: string, name: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`fairloom_${name}{`) || line.startsWith(`fairloom_${name} `))
    .map((line) => line.slice(`fairloom_${name}`.length).trim())
    .sort();
}

eachBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  describe('Prometheus', () => {
    it('counts what was stored, started and ended, and how long it took', async () => {
      const metrics = prometheus({ client });
      const loom = harness.loom([quick, flaky], { metrics });
      const worker = loom.worker({ id: 'w1', concurrency: 3 });
      const seen = observe(worker);
      await worker.start();
      const done = await loom.enqueue(quick, 1, { user: 'ada' });
      expect(await done.result()).toBe(1);
      const lost = await loom.enqueue(flaky, undefined, { user: 'ben' });
      await seen.count('task.retried', 1);
      await harness.clock.advance('1s');
      await expect(lost.result()).rejects.toThrow('broken');
      const text = await metrics.text();
      expect(linesOf(text, 'enqueued_total')).toEqual([
        '{queue="default",name="flaky"} 1',
        '{queue="default",name="quick"} 1',
      ]);
      expect(linesOf(text, 'attempts_total')).toEqual([
        '{name="flaky",outcome="failed"} 1',
        '{name="flaky",outcome="retried"} 1',
        '{name="quick",outcome="finished"} 1',
      ]);
      expect(linesOf(text, 'ended_total')).toEqual([
        '{name="flaky",outcome="failed"} 1',
        '{name="quick",outcome="finished"} 1',
      ]);
      expect(linesOf(text, 'wait_seconds_count')).toEqual(['{queue="default"} 2']);
      expect(linesOf(text, 'run_seconds_count')).toEqual(['{name="flaky"} 2', '{name="quick"} 1']);
      expect(linesOf(text, 'worker_slots')).toEqual([
        '{worker="w1",state="busy"} 0',
        '{worker="w1",state="free"} 3',
      ]);
      expect(linesOf(text, 'dead_tasks')).toEqual(['{queue="default"} 1']);
      expect(linesOf(text, 'tasks')).toContain('{queue="default",state="finished"} 1');
      expect(linesOf(text, 'live_workers')).toEqual(['1']);
      expect(linesOf(text, 'store_up')).toEqual(['1']);
      const calls = linesOf(text, 'backend_command_seconds_count');
      expect(calls.join('\n')).toMatch(/operation="tasks\.settle"\} \d/);
      expect(calls.join('\n')).not.toContain('waitForWork');
    });

    it('shows every metric of the table, and none that is not in it', async () => {
      const metrics = prometheus({ client });
      harness.loom([quick], { metrics });
      const text = await metrics.text();
      const names = [...text.matchAll(/^# TYPE fairloom_(\S+) (\S+)/gm)].map(
        ([, name, kind]) => `${name} ${kind}`,
      );
      expect(names.sort()).toEqual(
        Object.values(METRICS)
          .map(({ name, kind }) => `${name} ${kind}`)
          .sort(),
      );
      expect(metrics.contentType).toContain('text/plain');
    });

    it('gives users labels only when asked, and the oldest first', async () => {
      const metrics = prometheus({ client, users: 'top:2' });
      const quiet = prometheus({ client });
      const loom = harness.loom([quick], { metrics });
      harness.loom([quick], { metrics: quiet });
      for (const user of ['a', 'b', 'c']) {
        await loom.enqueue(quick, 1, { user });
        await harness.clock.advance('10s');
      }
      const text = await metrics.text();
      expect(linesOf(text, 'user_max_wait_seconds')).toEqual([
        '{queue="default",user="a"} 30',
        '{queue="default",user="b"} 20',
      ]);
      expect(linesOf(text, 'user_queued_tasks')).toEqual([
        '{queue="default",user="a"} 1',
        '{queue="default",user="b"} 1',
      ]);
      const other = await quiet.text();
      expect(linesOf(other, 'oldest_queued_age_seconds')).toEqual(['{queue="default"} 30']);
      expect(other).not.toContain('user="a"');
    });

    it('remembers who waits longest while it looks at others', async () => {
      const metrics = prometheus({ client, users: ['u3'] });
      const loom = harness.loom([quick], { metrics });
      await loom.enqueue(quick, 0, { user: 'old' });
      await harness.clock.advance('1m');
      const users = Array.from({ length: 120 }, (_, at) => `u${at}`);
      await Promise.all(users.map((user) => loom.enqueue(quick, 1, { user })));
      for (let look = 0; look < 3; look++) await metrics.text();
      for (let look = 0; look < 3; look++) {
        const text = await metrics.text();
        expect(linesOf(text, 'oldest_queued_age_seconds')).toEqual(['{queue="default"} 60']);
        expect(linesOf(text, 'user_queued_tasks')).toEqual(['{queue="default",user="u3"} 1']);
      }
    });

    it('tells how fair the turns were between two looks', async () => {
      const metrics = prometheus({ client });
      const loom = harness.loom([quick], { metrics });
      await loom.users.set('heavy', { weight: 3 });
      for (const user of ['heavy', 'light']) {
        await loom.enqueueMany(quick, [...Array(40).keys()], { user });
      }
      const worker = loom.worker({ concurrency: 1 });
      let turns = 0;
      worker.on('task.started', () => {
        if (++turns === 24) worker.pause();
      });
      expect(linesOf(await metrics.text(), 'fairness_jain_index')).toEqual([]);
      await worker.start();
      await harness.until(() => turns >= 24);
      await harness.quiet();
      const text = await metrics.text();
      const [, jain = ''] = /fairness_jain_index\{queue="default"\} (\S+)/.exec(text) ?? [];
      const [, least = ''] = /fairness_min_share\{queue="default"\} (\S+)/.exec(text) ?? [];
      expect(Number(jain)).toBeGreaterThan(0.97);
      expect(Number(jain)).toBeLessThanOrEqual(1);
      expect(Number(least)).toBeGreaterThan(0.8);
    });

    it('says that the store is away instead of failing', async () => {
      const metrics = prometheus({ client });
      const loom = harness.loom([quick], { metrics });
      await loom.enqueue(quick, 1);
      await loom.close();
      const text = await metrics.text();
      expect(linesOf(text, 'store_up')).toEqual(['0']);
      expect(linesOf(text, 'tasks')).toEqual([]);
      expect(linesOf(text, 'enqueued_total')).toEqual(['{queue="default",name="quick"} 1']);
    });

    it('counts calls of the backend that fail', async () => {
      const metrics = prometheus({ client });
      const { inspect } = harness.backend;
      const broken = {
        ...harness.backend,
        inspect: Object.assign(Object.create(inspect), {
          stats: () => Promise.reject(new Error('away')),
        }),
      };
      const loom = harness.loom([quick], { metrics, backend: broken });
      await expect(loom.stats()).rejects.toThrow('away');
      const text = await metrics.text();
      expect(linesOf(text, 'backend_errors_total')).toEqual(['{operation="inspect.stats"} 1']);
    });
  });

  it('OpenTelemetry gets the same', async () => {
    const reader = new OnDemand();
    const meter = new MeterProvider({ readers: [reader] }).getMeter('fairloom');
    const loom = harness.loom([quick], { metrics: openTelemetryMetrics({ meter }) });
    const worker = loom.worker({ id: 'w1', concurrency: 2 });
    await worker.start();
    const handle = await loom.enqueue(quick, 1, { user: 'ada' });
    expect(await handle.result()).toBe(1);
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    const found = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
    const figure = (name: string, labels: object): unknown =>
      found
        .find(({ descriptor }) => descriptor.name === `fairloom_${name}`)
        ?.dataPoints.find(({ attributes }) => sameText(attributes, labels))?.value;
    expect(figure('enqueued_total', { queue: 'default', name: 'quick' })).toBe(1);
    expect(figure('attempts_total', { name: 'quick', outcome: 'finished' })).toBe(1);
    expect(figure('worker_slots', { worker: 'w1', state: 'free' })).toBe(2);
    expect(figure('tasks', { queue: 'default', state: 'finished' })).toBe(1);
    expect(figure('wait_seconds', { queue: 'default' })).toMatchObject({ count: 1 });
    expect(figure('leases_lost_total', {})).toBe(0);
    expect(figure('scheduler_lag_seconds', {})).toBe(0);
    expect(figure('missing_dependencies', {})).toBe(0);
  });
});

describe('a window of turns', () => {
  const inLine = [
    { user: 'a', weight: 1 },
    { user: 'b', weight: 1 },
  ];

  it('compares only users that were in line at both its ends', () => {
    const window = new FairnessWindow();
    window.turn('a');
    expect(window.look(inLine)).toBeUndefined();
    for (let n = 0; n < 3; n++) window.turn('a');
    window.turn('b');
    window.turn('c');
    const figures = window.look([...inLine, { user: 'c', weight: 1 }]);
    expect(figures).toEqual({ jain: 0.8, minShare: 0.5 });
    expect(window.look(inLine)).toBeUndefined();
  });

  it('weighs turns', () => {
    const window = new FairnessWindow();
    const heavy = [
      { user: 'a', weight: 3 },
      { user: 'b', weight: 1 },
    ];
    window.look(heavy);
    for (let n = 0; n < 6; n++) window.turn('a');
    for (let n = 0; n < 2; n++) window.turn('b');
    expect(window.look(heavy)).toEqual({ jain: 1, minShare: 1 });
  });
});

class OnDemand extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE });
  }

  protected override async onForceFlush(): Promise<void> {
    return undefined;
  }

  protected override async onShutdown(): Promise<void> {
    return undefined;
  }
}

function sameText(one: object, other: object): boolean {
  const sorted = (of: object): string => JSON.stringify(Object.entries(of).sort());
  return sorted(one) === sorted(other);
}

eachBackend((open) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  it('probes and scrapes are answered over HTTP', async () => {
    const metrics = prometheus({ client });
    const loom = harness.loom([quick], { metrics });
    const server = await serveMonitoring(loom, { port: 0, host: '127.0.0.1', metrics });
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
      return { status: answer.status, text: await answer.text() };
    };
    try {
      expect(await ask('/livez')).toEqual({ status: 200, text: 'alive\n' });
      expect(await ask('/readyz?verbose')).toMatchObject({ status: 200 });
      expect((await ask('/metrics')).text).toContain('fairloom_store_up 1');
      expect(await ask('/metrics', 'HEAD')).toEqual({ status: 200, text: '' });
      expect(await ask('/livez', 'POST')).toMatchObject({ status: 405 });
      expect(await ask('/')).toMatchObject({ status: 404 });
      const worker = loom.worker();
      await worker.start();
      expect(await ask('/readyz')).toMatchObject({ status: 200 });
      await loom.close();
      const { status, text } = await ask('/readyz');
      expect({ status, isHealthy: JSON.parse(text).isHealthy }).toEqual({
        status: 503,
        isHealthy: false,
      });
      expect(await ask('/livez')).toMatchObject({ status: 200 });
      await expect(serveMonitoring(loom, { port: server.port, host: '127.0.0.1' })).rejects.toThrow(
        'EADDRINUSE',
      );
    } finally {
      await server.close();
    }
  });

  it('a worker that drains is not ready', async () => {
    const gate = newGate();
    const slow = task('slow', () => gate.passed);
    const loom = harness.loom([slow]);
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    await loom.enqueue(slow);
    await seen.count('task.started', 1);
    const server = await serveMonitoring(loom, { port: 0, host: '127.0.0.1' });
    const stopping = worker.stop({ grace: '1h' });
    const { status } = await fetch(`http://127.0.0.1:${server.port}/readyz`);
    gate.open();
    await stopping;
    await server.close();
    expect(status).toBe(503);
  });
});
