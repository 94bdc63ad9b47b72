/**
 * What the programs of threads and processes have in common with their pool, and these programs: as
 * text, so that they need no file of their own, whatever bundles or loads this package. They import
 * what the definition named, and nothing that came with a task.
 */

/** What a host is told to run. */
export interface HostRequest {
  readonly kind: 'run';
  readonly url: string;
  readonly exportName: string;
  readonly input: unknown;
  readonly ctx: {
    readonly taskId: string;
    readonly user: string;
    readonly attempt: number;
    readonly fencingToken: number;
    readonly traceparent: string | undefined;
  };
}

/** What a process is told when its task should end: the reason of the signal, as plain facts. */
export interface HostAbort {
  readonly kind: 'abort';
  readonly reason: HostFailure;
}

/** How a task ended there. Errors cross as plain facts. */
export type HostReply =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'unsendable'; readonly message: string }
  | { readonly kind: 'threw'; readonly error: HostFailure };

/** The handler in a process has looked at its signal: it may be asked to end. */
export interface HostWatching {
  readonly kind: 'watching';
}

/** A line of its handler's log. */
export interface HostLine {
  readonly kind: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** An error as data. */
export interface HostFailure {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Of a {@link Fatal} or {@link RetryAfter}. */
  readonly code?: string;
  readonly delayMs?: number;
  readonly countAttempt?: boolean;
}

/** `log` and `signal` are no data: a handler that returns its context returns the rest. */
const COMMON = `
function facts(error) {
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, delayMs, countAttempt } = error;
  const known = { name: String(name), message: String(message), stack: String(stack) };
  if (code !== 'FATAL' && code !== 'RETRY_AFTER') return known;
  return { ...known, code, delayMs, countAttempt };
}

function logger(post) {
  const line = (level) => (message, fields) => {
    const plain = { kind: 'log', level, message: String(message) };
    try {
      post({ ...plain, fields });
    } catch {
      post(plain);
    }
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

async function run({ url, exportName, input }, ctx) {
  const handler = (await import(url))[exportName];
  if (typeof handler !== 'function') {
    throw new TypeError(url + ' has no function named ' + exportName);
  }
  return handler(input, ctx);
}

async function answer(request, ctx, post) {
  Object.defineProperty(ctx, 'log', { value: logger(post) });
  let reply;
  try {
    reply = { kind: 'returned', value: await run(request, ctx) };
  } catch (error) {
    reply = { kind: 'threw', error: facts(error) };
  }
  try {
    post(reply);
  } catch (error) {
    post({ kind: 'unsendable', message: String(error && error.message) });
  }
}
`;

/** The program of a thread. */
export const THREAD_SOURCE: string = `${COMMON}
const { parentPort } = require('node:worker_threads');
const post = (message) => parentPort.postMessage(message);

parentPort.on('message', (request) => answer(request, { ...request.ctx }, post));
`;

/**
 * The program of a process. Only its worker says when it ends: a signal that the system sends to all
 * processes of a service is meant for the worker. When that is gone, so is this process within a
 * second, whatever it does: a thread of it looks after its parent.
 */
export const PROCESS_SOURCE: string = `${COMMON}
const { Worker } = require('node:worker_threads');
const post = (message) => process.connected && process.send(message);
let controller;

function contextOf(request) {
  controller = undefined;
  return Object.defineProperty({ ...request.ctx }, 'signal', {
    get() {
      if (controller === undefined) post({ kind: 'watching' });
      controller ??= new AbortController();
      return controller.signal;
    },
  });
}

function abort({ name, message, code }) {
  controller?.abort(Object.assign(new Error(message), { name, code }));
}

process.on('message', (message) => {
  if (message.kind === 'abort') abort(message.reason);
  else answer(message, contextOf(message), post);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});

const watch = 'setInterval(() => process.ppid === workerData || process.kill(process.pid, "SIGKILL"), 1000)';
const code = 'const { workerData } = require("node:worker_threads");' + watch;
new Worker(code, { eval: true, execArgv: [], workerData: Number(process.argv[1]) }).unref();
`;
