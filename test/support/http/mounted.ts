/** What the API and the page of `test/fixtures/web-servers/api.mjs` answer behind every server that mounts them. */
import { expect } from 'vitest';

/** Of the page, where it was built. */
const PAGE = { built: [200], perhaps: [200, 503] } as const;

interface Sent {
  readonly as?: 'all' | 'read' | 'acme' | undefined;
  readonly method?: string | undefined;
  readonly json?: unknown;
}

/** Asks about everything that a server may get wrong; `base` ends with the slash of the mount. */
export async function expectMounted(base: string, page: keyof typeof PAGE): Promise<void> {
  await expectRead(base);
  const id = await expectChanged(base);
  await expectStreams(base, id);
  await expectPage(base, PAGE[page]);
}

async function ask(base: string, path: string, { as, method, json }: Sent = {}): Promise<unknown> {
  const { status, body } = await send(base, path, { as, method, json });
  return { status, ...Object(body) };
}

async function send(base: string, path: string, { as = 'all', method, json }: Sent) {
  const response = await fetch(`${base}api/v1${path}`, {
    method: method ?? 'GET',
    headers: {
      authorization: `Bearer ${as}`,
      ...(method === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const type = response.headers.get('content-type') ?? '';
  expect([path, type]).toEqual([path, expect.stringMatching(/^application\/(problem\+)?json/)]);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  return { status: response.status, body: await response.json() };
}

async function expectRead(base: string): Promise<void> {
  expect((await fetch(`${base}api/v1/overview`)).status).toBe(403);
  expect(await ask(base, '/', { as: 'read' })).toMatchObject({ status: 200, can: ['read'] });
  expect(await ask(base, '/queues')).toMatchObject({ status: 200, items: expect.any(Array) });
  expect(await ask(base, '/queues', { as: 'acme' })).toMatchObject({ status: 403 });
  const known = { authorization: 'Bearer all', 'if-none-match': '*' };
  expect((await fetch(`${base}api/v1/queues`, { headers: known })).status).toBe(304);
  expect(await ask(base, '/tasks/none')).toMatchObject({ status: 404, code: 'TASK_NOT_FOUND' });
  expect(await ask(base, '/tasks/a%2Fb%20c')).toMatchObject({ status: 404 });
  expect(await ask(base, '/nothing')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await ask(base, '/tasks?where=user%3A%22a%20b%22')).toMatchObject({ items: [] });
}

/** Changes by each method, and a run that the worker beside the API ends. */
async function expectChanged(base: string): Promise<string> {
  const run = { name: 'line', input: 'ann ☂', user: 'zeta' };
  const post = { method: 'POST', json: run } as const;
  expect(await ask(base, '/runs', { ...post, as: 'read' })).toMatchObject({ status: 403 });
  expect(await ask(base, '/runs', { ...post, as: 'acme' })).toMatchObject({ status: 404 });
  expect(await ask(base, '/runs', { ...post, json: [] })).toMatchObject({ status: 400 });
  const made = await ask(base, '/runs', post);
  expect(made).toMatchObject({ status: 201, created: true });
  const id = String(Reflect.get(Object(made), 'id'));
  await expect
    .poll(() => ask(base, `/runs/${id}`))
    .toMatchObject({ state: 'finished', result: 'hello ann ☂!' });
  expect(await ask(base, `/runs/${id}`, { as: 'acme' })).toMatchObject({ status: 404 });
  expect(await ask(base, '/runs?state=finished')).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ id })]),
  });
  const settings = { method: 'PATCH', json: { weight: 2 } };
  expect(await ask(base, '/users/zeta', settings)).toMatchObject({ settings: { weight: 2 } });
  const failing = await ask(base, '/runs', { ...post, json: { ...run, input: 'none' } });
  const failed = String(Reflect.get(Object(failing), 'id'));
  await expect.poll(() => ask(base, `/runs/${failed}`)).toMatchObject({ state: 'failed' });
  expect(await ask(base, '/dead/groups')).toMatchObject({
    items: [{ name: 'shout', error: 'TypeError' }],
  });
  const gone = { method: 'DELETE', json: {} } as const;
  expect(await ask(base, `/tasks/${failed}`, gone)).toMatchObject({ outcome: 'removed' });
  expect(await ask(base, '/audit?limit=1')).toMatchObject({ items: [{ target: failed }] });
  return id;
}

/** The first frames come while the answer is not over; many readers, and all of them can go. */
async function expectStreams(base: string, id: string): Promise<void> {
  const stop = new AbortController();
  const headers = { authorization: 'Bearer all' };
  const open = () =>
    fetch(`${base}api/v1/events?watch=run:${id}`, { headers, signal: stop.signal });
  const streams = await Promise.all(Array.from({ length: 5 }, open));
  for (const { body, status, headers } of streams) {
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('hello ann ☂!')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('event: change');
  }
  stop.abort();
  expect(await ask(base, '/')).toMatchObject({ status: 200 });
}

async function expectPage(base: string, statuses: readonly number[]): Promise<void> {
  const page = await fetch(base);
  expect(statuses).toContain(page.status);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  // Without the slash it is the same page, by one redirect.
  expect((await fetch(base.slice(0, -1))).status).toBe(page.status);
  const html = await page.text();
  if (page.status !== 200) return;
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
  const file = await fetch(new URL(script, base));
  expect([script, file.status]).toEqual([expect.stringContaining('assets/'), 200]);
  expect(file.headers.get('content-type')).toContain('javascript');
  expect((await file.text()).length).toBeGreaterThan(10_000);
  const etag = page.headers.get('etag') ?? '';
  expect((await fetch(base, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await fetch(`${base}assets/none.js`)).status).toBe(404);
}
