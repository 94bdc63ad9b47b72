/** What the code in a thread is told to run. */
export interface ThreadRequest {
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

/** What it answers. Errors cross as plain facts. */
export type ThreadReply =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'unsendable'; readonly message: string }
  | { readonly kind: 'threw'; readonly error: ThreadFailure };

export interface ThreadFailure {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  /** Of a {@link Fatal} or {@link RetryAfter}. */
  readonly code?: string;
  readonly delayMs?: number;
  readonly countAttempt?: boolean;
}

/**
 * The program of a thread, as text: so it needs no file of its own, whatever bundles or loads this
 * package. It imports what the definition named, and nothing that came with a task.
 */
export const THREAD_SOURCE = `
const { parentPort } = require('node:worker_threads');

function facts(error) {
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: String(error) };
  const { name, message, stack, code, delayMs, countAttempt } = error;
  const known = { name: String(name), message: String(message), stack: String(stack) };
  if (code !== 'FATAL' && code !== 'RETRY_AFTER') return known;
  return { ...known, code, delayMs, countAttempt };
}

async function run({ url, exportName, input, ctx }) {
  const handler = (await import(url))[exportName];
  if (typeof handler !== 'function') {
    throw new TypeError(url + ' has no function named ' + exportName);
  }
  return handler(input, ctx);
}

parentPort.on('message', async (request) => {
  let reply;
  try {
    reply = { kind: 'returned', value: await run(request) };
  } catch (error) {
    reply = { kind: 'threw', error: facts(error) };
  }
  try {
    parentPort.postMessage(reply);
  } catch (error) {
    parentPort.postMessage({ kind: 'unsendable', message: String(error && error.message) });
  }
});
`;
