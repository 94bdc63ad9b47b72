/** Programs as handlers: what they are given, what is read of them, and that none is left. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { type CommandTaskOptions, commandTask } from '../../../src/workflow/tasks/program-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { isAlive, type KeptLog, keepLog } from '../../support/processes/processes.ts';

const once = { retries: 0, timeout: '1s' } as const;

/** A program in JavaScript. */
function node(name: string, code: string, options: Partial<CommandTaskOptions> = {}) {
  const { args = [], ...rest } = options;
  const more = Array.isArray(args) ? args : [];
  const command = process.execPath;
  return commandTask(name, {
    ...once,
    ...rest,
    stdout: 'json',
    command,
    args: ['-e', code, ...more],
  });
}

const ECHO = 'process.stdin.pipe(process.stdout)';
const HERE = 'console.error("pid " + process.pid); setInterval(() => {}, 1000);';

let harness: Harness;
let log: KeptLog;
beforeEach(async () => {
  harness = await openMemory();
  log = keepLog();
});
afterEach(() => harness.close());

async function pidOf(nth: number): Promise<number> {
  const lines = await log.said(/^pid \d+$/, nth);
  return Number(lines[nth - 1]?.message.slice(4));
}

describe('what a program is given, and what is read of it', () => {
  it('is JSON on stdin and JSON from stdout', async () => {
    const echo = node('echo', ECHO);
    const loom = harness.loom([echo]);
    const input = { text: 'ä\n"; rm -rf / #$(id)`id`', n: [1, null] };
    await loom.worker().start();
    expect(await (await loom.enqueue(echo, input)).result()).toEqual(input);
    expect(await loom.run(echo, input)).toEqual(input);
    expect(await loom.run(echo)).toBeUndefined();
  });

  it('is an argument list that no shell reads', async () => {
    const args = (text: string) => ['-e', SHOW, '--', text, '$HOME', '; exit 3'];
    const show = commandTask('show', { ...once, command: process.execPath, args, stdin: 'none' });
    const loom = harness.loom([show]);
    expect(await loom.run(show, '$(id) && `id` | "x"')).toEqual({
      args: ['$(id) && `id` | "x"', '$HOME', '; exit 3'],
      stdin: '',
    });
  });

  it('is text, when that is asked for, without its last line break', async () => {
    const command = process.execPath;
    const args = (n: number) => ['-e', `console.log("one\\n" + ${n} + "\\n")`];
    const text = commandTask('text', { ...once, command, args, stdout: 'text' });
    expect(await harness.loom([text]).run(text, 2)).toBe('one\n2\n');
  });

  it('are variables on top of those of the worker, and a folder', async () => {
    const code =
      'console.log(JSON.stringify([process.env.MODE, !!process.env.PATH, process.cwd()]))';
    const [env, cwd] = [{ MODE: 'a b' }, join(process.cwd(), 'test')];
    const where = node('where', code, { env, cwd });
    expect(await harness.loom([where]).run(where)).toEqual(['a b', true, cwd]);
  });

  it('are facts of its task, also of one with a strange id', async () => {
    const code = `const { env } = process; console.log(JSON.stringify([env.FAIRLOOM_TASK_ID,
      env.FAIRLOOM_TASK_USER, env.FAIRLOOM_TASK_ATTEMPT, env.FAIRLOOM_TASK_FENCING_TOKEN, env.TRACEPARENT]))`;
    const who = node('who', code);
    const loom = harness.loom([who]);
    await loom.worker().start();
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const handle = await loom.enqueue(who, 1, { id: 'a\0\n=$x', user: 'ü', traceparent });
    const token = expect.stringMatching(/^\d{10,}$/);
    expect(await handle.result()).toEqual(['a\uFFFD\n=$x', 'ü', '1', token, traceparent]);
  });

  it('need not be read by it', async () => {
    const deaf = node('deaf', 'process.stdin.destroy(); console.log(1)');
    expect(await harness.loom([deaf]).run(deaf, 'x'.repeat(900_000))).toBe(1);
  });

  it('passes a schema on the way out', async () => {
    const validate = (value: unknown) =>
      value === 1 ? { value: 'one' } : { issues: [{ message: 'not one' }] };
    const output = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const good = node('good', 'console.log(1)', { output });
    const bad = node('bad', 'console.log(2)', { output });
    const loom = harness.loom([good, bad]);
    expect(await loom.run(good)).toBe('one');
    await expect(loom.run(bad)).rejects.toThrow('not one');
  });
});

const SHOW =
  'console.log(JSON.stringify({ args: process.argv.slice(1), stdin: fs.readFileSync(0, "utf8") }))';

describe('a program that fails', () => {
  it('tells its exit code and the last lines of stderr, which go to the log', async () => {
    const code = 'for (let i = 1; i < 30; i++) console.error("line " + i); process.exitCode = 9';
    const bad = node('bad', code);
    const loom = harness.loom([bad], { log });
    await expect(loom.run(bad)).rejects.toMatchObject({
      code: 'PROGRAM_FAILED',
      program: process.execPath,
      exitCode: 9,
      signal: undefined,
      stderr: expect.stringMatching(/^line 10\n(line \d+\n){18}line 29$/),
    });
    expect(await log.said(/^line \d+$/, 29)).toMatchObject(
      [{ level: 'info', message: 'line 1' }].concat(
        Array.from({ length: 28 }, (_, at) => ({ level: 'info', message: `line ${at + 2}` })),
      ),
    );
  });

  it('is retried, and shows why in the end', async () => {
    const bad = node('bad', 'console.error("no disk"); process.exitCode = 2', {
      retries: 1,
      backoff: { base: 0 },
    });
    const loom = harness.loom([bad]);
    await loom.worker().start();
    const handle = await loom.enqueue(bad);
    await expect(handle.result()).rejects.toMatchObject({
      errorName: 'ProgramFailedError',
      message: expect.stringContaining('exit code 2: no disk'),
    });
    expect(await loom.tasks.attempts(handle.id)).toHaveLength(2);
  });

  it('says which signal ended it', async () => {
    const bad = node('bad', 'process.kill(process.pid, "SIGKILL")');
    await expect(harness.loom([bad]).run(bad)).rejects.toMatchObject({
      signal: 'SIGKILL',
      exitCode: undefined,
    });
  });

  it.each([
    ['not there', 'fairloom-no-such-program', {}, 'check whether it is installed'],
    ['not executable', join(process.cwd(), 'package.json'), {}, 'check whether it is installed'],
    [
      'in a folder that is not there',
      process.execPath,
      { cwd: '/no/such/folder' },
      '/no/such/folder',
    ],
  ])('is an error of its own when it is %s', async (_, command, options, message) => {
    const none = commandTask('none', { ...once, ...options, command });
    const error: unknown = await harness
      .loom([none])
      .run(none)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PROGRAM_NOT_STARTED', program: command });
    expect(String(error)).toContain(message);
  });

  it.each([
    ['no JSON', 'console.log("{ not json")', 'is not JSON'],
    ['no UTF-8', 'process.stdout.write(Buffer.from([0x22, 0xff, 0x22]))', 'not UTF-8'],
    ['two values', 'console.log(1); console.log(2)', 'is not JSON'],
    // B-W15
  ])('gives %s: refused as data, never run', async (_, code, message) => {
    const bad = node('bad', code, { retries: 3 });
    const loom = harness.loom([bad]);
    await loom.worker().start();
    const handle = await loom.enqueue(bad);
    await expect(handle.result()).rejects.toMatchObject({ failureType: 'invalid-result' });
    await expect(handle.result()).rejects.toThrow(message);
  });

  it('is ended when it writes more than a result may have', async () => {
    const flood = node('flood', 'setInterval(() => process.stdout.write("x".repeat(65536)), 0)');
    const error: unknown = await harness
      .loom([flood])
      .run(flood)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'INVALID_RESULT' });
    expect(String(error)).toContain(`more than ${LIMITS.payloadBytes} bytes`);
  });

  it('cannot flood the log', async () => {
    const code =
      'process.stderr.write("y".repeat(5000) + "\\r" + "x\\n".repeat(3000)); console.log(1)';
    const loud = node('loud', code);
    expect(await harness.loom([loud], { log }).run(loud)).toBe(1);
    const { lines } = log;
    expect(lines.filter(({ level }) => level === 'info')).toHaveLength(LIMITS.stderrLines);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(lines[0]?.message).toHaveLength(1_000);
  });

  it('has an argument list that is none', async () => {
    const args = (n: number) => [n] as unknown as string[];
    const bad = commandTask('bad', { ...once, command: process.execPath, args });
    await expect(harness.loom([bad]).run(bad, 1)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    const nul = commandTask('nul', {
      ...once,
      command: process.execPath,
      args: (s: string) => [s],
    });
    await expect(harness.loom([nul]).run(nul, 'a\0b')).rejects.toMatchObject({ option: 'args' });
  });
});

describe('a program that should end', () => {
  it('gets SIGTERM at its timeout, with its children, and the attempt is a timeout', async () => {
    const child = `setInterval(() => {}, 1000)`;
    const code = `const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', '${child}']);
      console.error('pid ' + child.pid); ${HERE}`;
    const hang = node('hang', code, { retries: 1, backoff: { base: 0 } });
    const loom = harness.loom([hang], { log });
    await loom.worker().start();
    const handle = await loom.enqueue(hang);
    const pids = [await pidOf(1), await pidOf(2)];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await harness.clock.advance('1s');
    await pidOf(4);
    await harness.until(() => !pids.some(isAlive));
    await harness.clock.advance('1s');
    await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
  });

  it('gets SIGKILL three seconds later when it goes on, and is canceled', async () => {
    const deaf = node('deaf', `process.on('SIGTERM', () => console.error('no')); ${HERE}`);
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
    expect(isAlive(pid)).toBe(false);
  });

  it('does not count as finished when it ends well by SIGTERM: its output may be half of it', async () => {
    const code = `process.on('SIGTERM', () => process.exit(0)); console.log(1); ${HERE}`;
    const half = node('half', code);
    const loom = harness.loom([half], { log });
    const result = loom.run(half);
    await pidOf(1);
    const failed = expect(result).rejects.toMatchObject({ code: 'TIMED_OUT' });
    await harness.clock.advance('1s');
    await failed;
  });

  it('takes what it left behind with it when it ends by itself', async () => {
    const code = `const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      child.on('spawn', () => { console.error('pid ' + child.pid); console.log(1); process.exit(); })`;
    const leaver = node('leaver', code);
    expect(await harness.loom([leaver], { log }).run(leaver)).toBe(1);
    const pid = await pidOf(1);
    await harness.until(() => !isAlive(pid));
  });

  it('is not left by a worker that stops, nor by a client that closes', async () => {
    const hang = node('hang', HERE, { timeout: 'none' });
    const [one, two] = [harness.loom([hang], { log }), harness.loom([hang], { log })];
    const worker = one.worker();
    await worker.start();
    const handle = await one.enqueue(hang);
    const first = await pidOf(1);
    const stopped = worker.stop({ grace: 0 });
    await harness.until(() => worker.running === 0);
    await stopped;
    expect(isAlive(first)).toBe(false);
    expect((await one.tasks.get(handle.id))?.state).toBe('queued');

    await two.worker().start();
    const second = await pidOf(2);
    const closed = two.close({ timeout: 0 });
    await harness.clock.advance(0);
    await closed;
    await harness.until(() => !isAlive(second));
    await expect(two.run(hang)).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('ends when the run that wants it is given up', async () => {
    const hang = node('hang', HERE);
    const controller = new AbortController();
    const result = harness.loom([hang], { log }).run(hang, 1, { signal: controller.signal });
    const pid = await pidOf(1);
    controller.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    await harness.until(() => !isAlive(pid));
  });

  it('is not started for a task that was given up before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fairloom-'));
    const file = join(folder, 'ran');
    const touch = node('touch', `fs.writeFileSync(${JSON.stringify(file)}, '')`);
    const signal = AbortSignal.abort(new Error('never mind'));
    await expect(harness.loom([touch]).run(touch, 1, { signal })).rejects.toThrow('never mind');
    expect(existsSync(file)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});
