/**
 * The reports example as its users run it: `examples/reports/run.mjs` starts
 * `examples/reports/server.mjs` and two of `examples/reports/worker.mjs` (with
 * `examples/reports/tasks.mjs` and `examples/reports/settings.mjs`), and kills a worker half way.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

interface Report {
  readonly user: string;
  readonly month: string;
  readonly sales: number;
  readonly units: number;
  readonly revenue: number;
}

/** The same sums by other means, straight from the files. */
function expectedOf(user: string, month: string): Report {
  const file = join(ROOT, `examples/reports/data/${user}.csv`);
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(month))
    .map((line) => /,(\d+),(\d+)\.(\d\d)$/.exec(line) ?? []);
  const units = rows.reduce((sum, row) => sum + Number(row[1]), 0);
  const cents = rows.reduce((sum, row) => sum + Number(row[1]) * Number(`${row[2]}${row[3]}`), 0);
  return { user, month, sales: rows.length, units, revenue: cents / 100 };
}

it('gives every report although a worker is killed half way', async () => {
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    [join(ROOT, 'examples/reports/run.mjs')],
    { env: { REDIS_URL: inject('redisUrl') } },
  );
  expect(stderr).toMatch(/killed a worker with \d+ of 24 reports done/);
  expect(stderr).not.toContain('killed a worker with 24 of 24');
  expect(code).toBe(0);

  const reports = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Report);
  const wanted = ['acme', 'globex', 'initech'].flatMap((user) =>
    Array.from({ length: 8 }, (_none, at) => expectedOf(user, `2026-0${at + 1}`)),
  );
  expect(reports).toHaveLength(24);
  for (const report of wanted) expect(reports).toContainEqual(expect.objectContaining(report));
});
