/** What Redis does for a task, counted in machine instructions: no more than the committed table allows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROWS } from '../../bench/instructions/rows.ts';
import { readTable, writeTable } from '../../bench/instructions/table.ts';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

/** A row that is soon measured. */
const SMALL = 'enqueue 20';

const folder = mkdtempSync(join(tmpdir(), 'fairloom-instructions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function instructions(...args: readonly string[]) {
  const tsx = join(ROOT, 'node_modules/.bin/tsx');
  const command = ['bench/instructions/run.ts', ...args];
  return runProcess(tsx, command, { cwd: ROOT });
}

describe('npm run instructions', () => {
  it('finds the built product within its table', async () => {
    const { code, stdout, stderr } = await instructions('--share');
    const share = ROWS.filter(({ isInShare }) => isInShare === true);
    const unseen = share.filter(({ name }) => !stdout.includes(`\n${name} `));
    expect({ code, stderr, unseen, out: code === 0 ? '' : stdout }).toEqual({
      code: 0,
      stderr: '',
      unseen: [],
      out: '',
    });
  });

  it('fails when a row needs a twentieth more, and names it', async () => {
    const file = join(folder, 'table.json');
    const args = ['--only', SMALL, '--table', file];
    writeTable({ ...readTable(), rows: [] }, file);
    // As it is here, on any server; then as if it had needed less before.
    expect(await instructions(...args, '--update')).toMatchObject({ code: 0, stderr: '' });
    const table = readTable(file);
    const { thousand = Number.NaN } = table.rows.find(({ name }) => name === SMALL) ?? {};
    expect(thousand).toBeGreaterThan(0);
    writeTable({ ...table, rows: [{ name: SMALL, thousand: thousand / 1.05 }] }, file);
    const { code, stdout } = await instructions(...args);
    expect(stdout).toContain(`above what the table allows: ${SMALL}\n`);
    expect(code).toBe(1);
  });

  it('refuses a row that there is not', async () => {
    const { code, stderr } = await instructions('--only', 'enqueue 21');
    expect([code, stderr]).toEqual([2, expect.stringContaining('no row "enqueue 21"; there are')]);
  });
});
