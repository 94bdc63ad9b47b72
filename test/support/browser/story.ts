/** What the page is looked at with: a real run of everything that it shows. */
import { setTimeout as pause } from 'node:timers/promises';
import { BULK_USER } from '../../../src/bulk/bulk-record.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';

/** Work that is done at once has workers of its own. */
const MAILS = { queue: 'mails' } as const;
const ONCE = { retries: 1, backoff: { kind: 'fixed', base: '10ms', jitter: 'none' } } as const;

/** Fails, until it is told otherwise. */
const transcode = task('transcode', ONCE, async (input: { readonly file: string }, ctx) => {
  ctx.log.info('encoding', { file: input.file });
  ctx.log.warn('slow read');
  if (world.isBroken) throw new TypeError(`the file "${input.file}" cannot be read`);
  return 'done';
});
/** Takes a while, and says how far it is. */
export const render = task('render', async (frames: number, ctx) => {
  await ctx.progress(0.4, `frame 4 of ${frames}`);
  ctx.log.info('rendering', { frames });
  await pause(600_000, undefined, { signal: ctx.signal });
});
export const resize = task('resize', async (width: number) => ({ width, tags: ['a', 'b'] }));
const probe = task('probe', async (file: string) => file);
const captions = task('captions', async (file: string) => `${file}.vtt`);
const thumbs = task('thumbs', async (file: string) => [`${file}.png`]);
const publish = task('publish', { retries: 0 }, async (_made: unknown): Promise<string> => {
  throw new RangeError('width: 7 is not above 10');
});
const notify = task('notify', async (text: string) => text);
const ingest = probe.pipe(parallel({ captions, thumbs })).pipe(publish).pipe(notify).as('ingest');
const approve = task('approve', async (build: number, ctx) => {
  const answer = await ctx.ask({
    title: `Deploy build ${build}?`,
    choices: ['deploy', 'reject'],
    for: ['ops'],
  });
  return answer.choice;
});

/** What tests change while it runs. */
export const world = { isBroken: true };

/** The client, with its workers. */
export interface Story {
  readonly loom: Fairloom;
  /** Ids of what is looked at. */
  readonly ids: Readonly<Record<'asking' | 'failed' | 'long' | 'run', string>>;
  close(): Promise<void>;
}

/** Users in line, held back and idle; tasks in every state; a run that failed; a question; a schedule. */
export async function beginStory(backend: Backend): Promise<Story> {
  world.isBroken = true;
  const tasks = [transcode, render, resize, ingest, approve];
  const loom = new Fairloom({ backend, tasks, log: silentLogger });
  const workers = [
    loom.worker({ id: 'w-1', concurrency: 12 }),
    loom.worker({ id: 'w-2', queues: ['mails'], concurrency: 4 }),
    loom.worker({ id: 'w-3', assignedUsers: [BULK_USER], concurrency: 1 }),
  ];
  await Promise.all(workers.map((worker) => worker.start()));
  const failed = await loom.enqueue(transcode, { file: 'a.mov' }, { ...MAILS, user: 'acme' });
  await loom.enqueue(transcode, { file: 'b.mov' }, { ...MAILS, user: 'bolt' });
  const run = await loom.enqueue(ingest, 'keynote.mov', { ...MAILS, user: 'acme' });
  const asking = await loom.enqueue(approve, 7, { ...MAILS, user: 'ops' });
  await loom.enqueue(resize, 100, { ...MAILS, user: 'northwind' });
  const ended = [failed, run].map(async (one) => one.result().catch(() => undefined));
  await Promise.all(ended);
  for (const [user, weight] of [
    ['acme', 4],
    ['northwind', 3],
    ['bolt', 2],
  ] as const) {
    await loom.users.set(user, { weight });
  }
  await loom.users.set('ferrous', { maxRunning: 1 });
  const long = await loom.enqueue(render, 10, { user: 'ferrous' });
  for (const user of ['acme', 'northwind', 'bolt', 'ferrous', 'tidal']) {
    for (let at = 0; at < 6; at++) await loom.enqueue(render, at, { user });
  }
  await loom.users.pause('tidal');
  await loom.enqueue(resize, 1, { user: 'acme', delay: '1h' });
  await loom.enqueue(resize, 2, { user: 'ferrous', dependsOn: [long] });
  await loom.schedules.set('nightly', {
    task: resize,
    input: 5,
    cron: '0 3 * * *',
    timeZone: 'Asia/Tokyo',
    user: 'ops',
  });
  await loom.schedules.set('ticks', {
    task: resize,
    input: 5,
    every: '1s',
    limit: 2,
    user: 'ops',
    queue: 'mails',
  });
  await asked(loom);
  const ids = { asking: asking.id, failed: failed.id, run: run.id, long: long.id };
  return { loom, ids, close: () => loom.close({ timeout: 0 }) };
}

/** The question is there as soon as its task waits. */
async function asked(loom: Fairloom): Promise<void> {
  while ((await loom.asks.list()).items.length === 0) await pause(5);
}
