/** The API as a whole: who gets in, what a mistake looks like, and that every read answers. */
import { call, task } from 'fairloom';
import type { HttpApiOptions } from 'fairloom/http';
import { describe, expect, it } from 'vitest';
import type { Backend } from '../../src/domain/port/backend.ts';
import { askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';
import { troubled } from '../support/http/troubled.ts';

const greet = task('greet', async (name: string) => `hello ${name}`);

eachStore(({ open, beside, quiet }) => {
  describe('access', () => {
    it('is closed unless it is opened', async () => {
      const loom = await open([greet]);
      const call = askerOf(loom, { access: undefined });
      for (const path of ['/', '/overview', '/tasks/none', '/nothing']) {
        const { status, body } = await call(path);
        expect([path, status, body]).toMatchObject([path, 403, { code: 'FORBIDDEN' }]);
      }
    });

    it('fails closed when it throws or answers nonsense', async () => {
      const loom = await open([greet]);
      const nonsense: HttpApiOptions['access'] = () => JSON.parse('{"can":["fly"]}');
      expect((await askerOf(loom, { access: nonsense })('/overview')).status).toBe(500);
      const access = (): never => {
        throw new Error('secret');
      };
      const { status, body } = await askerOf(loom, { access })('/overview');
      expect(status).toBe(500);
      expect(JSON.stringify(body)).not.toContain('secret');
    });
  });

  describe('reading', () => {
    it('shows a task by every route of it', async () => {
      const loom = await open([greet]);
      const { id } = await loom.enqueue(greet, 'ann', { user: 'acme' });
      await loom.drain();
      const call = askerOf(loom);
      expect((await call(`/tasks/${id}`)).body).toMatchObject({
        id,
        state: 'finished',
        attempts: [{ attempt: 1 }],
      });
      for (const part of ['attempts', 'logs', 'explain', 'dependents', 'streams', 'streams/a']) {
        expect([part, (await call(`/tasks/${id}/${part}`)).status]).toEqual([part, 200]);
        expect([part, (await call(`/tasks/none/${part}`)).status]).toEqual([part, 404]);
      }
      const page = (await call('/tasks?state=finished&limit=1')).body;
      expect(page).toMatchObject({ items: [{ id }] });
    });

    it('makes no caller wait for shares of many users that were read a moment ago', async () => {
      const loom = await open([greet]);
      await loom.queues.pause('default');
      await loom.enqueueMany(
        Array.from({ length: 101 }, (_, n) => call(greet, 'x', { user: `u${n}` })),
      );
      const ask = askerOf(loom);
      const sharesOf = async (): Promise<unknown> =>
        Object((await ask('/users?limit=1')).body).sharesOf;
      expect(await sharesOf()).toBe(101);
      await loom.enqueue(greet, 'y', { user: 'new' });
      expect(await sharesOf()).toBe(101);
      await loom.clock.advance('3s');
      expect(await sharesOf()).toBe(101);
      await quiet();
      expect(await sharesOf()).toBe(102);
      await loom.enqueue(greet, 'z', { user: 'newest' });
      await loom.clock.advance('1m');
      expect(await sharesOf()).toBe(103);
    });

    it('shows the whole', async () => {
      const loom = await open([greet]);
      await loom.enqueue(greet, 'ann', { user: 'acme' });
      const call = askerOf(loom);
      expect((await call('/overview')).body).toMatchObject({ counts: { queued: 1 }, workers: 0 });
      expect((await call('/users')).body).toMatchObject({
        items: [{ user: 'acme', queued: 1, why: 'in line', fairShare: 1 }],
        sharesOf: 1,
      });
      expect((await call('/users/acme')).body).toMatchObject({ user: 'acme' });
      expect((await call('/queues')).body).toMatchObject({ items: [{ queue: 'default' }] });
      for (const path of [
        '/',
        '/runs?state=failed',
        '/dead',
        '/schedules',
        '/asks',
        '/versions',
        '/workers',
      ]) {
        expect([path, (await call(path)).status]).toEqual([path, 200]);
      }
    });
  });

  // F130
  describe('what is wrong in a store that answers', () => {
    it('is told to who sees all of it, and to no other', async () => {
      const loom = await open([greet]);
      const problems = ['no snapshot since noon: the disk is full'];
      const wrap = (backend: Backend): Backend => troubled(backend, problems);
      const call = askerOf(beside(loom, [greet], { wrap }));
      const access = () => ({ can: 'all', users: ['acme'] }) as const;
      const limited = askerOf(beside(loom, [greet], { wrap }), { access });
      const well = askerOf(loom);
      for (const path of ['/', '/overview']) {
        expect((await call(path)).body).toMatchObject({ problems });
        expect((await limited(path)).text).not.toContain('snapshot');
        expect((await well(path)).body).not.toHaveProperty('problems');
      }
    });
  });

  describe('what has not changed', () => {
    it('is not sent again to who has it', async () => {
      const loom = await open([greet]);
      await loom.enqueue(greet, 'ann', { user: 'acme', delay: '1d' });
      await loom.enqueue(greet, 'ben', { user: 'acme', delay: '1d' });
      const some = askerOf(loom, { access: () => ({ can: 'all', users: ['acme'] }) });
      for (const call of [askerOf(loom), some]) {
        for (const path of ['/tasks?where=user:acme&limit=1', '/schedules', '/openapi.json', '/']) {
          const first = await call(path);
          const etag = first.headers.get('etag') ?? '';
          expect([path, etag]).toEqual([path, expect.stringMatching(/^"[\w-]{22}"$/)]);
          for (const known of [etag, `"other", W/${etag}`, '*']) {
            const again = await call(path, { headers: { 'if-none-match': known } });
            expect([path, again.status, again.text]).toEqual([path, 304, '']);
            expect(again.headers.get('etag')).toBe(etag);
            expect(again.headers.get('cache-control')).toBe('no-store');
          }
          const other = await call(path, { headers: { 'if-none-match': '"other"' } });
          expect([other.status, other.text]).toEqual([200, first.text]);
        }
      }
      const path = '/tasks?where=user:acme';
      const etag = (await some(path)).headers.get('etag') ?? '';
      const known = { headers: { 'if-none-match': etag } };
      expect((await some(path, known)).status).toBe(304);
      await loom.enqueue(greet, 'cat', { user: 'acme', delay: '1d' });
      expect((await some(path, known)).status).toBe(200);
    });

    it('is no matter of mistakes and of changes', async () => {
      const loom = await open([greet]);
      const call = askerOf(loom);
      const every = { 'if-none-match': '*' };
      const missing = await call('/tasks/none', { headers: every });
      expect([missing.status, missing.headers.get('etag')]).toEqual([404, null]);
      const headers = { ...every, authorization: 'x', 'content-type': 'application/json' };
      const body = '{"name":"greet","input":"ann"}';
      const made = await call('/tasks', { method: 'POST', headers, body });
      expect([made.status, made.headers.get('etag')]).toEqual([201, null]);
      const paused = await call('/queues/default/pause', { method: 'POST', headers, body: '' });
      expect([paused.status, paused.headers.get('etag')]).toEqual([200, null]);
    });
  });

  describe('mistakes', () => {
    it.each([
      ['/nothing', 'GET', 404, 'NOT_FOUND'],
      ['/tasks', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?where=odd:1', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?where=x&state=failed', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?state=lost', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?state=failed&limit=501', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?state=failed&odd=1', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?state=failed&state=queued', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks?state=failed&cursor=odd', 'GET', 400, 'INVALID_OPTION'],
      ['/tasks/none', 'GET', 404, 'TASK_NOT_FOUND'],
      ['/users/none', 'GET', 404, 'NOT_FOUND'],
      ['/overview', 'DELETE', 405, 'METHOD_NOT_ALLOWED'],
    ])('%s by %s is %i %s', async (path, method, status, code) => {
      const answer = await askerOf(await open([greet]))(path, { method });
      expect(answer).toMatchObject({ status, body: { status, code } });
      expect(answer.headers.get('content-type')).toMatch('application/problem+json');
      expect(answer.headers.get('x-request-id')).toBe(
        Reflect.get(Object(answer.body), 'requestId'),
      );
    });
  });

  describe('changes', () => {
    it('are refused when another site may have sent them', async () => {
      const loom = await open([greet]);
      const ask = askerOf(loom);
      const json = { 'content-type': 'application/json' };
      const body = '{"name":"greet","input":"ann"}';
      const sent = async (headers: Record<string, string>) =>
        (await ask('/tasks', { method: 'POST', headers, body })).body;
      expect(await sent(json)).toMatchObject({ code: 'CROSS_SITE' });
      expect(await sent({ ...json, 'sec-fetch-site': 'same-site' })).toMatchObject({
        code: 'CROSS_SITE',
      });
      expect(await sent({ 'sec-fetch-site': 'same-origin' })).toMatchObject({ code: 'NOT_JSON' });
      expect(await loom.tasks.counts()).toMatchObject({ queued: 0 });
      expect(await sent({ ...json, authorization: 'Bearer x' })).toMatchObject({ created: true });
    });

    it('take no body that is too long, no JSON, or no object', async () => {
      const ask = askerOf(await open([greet]), { maxBody: 100 });
      const sent = async (body: string) => (await ask('/tasks', { method: 'POST', body })).body;
      expect(await sent('x'.repeat(101))).toMatchObject({ code: 'BODY_TOO_LARGE', status: 413 });
      expect(await sent('{')).toMatchObject({ code: 'INVALID_JSON' });
      expect(await sent('[]')).toMatchObject({ code: 'INVALID_OPTION' });
      expect(await sent('{"name":"greet","__proto__":{}}')).toMatchObject({
        code: 'INVALID_OPTION',
      });
    });

    it('need their permission', async () => {
      const loom = await open([greet]);
      const { id } = await loom.enqueue(greet, 'ann');
      const ask = askerOf(loom, { access: () => ({ can: ['read', 'cancel'] }) });
      expect((await ask(`/tasks/${id}/remove`, { method: 'POST' })).body).toMatchObject({
        code: 'FORBIDDEN',
      });
      expect((await ask(`/tasks/${id}/cancel`, { method: 'POST' })).body).toMatchObject({
        ok: true,
      });
      expect(
        (await askerOf(loom, { access: () => 'read' })('/tasks', { method: 'POST' })).status,
      ).toBe(403);
    });

    it('are made, logged, and kept for the audit', async () => {
      const lines: unknown[] = [];
      const note = (_message: string, fields: unknown) => void lines.push(fields);
      const log = { debug: note, info: note, warn: note, error: note };
      const loom = await open([greet], { log });
      const ask = askerOf(loom, { access: () => ({ can: 'all', by: 'ann' }) });
      const post = (path: string, json: unknown = {}) => ask(path, { method: 'POST', json });
      const made = (
        await post('/tasks', { name: 'greet', input: 'ann', user: 'acme', delay: '1h' })
      ).body;
      const id = String(Reflect.get(Object(made), 'id'));
      expect((await post(`/tasks/${id}/run-now`)).body).toMatchObject({ outcome: 'due' });
      expect((await post(`/tasks/${id}/cancel`, { reason: 'enough' })).status).toBe(200);
      await loom.clock.advance('1s');
      expect((await post(`/tasks/${id}/cancel`)).body).toMatchObject({ code: 'WRONG_STATE' });
      expect((await loom.tasks.get(id))?.cause).toMatchObject({ reason: 'enough' });
      const { body } = await ask('/audit');
      expect(body).toMatchObject({
        items: [
          { action: 'POST /tasks/{id}/cancel', target: id, status: 409, outcome: 'WRONG_STATE' },
          { action: 'POST /tasks/{id}/cancel', target: id, by: 'ann', outcome: 'canceled' },
          { action: 'POST /tasks/{id}/run-now' },
          { action: 'POST /tasks', target: id, status: 201 },
        ],
      });
      expect(
        lines.filter((line) => Reflect.get(Object(line), 'event') === 'http.change'),
      ).toHaveLength(4);
    });

    it('set users and queues, and pause them', async () => {
      const loom = await open([greet]);
      await loom.enqueue(greet, 'ann', { user: 'acme' });
      const ask = askerOf(loom);
      const patch = (path: string, json: unknown) => ask(path, { method: 'PATCH', json });
      expect(
        (await patch('/users/acme', { weight: 2, rate: { limit: 5, per: '1s' } })).body,
      ).toMatchObject({
        settings: { weight: 2 },
      });
      expect((await patch('/users/acme', { weight: 'default' })).body).toMatchObject({
        settings: { weight: 1 },
      });
      expect((await patch('/users/acme', { weight: 'heavy' })).status).toBe(400);
      const burst = await patch('/users/acme', { rate: { limit: 5, per: '1s', burst: 0 } });
      expect([burst.status, burst.body]).toMatchObject([400, { option: 'rate.burst' }]);
      // Its last setting is taken back, and it has no tasks: the store has no row of it.
      expect((await patch('/users/idle?queue=default', { weight: 2 })).status).toBe(200);
      const { status, body } = await patch('/users/idle?queue=default', { weight: 'default' });
      expect([status, body]).toMatchObject([
        200,
        { user: 'idle', settings: { weight: 1 }, queued: 0, origins: { weight: 'built-in' } },
      ]);
      expect(
        (await patch('/queues/default', { maxRunning: 3, timeout: 'none' })).body,
      ).toMatchObject({
        settings: { maxRunning: 3 },
      });
      for (const path of ['/users/acme', '/queues/default']) {
        expect((await ask(`${path}/pause`, { method: 'POST' })).body).toMatchObject({
          outcome: 'paused',
        });
        expect((await ask(path)).body).toMatchObject({ settings: { paused: true } });
        expect((await ask(`${path}/resume`, { method: 'POST' })).status).toBe(200);
      }
    });

    it('start, pause, resume, cancel and rerun runs', async () => {
      const twice = greet.pipe(task('again', async (text: string) => `${text}!`)).as('twice');
      const loom = await open([twice]);
      const ask = askerOf(loom);
      const post = async (path: string, json: unknown = {}) =>
        (await ask(path, { method: 'POST', json })).body;
      const made = await post('/runs', { name: 'twice', input: 'ann', user: 'acme' });
      const id = String(Reflect.get(Object(made), 'id'));
      expect(await post(`/runs/${id}/pause`, { reason: 'wait' })).toMatchObject({
        outcome: 'paused',
      });
      expect((await ask(`/runs/${id}`)).body).toMatchObject({ paused: { reason: 'wait' } });
      expect(await post(`/runs/${id}/resume`)).toMatchObject({ outcome: 'resumed' });
      await loom.drain();
      expect((await ask(`/runs/${id}`)).body).toMatchObject({ result: 'hello ann!' });
      expect((await ask(`/runs/${id}/graph`)).body).toMatchObject({
        states: { greet: 'finished' },
      });
      expect((await ask(`/runs/${id}/timeline`)).body).toMatchObject({
        isCut: false,
        spans: [{ kind: 'task' }, {}, {}, {}],
      });
      expect((await ask(`/runs/${id}/explain`)).status).toBe(200);
      const again = await post(`/runs/${id}/rerun`, { from: 'again', latest: true });
      const other = String(Reflect.get(Object(again), 'id'));
      expect(await post(`/runs/${other}/cancel`)).toMatchObject({ outcome: 'canceled' });
      expect(await post('/runs', { name: 'none' })).toMatchObject({ code: 'UNKNOWN_TASK' });
    });
  });

  describe('bulk', () => {
    it('changes many, by callers that may change one, and tells how far it is', async () => {
      const loom = await open([greet]);
      for (const name of ['ann', 'ben'])
        await loom.enqueue(greet, name, { user: 'acme', delay: '1d' });
      const json = { where: 'user:acme', action: 'cancel' };
      const some = askerOf(loom, { access: () => ({ can: ['read', 'bulk'] }) });
      expect((await some('/bulk', { method: 'POST', json })).status).toBe(403);
      const ask = askerOf(loom, { access: () => ({ can: 'all', by: 'ann' }) });
      const made = await ask('/bulk', { method: 'POST', json });
      expect(made).toMatchObject({
        status: 202,
        body: { action: 'cancel', by: 'ann', state: 'queued' },
      });
      await loom.drain();
      const id = String(Reflect.get(Object(made.body), 'id'));
      expect((await ask(`/bulk/${id}`)).body).toMatchObject({ state: 'finished', done: 2 });
      expect((await ask('/bulk')).body).toMatchObject({ items: [{ id }] });
      expect((await ask(`/bulk/${id}/cancel`, { method: 'POST' })).body).toMatchObject({
        code: 'WRONG_STATE',
      });
      expect((await ask('/bulk/none')).status).toBe(404);
      expect(
        (await ask('/bulk', { method: 'POST', json: { where: '', action: 'cancel' } })).status,
      ).toBe(400);
    });
  });

  describe('limits', () => {
    it('a client that asks too often is told when to come again, and others are not', async () => {
      const loom = await open([greet]);
      const client = (request: Request) => request.headers.get('x-who') ?? '';
      const ask = askerOf(loom, { client, rate: { limit: 2, per: '10s' } });
      const from = (who: string) => ask('/', { headers: { 'x-who': who } });
      expect([(await from('a')).status, (await from('a')).status]).toEqual([200, 200]);
      const late = await from('a');
      expect([late.status, late.headers.get('retry-after')]).toEqual([429, '5']);
      expect((await from('b')).status).toBe(200);
      await loom.clock.advance('5s');
      expect((await from('a')).status).toBe(200);
    });

    it('no call waits for longer than is said', async () => {
      const loom = await open([greet]);
      const access = () => 'all' as const;
      const ask = askerOf(loom, { access, timeout: '3s' });
      loom.stats = () => new Promise(() => undefined);
      const waiting = ask('/overview');
      await Promise.resolve();
      await loom.clock.advance('3s');
      expect(await waiting).toMatchObject({
        status: 503,
        body: { code: 'TOO_SLOW', retryable: true },
      });
    });
  });
});
