/** A short chaos programme of workflows, and whether its verdict would notice what it is there for. */

import type { StreamItem } from 'fairloom';
import { describe, expect, it } from 'vitest';
import { chaosOptions } from '../chaos/options.ts';
import { runWorkflowChaos } from '../chaos/run-programme.ts';
import { renderRuns, runComplaints } from '../chaos/run-report.ts';
import { SHAPE_COUNT, SIGNALED } from '../chaos/run-shapes.ts';
import { judgeRuns, type RunEnd } from '../chaos/run-verdict.ts';
import { isVacuous } from '../chaos/vacuous.ts';
import { WAIT_SHAPES } from '../chaos/wait-shapes.ts';
import {
  judgeAnswers,
  judgeStarted,
  judgeStream,
  type Told,
  UNANSWERED,
  type Witness,
  WORDS,
} from '../chaos/wakers.ts';
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
  });

  it('every wait ends as it should, once, and what is told is heard', async () => {
    const runs = String(WAIT_SHAPES.length);
    const options = chaosOptions(['--waits', runs, '--seed', '5', '--pace', '400', '--quiet']);
    const report = await runWorkflowChaos(options);
    expect(runComplaints(report), renderRuns(report)).toEqual([]);
    expect(report.verdict.accepted).toBe(WAIT_SHAPES.length);
    expect(report.verdict.waits).toMatchObject({ events: 3, started: 1, asks: 3, streams: 1 });
    expect(renderRuns(report).split('\n').at(-2)).toMatch(/^waits: .*events 3/);
  });

  it('chooses its faults itself', () => {
    for (const flag of ['--runs', '--waits']) {
      expect(() => chaosOptions([flag, '5', '--kills', '3'])).toThrow(flag);
    }
    expect(() => chaosOptions(['--runs', '5', '--waits', '3'])).toThrow('--waits');
    expect(chaosOptions(['--waits', '3'])).toMatchObject({ runs: 3, waits: 3 });
    expect(chaosOptions(['--runs', '4'])).toMatchObject({ runs: 4, waits: 0 });
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

  it('adds what came with waits, and says what their wakers have seen', () => {
    const problems = ['it told 1'];
    const given = { ...ended, output: [{ v: 1_002, mark: 'm2' }] };
    const run = { id: 'r1', shape, input, isCanceled: false };
    const judged = (witness: Witness) =>
      judgeRuns({ runs: [{ ...run, witness }], ends: new Map([['r1', given]]), lines: [] });
    const counts = { asks: 1 };
    expect(judged({ worth: 1_000, problems: [], counts })).toMatchObject({
      ...{ wrong: [], waits: { asks: 1 } },
    });
    expect(judged({ worth: 1_000, problems, counts }).wrong).toEqual(['r1: it told 1']);
    expect(judged({ worth: 2_000, problems: [], counts }).wrong).toHaveLength(1);
  });

  it('counts a run apart whose member was lost three times', () => {
    for (const message of [
      'group "g" failed: 0 (Error: its lease ended 3 times)',
      // Its first attempt had failed otherwise.
      'node "z" of run r4 failed (lost): it was to fail',
    ]) {
      expect(verdictOn(fine, { state: 'failed', message })).toMatchObject({ wrong: [], lost3: 1 });
    }
  });
});

describe('the verdict on questions', () => {
  const told = (choice: string, won: boolean): Told => ({ choice, by: choice, won });
  const answered = (by: string) => ({ state: 'answered', answer: { choice: by, by } }) as const;

  it('accepts one winner, or none of a question whose time was over', () => {
    const both = [told('one', false), told('two', true)];
    expect(judgeAnswers(answered('two'), both)).toMatchObject({ worth: 2_000, problems: [] });
    const late = judgeAnswers({ state: 'timed-out' }, [told('two', false)]);
    expect(late).toMatchObject({ worth: UNANSWERED, problems: [] });
    expect(judgeAnswers(undefined, [])).toMatchObject({ worth: 0, problems: [] });
  });

  it('sees two winners, the wrong one, one of a question without an answer, and none', () => {
    const two = [told('one', true), told('two', true)];
    expect(judgeAnswers(answered('two'), two).problems).toHaveLength(1);
    expect(judgeAnswers(answered('two'), [told('one', true)]).problems).toHaveLength(1);
    expect(judgeAnswers({ state: 'timed-out' }, [told('two', true)]).problems).toHaveLength(1);
    expect(judgeAnswers(answered('two'), [told('two', false)]).problems).toHaveLength(1);
  });
});

describe('the verdict on what an event starts', () => {
  it('accepts one task that gave what was published, or has not ended', () => {
    expect(judgeStarted(1, { state: 'finished', result: { v: SIGNALED + 1 } })).toEqual([]);
    expect(judgeStarted(1, { state: 'started' })).toEqual([]);
  });

  it('sees none, two, one that is not stored, and one that gave something else', () => {
    const right = { state: 'finished', result: { v: SIGNALED + 1 } } as const;
    for (const fired of [0, 2]) expect(judgeStarted(fired, right)).toHaveLength(1);
    expect(judgeStarted(1, undefined)).toHaveLength(1);
    expect(judgeStarted(1, { ...right, result: { v: SIGNALED } })).toHaveLength(1);
  });
});

describe('the verdict on streams', () => {
  const chunk = (offset: number, value: number): StreamItem => ({
    ...{ type: 'chunk', offset, next: offset + 1, attempt: 1, value },
  });
  const all = Array.from({ length: WORDS }, (_, at) => chunk(at, at));
  const reset = (offset: number): StreamItem => ({
    ...{ type: 'reset', offset, next: offset + 1, attempt: 1 },
  });
  const problems = (heard: readonly StreamItem[], stored: readonly StreamItem[], isWhole = true) =>
    judgeStream(heard, stored, isWhole).problems.length;

  it('accepts all that was told, also after a reset, and a part of a run that was canceled', () => {
    expect(problems(all, all)).toBe(0);
    const again = [chunk(0, 0), chunk(1, 1), reset(2), ...all.map((_, at) => chunk(at + 3, at))];
    expect(problems(again, again)).toBe(0);
    expect(problems(all.slice(0, 3), all.slice(0, 5), false)).toBe(0);
  });

  it('sees what is told twice, left out or not heard', () => {
    const twice = [...all, chunk(WORDS, 3)];
    const hole = [...all.slice(0, 4), ...all.slice(5)];
    for (const wrong of [twice, hole, all.slice(0, -1)]) expect(problems(wrong, wrong)).toBe(1);
    expect(problems(all.slice(0, -1), all)).toBe(1);
    expect(problems([...all.slice(0, 4), ...all.slice(3)], all)).toBe(1);
  });
});
