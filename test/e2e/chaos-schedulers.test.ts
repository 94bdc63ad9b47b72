/** Three schedulers at a time that kill themselves at every step of a firing. */
import { expect, it } from 'vitest';
import { chaosOptions } from '../chaos/options.ts';
import { renderSchedulers, runSchedulerChaos } from '../chaos/scheduler-programme.ts';

// O92
it('each slot makes one task, wherever its scheduler dies', async () => {
  const report = await runSchedulerChaos(chaosOptions(['--schedulers', '3', '--quiet']));
  expect(report.wrong).toEqual([]);
  expect(report.deaths).toBe(12);
  // Three schedules of one second each, for longer than the deaths take.
  expect(report.slots).toBeGreaterThan(30);
  expect(renderSchedulers(report)).toContain('0 wrong');
});
