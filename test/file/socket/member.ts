/**
 * A process of an app: it enqueues to a data folder and works there, until it is told to leave. It says a line of JSON
 * for everything that its log warns of, for every call that is refused, and what it has counted at the end.
 */
import { createInterface } from 'node:readline';
import { file } from '../../../src/backends/file/file-backend.ts';
import { codeOf } from '../../../src/backends/file/socket/system-code.ts';
import type { LogFields } from '../../../src/base/logger.ts';
import { Fairloom } from '../../../src/client/client.ts';
import { task } from '../../../src/workflow/task-definition.ts';

const [, , folder = '', name = ''] = process.argv;

/** Callers that make one call after the other. */
const CALLERS = 8;

function say(event: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ event, at: Date.now(), ...more })}\n`);
}

function complain(message: string, fields: LogFields = {}): void {
  const error: unknown = fields['error'];
  say('complained', { why: `${message} ${String(error)}`, code: codeOf(error) });
}

const silent = (): void => undefined;
let worked = 0;
const work = task('work', async (item: string) => {
  worked++;
  return item;
});
const loom = new Fairloom({
  backend: file(folder),
  tasks: [work],
  log: { debug: silent, info: silent, warn: complain, error: complain },
});
let isLeaving = false;
let called = 0;

/** Enqueues a task and waits for its end, again and again. */
async function callAgain(caller: number): Promise<void> {
  for (let at = 0; !isLeaving; at++) {
    const item = `${name}-${caller}-${at}`;
    const handle = await loom.enqueue(work, item, { user: `user${caller}`, id: item });
    if (!handle.created) say('complained', { why: `${item} was there before` });
    if ((await handle.result()) !== item) say('complained', { why: `${item} has another result` });
    called++;
  }
}

async function live(): Promise<void> {
  const worker = loom.worker({ concurrency: 4 });
  await worker.start();
  say('ready');
  const calls = Array.from({ length: CALLERS }, (_, caller) => callAgain(caller));
  await Promise.all(calls);
  await loom.close();
  say('left', { called, worked });
  process.exit();
}

createInterface({ input: process.stdin })
  .on('line', () => {
    isLeaving = true;
  })
  .on('close', () => process.exit());
await live().catch((error: unknown) => complain('a call was refused', { error }));
