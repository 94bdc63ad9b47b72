/**
 * What a caller that sees some users only is answered does not depend on what others have: the same calls, byte for
 * byte, in a store with the data of others and in one without. Every route of the table, in pages of each length.
 */
import { ask as question, signal, task, waitFor } from 'fairloom';
import type { TestLoom } from 'fairloom/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { EXPORT_ROUTES } from '../../src/http/export-routes.ts';
import type { OtherRoute, Route } from '../../src/http/routes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore, type Store } from '../support/http/stores.ts';

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(`said ${words}`);
  await ctx.stream('out').write(words);
  return words;
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  // Which call has led here is in the stack, and differs.
  throw Object.assign(new Error(`cannot ${words}`), { stack: 'Error' });
});
const line = say.pipe(fail.as('then-fail')).as('line');
const go = signal<string>('go');
const waits = waitFor(go).as('waits');
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });
const TASKS = [say, fail, line, waits, asks];

/** Ids of one user's things of one round. */
const KINDS = ['said', 'failed', 'later', 'run', 'asking', 'waiting', 'queued'] as const;

/** Rounds: things of others stand before, between and behind those of the caller. */
const ROUNDS = 2;

/** Things of others for each of the caller's: more than a page of one row would pass by unseen. */
const OTHERS = 4;

async function endingOf(loom: TestLoom, user: string, mark: string): Promise<void> {
  const of = (kind: (typeof KINDS)[number]) => ({ user, id: `${mark}-${kind}` });
  await loom.enqueue(say, 'x', of('said'));
  await loom.enqueue(fail, 'fly', of('failed'));
  await loom.enqueue(line, 'x', of('run'));
  await loom.enqueue(asks, undefined, of('asking'));
  await loom.enqueue(waits, undefined, of('waiting'));
}

async function openOf(loom: TestLoom, user: string, mark: string): Promise<void> {
  const of = (kind: (typeof KINDS)[number]) => ({ user, id: `${mark}-${kind}` });
  await loom.enqueue(say, 'x', { ...of('later'), delay: '1d' });
  await loom.enqueue(say, 'x', of('queued'));
  await loom.schedules.set(`${mark}-nightly`, { every: '1h', task: say, input: 'x', user });
}

/** `mark`s are chosen so that what is ordered by name mixes, too. */
async function world({ open, quiet }: Store, withOthers: boolean): Promise<TestLoom> {
  const loom = await open(TASKS);
  const others = async (store: typeof endingOf, round: number): Promise<void> => {
    for (let at = 0; withOthers && at < OTHERS; at++) await store(loom, 'zeta', `m${round}z${at}`);
  };
  await loom.enqueue(say, 'x', { user: 'acme', id: 'mda0' });
  for (const store of [endingOf, openOf]) {
    for (let round = 0; round < ROUNDS; round++) {
      await others(store, round);
      await store(loom, 'acme', `m${round}a`);
      await store(loom, 'berta', `m${round}b`);
    }
    await others(store, ROUNDS);
    if (store === openOf) continue;
    // Once, so that there is one attempt of each; what the worker still asks for comes to a task of its own.
    await loom.drain({ allowFailures: true });
    await loom.enqueue(say, 'x', { user: 'acme', id: 'mda9' });
    await quiet();
  }
  await edges(loom, withOthers);
  return loom;
}

/** Tasks of others that hang together with the caller's, by code that may let them. */
async function edges(loom: TestLoom, withOthers: boolean): Promise<void> {
  const on = (user: string, id: string, dependsOn: string[]) =>
    loom.enqueue(say, 'x', { user, id, dependsOn, allowCrossUser: true, onMissing: 'block' });
  const others = async (mark: string, dependsOn: string[]): Promise<void> => {
    for (let at = 0; withOthers && at < 6; at++) await on('zeta', `m${mark}z${at}`, dependsOn);
  };
  await others('d', ['m0a-later']);
  for (const id of ['mda1', 'mda2']) await on('acme', id, ['m0a-later']);
  await others('e', ['m0a-later']);
  await on('acme', 'mda3', ['m0a-later', 'm0z0-later']);
  await others('f', ['mda0', 'm0z0-later']);
}

const LISTS: Readonly<Record<string, readonly string[]>> = {
  'GET /tasks': [
    ...['where=', 'where=state:finished', 'where=-state:finished name:say', 'where=error:Error'],
    ...['where=user:zeta', 'where=-user:acme', 'where=fly', 'where=id:m0z0-said,m0a-said'],
    ...['where=state:queued', 'where=age:<1h', 'where=wait:>0s'],
    ...['finished', 'failed', 'scheduled', 'deferred', 'queued', 'started', 'canceled'].map(
      (state) => `state=${state}`,
    ),
    ...['state=finished&user=berta', 'state=finished&user=zeta', 'state=failed&name=fail'],
    'state=failed&queue=default',
  ],
  'GET /runs': ['state=failed', 'state=deferred', 'state=finished', 'state=failed&form=driven'],
  'GET /dead': ['', 'name=fail', 'user=acme', 'user=zeta'],
  'GET /dead/groups': [''],
  'GET /asks': ['', 'user=acme', 'user=zeta'],
  'GET /schedules': [''],
  'GET /tasks/{id}/dependents': [''],
};

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  ...LISTS,
  'GET /series': ['step=minute&user=acme', 'step=hour&user=berta', 'step=minute&user=zeta'],
};

const BODIES: Readonly<Record<string, unknown>> = {
  'POST /tasks': { name: 'say', input: 'x', user: 'acme', dependsOn: ['m0z0-said'] },
  'POST /runs': { name: 'line', input: 'x', user: 'zeta' },
  'POST /tasks/{id}/signal': { name: 'go', payload: 'x' },
  'POST /publish': { name: 'paid', key: 'k', user: 'zeta' },
  'POST /asks/{id}/answer': { choice: 'yes', by: 'ann' },
  'PATCH /users/{user}': { weight: 2 },
  'PATCH /schedules/{id}': { every: '2h' },
};

/** Changes that make an id of their own, so that their answers differ from one call to the next. */
const MAKES_IDS = /"id":"[^"]{20,}"/;

function pathsOf({ name, path }: OtherRoute | Route): readonly string[] {
  const marks = ['m0a', 'm1z3'];
  const ids = path.startsWith('/schedules')
    ? marks.map((mark) => `${mark}-nightly`)
    : [...marks.flatMap((mark) => KINDS.map((kind) => `${mark}-${kind}`)), 'mda1', 'mda3', 'mfz0'];
  const named = ids.flatMap((id) =>
    ['acme', 'zeta'].map((user) =>
      path
        .replace('{id}', encodeURIComponent(path.startsWith('/asks') ? askIdOf(id) : id))
        .replace('{user}', user)
        .replace('{queue}', 'default')
        .replace('{name}', 'out'),
    ),
  );
  const queries = (QUERIES[name.replace('/export', '')] ?? ['']).map(encodeQuery);
  return [...new Set(named)].flatMap((one) =>
    queries.map((query) => (query === '' ? one : `${one}?${query}`)),
  );
}

function encodeQuery(query: string): string {
  return new URLSearchParams([...new URLSearchParams(query)]).toString();
}

/** Of a task that asks; see `loom.asks.list`. */
const askIds = new Map<string, string>();

function askIdOf(id: string): string {
  return askIds.get(id) ?? id;
}

/** An answer without what is new in each call; a cursor is opaque, and what it leads to is read instead. */
function told({ status, text }: Awaited<ReturnType<Ask>>): string {
  const shown = text
    .replace(/"requestId":"[^"]+"/g, '"requestId":""')
    .replace(/("cursor":"|cursor=)[\w-]{40,}/g, '$1…');
  return `${status} ${shown.split('\n').map(inOrder).join('\n')}`;
}

/** Redis tells the fields of some rows in an order of chance. */
function inOrder(row: string): string {
  try {
    return canonicalJson(JSON.parse(row));
  } catch {
    return row;
  }
}

/** All pages of a listing, as they are told. */
async function pagesOf(ask: Ask, path: string, limit: number): Promise<readonly string[]> {
  const pages: string[] = [];
  let cursor: unknown;
  do {
    const more = typeof cursor === 'string' ? `&cursor=${cursor}` : '';
    const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${more}`);
    pages.push(told(answer));
    cursor = Reflect.get(Object(answer.body), 'cursor');
  } while (typeof cursor === 'string');
  return pages;
}

eachStore((store) => {
  let [alone, among]: [Ask, Ask] = [async () => never(), async () => never()];
  let crowded: TestLoom;

  beforeAll(async () => {
    const access = () => ({ can: 'all', users: ['acme', 'berta'], by: 'ann' }) as const;
    const rate = { limit: 1_000_000, per: '1s' } as const;
    const looms = [await world(store, false), await world(store, true)] as const;
    [, crowded] = looms;
    [alone, among] = [askerOf(looms[0], { access, rate }), askerOf(looms[1], { access, rate })];
    for (const { id, taskId } of (await crowded.asks.list({ limit: 500 })).items) {
      askIds.set(taskId, id);
    }
  });

  it('there is something to tell apart', async () => {
    const all = askerOf(crowded);
    expect((await all('/tasks?state=finished')).text).toContain('zeta');
    const mine = await pagesOf(among, '/tasks?state=finished', 1);
    expect(mine.length).toBeGreaterThanOrEqual(2 * ROUNDS);
    for (const page of mine) expect(JSON.parse(page.slice(4)).items).toHaveLength(1);
    expect(mine.at(-1)).not.toContain('cursor');
  });

  // F107
  describe('of a caller of some users', () => {
    it.each(
      [...ROUTES, ...EXPORT_ROUTES]
        .filter(({ method }) => method === 'GET')
        .map((one) => [one.name, one] as const),
    )('%s answers the same whether others have anything or not', async (name, one) => {
      for (const path of pathsOf(one)) {
        expect([path, told(await among(path))]).toEqual([path, told(await alone(path))]);
        if (LISTS[name] === undefined) continue;
        for (const limit of [1, 3]) {
          const pages = await pagesOf(among, path, limit);
          expect([path, pages]).toEqual([path, await pagesOf(alone, path, limit)]);
        }
      }
    });

    it('every list of the table is walked page by page', () => {
      const paged = ROUTES.filter(
        ({ query, users }) => 'cursor' in (query ?? {}) && users !== 'whole',
      );
      const names = paged.map(({ name }) => name).filter((name) => name !== 'GET /users');
      expect(Object.keys(LISTS).sort()).toEqual(names.sort());
    });

    it('that a task of its own is still needed is told, and not by whom', async () => {
      const answer = await among('/tasks/mda0', { method: 'DELETE' });
      expect(answer.body).toMatchObject({ detail: 'remove: task mda0 is still in use' });
      expect((await among('/tasks/mda0/dependents')).body).toEqual({ items: [], count: 0 });
    });

    // These change what the store holds, and so come last.
    it.each(ROUTES.filter(({ method }) => method !== 'GET').map((one) => [one.name, one] as const))(
      '%s is refused in the same words',
      async (name, one) => {
        const sent = { method: one.method, json: BODIES[name] ?? {} };
        for (const path of pathsOf(one)) {
          const [here, there] = [told(await among(path, sent)), told(await alone(path, sent))];
          if (MAKES_IDS.test(here)) expect(here.slice(0, 3)).toBe(there.slice(0, 3));
          else expect([path, here]).toEqual([path, there]);
        }
      },
    );
  });
});

function never(): never {
  throw new Error('the worlds are not made yet');
}
