/** Lists say what was thrown, by the binary. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../../support/cli-here.ts';
import { type Ended, ROOT } from '../../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../../support/processes/worker-process.ts';

const MODULE = join(ROOT, 'test/fixtures/cli/failing.mjs');
const BACKEND = ['--redis', inject('redisUrl'), '--prefix', `error-column-${process.pid}`];
const NAMES = ['lines', 'long', 'behind'];

const run = (...args: readonly string[]): Promise<Ended> => fairloomQuick([...args, ...BACKEND]);

let worker: WorkerProcess;
beforeAll(async () => {
  worker = await startWorker(['worker', MODULE, ...BACKEND]);
  const enqueue = (name: string, ...rest: readonly string[]): Promise<Ended> =>
    run('enqueue', name, '1', '--id', name, '--wait', '20s', ...rest);
  const [chain, ...tasks] = await Promise.all([
    enqueue('chain', '--module', MODULE),
    ...NAMES.map((name) => enqueue(name)),
  ]);
  expect([chain, ...tasks].map((ended) => ended?.code)).toEqual([1, 1, 1, 1]);
});
afterAll(async () => {
  await worker.end('SIGTERM');
});

/** The cell of a column by the id of its row. */
async function cells(title: string, ...args: readonly string[]): Promise<Map<string, string>> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [head = '', ...rows] = stdout.trimEnd().split('\n');
  const from = head.indexOf(title);
  expect(from).toBeGreaterThan(0);
  const next = head.slice(from).search(/(?<= {2})\S/);
  const to = next < 0 ? undefined : from + next;
  return new Map(rows.map((row) => [row.split(' ')[0] ?? '', row.slice(from, to).trim()]));
}

it.each([
  ['dead list', ['dead', 'list']],
  ['tasks list', ['tasks', 'list', '--state', 'failed']],
])(
  // F21
  '%s has the name and the first line of what was thrown, of bounded width',
  async (_, args) => {
    const errors = await cells('ERROR', ...args);
    expect(errors.get('lines')).toBe('RangeError: no rows of 1');
    expect(errors.get('behind')).toBe('Error: fetch failed: connect ECONNREFUSED');
    expect(errors.get('long')).toMatch(/^TypeError: so so .*…$/);
    expect(errors.get('long')?.length).toBeLessThanOrEqual(80);
    expect((await cells('WHY', ...args)).get('lines')).toBe('failed 1 of 1 attempts');
  },
);

// F21
it('runs list has it too, of the task at which a run began to fail', async () => {
  expect((await cells('ERROR', 'runs', 'list')).get('chain')).toBe('RangeError: no rows of 2');
  const { stdout } = await run('runs', 'list', '--state', 'failed', '-o', 'json');
  const message = 'no rows of 2\nand more about them';
  expect(JSON.parse(stdout)).toMatchObject([
    { id: 'chain', state: 'failed', error: { name: 'RangeError', message } },
  ]);
});

// F21
it('so have the nodes of a run and the attempts of a task', async () => {
  const nodes = await run('runs', 'get', 'chain');
  expect(nodes.stdout).toMatch(
    /NODE +STATE +TASK +ERROR\n(?:.*\n)*lines.*RangeError: no rows of 2\n/,
  );
  const attempts = await run('tasks', 'get', 'behind');
  expect(attempts.stdout).toMatch(/ERROR +WHY\n.*Error: fetch failed: connect ECONNREFUSED/);
});

// F141
it('tasks explain has it too', async () => {
  const { stdout } = await run('tasks', 'explain', 'behind');
  expect(stdout).toMatch(/^behind is failed\nError: fetch failed: connect ECONNREFUSED/);
});
