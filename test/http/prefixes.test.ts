/** Two namespaces of one Redis, one prefix the beginning of the other: each API sees its own, by every route. */
import { Fairloom, ask as question, task } from 'fairloom';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROUTES } from '../../src/http/routes.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { type Harness, openRedis } from '../support/backends.ts';
import { type Ask, askerOf } from '../support/http/api.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(words);
  await ctx.stream('out').write(words);
  return words;
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  throw new Error(words);
});
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });
const line = say.pipe(fail).as('line');
const PREFIXES = [`api-${process.pid}`, `api-${process.pid}.two`] as const;

interface Side {
  readonly loom: Fairloom;
  readonly ask: Ask;
  readonly limited: Ask;
  readonly harness: Harness;
}

const sides: Side[] = [];

/** The same ids in both, and words of its own in each. */
async function openSide(prefix: string, input: string): Promise<Side> {
  const harness = await openRedis(prefix);
  const { backend, clock } = harness;
  const loom = new Fairloom({ backend, clock, log: silentLogger, tasks: [say, line, asks] });
  await loom.enqueue(say, input, { user: 'acme', id: 'said' });
  await loom.enqueue(line, input, { user: 'acme', id: 'run' });
  await loom.enqueue(asks, undefined, { user: 'acme', id: 'asking' });
  await loom.schedules.set('nightly', { every: '1h', task: say, input: input, user: 'acme' });
  const worker = loom.worker();
  await worker.start();
  await worker.whenIdle();
  worker.pause();
  const access = () => ({ can: 'all', users: ['acme'] }) as const;
  return { harness, loom, ask: askerOf(loom), limited: askerOf(loom, { access }) };
}

beforeAll(async () => {
  sides.push(await openSide(PREFIXES[0], 'words of the first'));
  sides.push(await openSide(PREFIXES[1], 'words of the second'));
});

afterAll(async () => {
  for (const { loom, harness } of sides) {
    await loom.close({ timeout: 0 });
    await harness.close();
  }
});

const QUERIES: Readonly<Record<string, string>> = {
  'GET /tasks': '?where=words',
  'GET /runs': '?state=failed',
  'GET /series': '?step=minute&user=acme',
};

it('each shows its own words', async () => {
  const [one, two] = sides;
  const shown: string[] = [];
  for (const { name, path } of ROUTES.filter(({ method }) => method === 'GET')) {
    const noun = path.split('/')[1] ?? '';
    const id = { tasks: 'said', runs: 'run', schedules: 'nightly' }[noun] ?? 'none';
    const named = path.replace('{id}', id).replace('{user}', 'acme').replace('{name}', 'out');
    const asked = `${named.replace('{queue}', 'default')}${QUERIES[name] ?? ''}`;
    for (const ask of [one?.ask, one?.limited]) {
      const text = (await ask?.(asked))?.text ?? '';
      expect([asked, text]).toEqual([asked, expect.not.stringContaining('the second')]);
    }
    for (const ask of [two?.ask, two?.limited]) {
      const text = (await ask?.(asked))?.text ?? '';
      expect([asked, text]).toEqual([asked, expect.not.stringContaining('the first')]);
      if (text.includes('the second')) shown.push(name);
    }
  }
  expect([...new Set(shown)].length).toBeGreaterThan(8);
});

it('changes, their audit and cursors stay where they are', async () => {
  const [one, two] = sides;
  const before = (await two?.ask('/overview'))?.body;
  const post = { method: 'POST', json: { where: 'user:acme', action: 'remove' } } as const;
  expect((await one?.ask('/tasks/said/remove', { method: 'POST' }))?.status).toBe(200);
  expect((await one?.ask('/bulk', post))?.status).toBe(202);
  expect((await one?.ask('/schedules/nightly/pause', { method: 'POST' }))?.status).toBe(200);
  expect((await one?.ask('/users/acme/pause', { method: 'POST' }))?.status).toBe(200);
  expect((await two?.ask('/overview'))?.body).toEqual(before);
  expect((await two?.ask('/tasks/said'))?.status).toBe(200);
  expect((await two?.ask('/schedules/nightly'))?.body).toMatchObject({ state: 'active' });
  expect((await two?.ask('/audit'))?.body).toEqual({ items: [] });
  expect((await two?.ask('/bulk'))?.body).toEqual({ items: [] });
  expect((await one?.ask('/audit'))?.body).toMatchObject({ items: [{}, {}, {}, {}] });
  const page = (await two?.limited('/tasks?where=user:acme&limit=1'))?.body;
  const path = `/tasks?where=user:acme&limit=1&cursor=${Reflect.get(Object(page), 'cursor')}`;
  expect((await two?.limited(path))?.status).toBe(200);
  expect((await one?.limited(path))?.status).toBe(400);
});
