import { availableParallelism } from 'node:os';
import { onAbort } from '../base/abort-watch.ts';
import type { LogFields } from '../base/logger.ts';
import { errorFrom, type TaskError } from '../base/thrown.ts';
import { errorIn } from '../codec/task-error.ts';
import { ClosedError, Fatal, InvalidResultError, RetryAfter } from '../domain/errors/errors.ts';
import type { HandlerModule } from '../workflow/task-code.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import type { HostLine, HostReply, HostRequest } from './host-messages.ts';
import type { ModuleHost } from './module-host.ts';

/** Threads or processes. One runs one task at a time, and none outlives a task that hangs. */
export class ModulePool {
  readonly #open: () => ModuleHost;
  /** What a task fails with whose host is gone. */
  readonly #ended: (taskId: string, cause: unknown) => Error;
  /** Those without a task, oldest first, with the module that they have loaded. */
  readonly #idle: { readonly url: string; readonly host: ModuleHost }[] = [];
  readonly #all = new Set<ModuleHost>();
  #isClosed = false;

  constructor(open: () => ModuleHost, ended: (taskId: string, cause: unknown) => Error) {
    this.#open = open;
    this.#ended = ended;
  }

  /**
   * Runs one task. When its signal aborts, what it gives in its grace counts; else this rejects
   * with the signal's reason, once the host is gone: so the next attempt does not run beside it.
   */
  run(module: HandlerModule, input: unknown, ctx: TaskContext): Promise<unknown> {
    const { signal } = ctx;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.reject(new ClosedError('this Fairloom'));
    const host = this.#take(module.url);
    return new Promise((resolve, reject) => {
      const unwatch = onAbort([signal], (reason) => {
        this.#forget(host);
        void host.end(reason);
      });
      const stop = (): void => {
        unwatch();
        host.release();
      };
      const listener = {
        logged: (line) => ctx.log[line.level](line.message, fieldsOf(line)),
        replied: (reply) => {
          stop();
          const isUnloaded = reply.kind === 'threw' && reply.isUnloaded === true;
          // Node keeps what a module threw when it was loaded: here it would never load.
          if (isUnloaded) void this.#end(host).then(() => reject(errorOf(reply)));
          else if (signal.aborted) void host.kill();
          else this.#giveBack(module.url, host);
          if (reply.kind === 'returned') resolve(reply.value);
          else if (!isUnloaded) reject(errorOf(reply));
        },
        gone: (cause) => {
          stop();
          reject(signal.aborted ? signal.reason : this.#ended(ctx.taskId, cause));
        },
      } satisfies Parameters<ModuleHost['run']>[1];
      try {
        host.run(requestOf(module, input, ctx), listener);
      } catch (error) {
        // A codec may make inputs that cannot cross.
        stop();
        this.#giveBack(module.url, host);
        reject(error);
      }
    });
  }

  /** Ends every host, also a busy one; none is opened any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle.length = 0;
    await Promise.all([...this.#all].map((host) => host.kill()));
  }

  #take(url: string): ModuleHost {
    const at = this.#idle.findLastIndex((idle) => idle.url === url);
    const [waiting] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (waiting !== undefined) return waiting.host;
    const host = this.#open();
    host.whenGone(() => {
      this.#forget(host);
      this.#all.delete(host);
    });
    this.#all.add(host);
    return host;
  }

  /** Keeps as many as can run at once, the newest. */
  #giveBack(url: string, host: ModuleHost): void {
    if (this.#isClosed) return;
    this.#idle.push({ url, host });
    const oldest = this.#idle.length > availableParallelism() ? this.#idle.shift() : undefined;
    void oldest?.host.kill();
  }

  /** It takes no further task, and is over once this is fulfilled. */
  #end(host: ModuleHost): Promise<void> {
    this.#forget(host);
    return host.kill();
  }

  /** It takes no further task. */
  #forget(host: ModuleHost): void {
    const at = this.#idle.findIndex((idle) => idle.host === host);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

function requestOf(module: HandlerModule, input: unknown, ctx: TaskContext): HostRequest {
  const { taskId, user, attempt, fencingToken, traceparent } = ctx;
  const facts = { taskId, user, attempt, fencingToken, traceparent };
  return { kind: 'run', ...module, input, ctx: facts };
}

function errorOf(reply: Exclude<HostReply, { kind: 'returned' }>): Error {
  if (reply.kind === 'unsendable') return new InvalidResultError('$', reply.message);
  return steering(errorIn(reply.error));
}

/** What was thrown there, also of our own classes that handlers throw. */
function steering(facts: TaskError): Error {
  const error = errorFrom(facts);
  if (facts.own !== true) return error;
  if (facts.code === 'FATAL')
    return sameAs(error, new Fatal(facts.message, { cause: error.cause }));
  const { delayMs, countAttempt = true } = facts;
  if (facts.code !== 'RETRY_AFTER' || delayMs === undefined) return error;
  return sameAs(error, new RetryAfter(delayMs, countAttempt, facts.message));
}

/** Name and stack as they were there. */
function sameAs(from: Error, error: Error): Error {
  Object.defineProperty(error, 'name', { value: from.name, configurable: true, writable: true });
  Object.defineProperty(error, 'stack', { value: from.stack, configurable: true, writable: true });
  return error;
}

function fieldsOf({ fields, errors = {} }: HostLine): LogFields | undefined {
  if (fields === undefined) return undefined;
  const revived = Object.entries(errors).map(([key, facts]) => [key, errorFrom(errorIn(facts))]);
  return { ...fields, ...Object.fromEntries(revived) };
}
