/** A cursor is of one listing, one filter and one caller: every other listing refuses it, by library and by HTTP. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Fairloom, Fatal, ask as question, task } from 'fairloom';
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import { ROUTES } from '../../src/http/routes.ts';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

const done = task('done', async () => 1);
const fail = task('fail', async () => {
  throw new Fatal('no');
});
const alike = task('alike', async () => {
  throw new Fatal('no');
});
const line = fail.pipe(done).as('line');
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });

interface Listed {
  readonly cursor?: string;
  readonly items: readonly unknown[];
}

type Page = { readonly limit: number; readonly cursor?: string | undefined };

/** Calls of the library that give pages, each with every filter that chooses other rows. */
function callsOf(loom: Fairloom): Readonly<Record<string, (page: Page) => Promise<Listed>>> {
  return {
    'tasks.list failed': (page) => loom.tasks.list({ state: 'failed', ...page }),
    'tasks.list finished': (page) => loom.tasks.list({ state: 'finished', ...page }),
    'tasks.list scheduled': (page) => loom.tasks.list({ state: 'scheduled', ...page }),
    'tasks.list of user': (page) => loom.tasks.list({ state: 'failed', user: 'acme', ...page }),
    'tasks.list queued': (page) => loom.tasks.list({ state: 'queued', user: 'acme', ...page }),
    'tasks.list queued of other': (page) =>
      loom.tasks.list({ state: 'queued', user: 'zeta', ...page }),
    'tasks.search failed': (page) => loom.tasks.search({ where: 'state:failed', ...page }),
    'tasks.search finished': (page) => loom.tasks.search({ where: 'state:finished', ...page }),
    'tasks.dependents': (page) => loom.tasks.dependents('up', page),
    'tasks.dependents of other': (page) => loom.tasks.dependents('up2', page),
    'dead.list': (page) => loom.dead.list(page),
    'dead.list of user': (page) => loom.dead.list({ user: 'acme', ...page }),
    'dead.list with followers': (page) => loom.dead.list({ followers: true, ...page }),
    'dead.groups': (page) => loom.dead.groups(page),
    'runs.list': (page) => loom.runs.list({ state: 'failed', ...page }),
    'runs.list dispatched': (page) =>
      loom.runs.list({ state: 'failed', form: 'dispatched', ...page }),
    'users.list': (page) => loom.users.list(page),
    'users.list busy': (page) => loom.users.list({ configured: false, ...page }),
    'users.list of queue': (page) => loom.users.list({ queue: 'mail', ...page }),
    'schedules.list': (page) => loom.schedules.list(page),
    'asks.list': (page) => loom.asks.list(page),
    'asks.list of user': (page) => loom.asks.list({ user: 'acme', ...page }),
    'xcom.list': (page) => loom.xcom.list({ user: 'acme', ...page }),
    'xcom.list of other': (page) => loom.xcom.list({ user: 'zeta', ...page }),
    'xcom.list of namespace': (page) => loom.xcom.list({ user: 'acme', namespace: 'two', ...page }),
    'xcom.namespaces': (page) => loom.xcom.namespaces({ user: 'acme', ...page }),
    'bulk.list': (page) => loom.bulk.list(page),
  };
}

/** Reads of the API that give pages, and whether callers of some users may have them. */
const READS: Readonly<Record<string, 'all' | 'own'>> = {
  '/tasks?state=failed': 'own',
  '/tasks?state=finished': 'own',
  '/tasks?state=failed&user=acme': 'own',
  '/tasks?state=queued&user=acme': 'own',
  '/tasks?where=state%3Afailed': 'own',
  '/tasks?where=state%3Afinished': 'own',
  '/tasks/up/dependents': 'own',
  '/tasks/up2/dependents': 'own',
  '/dead': 'own',
  '/dead?user=acme': 'own',
  '/dead?name=fail': 'own',
  '/dead/groups': 'own',
  '/runs?state=failed': 'own',
  '/runs?state=failed&form=dispatched': 'own',
  '/schedules': 'own',
  '/asks': 'own',
  '/asks?user=acme': 'own',
  '/users': 'all',
  '/users?queue=mail': 'all',
  '/bulk': 'all',
  '/audit': 'all',
};

async function fill(loom: TestLoom): Promise<void> {
  for (const user of ['acme', 'zeta']) {
    for (let at = 0; at < 3; at++) {
      await loom.enqueue(done, undefined, { user });
      await loom.enqueue(alike, undefined, { user });
      await loom.enqueue(fail, undefined, { user });
      await loom.enqueue(line, undefined, { user });
      await loom.enqueue(asks, undefined, { user });
      await loom.enqueue(done, undefined, { user, queue: 'mail', delay: '1d' });
      await loom.schedules.set(`${user}${at}`, { every: '1h', task: done, input: undefined, user });
      for (const namespace of ['default', 'two', `n${at}`]) {
        await loom.xcom.push(`k${at}`, at, { user, namespace });
      }
    }
  }
  await loom.drain({ allowFailures: true });
  for (const id of ['up', 'up2']) {
    await loom.enqueue(done, undefined, { user: 'acme', id, delay: '1d' });
    for (let at = 0; at < 3; at++) {
      await loom.enqueue(done, undefined, { user: 'acme', dependsOn: [id] });
    }
  }
  await loom.queues.pause('default');
  for (const user of ['acme', 'zeta']) {
    for (let at = 0; at < 3; at++) await loom.enqueue(done, undefined, { user });
  }
  for (let at = 0; at < 3; at++) {
    await loom.bulk.start({ where: 'state:failed', action: 'remove', dryRun: true });
  }
}

eachStore(({ open }) => {
  let loom: TestLoom;
  let all: Ask;

  beforeAll(async () => {
    loom = await open([done, fail, alike, line, asks]);
    await fill(loom);
    all = askerOf(loom, { rate: { limit: 1_000_000, per: '1s' } });
    for (let at = 0; at < 3; at++) await all('/queues/default/pause', { method: 'POST' });
  });

  // F111
  it('the library takes the cursor of a call for the same rows, and no other', async () => {
    const calls = Object.entries(callsOf(loom));
    for (const [name, read] of calls) {
      const { cursor, items } = await read({ limit: 1 });
      expect([name, cursor]).toEqual([name, expect.any(String)]);
      for (const [other, readOther] of calls) {
        const follows = readOther({ limit: 1, cursor });
        if (other === name) expect((await follows).items).not.toEqual(items);
        else {
          await expect(follows, `${name} → ${other}`).rejects.toMatchObject({
            code: 'INVALID_OPTION',
            option: 'cursor',
            message: expect.stringMatching(/^cursor: expected the cursor of a page of .+ with/),
          });
        }
      }
    }
  });

  it('every call of the library that takes a cursor is in the list', () => {
    const folders = ['src/client/facades', 'src/bulk'];
    const texts = folders.flatMap((folder) =>
      readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
    );
    const listings = texts.flatMap((text) => [...text.matchAll(/\blist: '([\w.]+)'/g)]);
    const names = Object.keys(callsOf(loom)).map((name) => name.split(' ')[0]);
    expect(listings.map(([, name]) => name).sort()).toEqual([...new Set(names)].sort());
    const takers = texts.flatMap((text) => [
      ...text.matchAll(/\b(?:taskP|p)ageRequest\(options\)/g),
    ]);
    expect(takers).toHaveLength(listings.length);
  });

  it('every read of the API takes its own cursor, and no other', async () => {
    await expectPairs(all, Object.keys(READS));
    const own = Object.keys(READS).filter((path) => READS[path] === 'own');
    const access = () => ({ can: 'all', users: ['acme', 'zeta'] }) as const;
    const some = askerOf(loom, { access, rate: { limit: 1_000_000, per: '1s' } });
    await expectPairs(some, own);
    // Nor that of another caller.
    const one = askerOf(loom, { access: () => ({ can: 'all', users: ['acme'] }) });
    for (const path of own) {
      for (const [from, to] of [
        [all, some],
        [some, all],
        [some, one],
      ] as const) {
        const cursor = cursorIn(await from(withPage(path)));
        const { status, body } = await to(withPage(path, cursor));
        expect([path, status, body]).toEqual([
          path,
          400,
          expect.objectContaining({ option: 'cursor' }),
        ]);
      }
    }
  });

  it('every route that takes a cursor is in the list', () => {
    const paged = ROUTES.filter(({ query }) => 'cursor' in (query ?? {})).map(({ path }) => path);
    const walked = Object.keys(READS).map((path) =>
      (path.split('?')[0] ?? '').replace(/^\/tasks\/\w+/, '/tasks/{id}'),
    );
    expect([...new Set(walked)].sort()).toEqual([...new Set(paged)].sort());
  });

  it('an export goes on with its own cursor, and no other', async () => {
    const cut = (await all('/export/tasks?state=failed&limit=1')).text.split('\n').at(-2) ?? '';
    const cursor: string = JSON.parse(cut).cut.cursor;
    const path = (query: string) =>
      `/export/tasks?${query}&limit=1&cursor=${encodeURIComponent(cursor)}`;
    expect((await all(path('state=failed'))).status).toBe(200);
    expect((await all(path('state=finished'))).status).toBe(400);
    expect((await all(path('where=state%3Afailed'))).status).toBe(400);
  });
});

async function expectPairs(ask: Ask, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const first = await ask(withPage(path));
    const cursor = cursorIn(first);
    expect([path, cursor]).toEqual([path, expect.any(String)]);
    for (const other of paths) {
      const { status, body } = await ask(withPage(other, cursor));
      if (other === path) {
        expect([path, status]).toEqual([path, 200]);
        expect(Reflect.get(Object(body), 'items')).not.toEqual(
          Reflect.get(Object(first.body), 'items'),
        );
      } else {
        const refused = { code: 'INVALID_OPTION', option: 'cursor' };
        expect([path, other, status]).toEqual([path, other, 400]);
        expect(body).toMatchObject(refused);
      }
    }
  }
}

function withPage(path: string, cursor?: string): string {
  const more = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  return `${path}${path.includes('?') ? '&' : '?'}limit=1${more}`;
}

function cursorIn({ body }: { readonly body: unknown }): string | undefined {
  const cursor: unknown = Reflect.get(Object(body), 'cursor');
  return typeof cursor === 'string' ? cursor : undefined;
}
