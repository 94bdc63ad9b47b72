/** An `access` that answers wrong, late or never: no request gets in, and no stream goes on. */
import { call, type Fairloom } from 'fairloom';
import { type Access, type HttpApi, httpApi } from 'fairloom/http';
import { beforeAll, expect, it } from 'vitest';
import type { TestLoom } from '../../../src/testing/test-loom.ts';
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

/** What answers whenever it is told to. */
class Doorkeeper {
  readonly #answers: ((access: Access) => void)[] = [];
  isAway = false;

  access(): Promise<Access> | Access {
    if (!this.isAway) return 'all';
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  answerAll(): void {
    for (const answer of this.#answers.splice(0)) answer('all');
  }
}

/** What a lookup that found nothing, or a slip, makes of an answer. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  '',
  'ALL',
  true,
  {},
  { can: undefined },
  { can: undefined, users: ['acme'] },
  { can: 'all', users: undefined },
  { can: ['read'], users: undefined, by: 'ann' },
  { can: 'all', users: null },
  { can: 'all', users: '' },
  { can: 'all', users: 'acme' },
  { can: 'all', users: [undefined] },
  { can: 'all', users: [''] },
  { can: 'all', user: ['acme'] },
  { can: 'all', users: ['acme'], by: null },
];

/** What goes on for as long as its reader stays. */
const ENDLESS = EVERY_ROUTE.filter(
  (one) => 'types' in one && one.types.includes('text/event-stream'),
);

eachStore(({ open, beside, quiet }) => {
  const calls: string[] = [];
  let owner: TestLoom;
  let things: Walked;
  let loom: Fairloom;

  beforeAll(async () => {
    owner = await open(WALKED_TASKS);
    things = await walkedThings(owner, 'acme');
    loom = beside(owner, WALKED_TASKS, { wrap: noted(calls) });
  });

  const keptBy = (keeper: Doorkeeper): HttpApi =>
    httpApi(loom, { access: () => keeper.access(), timeout: '3s' });

  it.each(named(EVERY_ROUTE))('%s is refused by an access that answers wrong', async (_, one) => {
    const path = `/api/v1${addressOf(one, things)}`;
    calls.length = 0;
    for (const answer of WRONG) {
      const access = (): Access => answer as Access;
      const got = await httpApi(loom, { access }).fetch(
        requestFor(one.method, `http://host${path}`),
      );
      await expectProblem(got, [`${path} ${JSON.stringify(answer)}`, 500, 'INTERNAL']);
    }
    expect(calls).toEqual([]);
  });

  it('an answer without the key users is for all, and one without users for none', async () => {
    const listed = async (access: Access): Promise<unknown> => {
      const request = requestFor('GET', 'http://host/api/v1/schedules');
      return (await httpApi(loom, { access: () => access }).fetch(request)).json();
    };
    expect(await listed({ can: 'all' })).toMatchObject({ items: [{ user: 'acme' }] });
    expect(await listed({ can: 'all', by: undefined })).toMatchObject({ items: [{}] });
    expect(await listed({ can: 'all', users: [] })).toEqual({ items: [] });
  });

  // F112
  it.each(named(EVERY_ROUTE))('%s is not done when access does not answer', async (_, one) => {
    const keeper = new Doorkeeper();
    keeper.isAway = true;
    const path = `/api/v1${addressOf(one, things)}`;
    const waiting = keptBy(keeper).fetch(requestFor(one.method, `http://host${path}`));
    await quiet();
    calls.length = 0;
    await owner.clock.advance('3s');
    await expectProblem(await waiting, [path, 503, 'TOO_SLOW']);
    keeper.answerAll();
    await owner.clock.advance('1s');
    await quiet();
    expect(calls).toEqual([]);
  });

  // F112
  it.each(named(ENDLESS))('%s ends within 30 s when access answers no more', async (_, one) => {
    const keeper = new Doorkeeper();
    const path = `/api/v1${addressOf(one, things)}`;
    const answer = await keptBy(keeper).fetch(requestFor('GET', `http://host${path}`));
    const read = readAll(answer);
    await seconds(owner, 2);
    keeper.isAway = true;
    await seconds(owner, 13);
    await quiet();
    expect(read.text).toContain('event: change');
    const before = read.text.length;
    await loom.enqueue(WALKED_TASKS[0], 'news', { user: 'acme', delay: '1d' });
    await seconds(owner, 15);
    await quiet();
    expect(read.end).toBe('over');
    expect(read.text.slice(before)).not.toContain('event: change');
  });

  // F112
  it('an export breaks off when access answers no more', async () => {
    const keeper = new Doorkeeper();
    const many = Array.from({ length: 501 }, () =>
      call(WALKED_TASKS[0], 'x', { user: 'acme', delay: '1d' }),
    );
    await loom.enqueueMany(many);
    const request = requestFor('GET', 'http://host/api/v1/export/tasks?state=scheduled');
    const reader = (await keptBy(keeper).fetch(request)).body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    // A page, and the end of its last line.
    expect(first.split('\n')).toHaveLength(501);
    keeper.isAway = true;
    await seconds(owner, 15);
    const next = reader?.read().then(
      ({ value }) => new TextDecoder().decode(value).slice(0, 300),
      (error: unknown) => String(error),
    );
    await quiet();
    await seconds(owner, 10);
    expect(await next).toContain('no answer within');
  });
});

async function seconds(loom: TestLoom, count: number): Promise<void> {
  for (let second = 0; second < count; second++) await loom.clock.advance('1s');
}

/** What has come so far, and how it has ended. */
function readAll({ body }: Response): { readonly text: string; readonly end: string } {
  const read = { text: '', end: '' };
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const goOn = async (): Promise<void> => {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      read.text += next.value;
    }
    read.end = 'over';
  };
  goOn().catch(() => {
    read.end = 'broken off';
  });
  return read;
}
