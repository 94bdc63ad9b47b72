/** Every route of the API with an address that it answers, so that one attack can be tried on all of them. */
import { type Fairloom, ask as question, task } from 'fairloom';
import { expect } from 'vitest';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { OTHER_ROUTES } from '../../../src/http/other-routes.ts';
import type { OtherRoute, Route } from '../../../src/http/routes.ts';
import { ROUTES } from '../../../src/http/routes.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';

/** One that is new is walked by itself; where it needs more than its path, its words go into the tables below. */
export const EVERY_ROUTE: readonly (OtherRoute | Route)[] = [...ROUTES, ...OTHER_ROUTES];

/** Those that go on from a cursor. */
export const CURSOR_ROUTES: readonly (OtherRoute | Route)[] = EVERY_ROUTE.filter(({ query }) =>
  Object.hasOwn(query ?? {}, 'cursor'),
);

/** For `it.each`. */
export function named<T extends { readonly name: string }>(
  routes: readonly T[],
): readonly (readonly [string, T])[] {
  return routes.map((one) => [one.name, one]);
}

const say = task('say', { keepLogs: 'always' }, async (words: string, ctx) => {
  ctx.log.info(words);
  await ctx.stream('out').write(words);
  return words;
});
const fail = task('fail', { retries: 0 }, async (words: string) => {
  throw new Error(words);
});
const line = say.pipe(fail).as('line');
const asks = question({ title: 'sure?', choices: ['yes', 'no'], name: 'asks' });

/** Tasks of a client whose routes are walked. */
export const WALKED_TASKS = [say, fail, line, asks] as const;

/** What there is of one user, by the nouns of paths. */
export interface Walked {
  readonly user: string;
  readonly ids: Readonly<Record<string, string>>;
}

/** Something of every kind, of one user; its words say whose it is. */
export async function walkedThings(
  loom: Fairloom & { drain(options: object): Promise<void> },
  user: string,
): Promise<Walked> {
  const input = `secret of ${user}`;
  const said = await loom.enqueue(say, input, { user });
  await loom.enqueue(fail, input, { user });
  const run = await loom.enqueue(line, input, { user });
  await loom.enqueue(asks, undefined, { user });
  const schedule = `nightly-${user}`;
  await loom.schedules.set(schedule, { every: '1h', task: say, input, user });
  await loom.drain({ allowFailures: true });
  await loom.enqueue(say, input, { user, delay: '1d' });
  const bulk = await loom.bulk.start({ where: `user:${user} name:none`, action: 'redrive' });
  await loom.drain({ allowFailures: true });
  const { items } = await loom.asks.list({ user });
  const asking = items[0]?.id ?? '';
  return {
    user,
    ids: { tasks: said.id, runs: run.id, schedules: schedule, asks: asking, bulk: bulk.id },
  };
}

const QUERIES: Readonly<Record<string, string>> = {
  'GET /tasks': 'state=finished',
  'GET /runs': 'state=failed',
  'GET /series': 'step=minute',
  'GET /events': 'watch=overview',
  'GET /export/tasks': 'state=finished',
  'GET /export/runs': 'state=failed',
};

/** The address of a route below `/api/v1`, with what is there to be named. */
export function addressOf({ name, path }: OtherRoute | Route, { user, ids }: Walked): string {
  const [, noun = ''] = path.split('/');
  const said = path
    .replace('{id}', encodeURIComponent(ids[noun] ?? ''))
    .replace('{user}', user)
    .replace('{queue}', 'default')
    .replace('{name}', 'out');
  const query = QUERIES[name];
  return query === undefined ? said : `${said}?${query}`;
}

/** A request as a page of the site itself sends it. */
export function requestFor(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Request {
  const isChange = method !== 'GET' && method !== 'HEAD';
  const ofPage = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  return new Request(url, {
    method,
    headers: { ...(isChange ? ofPage : {}), ...headers },
    ...(isChange ? { body: '{}' } : {}),
  });
}

/** Notes what the store is asked for. */
export function noted(calls: string[]): (backend: Backend) => Backend {
  return (backend) =>
    flakyBackend(backend, ({ operation }) => {
      calls.push(operation);
      return undefined;
    });
}

/** A problem with this code, and no word of anything else. */
export async function expectProblem(
  answer: Response,
  [about, status, code]: readonly [about: string, status: number, code: string],
): Promise<void> {
  const text = await answer.text();
  expect([about, answer.status, text]).toEqual([about, status, expect.stringContaining(code)]);
  expect(text).not.toContain('secret');
}
