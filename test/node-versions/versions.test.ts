/**
 * A share of the tests, and the demo, on later versions of Node than the one that runs all else: the
 * package promises every version from 20.19 on. Their binaries are npm packages, which this layer installs
 * where nothing else finds them: a `node` in the repository's node_modules/.bin would run every script.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { resultIn } from '../../scripts/layer-result.ts';
import { BIN, ROOT, runProcess } from '../support/processes/run-process.ts';

const FOLDER = join(ROOT, 'test/fixtures/node-versions');
const VERSIONS = ['22', '24', '26'];
/** What the oldest and this one agree on, those in between do. */
const NEWEST = '26';

/** What leans on Node more than on itself: timers, threads, processes, async contexts, files, URLs, zones. */
const FILES = [
  'test/config/sources.test.ts',
  'test/domain/schedules/cron.test.ts',
  'test/engine/attempt/async-scope.test.ts',
  'test/engine/attempt/fake-timers.test.ts',
  'test/engine/attempt/thrown.test.ts',
  'test/engine/handlers/process.test.ts',
  'test/engine/handlers/threads.test.ts',
];
/** Rules without anything of Node's: on the newest alone. */
const RULES = 'test/contract/memory.test.ts';
/** They come to more; a file that has moved is missed. */
const TESTS = { some: 100, all: 700 };

const isHere = process.platform === 'linux' && process.arch === 'x64';
const ELSEWHERE = 'its binary is for Linux on x64';

describe.each(VERSIONS)('Node %s', (version) => {
  const node = join(FOLDER, `node_modules/node-${version}/bin/node`);
  /** Without what vitest says of itself to the processes that it starts. */
  const env = Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => /^(VITEST|TEST$|NODE_|FAIRLOOM_REDIS)/.test(name))
      .map((name) => [name, undefined]),
  );

  beforeAll(async () => {
    if (!isHere || existsSync(node)) return;
    const { code, stderr } = await runProcess('npm', ['ci', '--ignore-scripts'], {
      cwd: FOLDER,
      env,
    });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  });

  it('passes a share of the tests', async ({ skip }) => {
    skip(!isHere, ELSEWHERE);
    const files = version === NEWEST ? [RULES, ...FILES] : FILES;
    const layers = [...new Set(files.map((file) => file.split('/')[1] ?? ''))];
    const { code, stdout } = await runProcess(
      node,
      [
        ...[join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--maxWorkers=1'],
        ...layers.flatMap((layer) => ['--project', layer]),
        ...['--reporter=./scripts/layer-reporter.ts', ...files],
      ],
      { cwd: ROOT, env },
    );
    const results = stdout.split('\n').flatMap((line) => resultIn(line) ?? []);
    expect(code, stdout).toBe(0);
    expect(results.map(({ name }) => name).toSorted()).toEqual(layers.toSorted());
    expect(results.reduce((sum, { failed }) => sum + failed, 0)).toBe(0);
    expect(results.reduce((sum, { passed }) => sum + passed, 0)).toBeGreaterThan(
      version === NEWEST ? TESTS.all : TESTS.some,
    );
  });

  it('plays the demo', async ({ skip }) => {
    skip(!isHere, ELSEWHERE);
    const { stdout } = await runProcess(node, ['--version']);
    expect(stdout).toMatch(new RegExp(`^v${version}\\.`));
    const demo = await runProcess(node, [BIN, 'demo', '--json', '--seconds', '1'], { env });
    expect([demo.code, JSON.parse(demo.stdout)]).toMatchObject([0, { backend: 'memory' }]);
  });
});
