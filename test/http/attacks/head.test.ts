/** HEAD has no reader: nothing that goes on may be left behind by it. */
import type { Fairloom } from 'fairloom';
import { type HttpApi, httpApi } from 'fairloom/http';
import { ManualClock } from 'fairloom/testing';
import { beforeAll, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { settle } from '../../../src/testing/manual-clock.ts';
import { TestLoom } from '../../../src/testing/test-loom.ts';
import {
  addressOf,
  EVERY_ROUTE,
  named,
  noted,
  requestFor,
  WALKED_TASKS,
  type Walked,
  walkedThings,
} from '../../support/http/every-route.ts';
import { eachStore } from '../../support/http/stores.ts';

const READS = EVERY_ROUTE.filter(({ method }) => method === 'GET');

eachStore(({ open, beside, quiet }) => {
  const calls: string[] = [];
  let owner: TestLoom;
  let api: HttpApi;
  let things: Walked;
  let loom: Fairloom;

  beforeAll(async () => {
    owner = await open(WALKED_TASKS);
    things = await walkedThings(owner, 'acme');
    loom = beside(owner, WALKED_TASKS, { wrap: noted(calls) });
    api = httpApi(loom, { access: () => 'all' });
  });

  const ask = (method: string, one: (typeof READS)[number]): Promise<Response> =>
    api.fetch(requestFor(method, `http://host/api/v1${addressOf(one, things)}`));

  // F104
  it.each(named(READS))('HEAD of %s says what GET says, and is over then', async (_, one) => {
    const got = await ask('GET', one);
    await got.body?.cancel();
    await owner.clock.advance('1m');
    await quiet();
    const { status, headers, body } = await ask('HEAD', one);
    expect([status, body]).toEqual([200, null]);
    expect(got.status).toBe(200);
    expect(headers.get('content-type')).toBe(got.headers.get('content-type'));
    calls.length = 0;
    await owner.clock.advance('1m');
    await quiet();
    expect(calls).toEqual([]);
  });

  // F104
  it('HEAD of a stream that there cannot be is refused as GET is', async () => {
    for (const method of ['GET', 'HEAD']) {
      const request = requestFor(method, 'http://host/api/v1/events?watch=nothing');
      expect((await api.fetch(request)).status).toBe(400);
    }
  });
});

// F104
it('thousands of HEADs leave no timer, and streams are open to others', async () => {
  const clock = new ManualClock();
  const backend = memory({ clock });
  const parts = { backend, clock, tasks: WALKED_TASKS, log: silentLogger };
  const loom = new TestLoom(parts, clock, {});
  const api = httpApi(loom, { access: () => 'all', rate: { limit: 10_000, per: '1s' } });
  const events = (method: string): Promise<Response> =>
    api.fetch(requestFor(method, 'http://host/api/v1/events?watch=overview,queues'));
  await events('HEAD');
  await settle();
  const before = clock.pending;
  for (let at = 0; at < 3_000; at++) await events('HEAD');
  await settle();
  expect(clock.pending).toBe(before);
  const answer = await events('GET');
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
  await loom.close();
});
