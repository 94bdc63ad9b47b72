import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import type { Registry } from './registry.ts';
import { ownNames } from './runs/own-tasks.ts';
import type { ThreadPool } from './thread-pool.ts';

/** Finds the function to call for a definition, whatever kind of code it has. */
export class HandlerSource {
  readonly #registry: Registry;
  readonly #threads: ThreadPool;

  constructor(registry: Registry, threads: ThreadPool) {
    this.#registry = registry;
    this.#threads = threads;
  }

  /** The definition of that name, if it has code here. */
  definition(name: string): TaskDefinition | undefined {
    return this.#registry.runnable(name);
  }

  /** What workers of this process can be given. */
  names(): readonly string[] {
    return [...this.#registry.names(), ...ownNames()];
  }

  /** @throws {@link UnknownTaskError} when its code is elsewhere. */
  handler(definition: TaskDefinition): Handler {
    return this.#registry.stub(definition.name) ?? this.own(definition);
  }

  /** The definition's own code, whatever a test put in its place. */
  own(definition: TaskDefinition): Handler {
    const { code } = definition;
    switch (code.kind) {
      case 'function':
        return code.handler;
      case 'thread':
        return (input, ctx) => this.#threads.run(code.module, input, ctx);
      case 'elsewhere':
        return this.own(this.#registry.demand(definition.name));
    }
  }
}
