/**
 * Takes the pictures of the dashboard for the docs, from a real run in this process: docs/assets/dashboard/*.png.
 *
 *   npm run dashboard:pictures
 */
import { mkdirSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { memory } from '../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../src/client/client.ts';
import { silentLogger } from '../src/logging/logger.ts';
import { parallel } from '../src/workflow/parallel.ts';
import { task } from '../src/workflow/task-definition.ts';
import { openBrowser } from '../test/support/browser/chromium.ts';
import { serve } from '../test/support/browser/served.ts';

const FOLDER = fileURLToPath(new URL('../docs/assets/dashboard/', import.meta.url));
/** Of one picture, in bytes. */
const LARGEST = 150_000;
/** Time for readings, so that the pictures have lines. */
const WATCHED_MS = 12_000;
/** On a machine without a desktop the font of the system is hard to read. */
const FONT = '"Liberation Sans", sans-serif';
const SIZE = { width: 1_280, height: 720 };

/** Weights and backlogs: one user has more work than all others together. */
const USERS: readonly (readonly [user: string, weight: number, backlog: number])[] = [
  ['acme', 4, 900],
  ['northwind', 3, 700],
  ['bolt', 2, 500],
  ['kestrel', 2, 450],
  ['lumen-health', 2, 450],
  ['bulkhaus', 1, 20_000],
  ['marlowe-legal', 1, 300],
  ['oakridge-schools', 1, 300],
  ['ferrous', 1, 200],
  ['tidal', 2, 412],
];

const AGAIN = { retries: 2, backoff: { kind: 'fixed', base: '200ms', jitter: 'none' } } as const;
const MAILS = { queue: 'mails' } as const;

const invoice = task('invoice', async (ms: number, ctx) => {
  await pause(ms, undefined, { signal: ctx.signal });
});
const transcode = task('transcode', AGAIN, async (input: { readonly file: string }, ctx) => {
  ctx.log.info('encoding', { file: input.file, height: 2160 });
  await pause(120);
  ctx.log.warn('slow read from storage', { ms: 4180 });
  throw slowDown(input.file);
});
/** A stack with neutral paths: the real one would show the folder of this program. */
function slowDown(file: string): Error {
  const error = new TypeError(`the storage answered 503 Slow Down for "${file}"`);
  const frames = ['transcode (tasks/transcode.ts:41:11)', 'encode (tasks/encode.ts:88:5)'];
  error.stack = [String(error), ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

const report = task('export.csv', { retries: 0 }, async (rows: number) => {
  throw new RangeError(`row ${rows} has no total`);
});
const probe = task('probe', async (file: string) => pause(300, file));
const captions = task('captions', async (file: string) => pause(700, `${file}.vtt`));
const thumbs = task('thumbs', async (file: string) => pause(900, `${file}.png`));
const quality = task('quality', async (file: string) => pause(500, file));
const pack = task('package', AGAIN, async (_made: unknown): Promise<string> => {
  await pause(250);
  throw new RangeError('width: 7 is not above 10');
});
const publish = task('publish', async (file: string) => file);
const notify = task('notify', async (file: string) => file);
const ingest = probe
  .pipe(parallel({ captions, thumbs, quality }))
  .pipe(pack)
  .pipe(publish)
  .pipe(notify)
  .as('ingest');

// Stacks would show the folder of this program.
Error.stackTraceLimit = 0;
await takePictures();

async function takePictures(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const tasks = [invoice, transcode, report, ingest];
  const loom = new Fairloom({ backend: memory(), tasks, log: silentLogger });
  const ids = await begin(loom);
  const served = await serve(loom);
  const browser = await openBrowser();
  const pictures: readonly (readonly [name: string, screen: string, theme: 'dark' | 'light'])[] = [
    ['users-light', 'users', 'light'],
    ['users-dark', 'users', 'dark'],
    ['task', `tasks/${ids.task}`, 'light'],
    ['run', `runs/${ids.run}`, 'light'],
    ['dead', 'dead', 'light'],
  ];
  await Promise.all(
    pictures.map(async ([name, screen, colorScheme]) => {
      const page = await browser.newPage({ viewport: SIZE, colorScheme });
      await page.goto(`${served.base}#/${screen}`);
      if (screen === 'dead') await page.getByRole('link', { name: /transcode/ }).click();
      await take(page, name, screen === 'users' ? WATCHED_MS : 1_000);
    }),
  );
  await browser.close();
  await served.stop();
  await loom.close({ timeout: 0 });
}

async function take(page: Page, name: string, after: number): Promise<void> {
  await page.evaluate(`document.documentElement.style.setProperty('--font', '${FONT}')`);
  await page.waitForTimeout(after);
  // Between two tasks of the user with a limit it is in line.
  if (name.startsWith('users')) await page.getByText('at its limit').waitFor();
  const path = `${FOLDER}${name}.png`;
  await page.screenshot({ path });
  const { size } = statSync(path);
  console.log(`${name}.png ${Math.round(size / 1_000)} kB`);
  if (size > LARGEST) throw new Error(`${name}.png is larger than ${LARGEST} bytes`);
}

/** Ids of a task and a run that have failed. */
async function begin(loom: Fairloom): Promise<{ readonly task: string; readonly run: string }> {
  for (const [user, weight] of USERS) await loom.users.set(user, { weight });
  await loom.users.set('ferrous', { maxRunning: 1 });
  await loom.worker({ id: 'w-fra-1', concurrency: 24 }).start();
  await loom.worker({ id: 'w-fra-2', queues: ['mails'], concurrency: 8 }).start();
  const run = await loom.enqueue(ingest, 'keynote.mov', { ...MAILS, user: 'acme' });
  const first = await loom.enqueue(
    transcode,
    { file: 'keynote-6.mov' },
    { ...MAILS, user: 'acme' },
  );
  for (let at = 0; at < 41; at++) {
    const user = USERS[at % 3]?.[0] ?? 'acme';
    await loom.enqueue(transcode, { file: `talk-${at}.mov` }, { ...MAILS, user });
  }
  for (let at = 0; at < 7; at++) await loom.enqueue(report, at, { ...MAILS, user: 'bolt' });
  for (const [user, , backlog] of USERS) {
    for (let at = 0; at < backlog; at++) await loom.enqueue(invoice, 150 + (at % 7) * 40, { user });
  }
  await loom.users.pause('tidal');
  await Promise.all([run, first].map((one) => one.result().catch(() => undefined)));
  return { task: first.id, run: run.id };
}
