/** Containers as handlers, with a stand-in for the engine, and with a real one where there is one. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ContainerTaskOptions,
  containerTask,
} from '../../../src/workflow/tasks/program-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { isAlive, type KeptLog, keepLog } from '../../support/processes/processes.ts';
import { realEngine, STAND_IN, type StandIn, standIn } from '../../support/processes/stand-in.ts';

const once = { retries: 0, timeout: '1s', engine: STAND_IN } as const;

/** A container that runs this JavaScript. */
function node(name: string, code: string, options: Partial<ContainerTaskOptions> = {}) {
  const args = ['node', '-e', code];
  return containerTask(name, { ...once, image: 'node:20', args, ...options, stdout: 'json' });
}

/** What every container is told of its task; the values are in the environment. */
const FACTS = ['ID', 'USER', 'ATTEMPT', 'FENCING_TOKEN'].flatMap((fact) => [
  '--env',
  `FAIRLOOM_TASK_${fact}`,
]);

const HERE = 'console.error("pid " + process.pid); setInterval(() => {}, 1000);';
const DEAF = `process.on('SIGTERM', () => console.error('no')); ${HERE}`;

let harness: Harness;
let log: KeptLog;
let engine: StandIn;
beforeEach(async () => {
  harness = await openMemory();
  log = keepLog();
  engine = standIn();
});
afterEach(async () => {
  await harness.close();
  engine.remove();
});

async function pidOf(nth: number): Promise<number> {
  const lines = await log.said(/^pid \d+$/, nth);
  return Number(lines[nth - 1]?.message.slice(4));
}

describe('a container', () => {
  it('is told by an argument list, and named after task and attempt', async () => {
    const resize = containerTask('resize', {
      ...once,
      image: 'acme/resize:3',
      env: { MODE: 'a "b" $C', EMPTY: '' },
      passEnv: ['TOKEN'],
      mounts: [
        { source: '/data/in put', target: '/in' },
        { source: 'cache', target: '/cache', writable: true },
      ],
      network: 'none',
      memory: '512m',
      cpus: 0.5,
      engineArgs: ['--init'],
      args: (file: string) => ['echo', '1', '--', file],
      stdin: 'none',
      stdout: 'text',
    });
    const loom = harness.loom([resize]);
    await loom.worker().start();
    const id = 'a b\n--privileged';
    const handle = await loom.enqueue(resize, '-v /:/host', { id });
    expect(await handle.result()).toBe('1 -- -v /:/host');
    const [call = []] = engine.calls('run');
    const name = call[call.indexOf('--name') + 1];
    expect(name).toMatch(/^fairloom-[0-9a-f]{12}-1-[0-9a-f]{8}$/);
    expect(call).toEqual([
      ...['run', '--rm', '--name', name, '--label', `fairloom.task=${id}`],
      ...FACTS,
      ...['--env', 'MODE=a "b" $C', '--env', 'EMPTY=', '--env', 'TOKEN'],
      ...['--mount', 'type=bind,source=/data/in put,target=/in,readonly'],
      ...['--mount', 'type=volume,source=cache,target=/cache'],
      ...['--network', 'none', '--memory', '512m', '--cpus', '0.5', '--init'],
      ...['acme/resize:3', 'echo', '1', '--', '-v /:/host'],
    ]);
    expect(engine.calls()).toHaveLength(1);
  });

  it('is given JSON on stdin and gives JSON; the real engine agrees where there is one', async () => {
    const real = realEngine();
    const given = { text: 'ä$(id)', n: [1, null] };
    for (const one of real === undefined ? [STAND_IN] : [STAND_IN, real]) {
      const options = { ...once, timeout: 'none', engine: one } as const;
      const cat = containerTask('cat', { ...options, image: 'busybox:latest', args: ['cat'] });
      expect(await harness.loom([cat]).run(cat, given)).toEqual(given);
    }
    expect(engine.calls('run')[0]).toContain('-i');
  });

  it('knows its task', async () => {
    const code = 'console.log(JSON.stringify(process.env.FAIRLOOM_TASK_USER))';
    const who = node('who', code);
    expect(await harness.loom([who]).run(who, 1, { user: 'a b' })).toBe('a b');
  });

  it('that fails tells exit code and stderr, and is removed', async () => {
    const bad = node('bad', 'console.error("no disk"); process.exitCode = 4');
    await expect(harness.loom([bad]).run(bad)).rejects.toMatchObject({
      code: 'PROGRAM_FAILED',
      program: 'node:20',
      exitCode: 4,
      stderr: 'no disk',
    });
    expect([engine.containers(), engine.calls('rm').length]).toEqual([[], 1]);
  });

  it('is told no option that is none: the engine’s own words come back', async () => {
    const bad = node('bad', '', { engineArgs: ['--no-such-option'] });
    await expect(harness.loom([bad]).run(bad)).rejects.toMatchObject({
      exitCode: 125,
      stderr: 'unknown flag: --no-such-option',
    });
  });

  it('says what to install when there is no engine', async () => {
    const none = node('none', '', { engine: 'fairloom-no-such-engine' });
    const error: unknown = await harness
      .loom([none])
      .run(none)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PROGRAM_NOT_STARTED', retryable: true });
    expect(String(error)).toMatch(/fairloom-no-such-engine.*install Docker or Podman/);
  });
});

describe('a container that should end', () => {
  it('gets SIGTERM by its name at its timeout, and is gone before the next attempt', async () => {
    const hang = node('hang', HERE, { retries: 1, backoff: { base: 0 } });
    const loom = harness.loom([hang], { log });
    await loom.worker().start();
    const handle = await loom.enqueue(hang);
    const first = await pidOf(1);
    const [name] = engine.containers();
    await harness.clock.advance('1s');
    await pidOf(2);
    expect([isAlive(first), engine.containers().includes(`${name}`)]).toEqual([false, false]);
    expect(engine.calls('kill')[0]).toEqual(['kill', '--signal', 'TERM', name]);
    await harness.clock.advance('1s');
    await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
    await harness.until(() => engine.containers().length === 0);
  });

  it('is removed three seconds later when it goes on, though it is no child', async () => {
    const deaf = node('deaf', DEAF);
    const loom = harness.loom([deaf], { log });
    const worker = loom.worker();
    await worker.start();
    const handle = await loom.enqueue(deaf);
    const pid = await pidOf(1);
    await loom.tasks.cancel(handle.id);
    await log.said('no');
    await harness.clock.advance(2_999);
    expect([isAlive(pid), worker.running]).toEqual([true, 1]);
    await harness.clock.advance(1);
    await expect(handle.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
    await harness.until(() => worker.running === 0);
    expect([isAlive(pid), engine.containers()]).toEqual([false, []]);
  });

  it('is not made at all when its image is still being fetched', async () => {
    const slow = node('slow', HERE, { image: 'slow/image' });
    const loom = harness.loom([slow]);
    const worker = loom.worker();
    await worker.start();
    const handle = await loom.enqueue(slow);
    await harness.until(() => engine.isFetching());
    await loom.tasks.cancel(handle.id);
    await expect(handle.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
    await harness.until(() => worker.running === 0);
    expect([engine.isFetching(), engine.containers()]).toEqual([false, []]);
  });

  it('is not left by a worker that stops, nor by a client that closes', async () => {
    const deaf = node('deaf', DEAF, { timeout: 'none' });
    const [one, two] = [harness.loom([deaf], { log }), harness.loom([deaf], { log })];
    const worker = one.worker();
    await worker.start();
    const handle = await one.enqueue(deaf);
    const first = await pidOf(1);
    const stopped = worker.stop({ grace: 1 });
    await harness.clock.advance(1);
    await log.said('no');
    await harness.clock.advance('3s');
    await harness.until(() => worker.running === 0);
    expect(await stopped).toEqual({ unfinished: [] });
    expect([isAlive(first), engine.containers()]).toEqual([false, []]);
    expect((await one.tasks.get(handle.id))?.state).toBe('queued');

    await two.worker().start();
    const second = await pidOf(2);
    const closed = two.close({ timeout: 0 });
    await harness.clock.advance(0);
    await closed;
    await harness.until(() => !isAlive(second) && engine.containers().length === 0);
  });
});
