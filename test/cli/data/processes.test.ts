/** `--data <folder>`: the commands on a data folder, by the binary, with processes that are killed. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { differences } from '../../support/docs/documented-output.ts';
import { type Ended, fairloom, ROOT } from '../../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const OWN = join(ROOT, 'test/fixtures/cli/embedded.mjs');

const root = mkdtempSync(join(tmpdir(), 'fairloom-cli-data-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function started(...args: readonly string[]): Promise<WorkerProcess> {
  const ready = args[0] === 'dashboard' ? 'http://' : 'working';
  const process = await startWorker(args, ready, { cwd: root });
  onTestFinished(async () => void (await process.end('SIGKILL')));
  return process;
}

describe('on a data folder', () => {
  const where = ['--data', join(root, 'tasks')];
  const run = (...args: readonly string[]): Promise<Ended> =>
    fairloom([...args, ...where], { cwd: root });
  const states = async (): Promise<unknown> => {
    const { stdout } = await run('tasks', 'list', '--all', '-o', 'json');
    const rows: readonly { readonly id: string; readonly state: string }[] = JSON.parse(stdout);
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
  };

  it('what one command has stored the next one finds, and a killed worker loses nothing', async () => {
    const gate = join(root, 'gate');
    expect(await run('enqueue', 'double', '21', '--id', 'first')).toMatchObject({
      code: 0,
      stdout: 'first\n',
    });
    expect(await states()).toEqual({ first: 'queued' });

    const lease = ['--lease', '1s'];
    const killed = await started('worker', TASKS, ...lease, ...where);
    const waited = await run('enqueue', 'double', '4', '--id', 'second', '--wait', '20s');
    expect(waited).toMatchObject({ code: 0, stdout: '8\n' });
    await run('enqueue', 'gated', JSON.stringify(gate), '--id', 'gated');
    await expect.poll(states).toEqual({ first: 'finished', second: 'finished', gated: 'started' });
    await killed.end('SIGKILL');

    expect(await states()).toEqual({ first: 'finished', second: 'finished', gated: 'started' });
    writeFileSync(gate, '');
    const next = await started('worker', TASKS, ...lease, ...where);
    const all = { first: 'finished', second: 'finished', gated: 'finished' };
    await expect.poll(states).toEqual(all);
    expect((await next.end('SIGTERM')).code).toBe(0);
    expect(await states()).toEqual(all);
  });

  it('health says what the backend is worth, beside a dashboard that asks the same', async () => {
    const { code, stdout } = await run('health', '-o', 'json');
    expect(code).toBe(0);
    const health: unknown = JSON.parse(stdout);
    expect(differences(health, 'Health')).toEqual([]);
    const backend = { name: 'file', durable: true, shared: true, sync: 'always' };
    expect(health).toMatchObject({ isHealthy: true, backend });
    expect((await run('health')).stdout).toContain('synced before each answer');

    const dashboard = await started('dashboard', '--port', '0', ...where);
    const beside = await run('health', '-o', 'json');
    expect(JSON.parse(beside.stdout)).toMatchObject({ isHealthy: true, backend });
    const told = dashboard.end('SIGTERM');
    expect(await told).toMatchObject({ code: 0 });
  });

  it('may be named by the environment and the configuration', async () => {
    const config = join(root, 'named.yaml');
    writeFileSync(config, 'data: { folder: ./tasks, sync: 250ms }');
    const env = { FAIRLOOM_DATA_FOLDER: 'tasks' };
    const [byEnvironment, byFile] = [
      await fairloom(['tasks', 'get', 'first', '-o', 'id'], { cwd: root, env }),
      await fairloom(['health', '-o', 'json', '--config', config], { cwd: tmpdir() }),
    ];
    expect(byEnvironment).toMatchObject({ code: 0, stdout: 'first\n' });
    expect(JSON.parse(byFile.stdout)).toMatchObject({ backend: { sync: { everyMs: 250 } } });
  });
});

describe('is refused', () => {
  it.each([
    ['beside --redis', ['--redis', 'redis://127.0.0.1:1'], '--redis and --data are two backends'],
    ['beside --prefix', ['--prefix', 'shop'], 'a data folder has no prefix'],
    ['beside a Fairloom of a module', ['--module', OWN], 'which has its own backend'],
  ])('%s', async (_case, more, words) => {
    const folder = join(root, 'refused');
    const { code, stderr } = await fairloom(['status', '--data', folder, ...more]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
    expect(existsSync(folder)).toBe(false);
  });

  it('when nothing can be kept in it', async () => {
    const { code, stderr } = await fairloom(['status', '--data', OWN]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(OWN) });
  });

  it('and is named where a backend is missing', async () => {
    const { code, stderr } = await fairloom(['status'], { cwd: root });
    expect(code).toBe(2);
    expect(stderr).toContain('--data <folder>');
    expect(stderr).toContain('FAIRLOOM_DATA_FOLDER');
  });
});
