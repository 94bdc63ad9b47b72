/** Tasks found by the filter language: what is meant, from which index, in which pages. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

const quick = task('quick', async (n: number) => n);
const resize = task('resize', { retries: 0, version: '2' }, async (_n: number) => {
  throw new RangeError('Image is Broken');
});
const flaky = task(
  'flaky',
  { retries: 1, backoff: { base: 3_600_000, jitter: 'none' } },
  async () => {
    throw new TypeError('no');
  },
);

async function ids(loom: Fairloom, where: string, limit = 500): Promise<readonly string[]> {
  const { items } = await loom.tasks.search({ where, limit });
  return items.map(({ id }) => id).sort();
}

/** All of a search, page by page. */
async function paged(loom: Fairloom, where: string, limit: number): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await loom.tasks.search({ where, limit, cursor });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    found.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

eachBackend((open) => {
  const harness = opened(open);

  /** Two that failed, one that waits for its retry, one finished, one running, three in line, one delayed. */
  async function full(): Promise<Fairloom> {
    const hold = task('hold', { timeout: 'none' }, () => new Promise<never>(() => undefined));
    const loom = harness.loom([quick, resize, flaky, hold]);
    const worker = loom.worker({ concurrency: 10 });
    await worker.start();
    const ends = [
      loom.enqueue(resize, 1, { id: 'r1', user: 'acme' }),
      loom.enqueue(resize, 2, { id: 'r2', user: 'beta', priority: 'high' }),
      loom.enqueue(quick, 3, { id: 'q1', user: 'acme' }),
    ];
    for (const handle of await Promise.all(ends)) {
      await settled(
        harness,
        handle.result().catch(() => undefined),
      );
    }
    await loom.enqueue(flaky, undefined, { id: 'f1', user: 'acme' });
    await harness.until(async () => (await loom.tasks.get('f1'))?.state === 'scheduled');
    await loom.enqueue(hold, undefined, { id: 'h1', user: 'acme' });
    await harness.until(async () => (await loom.tasks.get('h1'))?.state === 'started');
    worker.pause();
    await harness.quiet();
    await harness.clock.advance('59m');
    await loom.enqueue(quick, 4, { id: 'q2', user: 'acme', priority: 'critical' });
    await loom.enqueue(quick, 5, { id: 'q3', user: 'beta', queue: 'slow' });
    await loom.enqueue(quick, 6, { id: 'q4', user: 'gamma' });
    await loom.enqueue(quick, 7, { id: 'd1', user: 'gamma', delay: '1d' });
    return loom;
  }

  it('finds tasks by each word', async () => {
    const loom = await full();
    const all = ['d1', 'f1', 'h1', 'q1', 'q2', 'q3', 'q4', 'r1', 'r2'];
    const found = async (where: string): Promise<string> => (await ids(loom, where)).join(' ');
    expect(await ids(loom, '')).toEqual(all);
    expect(await found('state:failed')).toBe('r1 r2');
    expect(await found('state:queued')).toBe('q2 q3 q4');
    expect(await found('-state:queued,failed')).toBe('d1 f1 h1 q1');
    expect(await found('user:acme')).toBe('f1 h1 q1 q2 r1');
    expect(await found('user:beta,gamma state:queued,failed')).toBe('q3 q4 r2');
    expect(await found('queue:slow')).toBe('q3');
    expect(await found('queue:slow,default -user:acme')).toBe('d1 q3 q4 r2');
    expect(await found('name:quick')).toBe('d1 q1 q2 q3 q4');
    expect(await found('name:resize')).toBe('r1 r2');
    expect(await found('name:resize@2')).toBe('r1 r2');
    expect(await found('name:resize@1')).toBe('');
    expect(await found('-name:quick')).toBe('f1 h1 r1 r2');
    expect(await found('error:RangeError')).toBe('r1 r2');
    expect(await found('error:TypeError,RangeError')).toBe('f1 r1 r2');
    expect(await found('priority:>=high')).toBe('q2 r2');
    expect(await found('priority:critical')).toBe('q2');
    expect(await found('attempts:0')).toBe('d1 q2 q3 q4');
    expect(await found('attempts:>0 state:scheduled')).toBe('f1');
    expect(await found('age:>58m')).toBe('f1 h1 q1 r1 r2');
    expect(await found('wait:<1m')).toBe('h1 q2 q3 q4');
    expect(await found('id:q1,r2,none')).toBe('q1 r2');
    expect(await found('id:q1,r2 state:failed')).toBe('r2');
    expect(await found('broken')).toBe('r1 r2');
    expect(await found('broken user:acme')).toBe('r1');
    expect(await found('-broken -quick')).toBe('f1 h1');
    expect(await found('"image is"')).toBe('r1 r2');
  });

  it('gives pages of any size, each task once', async () => {
    const loom = harness.loom([quick]);
    const calls = Array.from({ length: 60 }, (_, n) => ({
      n,
      user: `u${n % 7}`,
      queue: `q${n % 3}`,
    }));
    for (const { n, user, queue } of calls) {
      await loom.enqueue(quick, n, {
        id: `t${n}`,
        user,
        queue,
        ...(n % 4 === 0 ? { delay: '1h' } : {}),
      });
    }
    const all = calls.map(({ n }) => `t${n}`).sort();
    for (const limit of [1, 2, 7, 59, 60, 61]) {
      expect([...(await paged(loom, '', limit))].sort()).toEqual(all);
      const odd = await paged(loom, '-user:u0,u2,u4,u6', limit);
      expect([...odd].sort()).toEqual(
        all.filter((id) => [1, 3, 5].includes(Number(id.slice(1)) % 7)),
      );
      const some = await paged(loom, 'user:u1,u2 queue:q1', limit);
      expect(new Set(some).size).toBe(some.length);
      const isMeant = (n: number): boolean => n % 3 === 1 && [1, 2].includes(n % 7);
      expect([...some].sort()).toEqual(all.filter((id) => isMeant(Number(id.slice(1)))));
      const named = await paged(loom, 'id:t1,t5,t9,t13', limit);
      expect(named).toHaveLength(4);
    }
  });

  it('gives inputs and results where they are asked for', async () => {
    const loom = await full();
    const { items } = await loom.tasks.search({ where: 'id:q1 name:quick', values: true });
    expect(items).toMatchObject([{ id: 'q1', input: 3, result: 3 }]);
    const plain = await loom.tasks.search({ where: 'state:finished' });
    expect(plain.items[0]).not.toHaveProperty('input');
  });

  it('shows what Fairloom itself stores only where it is named', async () => {
    const line = quick.pipe(quick.as('again')).as('line');
    const loom = harness.loom([line]);
    const run = await loom.enqueue(line, 1, { user: 'acme' });
    expect(await ids(loom, '')).toHaveLength(2);
    expect(await ids(loom, 'name:~run')).toEqual([run.id]);
    expect(await ids(loom, `run:${run.id}`)).toHaveLength(2);
    expect(await ids(loom, 'run:none')).toEqual([]);
  });

  it('says which cursor it does not know', async () => {
    const loom = harness.loom([quick]);
    for (const cursor of ['x', '[]', '{"state":"gone"}', '{"state":"queued","more":"1"}', '7']) {
      await expect(loom.tasks.search({ where: '', cursor })).rejects.toThrow('cursor');
    }
    await expect(loom.tasks.search({ where: 'state:x' })).rejects.toThrow('at character 7');
  });

  describe('its bound', () => {
    it('is told, and the cursor goes on behind it', async () => {
      const loom = harness.loom([quick]);
      const count = LIMITS.searchScan + 300;
      const some = 1_000;
      for (let from = 0; from < count; from += some) {
        const inputs = Array.from({ length: Math.min(some, count - from) }, (_, n) => from + n);
        await loom.enqueueMany(quick, inputs, { delay: '1h', user: 'u' });
      }
      await loom.enqueue(quick, 0, { id: 'last', delay: '2h', user: 'v' });
      const first = await loom.tasks.search({ where: 'last' });
      expect(first).toMatchObject({ items: [], bound: LIMITS.searchScan });
      expect(first.searched).toBeGreaterThanOrEqual(LIMITS.searchScan);
      const { items, bound } = await loom.tasks.search({ where: 'last', cursor: first.cursor });
      expect([items.map(({ id }) => id), bound]).toEqual([['last'], undefined]);
      const passed = await loom.tasks.search({ where: 'user:v' });
      expect(passed).toMatchObject({ items: [], bound: LIMITS.searchScan });
    });
  });
});
