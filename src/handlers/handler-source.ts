import type { Logger } from '../base/logger.ts';
import { messageOf } from '../base/message-of.ts';
import type { Clock } from '../base/time.ts';
import {
  InvalidOptionError,
  ProcessEndedError,
  ThreadEndedError,
  UnknownHandlerError,
} from '../domain/errors/errors.ts';
import { checkName } from '../domain/fairness/names.ts';
import { hasVersion, ownNameFor, versionedName } from '../domain/task/task-name.ts';
import { say } from '../logging/log-events.ts';
import { ownNames } from '../runs/own-tasks.ts';
import { DRIVE_TASK } from '../runs/record.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import type { TaskHandler } from '../workflow/tasks/handler-task.ts';
import { ModulePool } from './module-pool.ts';
import { ProcessHost } from './process-host.ts';
import { ProgramRunner } from './program-runner.ts';
import type { Registry } from './registry.ts';
import { ThreadHost } from './thread-host.ts';

/** Registered handlers of a process, by the name in their definitions. */
export type HandlerMap = Readonly<Record<string, TaskHandler>>;

/** Finds the function of a definition with any kind of code. */
export class HandlerSource {
  readonly #registry: Registry;
  readonly #registered: ReadonlyMap<string, TaskHandler>;
  readonly #log: Logger;
  readonly #threads: ModulePool;
  readonly #processes: ModulePool;
  readonly #programs: ProgramRunner;

  /** @throws {@link InvalidOptionError} when a registered handler is invalid. */
  constructor(registry: Registry, handlers: HandlerMap | undefined, clock: Clock, log: Logger) {
    this.#registry = registry;
    this.#registered = checkHandlers(handlers ?? {});
    this.#log = log;
    this.#threads = new ModulePool(
      () => new ThreadHost(),
      (taskId, cause) => new ThreadEndedError(taskId, cause),
    );
    this.#processes = new ModulePool(
      () => new ProcessHost(clock),
      (taskId, cause) => new ProcessEndedError(taskId, cause),
    );
    this.#programs = new ProgramRunner(clock);
  }

  /** The definition with this name, if it can run here. */
  definition(name: string): TaskDefinition | undefined {
    const definition = this.#registry.runnable(name);
    if (definition === undefined || this.has(definition)) return definition;
    return this.#registry.stub(definition) === undefined ? undefined : definition;
  }

  /** Whether a definition's own code is here. */
  has({ code }: TaskDefinition): boolean {
    if (code.kind === 'registered') return this.#registered.has(code.handler);
    return code.kind !== 'elsewhere';
  }

  /** Names of tasks that workers of this process can run. */
  names(): readonly string[] {
    const names = this.#registry.names().filter((name) => this.definition(name) !== undefined);
    // Runs that begin with versioned code are left to workers that have it.
    const drives = names.filter(hasVersion).map((name) => ownNameFor(DRIVE_TASK, name));
    return [...names, ...ownNames(), ...drives];
  }

  /** Warns about tasks that workers of this process leave to others. */
  warnOfMissing(): void {
    for (const { name, options, code } of this.#registry.all()) {
      const own = versionedName(name, options.version);
      if (code.kind !== 'registered' || this.definition(own) !== undefined) continue;
      const { handler } = code;
      const message = `${new UnknownHandlerError(name, handler).message}: not run here`;
      say(this.#log, 'handler.missing', message, { name, handler });
    }
  }

  /**
   * @throws {@link UnknownTaskError} when its code is elsewhere, {@link UnknownHandlerError} when it
   * names a handler that is not registered.
   */
  handler(definition: TaskDefinition): Handler {
    return this.#registry.stub(definition) ?? this.own(definition);
  }

  /** The definition's own code, not a test's replacement. */
  own(definition: TaskDefinition): Handler {
    const { code } = definition;
    switch (code.kind) {
      case 'function':
        return code.handler;
      case 'thread':
        return (input, ctx) => this.#threads.run(code.module, input, ctx);
      case 'process':
        return (input, ctx) => this.#processes.run(code.module, input, ctx);
      case 'command':
        return (input, ctx) => this.#programs.command(code.command, input, ctx);
      case 'container':
        return (input, ctx) => this.#programs.container(code.container, input, ctx);
      case 'registered':
        return this.#byName(definition, code.handler, code.settings);
      case 'elsewhere':
        return this.own(this.#registry.demand(definition));
    }
  }

  /** Ends every thread, process and program, and closes registered handlers. */
  async close(): Promise<void> {
    const registered = [...this.#registered.values()].map((one) => this.#closeOne(one));
    const own = [this.#threads, this.#processes, this.#programs].map((one) => one.close());
    await Promise.all([...own, ...registered]);
  }

  async #closeOne(handler: TaskHandler): Promise<void> {
    try {
      await handler.close?.();
    } catch (error) {
      const message = `closing a handler failed: ${messageOf(error)}`;
      say(this.#log, 'handler.close-failed', message, { error });
    }
  }

  #byName({ taskName }: TaskDefinition, name: string, settings: unknown): Handler {
    const handler = this.#registered.get(name);
    if (handler === undefined) throw new UnknownHandlerError(taskName, name);
    return (input, ctx) => handler.run(input, ctx, { name: taskName, settings });
  }
}

function checkHandlers(handlers: HandlerMap): ReadonlyMap<string, TaskHandler> {
  if (typeof handlers !== 'object' || handlers === null) {
    throw new InvalidOptionError('handlers', 'an object of handlers, by name', handlers);
  }
  const known = new Map(Object.entries(handlers));
  for (const [name, handler] of known) {
    checkName('handlers', name);
    if (typeof handler?.run === 'function') continue;
    throw new InvalidOptionError(`handlers.${name}`, 'an object with a function run', handler);
  }
  return known;
}
