/** `fairloom top`: a snapshot on a pipe, and the live screen on a terminal of `script`. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  FIRST_SCREEN,
  pressed,
  type Screen,
  type Sort,
  type Target,
} from '../../../src/cli/live/keys.ts';
import { matching } from '../../../src/cli/live/listing.ts';
import { userListing } from '../../../src/cli/live/lists.ts';
import { styleFor } from '../../../src/cli/terminal/style.ts';
import type { TopSnapshot } from '../../../src/cli/views/snapshot.ts';
import { Fairloom, task } from '../../../src/index.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import type { TopUser } from '../../../src/operations/shares.ts';
import { redis } from '../../../src/redis.ts';
import { BIN, fairloom } from '../../support/processes/run-process.ts';
import { onTerminal } from '../../support/processes/terminal.ts';

const work = task('work', async (n: number) => n);

describe('keys', () => {
  const typing = (...keys: readonly string[]): Screen =>
    keys.reduce((screen, key) => pressed(screen, key), FIRST_SCREEN);

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

const NOTHING: TopSnapshot = {
  ...{ queued: 0, running: 0, scheduled: 0, deferred: 0, dead: 0, workers: 0, slots: 0 },
  isCut: false,
  users: [],
};

describe('tabs', () => {
  const task: Target = { tab: 'tasks', id: 't1', queue: undefined, may: ['cancel'] };
  const ann: Target = { tab: 'users', id: 'ann', queue: 'default', may: ['resume'] };

  it('are chosen by number or one after the other, and begin at the first row', () => {
    expect(pressed(FIRST_SCREEN, '4').tab).toBe('workers');
    const down = pressed(pressed(FIRST_SCREEN, 'j'), '\u001b[B');
    expect(down.cursor).toBe(2);
    expect(pressed(pressed(down, 'k'), 'k').cursor).toBe(0);
    expect(pressed(pressed(pressed(down, 'k'), 'k'), '\u001b[A').cursor).toBe(0);
    expect(pressed(down, '\t')).toMatchObject({ tab: 'tasks', cursor: 0 });
    expect(pressed({ ...FIRST_SCREEN, tab: 'dead' }, '\t').tab).toBe('users');
    expect(pressed(FIRST_SCREEN, '6')).toMatchObject({ tab: 'users' });
    expect(pressed({ ...FIRST_SCREEN, tab: 'tasks' }, 's').sort).toBe('running');
    expect(pressed({ ...FIRST_SCREEN, isTyping: true }, '3')).toMatchObject({ filter: '3' });
  });

  it('have actions on the row under the cursor, which are done once they are confirmed', () => {
    const asked = pressed(FIRST_SCREEN, 'c', task);
    expect(asked).toMatchObject({ asked: { verb: 'cancel', target: task }, confirmed: undefined });
    expect(pressed(asked, 'y', task)).toMatchObject({
      asked: undefined,
      confirmed: { verb: 'cancel', target: task },
    });
    for (const key of ['n', 'q', '\u001b', 'c', '2']) {
      const screen = pressed(asked, key, task);
      expect(screen).toEqual({ ...FIRST_SCREEN, asked: undefined, confirmed: undefined });
    }
    expect(pressed(pressed(asked, 'y', task), 'j', task).confirmed).toBeUndefined();
    expect(pressed(FIRST_SCREEN, 'p', ann).asked?.verb).toBe('resume');
    for (const key of ['r', 'p']) expect(pressed(FIRST_SCREEN, key, task).asked).toBeUndefined();
    expect(pressed(FIRST_SCREEN, 'c').asked).toBeUndefined();
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
    expect(namesOf(sort, '')).toBe(order);
  });

  it('leaves out whom the filter does not name', () => {
    expect(namesOf('running', 'a')).toBe('ab a');
  });

  function namesOf(sort: Sort, filter: string): string {
    const listing = userListing({ ...NOTHING, users }, sort, styleFor({}, {}));
    return matching(listing, filter)
      .map(({ target }) => target.id)
      .join(' ');
  }
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

  it('shows tasks, runs, workers and dead letters, and changes what is under the cursor', async () => {
    const dies = task('dies', { retries: 0 }, () => Promise.reject(new Error('no')));
    const backend = redis(inject('redisUrl'), { prefix });
    const worker = new Fairloom({ backend, tasks: [dies], log: silentLogger });
    await worker.worker({ queues: ['odd'] }).start();
    await worker.enqueue(dies, undefined, { user: 'eve', queue: 'odd', id: 'dead-1' });
    while ((await worker.stats()).counts.failed === 0) await worker.tasks.missing();
    const top = onTerminal([process.execPath, BIN, 'top', ...where, '--every', '100ms']);
    await top.shows(/\[1 users\] {2}2 tasks[\s\S]*p pause/);
    top.press('4');
    await top.shows(/\[4 workers\][\s\S]*HOST[\s\S]*1 worker /);
    await worker.close();
    top.press('3');
    await top.shows(/\[3 runs\][\s\S]*0 runs/);
    top.press('5');
    await top.shows(/› +dead-1 +dies +eve[\s\S]*1 dead letter .*r redrive/);
    top.press('r');
    await top.shows(/redrive dead letter dead-1\? +y yes/);
    top.press('n');
    await top.shows(/1 dead letter /);
    top.press('r');
    top.press('y');
    await top.shows(/0 dead letters[\s\S]*dead-1 is put back/);
    top.press('\t');
    top.press('2');
    await top.shows(/\[2 tasks\]/);
    top.press('/dead-1\r');
    await top.shows(/› +dead-1[\s\S]*1 task, filter "dead-1" .*c cancel/);
    top.press('c');
    await top.shows(/cancel task dead-1\?/);
    top.press('y');
    await top.shows(/dead-1 is canceled/);
    top.press('1');
    await top.shows(/\[1 users\]/);
    top.press('/cleo\r');
    await top.shows(/1 user by running, filter "cleo"/);
    top.press('p');
    await top.shows(/pause user cleo\?/);
    top.press('y');
    await top.shows(/cleo is paused/);
    expect((await loom.users.get('cleo'))?.settings.paused).toBe(true);
    expect((await loom.tasks.get('dead-1'))?.state).toBe('canceled');
    top.press('q');
    expect(await top.ended).toMatchObject({ code: 0 });
  });

  it('an interrupt quits too', async () => {
    const top = onTerminal([process.execPath, BIN, 'top', ...where]);
    await top.shows(/\d users/);
    top.press('\u0003');
    expect(await top.ended).toMatchObject({ code: 0 });
  });
});
