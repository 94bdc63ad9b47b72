/** What the page takes as limits, and how it writes them. */
import { expect, it } from 'vitest';
import { queueChange, userChange } from '../../dashboard/src/api/setting-changes.ts';
import * as written from '../../dashboard/src/words/settings.ts';

it.each([
  [written.countFrom(1), ['1', '250'], ['0', '-1', '1.5', 'x', '1e3', '99999999999']],
  [written.countFrom(0), ['0'], ['-0', ' ']],
  [written.weight, ['0.01', '1', '1000'], ['0', '1001', 'x', '-1']],
  [written.rate, ['100/1m', '5/1.5s', '100/1m/20'], ['100', '0/1m', '100/m', '1/1m/0', '1/1m/1/1']],
  [written.length, ['30s', '1.5h'], ['30', 'none', '-1s']],
  [written.lengthOrNone, ['none', '2d'], ['never']],
  [written.fiveTurns, ['1,2,4,8,16'], ['1,2,3,4', '1,2,4,8,0', 'a,b,c,d,e']],
  [written.oneOf('task', 'time'), ['time'], ['cost']],
])('check %# takes what is right, and says what it wants', (check, right, wrong) => {
  expect(right.map(check).filter((problem) => problem !== undefined)).toEqual([]);
  expect(wrong.filter((text) => check(text) === undefined)).toEqual([]);
});

it('writes lengths and rates as they are read again', () => {
  expect([30_000, 90_000, 86_400_000, 1_500, 0].map(written.lengthWord)).toEqual([
    '30s',
    '90s',
    '1d',
    '1500ms',
    '0ms',
  ]);
  expect(written.rateWord({ limit: 100, perMs: 60_000, burst: 10 })).toBe('100/1m/10');
  expect(written.rateWord(undefined)).toBe('');
});

it('sends what differs alone, and takes back what was emptied', () => {
  const before = { weight: '1', maxRunning: '5', maxQueued: '', rate: '' };
  const after = { weight: '1', maxRunning: ' ', maxQueued: '7', rate: '9/1m' };
  const { body, flags } = userChange(before, after);
  expect(body).toEqual({ maxRunning: 'default', maxQueued: 7, rate: { limit: 9, per: '1m' } });
  expect(flags.join(' ')).toBe('--max-running default --max-queued 7 --rate 9/1m');
});

it('sends what holds for users of a queue together, since it is replaced together', () => {
  const before = { userWeight: '2', userMaxQueued: '9' };
  const one = queueChange(before, { ...before, userRate: '9/1m' });
  expect(one.body).toEqual({
    perUser: { weight: 2, maxQueued: 9, rate: { limit: 9, per: '1m' } },
  });
  const none = queueChange(before, { timeout: 'none', priorityWeights: '1,2,3,4,5' });
  expect(none.body).toEqual({
    timeout: 'none',
    priorityWeights: [1, 2, 3, 4, 5],
    perUser: 'default',
  });
  expect(none.flags).toContain('--no-user-defaults');
});
