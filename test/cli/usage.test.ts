/** What the command line says to mistakes, and to modules that it cannot use. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fairloom, ROOT } from '../support/processes/run-process.ts';

/** A port on which nothing listens. */
const NOBODY = 'redis://127.0.0.1:1';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');

describe('help', () => {
  it('goes to stdout when it was asked for', async () => {
    const { code, stdout, stderr } = await fairloom(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const noun of ['demo', 'worker', 'enqueue', 'tasks', 'dead', 'users', 'queues']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${noun}\\b`, 'm'));
    }
    expect(stdout).toContain('Exit codes: 0 ok');
  });

  it('goes to stderr when a verb is missing', async () => {
    const { code, stdout, stderr } = await fairloom(['tasks']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('redrive');
  });
});

describe('a mistake on the command line', () => {
  it.each([
    [['taks', 'list'], 'Did you mean tasks?'],
    [['tasks', 'lst'], 'Did you mean list?'],
    [['tasks', 'list', '--sate', 'failed'], 'Did you mean --state?'],
    [['tasks', 'list', '--state', 'waiting'], 'Allowed choices are scheduled'],
    [['tasks', 'list', '--limit', '0'], 'Expected a whole number, at least 1, or all.'],
    [['tasks', 'list', '-o', 'xml'], 'Allowed choices are table, json, jsonl, id.'],
    [['tasks', 'get'], "missing required argument 'id'"],
    [['tasks', 'list'], 'FAIRLOOM_REDIS_URL'],
    [['tasks', 'cancel', '--redis', NOBODY], 'ids or filters needed'],
    [['tasks', 'cancel', 'a', '--user', 'b', '--redis', NOBODY], 'ids or filters, not both'],
    [['dead', 'remove', '--redis', NOBODY], 'ids, filters or --all needed'],
    [['status', '--redis', 'redis://app:%zz@localhost'], '"%" is written %25'],
    [['users', 'set', 'ada', '--weight', 'much'], 'Expected a number.'],
    [['users', 'set', 'ada', '--weight', '2000', '--redis', NOBODY], '0.01 to 1000'],
    [['users', 'set', 'ada', '--rate', '7'], 'Expected a rate such as 100/1m'],
    [['users', 'set', 'ada', '--redis', NOBODY], 'nothing to set'],
    [['queues', 'set', 'q', '--priority-weights', '1,2'], 'Expected five whole numbers'],
    [['enqueue', 'double', '{a', '--redis', NOBODY], 'is not JSON'],
    [['enqueue', 'double', '--delay', 'soon'], 'Expected a length such as 250ms'],
    [['enqueue', 'double', '--at', 'soon'], 'Expected a moment'],
    [['enqueue', 'double', '--priority', '9', '--redis', NOBODY], 'a priority from 1 to 6'],
    [['enqueue', 'not a name', '--redis', NOBODY], 'a name'],
    [
      ['status', '--redis', NOBODY, '--prefix', 'a b'],
      '--prefix: redis.keyPrefix: expected a name',
    ],
    [['worker', TASKS, '--redis', NOBODY, '--queue', 'a=b'], 'a weight from'],
    [['worker', TASKS, '--redis', NOBODY, '--steal', 'some'], 'Expected any or none'],
    [['worker', TASKS], 'no backend was named'],
    [['demo', '--prefix', 'mine'], 'a prefix of its own'],
  ])('%j ends with 2 and says what is wrong', async (args, words) => {
    const { code, stdout, stderr } = await fairloom(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });
});

describe('modules', () => {
  let folder: string;
  const redis = ['--redis', inject('redisUrl')];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fairloom-modules-'));
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    write('empty.mjs', 'export const number = 1;');
    write('throws.mjs', "throw new Error('the database is away');");
    write('imports.mjs', "import './missing.mjs';");
    write('foreign.mjs', 'class Fairloom {}\nexport const loom = new Fairloom();');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['empty.mjs', 2, 'exports no step and no Fairloom'],
    ['throws.mjs', 1, 'the database is away'],
    ['imports.mjs', 1, 'missing.mjs'],
    ['foreign.mjs', 2, 'another copy of fairloom'],
  ])('%s is refused', async (name, expected, words) => {
    const { code, stderr } = await fairloom(['worker', join(folder, name), ...redis]);
    expect(code).toBe(expected);
    expect(stderr).toContain(words);
  });

  it('in TypeScript run where tsx is installed', async () => {
    const module = join(ROOT, 'test/fixtures/cli/typed.ts');
    const { code, stdout } = await fairloom(
      ['enqueue', 'ship', '{"id":"o-7"}', '--id', 'o-7', '--module', module],
      // The paths of our own tsconfig.json would make it import the sources.
      { cwd: ROOT, env: { TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.build.json') } },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'o-7\n' });
  });

  it('with a Fairloom of their own stand against --redis', async () => {
    const module = join(ROOT, 'test/fixtures/cli/embedded.mjs');
    const { code, stderr } = await fairloom(['status', '--module', module, ...redis]);
    expect(code).toBe(2);
    expect(stderr).toContain('which has its own backend');
  });
});
