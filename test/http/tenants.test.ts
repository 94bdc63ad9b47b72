/** A caller that sees some users only learns nothing of others, by no route and no stream. */
import { type Fairloom, ask as question, signal, task, waitFor } from 'fairloom';
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import type { Backend } from '../../src/domain/port/backend.ts';
import { EXPORT_ROUTES } from '../../src/http/export-routes.ts';
import type { OtherRoute, Route } from '../../src/http/routes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { flakyBackend } from '../../src/testing/flaky-backend.ts';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(`said ${words}`);
  await ctx.stream('out').write(words);
  return words;
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  throw new Error(`cannot ${words}`);
});
const line = say.pipe(fail.as('then-fail')).as('line');
const go = signal<string>('go');
const waits = waitFor(go).as('waits');
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });

/** Everything that one user has, by kind. */
interface Things {
  readonly tasks: readonly string[];
  readonly runs: readonly string[];
  readonly schedule: string;
  readonly ask: string;
}

async function thingsOf(
  loom: Fairloom & { drain(options: object): Promise<void> },
  user: string,
): Promise<Things> {
  const said = await loom.enqueue(say, `secret of ${user}`, { user });
  const failed = await loom.enqueue(fail, `secret of ${user}`, { user });
  const later = await loom.enqueue(say, `secret of ${user}`, { user, delay: '1d' });
  const run = await loom.enqueue(line, `secret of ${user}`, { user });
  const asking = await loom.enqueue(asks, undefined, { user });
  const waiting = await loom.enqueue(waits, undefined, { user });
  const schedule = `nightly-${user}`;
  await loom.schedules.set(schedule, { every: '1h', task: say, input: `secret of ${user}`, user });
  await loom.drain({ allowFailures: true });
  const queued = await loom.enqueue(say, `secret of ${user}`, { user });
  const { items } = await loom.asks.list({ user });
  return {
    tasks: [said.id, failed.id, later.id, queued.id],
    runs: [run.id, asking.id, waiting.id],
    schedule,
    ask: items[0]?.id ?? '',
  };
}

const BODIES: Readonly<Record<string, unknown>> = {
  'POST /tasks': { name: 'say', input: 'x', user: 'zeta' },
  'POST /runs': { name: 'line', input: 'x', user: 'zeta' },
  'POST /tasks/{id}/signal': { name: 'go', payload: 'x' },
  'POST /publish': { name: 'paid', key: 'k', user: 'zeta' },
  'POST /asks/{id}/answer': { choice: 'yes', by: 'ann' },
  'PATCH /users/{user}': { weight: 2 },
  'PATCH /schedules/{id}': { every: '2h' },
};

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'GET /tasks': [
    'where=user:zeta',
    'where=-user:acme',
    'where=secret',
    'where=error:Error',
    'state=failed',
    'state=queued',
    'state=failed&user=zeta',
    'state=queued&user=zeta',
  ],
  'GET /runs': ['state=failed', 'state=deferred', 'state=failed&user=zeta'],
  'GET /dead': ['', 'user=zeta'],
  'GET /asks': ['', 'user=zeta'],
  'GET /series': ['step=minute', 'step=minute&user=zeta'],
};

/** Paths of a route with the ids of a user. */
function pathsOf(
  { name, path }: OtherRoute | Route,
  things: Things,
  user: string,
): readonly string[] {
  const ids = path.startsWith('/schedules')
    ? [things.schedule]
    : path.startsWith('/asks')
      ? [things.ask]
      : [...things.tasks, ...things.runs];
  const named = ids.map((id) =>
    path
      .replace('{id}', encodeURIComponent(id))
      .replace('{user}', user)
      .replace('{queue}', 'default')
      .replace('{name}', 'out'),
  );
  return [...new Set(named)].flatMap((one) =>
    (QUERIES[name.replace('/export', '')] ?? ['']).map((query) =>
      query === '' ? one : `${one}?${query}`,
    ),
  );
}

eachStore(({ open, beside }) => {
  let loom: TestLoom;
  let acme: Things;
  let zeta: Things;
  let ask: Ask;

  beforeAll(async () => {
    loom = await open([say, fail, line, waits, asks]);
    acme = await thingsOf(loom, 'acme');
    zeta = await thingsOf(loom, 'zeta');
    ask = askerOf(loom, { access: () => ({ can: 'all', users: ['acme'], by: 'ann' }) });
  });

  it.each([...ROUTES, ...EXPORT_ROUTES].map((one) => [one.name, one] as const))(
    '%s shows nothing of the other',
    async (name, one) => {
      const before = await snapshot(loom);
      for (const path of pathsOf(one, zeta, 'zeta')) {
        const { status, text } = await ask(path, { method: one.method, json: BODIES[name] ?? {} });
        // What was asked for may be named; nothing else may.
        const [asked = ''] = path.slice(1).split('/').slice(1);
        const told = text
          .replaceAll(decodeURIComponent(asked) || '\n', '')
          .replaceAll('user zeta', '');
        expect([path, told]).toEqual([path, expect.not.stringMatching(/zeta/)]);
        for (const id of [...zeta.tasks, ...zeta.runs, zeta.ask]) expect(told).not.toContain(id);
        if (one.users === 'whole') expect([path, status]).toEqual([path, 403]);
        if (one.users === 'subject') expect([path, status]).toEqual([path, 404]);
        expect(status).toBeLessThan(500);
      }
      expect(await snapshot(loom)).toEqual(before);
    },
  );

  it.each(ROUTES.filter(({ users }) => users === 'subject').map((one) => [one.name, one] as const))(
    '%s answers the same for what is missing',
    async (name, one) => {
      const [path = ''] = pathsOf(one, zeta, 'zeta');
      const [, noun = '', id = ''] = path.split('/');
      if (id === '' || !one.path.includes('{')) return expect(BODIES[name]).toBeDefined();
      const sent = { method: one.method, json: BODIES[name] ?? {} };
      const foreign = await ask(path, sent);
      const missing = await ask(path.replace(`/${noun}/${id}`, `/${noun}/nobody`), sent);
      const shape = ({ status, text }: typeof foreign, of: string): string =>
        `${status} ${text.replaceAll(decodeURIComponent(of), '…').replace(/"requestId":"[^"]+"/, '')}`;
      expect(shape(foreign, id)).toBe(shape(missing, 'nobody'));
    },
  );

  it('the store is asked the same about what is theirs and what is missing', async () => {
    const calls: string[] = [];
    const wrap = (backend: Backend): Backend =>
      flakyBackend(backend, ({ operation }) => {
        // What the audit keeps has a length and a time of its own.
        if (!operation.startsWith('xcom.')) calls.push(operation);
        return undefined;
      });
    const counted = beside(loom, [say, fail, line, waits, asks], { wrap });
    const limited = askerOf(counted, { access: () => ({ can: 'all', users: ['acme'] }) });
    const callsOf = async (path: string, { method, name }: Route, json = BODIES[name] ?? {}) => {
      calls.length = 0;
      expect([path, (await limited(path, { method, json })).status]).toEqual([
        path,
        expect.toSatisfy((status: number) => status === 404 || status === 409 || status === 200),
      ]);
      return [...calls];
    };
    await limited('/overview');
    let asked = 0;
    for (const one of ROUTES.filter(({ users, path }) => users === 'subject' && /\{/.test(path))) {
      for (const path of pathsOf(one, zeta, 'zeta')) {
        const [, noun = '', id = ''] = path.split('/');
        const missing = path.replace(`/${noun}/${id}`, `/${noun}/nobody`);
        const foreign = await callsOf(path, one);
        expect([path, foreign]).toEqual([path, await callsOf(missing, one)]);
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(100);
    const [store, tasks] = ['POST /tasks', 'GET /tasks'].map((name) =>
      ROUTES.find((one) => one.name === name),
    );
    if (store === undefined || tasks === undefined) throw new Error('these routes are gone');
    const on = (id = '') => callsOf('/tasks', store, { name: 'say', dependsOn: [id] });
    expect(await on(zeta.tasks[0])).toEqual(await on('nobody'));
    for (const word of ['id', 'run']) {
      const [foreign = ''] = word === 'id' ? zeta.tasks : zeta.runs;
      const found = await callsOf(`/tasks?where=${word}:${foreign}`, tasks);
      expect(found).toEqual(await callsOf(`/tasks?where=${word}:nobody`, tasks));
      expect(found.length).toBeGreaterThan(0);
    }
  });

  it('has its own error groups, counted from its own failed tasks', async () => {
    await loom.enqueue(fail, 'fly', { user: 'acme' });
    await loom.drain({ allowFailures: true });
    const { body, text } = await ask('/dead/groups');
    expect(text).not.toMatch(/zeta/);
    const items = [...Object(Reflect.get(Object(body), 'items'))];
    expect(body).toMatchObject({ searched: expect.any(Number), isCut: false });
    expect(items.map(({ message }) => message).sort()).toEqual([
      'cannot fly',
      'cannot secret of acme',
    ]);
    const own = items.find(({ failed }) => failed > 1);
    const [all] = (await loom.dead.groups()).items.filter(({ id }) => id === own.id);
    // Its task, and the part of its run: as the store has counted them.
    expect(own).toMatchObject({ failed: 2, attempts: 2, error: 'Error' });
    expect(own).toEqual({ ...all, sample: expect.anything() });
    expect((await ask(`/tasks/${own.sample}`)).body).toMatchObject({ user: 'acme' });
    const named = (await ask(`/dead?error=${own.id}`)).body;
    expect(named).toMatchObject({ items: [{ user: 'acme' }, { user: 'acme' }] });
    const first = (await ask('/dead/groups?limit=1')).body;
    const cursor = Reflect.get(Object(first), 'cursor');
    const rest = (await ask(`/dead/groups?limit=50&cursor=${cursor}`)).body;
    const ids = [first, rest].flatMap((page) => [...Object(Reflect.get(Object(page), 'items'))]);
    expect(ids.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  });

  it('sees its own by every route', async () => {
    const all = [...ROUTES, ...EXPORT_ROUTES];
    for (const one of all.filter(({ method, users }) => method === 'GET' && users !== 'whole')) {
      const statuses = [];
      for (const path of pathsOf(one, acme, 'acme')) statuses.push((await ask(path)).status);
      // Some of these ids are of tasks, some of runs.
      expect([one.name, statuses.includes(200)]).toEqual([one.name, true]);
    }
    expect((await ask('/dead')).text).toContain('secret of acme');
    expect((await ask('/overview')).body).toMatchObject({ users: [{ user: 'acme', later: 3 }] });
    expect((await ask('/overview')).body).not.toHaveProperty('counts');
  });

  it('goes through its own page by page, by cursors that say nothing and that no other caller can use', async () => {
    for (const path of [
      '/tasks?where=secret&limit=1',
      '/dead?limit=1',
      '/tasks?state=failed&limit=1',
    ]) {
      const seen: unknown[] = [];
      let cursor: unknown = '';
      while (typeof cursor === 'string') {
        const { status, body, text } = await ask(cursor === '' ? path : `${path}&cursor=${cursor}`);
        expect([path, status, text]).toEqual([path, 200, expect.not.stringMatching(/zeta/)]);
        const page: object = Object(body);
        seen.push(...Object.values(Object(Reflect.get(page, 'items'))));
        cursor = Reflect.get(page, 'cursor');
        if (typeof cursor !== 'string') break;
        // A place in an index would be JSON, and begin with the user or state.
        expect(cursor).toMatch(/^[\w-]{40,}$/);
        for (const id of zeta.tasks)
          expect(Buffer.from(cursor, 'base64url').toString()).not.toContain(id);
        const zetas = askerOf(loom, { access: () => ({ can: ['read'], users: ['zeta'] }) });
        expect((await zetas(`${path}&cursor=${cursor}`)).status).toBe(400);
      }
      expect(seen.length).toBeGreaterThan(0);
      expect(JSON.stringify(seen)).not.toContain('zeta');
    }
    expect((await ask('/dead?cursor=%5B%5D')).status).toBe(400);
  });

  it('stores tasks for itself alone, under ids that it does not choose', async () => {
    const post = async (json: object) => (await ask('/tasks', { method: 'POST', json })).body;
    const own = await post({ name: 'say', input: 'mine' });
    const id = String(Reflect.get(Object(own), 'id'));
    expect(await loom.tasks.get(id)).toMatchObject({ user: 'acme' });
    expect(await post({ name: 'say', id: zeta.tasks[0] })).toMatchObject({
      code: 'INVALID_OPTION',
    });
    const on = (dependency: string | undefined) => post({ name: 'say', dependsOn: [dependency] });
    const words = (body: unknown) =>
      String(Reflect.get(Object(body), 'detail')).replace(/"[^"]*"/, '…');
    expect(words(await on(zeta.tasks[0]))).toBe(words(await on('nobody')));
  });

  it('is not told of others by a task of its own that hangs together with theirs', async () => {
    const [, foreign = ''] = zeta.tasks;
    const own = await loom.enqueue(say, 'x', {
      user: 'acme',
      dependsOn: [foreign],
      allowCrossUser: true,
    });
    const after = await loom.enqueue(say, 'x', {
      user: 'zeta',
      dependsOn: [own.id],
      allowCrossUser: true,
    });
    for (const part of ['', '/explain', '/dependents', '/attempts']) {
      const { text, status } = await ask(`/tasks/${own.id}${part}`);
      expect([part, status]).toEqual([part, 200]);
      expect(text).not.toContain(foreign);
      expect(text).not.toContain(after.id);
      expect(text).not.toContain('zeta');
    }
    expect((await ask(`/tasks/${own.id}/dependents`)).body).toEqual({ items: [], count: 0 });
  });
});

/** All that changes could change. */
async function snapshot(loom: Fairloom): Promise<unknown> {
  const [stats, users, schedules, asked] = await Promise.all([
    loom.stats(),
    loom.users.list(),
    loom.schedules.list(),
    loom.asks.list(),
  ]);
  return { stats, users, schedules, asked };
}
