/** The oracle of cron patterns shares nothing with what it is to check. */
import { expect, it } from 'vitest';
import { read } from '../support/files.ts';

const ORACLE = ['test/cron/walk.ts', 'test/cron/read-pattern.ts', 'test/cron/patterns.ts'];

it('imports itself alone', () => {
  for (const path of ORACLE) {
    const imported = [...read(path).matchAll(/\bfrom '([^']+)'|\bimport\(([^)]+)\)/g)];
    const others = imported.map(([, from = '', called = '']) => from + called);
    expect(others.filter((from) => !/^\.\/(walk|read-pattern|patterns)\.ts$/.test(from))).toEqual(
      [],
    );
  }
});

it('is what the comparison compares with', () => {
  const compare = read('test/cron/compare.ts');
  for (const name of ['walk', 'read-pattern', 'patterns'])
    expect(compare).toContain(`'./${name}.ts'`);
  expect(compare).toContain("'../../src/schedules/timing/cron-times.ts'");
  expect(read('test/domain/schedules/cron-oracle.test.ts')).toContain('compareZone');
});
