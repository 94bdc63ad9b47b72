/** Scripts that use the package and end: by themselves, and without a word on stderr. */
import { describe, expect, inject, it } from 'vitest';
import { type Ended, ROOT, runProcess } from '../support/processes/run-process.ts';

function script(text: string): Promise<Ended> {
  const head = `
    import { Fairloom, silentLogger, task } from 'fairloom';
    import { redis } from 'fairloom/redis';
    const hello = task('hello', (who) => 'Hello, ' + who + '!');
    const prefix = 'exit-' + process.pid;
    const open = (url = ${JSON.stringify(inject('redisUrl'))}) =>
      new Fairloom({ backend: redis(url, { prefix }), tasks: [hello], log: silentLogger });
  `;
  const args = ['--input-type=module', '-e', head + text];
  return runProcess(process.execPath, args, { cwd: ROOT });
}

const SILENT = { code: 0, stderr: '' };

describe('a script ends by itself', () => {
  it('that uses a client and closes it', async () => {
    const ended = await script(`
      const loom = open();
      const { id } = await loom.enqueue(hello, 'Ada');
      console.log((await loom.tasks.get(id)).state);
      await loom.close();
    `);
    expect(ended).toEqual({ ...SILENT, stdout: 'queued\n' });
  });

  it('that runs a worker and closes the client', async () => {
    const ended = await script(`
      const loom = open();
      await loom.worker().start();
      console.log(await (await loom.enqueue(hello, 'Ada')).result());
      await loom.close();
    `);
    expect(ended).toEqual({ ...SILENT, stdout: 'Hello, Ada!\n' });
  });

  it('that forgets to close the client', async () => {
    const ended = await script(`
      const loom = open();
      await loom.enqueue(hello, 'Ada');
      await loom.health();
      console.log('done');
    `);
    expect(ended).toEqual({ ...SILENT, stdout: 'done\n' });
  });

  it('that never used the client it made', async () => {
    expect(await script('open();')).toEqual({ ...SILENT, stdout: '' });
  });

  it('that closes while calls are under way', async () => {
    const ended = await script(`
      const loom = open();
      const calls = Array.from({ length: 50 }, (_, n) => loom.enqueue(hello, 'n' + n));
      await loom.close();
      const kinds = new Set((await Promise.allSettled(calls)).map(({ status }) => status));
      console.log(kinds.size > 0);
    `);
    expect(ended).toEqual({ ...SILENT, stdout: 'true\n' });
  });

  it('that serves until SIGTERM', async () => {
    const ended = await script(`
      const loom = open();
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);
      console.log(JSON.stringify(await loom.serve()));
    `);
    expect(ended).toEqual({ ...SILENT, stdout: '{"unfinished":[]}\n' });
  });
});

describe('no server', () => {
  const NOWHERE = "'redis://127.0.0.1:1'";

  // O95.10
  it('a call rejects, nothing is left unhandled, and the process ends', async () => {
    const ended = await script(`
      const loom = open(${NOWHERE});
      const calls = [loom.enqueue(hello, 'Ada'), loom.stats(), loom.tasks.get('x')];
      const codes = (await Promise.allSettled(calls)).map(({ reason }) => reason.code);
      console.log(codes.join(' '), (await loom.health()).isHealthy);
      await loom.close();
    `);
    const code = 'BACKEND_UNAVAILABLE';
    expect(ended).toEqual({ ...SILENT, stdout: `${code} ${code} ${code} false\n` });
  });

  // O95.10
  it('a worker waits, and closing it settles', async () => {
    const ended = await script(`
      const loom = open(${NOWHERE});
      const worker = loom.worker({ grace: 100 });
      let errors = 0;
      worker.on('worker.error', () => errors++);
      const started = worker.start();
      setTimeout(async () => {
        await loom.close();
        console.log(errors > 1, await started.then(() => 'started', ({ code }) => code));
      }, 500);
    `);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toMatch(/^true /);
  });

  // O95.10
  it('an error that is not looked at is named once, and does not hang', async () => {
    const ended = await script(`
      const loom = open(${NOWHERE});
      await loom.enqueue(hello, 'Ada');
    `);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('BACKEND_UNAVAILABLE');
  });
});
