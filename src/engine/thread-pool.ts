import { availableParallelism } from 'node:os';
import { Worker as Thread } from 'node:worker_threads';
import { Fatal, InvalidResultError, RetryAfter, ThreadEndedError } from '../domain/errors.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import type { ThreadModule } from '../workflow/task-definition.ts';
import {
  THREAD_SOURCE,
  type ThreadFailure,
  type ThreadReply,
  type ThreadRequest,
} from './thread-source.ts';

/** The threads of one process. One runs one task at a time, and none outlives a task that hangs. */
export class ThreadPool {
  /** Those without a task, oldest first, with the module that they have loaded. */
  readonly #idle: { readonly url: string; readonly thread: Thread }[] = [];
  readonly #all = new Set<Thread>();

  /** Runs one task; rejects with the signal's reason as soon as that aborts. */
  run(module: ThreadModule, input: unknown, ctx: TaskContext): Promise<unknown> {
    const { signal } = ctx;
    if (signal.aborted) return Promise.reject(signal.reason);
    const thread = this.#take(module.url);
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        stop();
        this.#end(thread);
        reject(error);
      };
      const onAbort = (): void => fail(signal.reason);
      const onError = (error: unknown): void => fail(new ThreadEndedError(ctx.taskId, error));
      const onExit = (code: number): void => onError(`exit code ${code}`);
      const onMessage = (reply: ThreadReply): void => {
        stop();
        this.#giveBack(module.url, thread);
        if (reply.kind === 'returned') resolve(reply.value);
        else reject(errorOf(reply));
      };
      const stop = (): void => {
        signal.removeEventListener('abort', onAbort);
        thread.off('error', onError).off('messageerror', onError);
        thread.off('exit', onExit).off('message', onMessage);
      };
      signal.addEventListener('abort', onAbort);
      thread.on('error', onError).on('messageerror', onError);
      thread.on('exit', onExit).on('message', onMessage);
      try {
        thread.postMessage(requestOf(module, input, ctx));
      } catch (error) {
        // A codec may make inputs that cannot cross to a thread.
        fail(error);
      }
    });
  }

  /** Ends every thread, whatever it does. */
  async close(): Promise<void> {
    this.#idle.length = 0;
    const threads = [...this.#all];
    this.#all.clear();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #take(url: string): Thread {
    const at = this.#idle.findLastIndex((idle) => idle.url === url);
    const [waiting] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (waiting !== undefined) return waiting.thread;
    const thread = new Thread(THREAD_SOURCE, { eval: true });
    // Who waits for the task keeps the process alive; a thread that only hangs should not.
    thread.unref();
    // One that ends while it has no task is missed by nobody; an error must have a listener.
    thread.on('error', () => this.#forget(thread)).on('exit', () => this.#forget(thread));
    this.#all.add(thread);
    return thread;
  }

  /** Keeps as many as can run at once, the newest. */
  #giveBack(url: string, thread: Thread): void {
    if (!this.#all.has(thread)) return;
    this.#idle.push({ url, thread });
    const oldest = this.#idle.length > availableParallelism() ? this.#idle.shift() : undefined;
    if (oldest !== undefined) this.#end(oldest.thread);
  }

  #forget(thread: Thread): void {
    this.#all.delete(thread);
    const at = this.#idle.findIndex((idle) => idle.thread === thread);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #end(thread: Thread): void {
    this.#forget(thread);
    void thread.terminate();
  }
}

function requestOf(module: ThreadModule, input: unknown, ctx: TaskContext): ThreadRequest {
  const { taskId, user, attempt, fencingToken, traceparent } = ctx;
  return { ...module, input, ctx: { taskId, user, attempt, fencingToken, traceparent } };
}

function errorOf(reply: Exclude<ThreadReply, { kind: 'returned' }>): Error {
  if (reply.kind === 'unsendable') return new InvalidResultError('$', reply.message);
  const { code, message, delayMs = 0, countAttempt = true } = reply.error;
  if (code === 'FATAL') return withFacts(new Fatal(message), reply.error);
  if (code === 'RETRY_AFTER') return new RetryAfter(delayMs, countAttempt, message);
  return new ThreadError(reply.error);
}

/** An error that a handler threw in its thread: name, message and stack as they were there. */
class ThreadError extends Error {
  override readonly name: string;

  constructor(facts: ThreadFailure) {
    super(facts.message);
    this.name = facts.name;
    withFacts(this, facts);
  }
}

function withFacts(error: Error, { stack }: ThreadFailure): Error {
  if (stack !== undefined) error.stack = stack;
  return error;
}
