/** Addresses in which a route stands behind another one: rules by path see the first. */
import type { Fairloom } from 'fairloom';
import { type HttpApi, httpApi } from 'fairloom/http';
import { beforeAll, expect, it } from 'vitest';
import {
  addressOf,
  EVERY_ROUTE,
  expectProblem,
  named,
  noted,
  requestFor,
  WALKED_TASKS,
  type Walked,
  walkedThings,
} from '../../support/http/every-route.ts';
import { eachStore } from '../../support/http/stores.ts';

const BEFORE = ['/overview', '', '/nothing', '/tasks/a', '/events'];

eachStore(({ open, beside }) => {
  const calls: string[] = [];
  let api: HttpApi;
  let things: Walked;
  let loom: Fairloom;

  beforeAll(async () => {
    const owner = await open(WALKED_TASKS);
    things = await walkedThings(owner, 'acme');
    loom = beside(owner, WALKED_TASKS, { wrap: noted(calls) });
    api = httpApi(loom, { access: () => 'all' });
  });

  // F103
  it.each(named(EVERY_ROUTE))('%s is not found behind another route', async (_, one) => {
    calls.length = 0;
    for (const first of BEFORE) {
      const path = `/fairloom/api/v1${first}/api/v1${addressOf(one, things)}`;
      const answer = await api.fetch(requestFor(one.method, `http://host${path}`));
      await expectProblem(answer, [path, 404, 'NOT_FOUND']);
    }
    expect(calls).toEqual([]);
  });
});
