/** Every command that prints JSON, by the binary, held to docs/cli-output.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloomHere } from '../../support/cli-here.ts';
import { differences, PRINTED } from '../../support/docs/documented-output.ts';
import { ROOT } from '../../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const STEPS = join(ROOT, 'test/fixtures/cli/workflow.mjs');
const REDIS = ['--redis', inject('redisUrl'), '--prefix', `shapes-${process.pid}`];

const FOLDER = mkdtempSync(join(tmpdir(), 'fairloom-shapes-'));
const EXPORTED = join(FOLDER, 'run.json');
/** Data to be copied. */
const DATA = join(FOLDER, 'data');
/** Stands for the hash of the graph of `late`. */
const GRAPH = '<graph>';
/** Stands for the id of a question that is open. */
const ASK = '<ask>';
/** Stands for the id of a bulk action. */
const BULK = '<bulk>';

/** A command and the rest of its line; they change what the next ones show. */
const OUTPUTS: readonly (readonly [command: string, ...args: readonly string[]])[] = [
  ['enqueue', 'double', '21', '--id', 'done', '--user', 'ada', '--wait', '20s'],
  ['enqueue', 'double', '1', '--id', 'later', '--user', 'ada', '--delay', '1h'],
  ['enqueue', 'double', '1', '--id', 'blocked', '--user', 'ada', '--depends-on', 'later'],
  ['run', 'double', '4', '--module', TASKS],
  ['tasks list', '--all'],
  ['tasks get', 'done'],
  ['tasks get', 'dead'],
  ['tasks get', 'later'],
  ['tasks dependents', 'later'],
  ['tasks explain', 'dead'],
  ['tasks explain', 'later'],
  ['tasks explain', 'blocked'],
  ['tasks explain', 'waits'],
  ['dead groups'],
  ['dead list'],
  ['bulk start', 'cancel', '--where', 'user:nobody', '--by', 'ann', '--rate', '5/1s'],
  ['bulk list'],
  ['bulk get', BULK],
  ['bulk cancel', BULK, 'nope'],
  ['runs list'],
  ['runs get', 'late'],
  ['runs graph', 'late'],
  ['runs explain', 'late'],
  ['runs export', 'late'],
  ['graphs show', GRAPH],
  ['asks list'],
  ['asks get', ASK],
  ['asks answer', ASK, 'yes', '--by', 'ann'],
  ['schedules set', 'nightly', 'double', '1', '--cron', '0 3 * * *', '--time-zone', 'Asia/Tokyo'],
  ['schedules set', 'hourly', 'double', '1', '--every', '1h', '--times', '9', '--jitter', '1m'],
  ['schedules update', 'hourly', '--times', 'default', '--input', '2'],
  ['schedules on', 'paid', 'double', '--event', 'order.paid', '--key', 'o:7'],
  ['schedules list'],
  ['schedules get', 'nightly'],
  ['schedules next', 'nightly'],
  ['schedules run', 'nightly'],
  [
    'schedules backfill',
    'nightly',
    '--from',
    '2026-01-01T00:00:00Z',
    '--to',
    '2026-01-03T00:00:00Z',
  ],
  ['schedules pause', 'nightly'],
  ['schedules resume', 'nightly'],
  ['schedules remove', 'nightly', '--yes'],
  ['users list'],
  ['users get', 'ada'],
  ['queues list'],
  ['queues get', 'default'],
  ['xcom list', '--user', 'ada'],
  ['xcom namespaces', '--user', 'ada'],
  ['xcom get', 'rates', '--user', 'ada'],
  ['tasks logs', 'spoken'],
  ['streams list', 'spoken'],
  ['streams read', 'spoken', 'tokens'],
  ['workers list'],
  ['versions'],
  ['series'],
  ['config show'],
  ['status'],
  ['health'],
  ['doctor'],
  ['copy', '--from', DATA, '--to', join(FOLDER, 'copied')],
  ['top'],
  ['runs cancel', 'late', '--dry-run'],
  ['tasks cancel', 'later', '--dry-run'],
  ['tasks remove', 'dead', '--dry-run'],
  ['dead remove', '--all', '--dry-run'],
  ['schedules remove', 'hourly', '--dry-run'],
  ['runs cancel', 'late', '--yes'],
  ['runs rerun', 'late', '--id', 'again'],
  ['runs pause', 'late', 'nobody'],
  ['runs fork', 'late', '--from', 'extract', '--id', 'forked'],
  ['runs resume', 'late', 'nobody'],
  ['runs import', EXPORTED, '--id', 'copy'],
  ['signal', 'later', 'go', '1'],
  ['publish', 'paid', 'o-7', '1'],
  ['tasks run-now', 'later', 'nope'],
  ['tasks redrive', 'dead'],
  ['dead redrive', 'waits', '--yes'],
  ['dead remove', 'waits', '--yes'],
  ['tasks cancel', 'waits', '--yes'],
  ['tasks remove', 'waits', '--yes'],
  ['demo', '--json', '--seconds', '0.1'],
];

let worker: WorkerProcess;
let graph = '';
let ask = '';
let bulk = '';

/** What a command prints; also what it prints about those that it could not change. */
async function printed(command: string, ...args: readonly string[]): Promise<unknown> {
  const where = command === 'demo' ? [] : ['-o', 'json', ...REDIS];
  const { stdout, stderr } = await fairloomHere([...command.split(' '), ...args, ...where]);
  expect({ stdout, stderr }).toMatchObject({ stdout: expect.stringMatching(/^[[{]/) });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  worker = await startWorker(['worker', TASKS, STEPS, ...REDIS]);
  await fairloomHere(['users', 'set', 'ada', '--weight', '2', '--rate', '100/1m', ...REDIS]);
  const settings = ['--max-running', '30', '--priority-weights', '1,1,2,2,4', '--user-weight', '1'];
  await fairloomHere(['queues', 'set', 'default', ...settings, ...REDIS]);
  await fairloomHere(['xcom', 'push', 'rates', '{"JPY":160}', '--user', 'ada', ...REDIS]);
  await fairloomHere(['enqueue', 'speak', '["a"]', '--id', 'spoken', '--wait', '20s', ...REDIS]);
  await fairloomHere(['enqueue', 'asker', '--id', 'asker', ...REDIS]);
  await fairloomHere(['enqueue', 'broken', '--id', 'dead', '--wait', '20s', ...REDIS]);
  await fairloomHere(['enqueue', 'nobody', '--id', 'waits', ...REDIS]);
  while (ask === '')
    ask = (await fairloomHere(['asks', 'list', '-o', 'id', ...REDIS])).stdout.trim();
  await fairloomHere(['enqueue', 'double', '1', '--data', DATA]);
  const stored = ['bulk', 'start', 'cancel', '--where', 'user:nobody', '--queue', 'idle'];
  bulk = (await fairloomHere([...stored, '-o', 'id', ...REDIS])).stdout.trim();
  const late = ['--id', 'late', '--delay', '1h', '--module', STEPS];
  await fairloomHere(['enqueue', 'etl', '4', ...late, ...REDIS]);
  const exported = await printed('runs export', 'late');
  writeFileSync(EXPORTED, JSON.stringify(exported));
  graph = String(Reflect.get(Object(exported), 'graphHash'));
});

afterAll(async () => {
  await worker?.end('SIGTERM');
  rmSync(FOLDER, { recursive: true, force: true });
});

it.each(OUTPUTS)('%s', async (command, ...args) => {
  const stands = new Map([
    [GRAPH, graph],
    [ASK, ask],
    [BULK, bulk],
  ]);
  const value = await printed(command, ...args.map((word) => stands.get(word) ?? word));
  expect(differences(value, PRINTED.get(command) ?? 'nothing')).toEqual([]);
  // An empty list would show no shape.
  expect(value).not.toEqual([]);
});

it('doctor of a data folder', async () => {
  const { stdout } = await fairloomHere(['doctor', '-o', 'json', '--data', DATA]);
  const value: unknown = JSON.parse(stdout);
  expect(differences(value, 'Diagnosis')).toEqual([]);
  expect(value).toMatchObject({ data: { folder: DATA, damage: [], isOpen: false } });
});

it.each([
  ['tasks cancel', '--name', 'nothing-of-this-name', '--yes'],
  ['dead redrive', '--name', 'nothing-of-this-name', '--yes'],
  ['dead remove', '--name', 'nothing-of-this-name', '--yes'],
  ['tasks cancel', '--name', 'nothing-of-this-name', '--dry-run'],
])('%s %s prints an empty list when it changes nothing', async (command, ...args) => {
  expect(await printed(command, ...args)).toEqual([]);
});

// F24
it('a dry run says what would end with a task, in text and as JSON', async () => {
  const line = (id: string, ...more: readonly string[]): readonly string[] => {
    return ['enqueue', 'double', '1', '--id', id, '--user', 'eva', ...more, ...REDIS];
  };
  await fairloomHere([...line('f24-a', '--delay', '1h')]);
  for (let at = 0; at < 7; at++)
    await fairloomHere([...line(`f24-b${at}`, '--depends-on', 'f24-a')]);
  const dry = ['tasks', 'cancel', 'f24-a', '--dry-run'];
  expect(await printed('tasks cancel', 'f24-a', 'f24-nobody', '--dry-run')).toEqual([
    { id: 'f24-a', ok: true, outcome: 'would be canceled' },
    { id: 'f24-nobody', ok: false, outcome: 'it is not stored' },
    ...[0, 1, 2, 3, 4, 5, 6].map((at) => {
      return { id: `f24-b${at}`, ok: true, outcome: 'would be canceled', with: 'f24-a' };
    }),
  ]);
  const { stderr } = await fairloomHere([...dry, ...REDIS]);
  const lines = (await fairloomHere([...dry, '-o', 'jsonl', ...REDIS])).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([
    'f24-a',
    ...[0, 1, 2, 3, 4, 5, 6].map((at) => `f24-b${at}`),
  ]);
  const ids = (await fairloomHere([...dry, '-o', 'id', ...REDIS])).stdout.trim().split('\n');
  expect(ids).toHaveLength(8);
  expect(stderr).toContain('would cancel 1 task:\n  f24-a\nand with it 7 that would end:\n');
  expect(stderr).toContain('  f24-b0 (canceled, with f24-a)\n');
  expect(stderr).toContain('… and 2 more');
  const explained = await fairloomHere(['tasks', 'explain', 'f24-a', ...REDIS]);
  expect(explained.stdout).toContain('7 tasks wait for it: f24-b0 f24-b1');
  expect(explained.stdout).toContain('fairloom tasks dependents f24-a');
  const got = await fairloomHere(['tasks', 'get', 'f24-a', ...REDIS]);
  expect(got.stdout).toMatch(/dependents +7: f24-b0/);
  expect(await printed('tasks get', 'f24-a')).toMatchObject({ dependents: { count: 7 } });
});

it('no command is left out', () => {
  const seen = new Set(OUTPUTS.map(([command]) => command));
  expect([...seen].toSorted()).toEqual([...PRINTED.keys()].toSorted());
});
