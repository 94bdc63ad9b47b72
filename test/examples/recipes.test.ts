/** The recipes: each server takes a task that a worker does, the bundle runs alone. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fairloom, ref, type Task } from '../../src/index.ts';
import { redis } from '../../src/redis.ts';
import { blocksOf, type DocBlock, printsOf } from '../support/docs/doc-blocks.ts';
import { type DocProject, docProject } from '../support/docs/doc-project.ts';
import { read } from '../support/files.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';

const PAGE = 'docs/guide/recipes.md';
const blocks = blocksOf(PAGE);
const SERVERS = ['express.mjs', 'fastify.mjs', 'hono.mjs', 'nest.ts'];
/** Run with each server; the others have tests of their own below. */
const SHARED = ['tasks.mjs', 'loom.mjs', 'worker.mjs'];

const invoice = ref<Task<{ order: string }, { pdf: string }>>('invoice');

let project: DocProject;
let server: RedisServer;
let worker: ChildProcess;
let loom: Fairloom;
const env = (): Readonly<Record<string, string>> => ({
  REDIS_URL: server.url,
  FAIRLOOM_REDIS_URL: '',
});

beforeAll(async () => {
  project = docProject(blocks.filter(({ file }) => file !== undefined));
  server = await startRedis({ args: ['--appendonly', 'yes'] });
  worker = project.start('worker.mjs', env());
  loom = new Fairloom({ backend: redis(server.url) });
});

afterAll(async () => {
  await loom.close();
  await ended(worker);
  await server.stop();
  project.remove();
});

it('are all run', () => {
  const files = blocks.flatMap(({ file }) => file ?? []);
  const run = [...SHARED, ...SERVERS, 'route.mjs', 'common.cjs', 'bundle.mjs'];
  expect(files.toSorted()).toEqual(run.toSorted());
});

it('have the versions that the page names', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const all: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies };
  const minor = (name: string): string => /\d+\.\d+/.exec(all[name] ?? '')?.[0] ?? '';
  const named = ['express', 'fastify', 'hono', '@nestjs/core', 'esbuild'].map(minor);
  const said = /these versions[^:]*: (.+?)\.\n\n/s.exec(read(PAGE))?.[1] ?? '';
  expect([...said.matchAll(/\d+\.\d+/g)].map(([version]) => version)).toEqual(named);
});

describe.each(SERVERS)('%s', (file) => {
  it('enqueues, shows the end, and ends in order', async () => {
    const port = await freePort();
    const child = project.startTold(file, { ...env(), PORT: String(port) });
    const lines = createInterface({ input: child.stdout });
    expect(await once(lines, 'line')).toEqual(['ready']);
    const invoices = `http://localhost:${port}/invoices`;

    const enqueued = await post(invoices, { order: file });
    expect(enqueued.status).toBe(202);
    const { id }: { readonly id: string } = JSON.parse(await enqueued.text());
    // The same again is the same task: its end is the answer.
    const again = await loom.enqueue(invoice, { order: file }, { id, user: 'acme' });
    expect(await again.result({ timeout: '20s' })).toEqual({ pdf: `acme/${file}.pdf` });
    const shown = await fetch(`${invoices}/${id}`);
    expect(await shown.json()).toEqual({ state: 'finished', result: { pdf: `acme/${file}.pdf` } });
    expect((await fetch(`${invoices}/none`)).status).toBe(404);
    expect(await ended(child)).toBe(0);
  });
});

it('express.mjs answers what a caller did wrong', async () => {
  const port = await freePort();
  const child = project.startTold('express.mjs', { ...env(), PORT: String(port) });
  expect(await once(createInterface({ input: child.stdout }), 'line')).toEqual(['ready']);
  await loom.users.set('full', { maxQueued: 1 });
  await loom.enqueue(invoice, { order: 'first' }, { user: 'full', delay: '1h' });
  const refused = await post(`http://localhost:${port}/invoices`, { order: 'x' }, 'full');
  expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'QUEUE_FULL' }]);
  expect(await ended(child)).toBe(0);
});

it('route.mjs is the function that Next calls', async () => {
  project.write(
    'call.mjs',
    `import { loom } from './loom.mjs';
     import { POST } from './route.mjs';
     const headers = { 'x-user': 'acme' };
     const request = new Request('http://localhost/api/invoices', {
       method: 'POST', headers, body: JSON.stringify({ order: 'next' }),
     });
     const response = await POST(request);
     const { id } = await response.json();
     console.log(response.status, (await loom.tasks.get(id)).user);
     await loom.close();`,
  );
  const { code, stdout, stderr } = await project.run('call.mjs', env());
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '202 acme\n', stderr: '' });
});

it('common.cjs is CommonJS', async () => {
  const block = blocks.find(({ file }) => file === 'common.cjs');
  const { code, stdout, stderr } = await project.run('common.cjs');
  const prints = `${printsOf(block as DocBlock).join('\n')}\n`;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: prints, stderr: '' });
});

it('bundle.mjs makes a worker that needs no packages', async () => {
  expect(await project.run('bundle.mjs')).toMatchObject({ code: 0, stderr: '' });
  const other = await startRedis({ args: ['--appendonly', 'yes'] });
  project.removePackages();
  const bundled = project.start('out/worker.mjs', { REDIS_URL: other.url });
  const own = new Fairloom({ backend: redis(other.url) });
  try {
    const handle = await own.enqueue(invoice, { order: 'bundled' }, { user: 'acme' });
    expect(await handle.result({ timeout: '20s' })).toEqual({ pdf: 'acme/bundled.pdf' });
    expect(await ended(bundled)).toBe(0);
  } finally {
    await own.close();
    await other.stop();
  }
});

function post(url: string, body: object, user = 'acme'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-user': user };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The exit code after SIGTERM. */
async function ended(child: ChildProcess): Promise<unknown> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  return (await exit)[0];
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
