/** Figures of schedules and of dependencies: what is late, and what waits in vain. */
import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { byMetric, METRICS, type MetricKey } from '../../../src/metrics/table.ts';
import { prometheus } from '../../../src/metrics.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate as newGate } from '../../support/gate.ts';

const quick = task('quick', async () => 'done');

eachBackend((open) => {
  const harness = opened(open);

  const metrics = () => prometheus({ client });

  describe('schedules', () => {
    it('tells how long one has been due, also when there is no worker to fire it', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      await loom.schedules.set('a', { every: '1h', task: quick });
      expect(linesOf(await shown.text(), 'schedulerLag')).toEqual(['0']);
      await harness.clock.advance('1h');
      await harness.clock.advance('90s');
      expect(linesOf(await shown.text(), 'schedulerLag')).toEqual(['90']);
      await loom.worker().start();
      await harness.quiet();
      expect(linesOf(await shown.text(), 'schedulerLag')).toEqual(['0']);
    });

    it('counts slots by what they came to, and how late they were fired', async () => {
      const shown = metrics();
      const gate = newGate();
      const slow = task('slow', () => gate.passed);
      const loom = harness.loom([quick, slow], { metrics: shown });
      await loom.schedules.set('often', { every: '1m', task: quick, overlap: 'allow' });
      await loom.schedules.set('slow', { every: '1m', task: slow });
      await loom.schedules.set('full', { every: '1m', task: quick, user: 'bea' });
      await loom.users.set('bea', { maxQueued: 1 });
      await loom.enqueue(quick, undefined, { user: 'bea', delay: '1d' });
      await loom.worker({ concurrency: 5 }).start();
      await harness.clock.advance('3m');
      gate.open();
      const text = await shown.text();
      expect(linesOf(text, 'scheduleFired')).toEqual([
        '{outcome="fired"} 4',
        '{outcome="overlap"} 2',
        '{outcome="refused"} 3',
      ]);
      expect(text).toContain('fairloom_schedule_lateness_seconds_count 4\n');
    });

    it('counts those of a scheduler that runs no tasks, missed slots included', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      await loom.schedules.set('a', { every: '1m', task: quick, missed: 'one' });
      await harness.jump(5 * 60_000);
      const scheduler = loom.scheduler();
      await scheduler.start();
      await harness.quiet();
      await scheduler.stop();
      expect(linesOf(await shown.text(), 'scheduleFired')).toEqual([
        '{outcome="fired"} 1',
        '{outcome="missed"} 4',
      ]);
    });
  });

  describe('dependencies', () => {
    it('tells how long after its last dependency a task was queued', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      const [one, two] = [await loom.enqueue(quick), await loom.enqueue(quick)];
      const last = await loom.enqueue(quick, undefined, { dependsOn: [one.id, two.id] });
      await loom.worker().start();
      await last.result();
      const late = await loom.enqueue(quick, undefined, { dependsOn: [one.id] });
      await late.result();
      const text = await shown.text();
      const found = `fairloom_dependency_release_seconds_bucket{le="0.001",queue="default"} 1\n`;
      expect(text).toContain(found);
      expect(text).toContain('fairloom_dependency_release_seconds_count{queue="default"} 1\n');
    });

    it('tells how many others deferred tasks wait for', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      const free = await Promise.all([1, 2, 3].map(() => loom.enqueue(quick)));
      const ids = free.map(({ id }) => id);
      await loom.enqueue(quick, undefined, { dependsOn: ids });
      await loom.enqueue(quick, undefined, { dependsOn: ids.slice(0, 1) });
      await loom.enqueue(quick, undefined, { dependsOn: ids.slice(0, 2), queue: 'bulk' });
      expect(linesOf(await shown.text(), 'unmet')).toEqual([
        '{queue="bulk",quantile="0.5"} 2',
        '{queue="bulk",quantile="1"} 2',
        '{queue="default",quantile="0.5"} 1',
        '{queue="default",quantile="1"} 3',
      ]);
    });

    // F25
    it('tells for how many others a task stands in the way', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      expect(linesOf(await shown.text(), 'dependents')).toEqual([]);
      const [one, other] = [await loom.enqueue(quick), await loom.enqueue(quick)];
      const many = { dependsOn: [one.id] };
      for (let at = 0; at < 60; at++) await loom.enqueue(quick, undefined, many);
      await harness.clock.advance('1s');
      await loom.enqueue(quick, undefined, { dependsOn: [one.id, other.id] });
      const figures = ['{stat="largest"} 61', '{stat="total"} 61'];
      expect(linesOf(await shown.text(), 'dependents')).toEqual(figures);
      const all = ['{stat="largest"} 61', '{stat="total"} 62'];
      expect(linesOf(await shown.text(), 'dependents')).toEqual(all);
    });

    it('looks at the next ones in the next look, and begins anew after the last', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      const { id } = await loom.enqueue(quick);
      const other = await loom.enqueue(quick);
      const one = { dependsOn: [id] };
      for (let at = 0; at < 50; at++) await loom.enqueue(quick, undefined, one);
      await harness.clock.advance('1s');
      await loom.enqueue(quick, undefined, { dependsOn: [id, other.id] });
      const most: unknown[] = [];
      for (let look = 0; look < 3; look++) {
        most.push(linesOf(await shown.text(), 'unmet').at(-1));
      }
      const atMost = (value: number): string => `{queue="default",quantile="1"} ${value}`;
      expect(most).toEqual([atMost(1), atMost(2), atMost(1)]);
    });

    it('counts the ids that are waited for and not stored', async () => {
      const shown = metrics();
      const loom = harness.loom([quick], { metrics: shown });
      const waits = { dependsOn: ['a', 'b'], onMissing: 'block' } as const;
      await loom.enqueue(quick, undefined, waits);
      await loom.enqueue(quick, undefined, waits);
      expect(linesOf(await shown.text(), 'missing')).toEqual(['2']);
      await loom.enqueue(quick, undefined, { id: 'a' });
      expect(linesOf(await shown.text(), 'missing')).toEqual(['1']);
    });
  });
});

it('what a look has found is sorted by metric once, in its order', () => {
  const sample = (key: MetricKey, value: number) => ({ key, labels: {}, value });
  const found = byMetric([sample('tasks', 1), sample('dead', 2), sample('tasks', 3)]);
  expect([...found]).toEqual([
    ['tasks', [sample('tasks', 1), sample('tasks', 3)]],
    ['dead', [sample('dead', 2)]],
  ]);
});

/** Lines of one metric, as `{labels} value`. */
function linesOf(text: string, key: MetricKey): readonly string[] {
  const name = `fairloom_${METRICS[key].name}`;
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => line.slice(name.length).trim())
    .sort();
}
