/** Which messages say the same. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { errorGroupOf } from '../../src/domain/task/cause.ts';
import { likeness } from '../../src/domain/task/error-likeness.ts';

it.each([
  ['order 12 of 40 not found', 'order … of … not found'],
  ['user "ann" has no card tok_1a2b', 'user … has no card …'],
  ['connect ECONNREFUSED 127.0.0.1:6379', 'connect ECONNREFUSED …'],
  ['timeout after 3,000 ms', 'timeout after … ms'],
  ["can't read 'x y'", "can't read …"],
  ['first line\nat id 5', 'first line'],
  ['  no  ', 'no'],
  ['', ''],
  ['Request failed with status code 500', 'Request failed with status code 500'],
  ['HTTP 404: /a/17', 'HTTP 404: /a/…'],
  ['id 3f2a-b77c missing', 'id … missing'],
])('%j is like %j', (message, like) => {
  expect(likeness(message)).toBe(like);
});

it('numbers do not tell messages apart, status codes do', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) => {
      expect(likeness(`row ${a} of 'f${b}'`)).toBe(likeness(`row ${b} of 'f${a}'`));
      expect(likeness(`status ${a}`) === likeness(`status ${b}`)).toBe(a === b);
    }),
  );
});

it('every message has one likeness, and none takes long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (message) => {
      const like = likeness(message);
      expect(like.length).toBeLessThanOrEqual(300);
      expect(like).not.toContain('\n');
    }),
  );
  expect(likeness('a-'.repeat(10_000))).toHaveLength(300);
});

it('a failure without an error is one of its kind, one that followed another of none', () => {
  expect(errorGroupOf({ type: 'lost', leases: 3 }, 'resize@2')).toBe('lost:resize');
  expect(errorGroupOf({ type: 'fatal', failure: 'timeout' }, 'resize')).toBe('timeout:resize');
  expect(errorGroupOf({ type: 'waited', id: 'x' }, 'resize')).toBe('waited:resize');
  const fingerprint = 'f0';
  expect(errorGroupOf({ type: 'fatal', failure: 'error', fingerprint }, 'a')).toBe('f0');
  const task = 't';
  expect(errorGroupOf({ type: 'fatal', failure: 'error', task, fingerprint }, 'a')).toBeUndefined();
  expect(errorGroupOf({ type: 'upstream', id: 'x', state: 'failed' }, 'a')).toBeUndefined();
  expect(errorGroupOf(undefined, 'a')).toBeUndefined();
});
