/** `fairloom top`: a snapshot on a pipe, and the live screen on a terminal of `script`. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { chosenUsers } from '../../../src/cli/top/frame.ts';
import { FIRST_SCREEN, pressed, type Screen } from '../../../src/cli/top/keys.ts';
import { Fairloom, task } from '../../../src/index.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { redis } from '../../../src/redis.ts';
import type { TopUser } from '../../../src/shapes/shares.ts';
import { BIN, fairloom } from '../../support/processes/run-process.ts';
import { onTerminal } from '../../support/processes/terminal.ts';

const work = task('work', async (n: number) => n);

describe('keys', () => {
  const typing = (...keys: readonly string[]): Screen => keys.reduce(pressed, FIRST_SCREEN);

  it('sort, filter and quit', () => {
    expect(typing('s').sort).toBe('queued');
    expect(typing('s', 's', 's', 's').sort).toBe('running');
    expect(typing('/', 'a', 'q', '\u007f', 'd')).toMatchObject({ filter: 'ad', isTyping: true });
    expect(typing('/', 'a', '\r', 'x')).toMatchObject({ filter: 'a', isTyping: false });
    expect(typing('/', 'a', '\u001b[A', '\r', '\u001b')).toMatchObject({ filter: '' });
    expect(typing('/', 'q').isOver).toBe(false);
    expect(typing('q').isOver).toBe(true);
    expect(typing('/', '\u0003').isOver).toBe(true);
  });
});

describe('the order of users', () => {
  const user = (name: string, of: Partial<TopUser>): TopUser => ({
    user: name,
    queue: 'default',
    weight: 1,
    queued: 0,
    running: 0,
    share: 0,
    fairShare: 0,
    ahead: 0,
    why: '',
    ...of,
  });
  const users = [
    user('a', { queued: 5, ahead: 2 }),
    user('b', { running: 3 }),
    user('ab', { running: 1, queued: 9, ahead: -1 }),
  ];
  it.each([
    ['running', 'b ab a'],
    ['queued', 'ab a b'],
    ['ahead', 'ab b a'],
    ['user', 'a ab b'],
  ] as const)('by %s is %s', (sort, order) => {
    const chosen = chosenUsers(users, { ...FIRST_SCREEN, sort });
    expect(chosen.map((one) => one.user).join(' ')).toBe(order);
  });

  it('leaves out whom the filter does not name', () => {
    const chosen = chosenUsers(users, { ...FIRST_SCREEN, filter: 'a' });
    expect(chosen.map((one) => one.user)).toEqual(['ab', 'a']);
  });
});

describe('on a store with work', () => {
  const prefix = `top-${process.pid}`;
  let where: readonly string[];
  let loom: Fairloom;
  beforeAll(async () => {
    where = ['--redis', inject('redisUrl'), '--prefix', prefix];
    loom = new Fairloom({
      backend: redis(inject('redisUrl'), { prefix }),
      tasks: [work],
      log: silentLogger,
    });
    await loom.users.set('ada', { weight: 3 });
    await loom.users.pause('ben');
    await loom.enqueueMany(work, [1, 2, 3], { user: 'ada' });
    await loom.enqueueMany(work, [1, 2], { user: 'ben' });
    await loom.enqueue(work, 1, { user: 'cleo', delay: '1h' });
  });
  afterAll(() => loom.close());

  it('prints a snapshot as JSON, ids or a table where there is no terminal', async () => {
    const { code, stdout } = await fairloom(['top', ...where, '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      queued: 5,
      running: 0,
      scheduled: 1,
      deferred: 0,
      dead: 0,
      workers: 0,
      slots: 0,
      isCut: false,
      users: expect.arrayContaining([
        {
          user: 'ada',
          queue: 'default',
          weight: 3,
          queued: 3,
          running: 0,
          share: 0,
          fairShare: 1,
          ahead: 0,
          why: 'in line',
        },
        expect.objectContaining({ user: 'ben', why: 'paused' }),
        expect.objectContaining({ user: 'cleo', why: '1 later', fairShare: 0 }),
      ]),
    });
    const table = await fairloom(['top', ...where]);
    // One that is paused claims nothing.
    expect(table.stdout).toMatch(/^ben +default +1 +\d+ +0 +– +– +0\.0 +– +– +paused$/m);
    expect(table.stdout).toMatch(/^ada +default +3 +3 +0 +0\.0 % +100\.0 % +0\.0 +– +– +in line$/m);
    const wrong = await fairloom(['top', ...where, '--every', '5ms']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('at least 100ms') });
  });

  it('redraws on a terminal, filters, sorts and quits, and leaves the terminal as it was', async () => {
    const top = onTerminal([process.execPath, BIN, 'top', ...where, '--every', '100ms']);
    await top.shows(/ada.*in line[\s\S]*3 users by running/);
    top.press('/');
    await top.shows(/filter: _/);
    top.press('be');
    await top.shows(/filter: be_/);
    top.press('\r');
    await top.shows(/1 user by running, filter "be"/);
    top.press('s');
    await top.shows(/1 user by queued/);
    await loom.enqueue(work, 4, { user: 'ben' });
    await top.shows(/ben +default +1 +3 /);
    top.press('q');
    const { code, raw } = await top.ended;
    expect(code).toBe(0);
    expect(raw.trimEnd().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });

  it('an interrupt quits too', async () => {
    const top = onTerminal([process.execPath, BIN, 'top', ...where]);
    await top.shows(/3 users/);
    top.press('\u0003');
    expect(await top.ended).toMatchObject({ code: 0 });
  });
});
