/** What happens to a page while others act: a worker dies, another page was faster, all is taken away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { redis } from '../../src/redis.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { openBrowser } from '../support/browser/chromium.ts';
import { type Served, serve } from '../support/browser/served.ts';
import { WatchedPage } from '../support/browser/watched-page.ts';
import { WorkerProcess } from '../support/processes/worker-fleet.ts';

const PREFIX = `meanwhile-${process.pid}`;
const LEASE_MS = 1_000;

/** Of the script that the worker process runs. */
const work = task('work', async (_: { readonly ms: number }) => undefined);
const fails = task('fails', { retries: 0, queue: 'other' }, async (_: number) => {
  throw new Error('no');
});

let browser: Browser;
let loom: Fairloom;
let served: Served;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-page-'));
  browser = await openBrowser();
  const backend = redis(inject('redisUrl'), { prefix: PREFIX });
  loom = new Fairloom({ backend, tasks: [work, fails], log: silentLogger });
  await loom.worker({ id: 'survivor', queues: ['other'] }).start();
  served = await serve(loom);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
  await loom.close({ timeout: 0 });
  rmSync(folder, { recursive: true });
});

it('a worker is killed on screen: its task is lost, and back in line', async () => {
  const victim = new WorkerProcess({
    id: 'victim',
    url: inject('redisUrl'),
    prefix: PREFIX,
    ledger: join(folder, 'ledger'),
    leaseMs: LEASE_MS,
    graceMs: 0,
    concurrency: 1,
  });
  const { id } = await loom.enqueue(work, { ms: 600_000 }, { user: 'acme' });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go(`tasks/${id}`);
  await tab.page.locator('.chip', { hasText: 'started' }).waitFor();
  victim.signal('SIGKILL');
  await victim.exited;
  await tab.page.locator('.chip', { hasText: 'queued' }).waitFor();
  await tab.sees('lost');
  await tab.sees('victim');
  await tab.go('overview');
  await tab.sees('1 lease lost');
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});

it('of two pages that act on one task the second is told that it was too late', async () => {
  const failed = await loom.enqueue(fails, 1, { user: 'acme' });
  await failed.result().catch(() => undefined);
  const pages = [0, 1].map(() => WatchedPage.open(browser, served.base));
  const [first, second] = await Promise.all(pages);
  if (first === undefined || second === undefined) throw new Error('there are two');
  for (const tab of [first, second]) await tab.go(`tasks/${failed.id}`);
  // It stands still, as one does that was not looked at for long.
  await second.page.keyboard.press('.');
  await loom.queues.pause('other');
  for (const tab of [first, second]) {
    await tab.page.keyboard.press('Shift+R');
    await tab.sees('It goes back to the end of its line');
  }
  await first.confirm('Redrive');
  await first.page.locator('.chip', { hasText: 'queued' }).waitFor();
  await second.page.locator('dialog').getByRole('button', { name: 'Redrive', exact: true }).click();
  await second.sees(/redrive: task \S+ is queued/);
  expect(await first.faults()).toEqual([]);
  for (const tab of [first, second]) await tab.close();
});

it('a namespace is emptied while it is watched: no user is there, and it goes on', async () => {
  await loom.enqueue(work, { ms: 1 }, { user: 'bolt' });
  const tab = await WatchedPage.open(browser, served.base);
  await tab.go('users');
  await tab.sees('bolt');
  const client = new Redis(inject('redisUrl'));
  const keys = await client.keys(`${PREFIX}:*`);
  await client.del(...keys);
  client.disconnect();
  await tab.sees('No users yet');
  await loom.enqueue(work, { ms: 1 }, { user: 'after' });
  await tab.sees('after');
  expect(await tab.faults()).toEqual([]);
  await tab.close();
});
