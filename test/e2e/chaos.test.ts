/** A short chaos programme, and whether its verdict would notice what it is there to notice. */

import type { TaskInfo } from 'fairloom';
import type { Stats } from 'fairloom/backend';
import { describe, expect, it } from 'vitest';
import { chaosOptions } from '../chaos/options.ts';
import { runChaos } from '../chaos/programme.ts';
import { complaints, render } from '../chaos/report.ts';
import { judge } from '../chaos/verdict.ts';
import { History } from '../support/history.ts';
import type { LedgerEvent } from '../support/ledger.ts';

const SHORT = {
  kills: 6,
  terms: 2,
  stops: 2,
  'redis-restarts': 1,
  flushes: 2,
  cuts: 8,
};

describe('chaos', () => {
  it('every accepted task reaches one end, and no end is reached twice', async () => {
    const counts = Object.entries(SHORT).flatMap(([flag, count]) => [`--${flag}`, String(count)]);
    const options = chaosOptions([...counts, '--seed', '20260105', '--pace', '500', '--quiet']);
    const report = await runChaos(options);
    expect(complaints(report), render(report)).toEqual([]);
    expect(report.verdict.accepted).toBeGreaterThan(50);
    const done = report.lines.map((line) => line.done).filter((count) => count > 0);
    expect(done).toEqual(Object.values(SHORT));
  });
});

describe('chaos on a data folder', () => {
  it('loses nothing and completes nothing twice, when any of those that share it dies', async () => {
    const args = ['--backend', 'file', '--kills', '8', '--terms', '2', '--stops', '1'];
    const options = chaosOptions([...args, '--seed', '20261130', '--pace', '400', '--quiet']);
    const report = await runChaos(options);
    expect(complaints(report), render(report)).toEqual([]);
    expect(report.verdict.accepted).toBeGreaterThan(50);
    expect(report.owners).toBeGreaterThan(0);
  });

  it('refuses faults of a server', () => {
    expect(() => chaosOptions(['--backend', 'file', '--cuts', '1'])).toThrow('--cuts');
    expect(() => chaosOptions(['--backend', 'files'])).toThrow('--backend');
  });
});

describe('the verdict of chaos', () => {
  type Line = readonly [LedgerEvent, fence: number];

  /** Judges one task by its ledger and its record. */
  async function verdictOn(lines: readonly Line[], record: Partial<TaskInfo> | undefined) {
    const history = new History();
    history.take(
      lines.map(([event, fence]) => ({ event, fence, task: 't', at: 0, worker: 'w', attempt: 1 })),
    );
    const finished = record?.state === 'finished' ? 1 : 0;
    const loom = {
      tasks: { get: async () => record && ({ id: 't', ...record } as TaskInfo) },
      stats: async () => ({ totals: { finished } }) as Stats,
    };
    const { lost, doubles, surprises } = await judge({
      loom,
      history,
      accepted: new Map([['t', 'finished']]),
    });
    return { lost: lost.length, doubles: doubles.length, surprises: surprises.length };
  }
  const fine = { lost: 0, doubles: 0, surprises: 0 };
  const by = (fence: number) => ({ state: 'finished', result: { fence } }) as const;

  it('accepts one completion by the newest start', async () => {
    const lines: readonly Line[] = [
      ['start', 1],
      ['start', 2],
      ['end', 1],
      ['finished', 2],
    ];
    expect(await verdictOn(lines, by(2))).toEqual(fine);
  });

  it('accepts an end that the worker did not live to write down', async () => {
    expect(
      await verdictOn(
        [
          ['start', 1],
          ['end', 1],
        ],
        by(1),
      ),
    ).toEqual(fine);
  });

  it('sees a task that is gone, and one that never ended', async () => {
    expect(await verdictOn([['start', 1]], undefined)).toMatchObject({ lost: 1 });
    expect(await verdictOn([['start', 1]], { state: 'started' })).toMatchObject({ lost: 1 });
  });

  it('sees two completions, also when the second one overwrote the first', async () => {
    const lines: readonly Line[] = [
      ['start', 1],
      ['start', 2],
      ['finished', 1],
      ['finished', 2],
    ];
    expect((await verdictOn(lines, by(2))).doubles).toBeGreaterThan(0);
  });

  it('sees the result of an old start', async () => {
    const lines: readonly Line[] = [
      ['start', 1],
      ['start', 2],
      ['finished', 1],
    ];
    expect((await verdictOn(lines, by(1))).doubles).toBeGreaterThan(0);
  });

  it('sees an end that was not to be', async () => {
    const failed = { state: 'failed', failureType: 'error' } as const;
    expect(await verdictOn([['start', 1]], failed)).toMatchObject({ surprises: 1 });
  });
});
