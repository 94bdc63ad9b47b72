/** `fairloom asks` and `fairloom publish`: what tasks ask and wait for, from other processes. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fairloomHere, fairloomQuick } from '../support/cli-here.ts';
import { type Ended, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const WHERE = ['--redis', inject('redisUrl'), '--prefix', `asks-${process.pid}`];
const SEALED = ['--redis', inject('redisUrl'), '--prefix', `asks-sealed-${process.pid}`];
const KEYS = { FAIRLOOM_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` };

type Run = (...args: readonly string[]) => Promise<Ended>;

const run: Run = (...args) => fairloomQuick([...args, ...WHERE]);
const withKey: Run = (...args) => fairloomQuick([...args, ...SEALED], { env: KEYS });
/** The same to look by: many times, until something has come. */
const look: Run = (...args) => fairloomHere([...args, ...WHERE]);
const lookWithKey: Run = (...args) => fairloomHere([...args, ...SEALED], { env: KEYS });
const without: Run = (...args) => fairloomQuick([...args, ...SEALED]);

/** Waits until that holds of what a command says. */
async function until<T>(look: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 100; tries++) {
    const found = await look();
    if (holds(found)) return found;
  }
  throw new Error('it does not come');
}

/** The id of the question that a task asks. */
async function askOf(by: Run, taskId: string): Promise<string> {
  const list = async (): Promise<readonly { id: string; taskId: string }[]> =>
    JSON.parse((await by('asks', 'list', '-o', 'json')).stdout);
  const all = await until(list, (found) => found.some((ask) => ask.taskId === taskId));
  return all.find((ask) => ask.taskId === taskId)?.id ?? '';
}

const ended = (by: Run, id: string) =>
  until(
    async () => JSON.parse((await by('tasks', 'get', id, '-o', 'json')).stdout),
    ({ state }) => ['finished', 'failed', 'canceled'].includes(state),
  );

let worker: WorkerProcess;
let keyed: WorkerProcess;

beforeAll(async () => {
  worker = await startWorker(['worker', TASKS, ...WHERE]);
  keyed = await startWorker(['worker', TASKS, ...SEALED], 'working', { env: KEYS });
});
afterAll(() => Promise.all([worker.end('SIGTERM'), keyed.end('SIGTERM')]));

describe('asks', () => {
  it('are listed, shown and answered once; the second hears who came first', async () => {
    await run('enqueue', 'spender', '3600000', '--id', 'trip', '--user', 'ann');
    const id = await askOf(look, 'trip');
    const list = await run('asks', 'list', '--for', 'role:finance', '--user', 'ann');
    expect(list.stdout).toMatch(
      /^ID +TITLE +CHOICES +FOR +USER +ASKED +UNTIL\ntrip\.\w+ +How much\? +approve, reject +role:finance +ann +/,
    );
    expect((await run('asks', 'list', '--for', 'role:finance', '-o', 'id')).stdout).toBe(`${id}\n`);
    for (const none of [
      ['--user', 'bob'],
      ['--for', 'role:other'],
    ]) {
      expect(await run('asks', 'list', ...none)).toMatchObject({ code: 0, stdout: '' });
    }
    const open = JSON.parse((await run('asks', 'get', id, '-o', 'json')).stdout);
    expect(open).toMatchObject({ id, taskId: 'trip', task: 'spender', state: 'open', form: true });
    const answer = ['asks', 'answer', id, 'approve', '--by', 'eve', '--comment', 'fine'];
    expect(await run('asks', 'answer', id, 'maybe', '--by', 'eve')).toMatchObject({ code: 2 });
    expect(await run(...answer, '--form', '{"cents":7}')).toMatchObject({
      code: 0,
      stdout: 'eve has answered approve\n',
    });
    expect((await ended(look, 'trip')).result).toMatchObject({
      ...{ answered: true, choice: 'approve', by: 'eve', comment: 'fine', form: { cents: 7 } },
    });
    const late = await run('asks', 'answer', id, 'reject', '--by', 'bob', '-o', 'json');
    expect(late).toMatchObject({ code: 6, stdout: '' });
    expect(late.stderr).toContain('eve has answered approve');
    expect(JSON.parse((await run('asks', 'get', id, '-o', 'json')).stdout)).toMatchObject({
      state: 'answered',
      answer: { choice: 'approve', by: 'eve', comment: 'fine', form: { cents: 7 } },
    });
    expect((await run('asks', 'list')).stderr).toBe('no open questions\n');
  });

  it('whose time is over are not answered any more, and their task fails', async () => {
    await run('enqueue', 'spender', '1', '--id', 'late');
    const { state, error } = await ended(look, 'late');
    expect([state, error.name]).toEqual(['failed', 'WaitTimedOutError']);
    expect(error.message).toBe('an answer to question "How much?" did not come in time');
    expect((await run('asks', 'list', '--for', 'role:finance')).stderr).toBe('no open questions\n');
  });

  it.each([
    [['asks', 'get', 'nobody.x'], 7, 'there is no question nobody.x'],
    [['asks', 'get', ''], 2, "argument 'id'"],
    [['asks', 'answer', 'nobody.x', 'yes', '--by', 'ann'], 7, 'nobody.x'],
    [['asks', 'answer', 'nobody.x', 'yes'], 2, '--by'],
    [['asks', 'answer', 'nobody.x', 'yes', '--by', ''], 2, 'by'],
    [['asks', 'answer', 'nobody.x', 'no name', '--by', 'ann'], 2, 'choice'],
    [['asks', 'answer', 'nobody.x', 'yes', '--by', 'ann', '--form', '{'], 2, 'is not JSON'],
    [['asks', 'list', '--limit', '0'], 2, 'limit'],
    [['asks', 'list', '--user', ''], 2, 'user'],
    [['asks', 'list', '--for', ''], 2, 'for'],
    [['publish', 'no name', 'k'], 2, 'event'],
    [['publish', 'order.paid', ''], 2, 'key'],
    [['publish', 'order.paid', 'k', '{'], 2, 'is not JSON'],
    [['publish', 'order.paid', 'k', '1', '--keep', 'soon'], 2, 'keep'],
    [['publish', 'order.paid', 'k', '1', '--event-id', ''], 2, '--event-id'],
    [['publish', 'order.paid', 'k', '1', '--user', ''], 2, 'user'],
    [['publish', 'order.paid'], 2, 'key'],
  ])('%j is refused', async (args, code, words) => {
    const refused = await look(...args);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toContain(words);
  });
});

describe('publish', () => {
  it('wakes who waits for it, once under its id, and no task of another user', async () => {
    for (const user of ['ann', 'bob']) {
      await run('enqueue', 'listener', '"o:1"', '--id', `of-${user}`, '--user', user);
    }
    const waiting = async () => (await run('tasks', 'explain', 'of-bob')).stdout;
    expect(await until(waiting, (text) => text.includes('order.paid'))).toContain(
      'fairloom publish order.paid',
    );
    await until(
      async () => (await run('tasks', 'explain', 'of-ann')).stdout,
      (text) => text.includes('order.paid'),
    );
    const publish = ['publish', 'order.paid', 'o:1', '{"cents":5}', '--user', 'ann'];
    expect(await run(...publish, '--event-id', 'e1')).toMatchObject({
      code: 0,
      stdout: 'event order.paid of o:1 is published\n',
    });
    const again = await run(...publish, '--event-id', 'e1', '-o', 'json');
    expect(JSON.parse(again.stdout)).toEqual({
      ...{ name: 'order.paid', key: 'o:1', outcome: 'repeated' },
    });
    expect(await ended(look, 'of-ann')).toMatchObject({ result: { cents: 5 } });
    expect((await run('tasks', 'get', 'of-bob', '-o', 'json')).stdout).toContain('"deferred"');
  });
});

describe('without the key', () => {
  it('a question is listed and not read, and not answered past its handler', async () => {
    await withKey('enqueue', 'spender', '3600000', '--id', 'secret');
    const id = await askOf(without, 'secret');
    expect((await withKey('asks', 'list')).stdout).toContain('How much?');
    const list = await without('asks', 'list');
    expect(list.stdout).toContain('(encrypted with key k1)');
    expect(list.stdout).not.toContain('How much?');
    expect(JSON.parse((await without('asks', 'get', id, '-o', 'json')).stdout)).toMatchObject({
      encryptedWith: 'k1',
      choices: ['approve', 'reject'],
    });
    const answer = ['asks', 'answer', id, 'approve', '--by', 'eve', '--form', '{"cents":7}'];
    const refused = await without(...answer);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('key "k1"');
    expect((await withKey(...answer, '--comment', 'WORDS')).code).toBe(0);
    expect((await ended(lookWithKey, 'secret')).result).toMatchObject({ comment: 'WORDS' });
    const closed = await without('asks', 'get', id, '-o', 'json');
    expect(JSON.parse(closed.stdout).answer).toEqual({ choice: 'approve', by: 'eve' });
    expect((await without('asks', 'answer', id, 'reject', '--by', 'x')).code).not.toBe(0);
  });

  it('streams are listed, and not read; what was published and sent is read by who has it', async () => {
    await withKey('enqueue', 'speak', '["WORDS"]', '--id', 'told');
    await ended(lookWithKey, 'told');
    expect((await without('streams', 'list', 'told')).stdout).toMatch(/\ntokens +0 +4 +\d+ +yes\n/);
    const read = await without('streams', 'read', 'told', 'tokens');
    expect(read.code).toBe(1);
    expect(`${read.stdout}${read.stderr}`).not.toContain('WORDS');
    expect(read.stderr).toContain('key "k1"');
    expect((await withKey('streams', 'read', 'told', 'tokens')).stdout).toContain('WORDS\n');
    await withKey('enqueue', 'waiter', '0', '--id', 'heard');
    await withKey('signal', 'heard', 'go', '"WORDS"');
    expect((await ended(lookWithKey, 'heard')).result).toBe('WORDS');
    expect((await without('versions', '-o', 'id')).stdout).toContain('waiter\n');
  });
});
