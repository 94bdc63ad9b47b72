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

/** Threads or processes. Each runs one task at a time, and is ended if that task hangs. */
export class ModulePool {
  readonly #open: () => ModuleHost;
  /** The error of a task whose host has exited. */
  readonly #ended: (taskId: string, cause: unknown) => Error;
  /** Idle hosts, oldest first, with the module that each has loaded. */
  readonly #idle: { readonly url: string; readonly host: ModuleHost }[] = [];
  readonly #all = new Set<ModuleHost>();
  #isClosed = false;

  constructor(open: () => ModuleHost, ended: (taskId: string, cause: unknown) => Error) {
    this.#open = open;
    this.#ended = ended;
  }

  /**
   * Runs one task. When its signal aborts, a result within the grace counts; else this rejects with
   * the reason of the signal once the host has exited, so that no next attempt runs beside it.
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
          // Node caches the error of a module's load: in this host the module would never load.
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
        // A codec may produce inputs that cannot be sent.
        stop();
        this.#giveBack(module.url, host);
        reject(error);
      }
    });
  }

  /** Ends every host, including busy ones; no new host is started. */
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

  /** Keeps the newest hosts, as many as can run at once. */
  #giveBack(url: string, host: ModuleHost): void {
    if (this.#isClosed) return;
    this.#idle.push({ url, host });
    const oldest = this.#idle.length > availableParallelism() ? this.#idle.shift() : undefined;
    void oldest?.host.kill();
  }

  /** Ends a host; resolves when it has exited. */
  #end(host: ModuleHost): Promise<void> {
    this.#forget(host);
    return host.kill();
  }

  /** Removes a host from the pool. */
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

/** The error that a handler threw, with our own class if it had one. */
function steering(facts: TaskError): Error {
  const error = errorFrom(facts);
  if (facts.own !== true) return error;
  if (facts.code === 'FATAL')
    return sameAs(error, new Fatal(facts.message, { cause: error.cause }));
  const { delayMs, countAttempt = true } = facts;
  if (facts.code !== 'RETRY_AFTER' || delayMs === undefined) return error;
  return sameAs(error, new RetryAfter(delayMs, countAttempt, facts.message));
}

/** Copies name and stack of the original error. */
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
