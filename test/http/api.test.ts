/** The API as a whole: who gets in, what a mistake looks like, and that every read answers. */
import { type Fairloom, task } from 'fairloom';
import { type HttpApiOptions, httpApi } from 'fairloom/http';
import { testLoom } from 'fairloom/testing';
import { describe, expect, it } from 'vitest';

const greet = task('greet', async (name: string) => `hello ${name}`);

function apiOf(loom: Fairloom, options: HttpApiOptions = {}) {
  const api = httpApi(loom, { access: () => 'all', ...options });
  return async (path: string, init: RequestInit = {}) => {
    const response = await api.fetch(new Request(`http://host/some/place/api/v1${path}`, init));
    const body: unknown = await response.json();
    return { status: response.status, body, headers: response.headers };
  };
}

describe('access', () => {
  it('is closed unless somebody opens it', async () => {
    const loom = testLoom([greet]);
    const call = apiOf(loom, { access: undefined });
    for (const path of ['/', '/overview', '/tasks/none', '/nothing']) {
      const { status, body } = await call(path);
      expect([path, status, body]).toMatchObject([path, 403, { code: 'FORBIDDEN' }]);
    }
  });

  it('fails closed when it throws or answers nonsense', async () => {
    const loom = testLoom([greet]);
    const nonsense: HttpApiOptions['access'] = () => JSON.parse('{"can":["fly"]}');
    expect((await apiOf(loom, { access: nonsense })('/overview')).status).toBe(500);
    const access = (): never => {
      throw new Error('secret');
    };
    const { status, body } = await apiOf(loom, { access })('/overview');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

describe('reading', () => {
  it('shows a task by every route of it', async () => {
    const loom = testLoom([greet]);
    const { id } = await loom.enqueue(greet, 'ann', { user: 'acme' });
    await loom.drain();
    const call = apiOf(loom);
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

  it('shows the whole', async () => {
    const loom = testLoom([greet]);
    await loom.enqueue(greet, 'ann', { user: 'acme' });
    const call = apiOf(loom);
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

describe('mistakes', () => {
  it.each([
    ['/nothing', 'GET', 404, 'NOT_FOUND'],
    ['/tasks', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks?state=lost', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks?state=failed&limit=501', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks?state=failed&odd=1', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks?state=failed&state=queued', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks?state=failed&cursor=odd', 'GET', 400, 'INVALID_OPTION'],
    ['/tasks/none', 'GET', 404, 'TASK_NOT_FOUND'],
    ['/users/none', 'GET', 404, 'NOT_FOUND'],
    ['/overview', 'DELETE', 403, 'CROSS_SITE'],
  ])('%s by %s is %i %s', async (path, method, status, code) => {
    const answer = await apiOf(testLoom([greet]))(path, { method });
    expect(answer).toMatchObject({ status, body: { status, code } });
    expect(answer.headers.get('content-type')).toMatch('application/problem+json');
    expect(answer.headers.get('x-request-id')).toBe(Reflect.get(Object(answer.body), 'requestId'));
  });
});
