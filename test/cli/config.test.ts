/** The configuration as the command line uses it, by the binary. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fairloomHere } from '../support/cli-here.ts';
import { type Ended, fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const EMBEDDED = join(ROOT, 'test/fixtures/cli/embedded.mjs');
const PREFIX = `cli-config-${process.pid}`;

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-cli-config-'));
  writeFileSync(
    path('fairloom.yaml'),
    `redis: { url: "${inject('redisUrl')}", keyPrefix: ${PREFIX} }
workers:
  - { id: w1, concurrency: 2, assignedUsers: [ann], stealTargets: [bob] }
  - { id: w2, concurrency: 2, assignedUsers: [bob], stealTargets: [ann] }
queues: { default: { maxRunning: 50 } }
users: { ann: { weight: 3 } }
`,
  );
  writeFileSync(path('secret.yaml'), 'redis: { url: "redis://me:hunter2@h" }\n');
  writeFileSync(path('memory.yaml'), 'backend: memory\n');
  writeFileSync(path('wrong.yaml'), 'redis: { urk: a }\nworker: { concurrency: 0 }\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const here = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> => fairloom(args, { cwd: folder, env });

describe('config show', () => {
  it('shows flags over the environment over the file over defaults, with --origin', async () => {
    const { code, stdout } = await here(
      ['config', 'show', '--origin', '--prefix', 'flag', '-o', 'jsonl'],
      { FAIRLOOM_WORKER_LEASE: '30s', FAIRLOOM_REDIS_KEY_PREFIX: 'env' },
    );
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { option: string; value: unknown; origin: string });
    const one = (option: string): unknown => {
      const row = rows.find((found) => found.option === option);
      return [row?.value, row?.origin];
    };
    expect(code).toBe(0);
    expect(one('redis.keyPrefix')).toEqual(['flag', '--prefix']);
    expect(one('workers[1].lease')).toEqual(['30s', 'FAIRLOOM_WORKER_LEASE']);
    expect(one('workers[1].id')).toEqual(['w2', 'fairloom.yaml:4:11']);
    expect(one('defaults.retries')).toEqual([3, 'default']);
  });

  it.each(['table', 'json', 'jsonl', 'yaml'])('-o %s masks secrets', async (form) => {
    for (const origin of [[], ['--origin']]) {
      const args = ['config', 'show', '--config', 'secret.yaml', '-o', form, ...origin];
      const { code, stdout, stderr } = await here(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('redis://me:***@h');
      expect(stdout).not.toContain('hunter2');
      expect(stdout.includes('secret.yaml:1:15')).toBe(origin.length > 0);
    }
  });

  it('-o json is the configuration, -o yaml a file with the same meaning', async () => {
    const { stdout } = await here(['config', 'show', '-o', 'json']);
    const json = JSON.parse(stdout) as { workers: readonly { id: string }[] };
    expect(json.workers.map(({ id }) => id)).toEqual(['w1', 'w2']);
    const { stdout: yaml } = await here(['config', 'show', '-o', 'yaml', '--origin']);
    writeFileSync(path('again.yaml'), yaml);
    const again = await here(['config', 'show', '-o', 'json', '--config', 'again.yaml']);
    expect(again.stdout).toBe(stdout);
  });

  it('tells all that is wrong', async () => {
    const { code, stdout, stderr } = await here(['config', 'show', '--config', 'wrong.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'fairloom: 2 problems in the configuration',
      '  wrong.yaml:1:10: redis.urk: expected an option, got the unknown "urk"; did you mean url?',
      '  wrong.yaml:2:24: worker.concurrency: expected a whole number from 1 to 10000, got 0',
    ]);
  });
});

describe('a command', () => {
  it('finds no such file, however it is named', async () => {
    const byVariable = await fairloomHere(['status'], {
      env: { FAIRLOOM_CONFIG: '/no/such.yaml' },
    });
    expect([byVariable.code, byVariable.stderr]).toEqual([
      7,
      expect.stringContaining('there is no file /no/such.yaml, which FAIRLOOM_CONFIG names'),
    ]);
    const shown = await fairloomHere(['config', 'show'], { env: { FAIRLOOM_CONFIG: '/no/such' } });
    expect(shown.code).toBe(7);
    expect((await fairloomHere(['status', '--config', '/no/such.yaml'])).code).toBe(7);
    expect((await fairloomHere(['config', 'show'], { env: { FAIRLOOM_CONFIG: '' } })).code).toBe(0);
  });

  it.each<[string, readonly string[], number, string]>([
    ['finds no such file', ['status', '--config', 'none.yaml'], 7, 'there is no file none.yaml'],
    ['has no use for memory', ['status', '--config', 'memory.yaml'], 2, 'the backend is memory'],
    [
      'reads flags as the configuration does',
      ['status', '--redis', 'http://h'],
      2,
      '--redis: redis.url: expected a URL',
    ],
    [
      'never shows a password',
      ['status', '--redis', 'redis://:hunter2@h/x'],
      2,
      'got redis://:***@h/x',
    ],
    ['writes no yaml', ['status', '-o', 'yaml'], 2, 'only fairloom config show'],
    [
      'stands against a Fairloom',
      ['status', '--module', EMBEDDED, '--config', 'fairloom.yaml'],
      2,
      'leave --redis and --data and --prefix and --config out',
    ],
    ['knows its workers', ['worker', TASKS, '--id', 'w9'], 2, 'there is no worker w9'],
    [
      'checks flags together with the file',
      ['worker', TASKS, '--id', 'w1', '--assigned', 'bob'],
      2,
      'stealTargets: expected users outside assignedUsers',
    ],
  ])('%s', async (_case, args, expected, words) => {
    const { code, stdout, stderr } = await here(args);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('hunter2');
  });

  it('uses the file of the current folder, or the one that a variable names', async () => {
    expect((await here(['enqueue', 'double', '21', '--user', 'ann', '--id', 't1'])).code).toBe(0);
    const elsewhere = { cwd: ROOT, env: { FAIRLOOM_CONFIG: path('fairloom.yaml') } };
    const { code, stdout } = await fairloom(['tasks', 'list', '-o', 'id'], elsewhere);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 't1\n' });
  });

  it('runs steps here with its defaults', async () => {
    writeFileSync(path('strict.yaml'), 'requireUser: true\n');
    const args = ['run', 'double', '4', '--module', TASKS, '--config', 'strict.yaml'];
    expect((await here(args)).stderr).toContain('user: expected');
    expect((await here([...args, '--user', 'ann'])).stdout).toBe('8\n');
  });
});

describe('fairloom worker', () => {
  const ids = async (): Promise<readonly string[]> => {
    const { stdout } = await here(['workers', 'list', '-o', 'id']);
    return stdout.trimEnd().split('\n').toSorted();
  };

  it('starts all workers of the configuration and stores its settings', async () => {
    const worker = await startWorker(['worker', TASKS, '--config', path('fairloom.yaml')]);
    await worker.says('working as w1, w2');
    await worker.says('stored the settings of 1 queue and 1 user');
    const waited = await here(['enqueue', 'double', '21', '--user', 'bob', '--wait', '20s']);
    expect(waited).toMatchObject({ code: 0, stdout: '42\n' });
    expect(await ids()).toEqual(['w1', 'w2']);
    const user = await here(['users', 'get', 'ann', '-o', 'json']);
    expect(JSON.parse(user.stdout)).toMatchObject({ settings: { weight: 3 } });
    const queues = await here(['queues', 'list', '-o', 'json']);
    expect(JSON.parse(queues.stdout)).toMatchObject([{ settings: { maxRunning: 50 } }]);
    const { code, stderr } = await worker.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toContain('drained');
    expect(await ids()).toEqual(['']);
  });

  it('starts one by --id, with flags over its options', async () => {
    const flags = ['--id', 'w2', '--concurrency', '5', '--steal', 'none'];
    const worker = await startWorker([
      'worker',
      TASKS,
      '--config',
      path('fairloom.yaml'),
      ...flags,
    ]);
    const { stdout } = await here(['workers', 'list', '-o', 'json']);
    const [found, ...others] = JSON.parse(stdout) as Readonly<Record<string, unknown>>[];
    expect(found).toMatchObject({ id: 'w2', concurrency: 5, assignedUsers: ['bob'] });
    expect([others, found?.['stealTargets']]).toEqual([[], undefined]);
    expect((await worker.end('SIGTERM')).code).toBe(0);
  });
});
