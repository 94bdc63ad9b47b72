/** A short chaos programme of workflows, and whether its verdict would notice what it is there for. */
import { describe, expect, it } from 'vitest';
import { chaosOptions } from '../chaos/options.ts';
import { runWorkflowChaos } from '../chaos/run-programme.ts';
import { renderRuns, runComplaints } from '../chaos/run-report.ts';
import { SHAPE_COUNT } from '../chaos/run-shapes.ts';
import { judgeRuns, type RunEnd } from '../chaos/run-verdict.ts';
import { isVacuous } from '../chaos/vacuous.ts';
import type { LedgerEntry } from '../support/ledger.ts';

describe('chaos of workflows', () => {
  it('every run ends as it should, and no result is recorded twice', async () => {
    const runs = String(SHAPE_COUNT);
    const options = chaosOptions(['--runs', runs, '--seed', '3', '--pace', '500', '--quiet']);
    const report = await runWorkflowChaos(options);
    expect(runComplaints(report), renderRuns(report)).toEqual([]);
    expect(report.verdict.accepted).toBe(SHAPE_COUNT);
    expect(report.faults.length).toBeGreaterThan(5);
    expect(renderRuns(report).split('\n').at(-1)).toBe(
      'not ended 0, wrong ends 0, results recorded twice 0, left behind 0',
    );
  }, 240_000);

  it('chooses its faults itself', () => {
    expect(() => chaosOptions(['--runs', '5', '--kills', '3'])).toThrow('--runs');
  });
});

it('a programme is void when its kills met too little work for chance', () => {
  expect([isVacuous(0, 0), isVacuous(3, 11), isVacuous(60, 200)]).toEqual([false, false, false]);
  expect([isVacuous(0, 1), isVacuous(0, 11), isVacuous(40, 200)]).toEqual([true, true, true]);
});

describe('the verdict on runs', () => {
  const shape = { name: 'one', step: undefined as never, options: {}, sum: () => 2 };
  const input = { v: 1, mark: 'input' };
  type Line = Pick<LedgerEntry, 'event' | 'task' | 'fence'> & Partial<LedgerEntry>;
  const fine: readonly Line[] = [
    { event: 'start', task: 'r1:a#1', fence: 1, took: ['input'] },
    { event: 'end', task: 'r1:a#1', fence: 1, mark: 'm1' },
    { event: 'start', task: 'r1:b#1', fence: 1, took: ['m1'] },
    { event: 'end', task: 'r1:b#1', fence: 1, mark: 'm2' },
  ];
  const ended: RunEnd = { state: 'finished', output: [{ v: 2, mark: 'm2' }] };

  function verdictOn(lines: readonly Line[], end: RunEnd, isCanceled = false) {
    const filled = lines.map((line) => ({ at: 0, worker: 'w', attempt: 1, ...line }));
    const runs = [{ id: 'r1', shape, input, isCanceled }];
    return judgeRuns({ runs, ends: new Map([['r1', end]]), lines: filled });
  }

  it('accepts a node that ran twice before its result was taken', () => {
    const died: Line = { event: 'start', task: 'r1:a#1', fence: 0, took: ['input'] };
    expect(verdictOn([died, ...fine], ended)).toMatchObject({
      ...{ doubles: [], wrong: [], lost: [] },
      ...{ nodes: 2, starts: 3, results: 2, finished: 1 },
    });
  });

  it('accepts a frozen worker that starts a node late, under a lease that is over', () => {
    const late: Line = { event: 'start', task: 'r1:a#1', fence: 0, took: ['input'] };
    expect(verdictOn([...fine, late], ended).doubles).toEqual([]);
  });

  it('sees a node that runs under a newer lease after its result was taken', () => {
    const again: Line = { event: 'start', task: 'r1:a#1', fence: 2, took: ['input'] };
    expect(verdictOn([...fine, again], ended).doubles).toHaveLength(1);
  });

  it('sees two results of one node that others were given, and one beside the output', () => {
    const second: Line = { event: 'end', task: 'r1:a#1', fence: 1, mark: 'm3' };
    const reader: Line = { event: 'start', task: 'r1:b#1', fence: 1, took: ['m3'] };
    expect(verdictOn([...fine, second, reader], ended).doubles).toHaveLength(1);
    const output: RunEnd = {
      state: 'finished',
      output: [
        { v: 2, mark: 'm2' },
        { v: 0, mark: 'm1' },
      ],
    };
    expect(verdictOn([...fine, second, reader], output).doubles).toHaveLength(1);
  });

  it('sees a run that has not ended, one that gave something else, and one that failed', () => {
    expect(verdictOn(fine, { state: 'open' }).lost).toHaveLength(1);
    const output = [{ v: 3, mark: 'm2' }];
    expect(verdictOn(fine, { state: 'finished', output }).wrong).toHaveLength(1);
    expect(verdictOn(fine, { state: 'failed', message: 'broken' }).wrong).toHaveLength(1);
    expect(verdictOn(fine, { state: 'canceled', message: '' }).wrong).toHaveLength(1);
    expect(verdictOn(fine, { state: 'canceled', message: '' }, true).wrong).toEqual([]);
  });

  it('counts a run apart whose member was lost three times', () => {
    const message = 'group "g" failed: 0 (Error: its lease ended 3 times)';
    expect(verdictOn(fine, { state: 'failed', message })).toMatchObject({ wrong: [], lost3: 1 });
  });
});
