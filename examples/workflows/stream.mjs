// npm run example:stream
// npm run example:stream -- --redis redis://localhost:6379
//
// A task answers word by word, and two readers read live; one of them loses its connection and continues
// by the offset. On Redis the task runs in a separate process, which is killed (kill -9) in the middle:
// another process restarts the answer, and readers get a reset.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Fairloom } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';
import { answer } from './stream-task.mjs';

/** Words before the second reader loses its connection, and before the worker is killed. */
const LOST = 4;
const KILLED = 8;

/** A reader that shows an answer live. */
class Reader {
  words = [];
  next = 0;
  resets = 0;
  #id;

  constructor(id) {
    this.#id = id;
  }

  /** Continues from its last offset, until the end or until `stop`. */
  async read(stop = () => false) {
    for await (const item of loom.streams.read(this.#id, 'tokens', { from: this.next })) {
      this.next = item.next;
      if (item.type === 'reset') {
        this.words = [];
        this.resets += 1;
      }
      if (item.type === 'chunk') this.words.push(item.value);
      if (item.type === 'chunk' && stop(this.words.length)) return;
    }
  }
}

const { redis: url } = optionsOf({});
const prefix = `example-${process.pid}`;
const loom = new Fairloom({ backend: backendOf(url, prefix), tasks: [answer] });
const workers = [];
try {
  if (url === undefined) await loom.worker().start();
  else startWorker();
  const handle = await loom.enqueue(answer, 'what is a stream?', { user: 'acme' });
  const first = new Reader(handle.id);
  const second = new Reader(handle.id);
  const reading = [first.read(url === undefined ? undefined : killWorker), readTwice(second)];
  await Promise.all(reading);
  await handle.result({ timeout: PATIENCE });
  console.log(first.words.join(' '));
  const same = first.words.join(' ') === second.words.join(' ');
  console.log(
    `both readers have ${same ? 'the same' : 'DIFFERENT'} words; begun anew: ${first.resets}`,
  );
  if (!same) process.exitCode = 1;
} finally {
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(
    workers.map((worker) => worker.exitCode ?? worker.signalCode ?? once(worker, 'exit')),
  );
  await loom.close();
}

/** Reads some words, then the rest from its last offset. */
async function readTwice(reader) {
  await reader.read((words) => words === LOST);
  console.log(`a reader lost its connection, and goes on from ${reader.next}`);
  await reader.read();
}

function startWorker() {
  const file = new URL('stream-worker.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, url, prefix], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  workers.push(child);
}

/** Once, in the middle of the answer. */
function killWorker(words) {
  if (words !== KILLED || workers.length > 1) return false;
  workers[0].kill('SIGKILL');
  console.log(`killed process ${workers[0].pid} after ${words} words`);
  startWorker();
  return false;
}
