/** `fairloom doctor`: what it finds, and what it ends with. */
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { diagnose, type Verdict } from '../../src/cli/views/checks.ts';
import { task } from '../../src/index.ts';
import { eachBackend, type Harness } from '../support/backends.ts';
import { gate } from '../support/gate.ts';
import { fairloom } from '../support/processes/run-process.ts';

const quick = task('quick', async (n: number) => n);

eachBackend((open, name) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  /** How a check ended, and its sentence. */
  async function checked(
    loom: Parameters<typeof diagnose>[0],
    check: string,
  ): Promise<readonly [Verdict, string]> {
    const { checks } = await diagnose(loom, false);
    const found = checks.find((one) => one.check === check);
    return [found?.verdict ?? 'failed', found?.text ?? ''];
  }

  it('finds nothing where nothing is wrong', async () => {
    const loom = harness.loom([quick]);
    const worker = loom.worker();
    await worker.start();
    const handle = await loom.enqueue(quick, 1);
    await handle.result();
    const { checks, drift } = await diagnose(loom, false);
    expect(drift).toEqual([]);
    const bad = checks.filter(({ verdict, check }) => verdict !== 'ok' && check !== 'durability');
    expect(bad).toEqual([]);
    expect(checks[0]?.text).toContain(name === 'redis' ? 'Redis' : '');
  });

  it('names tasks and users that no live worker serves', async () => {
    const loom = harness.loom([quick]);
    await loom.enqueue(quick, 1, { user: 'ada' });
    const [verdict, text] = await checked(loom, 'workers');
    expect([verdict, text]).toEqual([
      'failed',
      'no live worker serves task quick of user ada in queue default',
    ]);
    const worker = loom.worker({ assignedUsers: ['ben'] });
    await worker.start();
    expect(await checked(loom, 'workers')).toEqual(['failed', expect.stringContaining('ada')]);
  });

  it('finds leases and delays that no process sweeps', async () => {
    const blocker = gate();
    const slow = task('slow', () => blocker.passed);
    const loom = harness.loom([slow, quick]);
    const worker = loom.worker();
    await worker.start();
    await loom.enqueue(slow, undefined, { id: 'held' });
    await harness.until(() => worker.running === 1);
    await loom.enqueue(quick, 1, { id: 'later', delay: '5s' });
    expect(await checked(loom, 'overdue')).toEqual(['ok', expect.any(String)]);
    // The worker dies with its task: nothing extends, nothing sweeps.
    worker.abandon();
    await harness.jump(60_000);
    const [verdict, text] = await checked(harness.loom([quick]), 'overdue');
    expect(verdict).toBe('failed');
    expect(text).toMatch(/no process sweeps: held, later$/);
    blocker.open();
  });

  it('tells when clocks differ', async () => {
    const { clock } = harness;
    const fast = {
      now: () => clock.now() + 90_000,
      setTimer: clock.setTimer.bind(clock),
    };
    const loom = harness.loom([quick], { clock: fast });
    expect(await checked(loom, 'clock')).toEqual([
      'warning',
      expect.stringContaining('differ by 1m 30s'),
    ]);
  });
});

describe('the command', () => {
  it('ends with 3 when something is wrong, and with 0 when not', async () => {
    const where = ['--redis', inject('redisUrl'), '--prefix', `doctor-${process.pid}`];
    const well = await fairloom(['doctor', ...where]);
    expect(well.code).toBe(0);
    expect(well.stdout).toMatch(/^ok +Redis \d/m);
    expect(well.stdout).toMatch(/^ok {2}\d+ records and their indexes agree$/m);
    await fairloom(['enqueue', 'nobody', '1', ...where]);
    const ill = await fairloom(['doctor', ...where]);
    expect(ill.code).toBe(3);
    expect(ill.stdout).toContain('failed  no live worker serves task nobody');
    const ids = await fairloom(['doctor', ...where, '-o', 'id']);
    expect(ids.stdout.split('\n')).toContain('workers');
  });
});
