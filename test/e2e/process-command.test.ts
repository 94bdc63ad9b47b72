/** `fairloom worker` and signals: what its exit code and its last words say. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BIN } from '../support/processes/run-process.ts';
import { delay, LEASE_MS, ProcessKit, slackMs } from './process-kit.ts';

const TASKS = fileURLToPath(new URL('../support/processes/deaf-tasks.mjs', import.meta.url));

let kit: ProcessKit;
let child: ChildProcess;
let stderr: string;
let ended: Promise<number | null>;
beforeEach(() => {
  kit = new ProcessKit();
  const backend = ['--redis', kit.url, '--prefix', kit.prefix];
  const times = ['--lease', `${LEASE_MS}ms`, '--grace', '300ms'];
  child = spawn(process.execPath, [BIN, ...backend, 'worker', TASKS, ...times, '--id', 'cli'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  ended = new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
});
afterEach(async () => {
  child.kill('SIGKILL');
  await ended;
  await kit.close();
});

/** Enqueues a task that looks at no signal, and waits until it runs. */
async function running(ms: number): Promise<string> {
  const task = await kit.enqueue('deaf', { ms });
  await kit.until(async () => (await kit.loom.tasks.get(task))?.state === 'started');
  return task;
}

describe('fairloom worker', () => {
  it('ends with 1 and names the tasks that outlived its grace', async () => {
    const task = await running(60_000);
    child.kill('SIGTERM');
    expect(await ended).toBe(1);
    expect(stderr).toContain(task);
    // No other worker is here: a new worker finds the task once its lease has ended.
    await kit.hire();
    expect(await kit.started(task)).toMatchObject({ worker: 'w1' });
  });

  it('a second signal ends it now, with 1', async () => {
    const task = await running(60_000);
    child.kill('SIGINT');
    // Its grace is over by then, and it waits for the handler to notice its signal.
    await delay(800);
    const asked = Date.now();
    child.kill('SIGINT');
    expect(await ended).toBe(1);
    expect(Date.now() - asked).toBeLessThan(4_000 + slackMs());
    expect(stderr).toContain(task);
  });
});
