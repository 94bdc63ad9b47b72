import { InvalidOptionError, UnknownTaskError } from '../domain/errors.ts';
import type { AnyStep } from '../workflow/step.ts';
import { definitionOf, type Handler, TaskDefinition } from '../workflow/task-definition.ts';

/** What `FairloomOptions.tasks` may be: a list, or a module's exports as they are. */
export type TaskSource = readonly AnyStep[] | Readonly<Record<string, unknown>>;

/** The definitions that this process knows, by name. */
export class Registry {
  readonly #definitions = new Map<string, TaskDefinition>();
  /** Handlers put in place of the real ones, by tests. */
  readonly #stubs = new Map<string, Handler>();

  /**
   * Of a list every member must be a definition; of a module's exports those that are.
   *
   * @throws {@link InvalidOptionError} when two definitions share a name.
   */
  constructor(source: TaskSource | undefined) {
    if (source === undefined) return;
    if (Array.isArray(source)) {
      for (const step of source) this.#add(definitionOf(step));
      return;
    }
    if (typeof source !== 'object' || source === null) {
      throw new InvalidOptionError('tasks', 'a list of definitions, or an object of them', source);
    }
    for (const value of Object.values(source)) {
      if (value instanceof TaskDefinition) this.#add(value);
    }
  }

  /** The definition of that name, if it has code here. */
  runnable(name: string): TaskDefinition | undefined {
    const definition = this.#definitions.get(name);
    if (definition?.code.kind !== 'elsewhere') return definition;
    return this.#stubs.has(name) ? definition : undefined;
  }

  /** Every definition, also those whose code is elsewhere. */
  all(): readonly TaskDefinition[] {
    return [...this.#definitions.values()];
  }

  /** The definition with code of its own; @throws {@link UnknownTaskError} when there is none. */
  demand(name: string): TaskDefinition {
    const definition = this.#definitions.get(name);
    if (definition === undefined || definition.code.kind === 'elsewhere') {
      throw new UnknownTaskError(name);
    }
    return definition;
  }

  /** Names with code here, sorted. */
  names(): readonly string[] {
    return [...this.#definitions.keys()].filter((name) => this.runnable(name) !== undefined).sort();
  }

  /** The function that runs in place of the definition's own code, if any. */
  stub(name: string): Handler | undefined {
    return this.#stubs.size === 0 ? undefined : this.#stubs.get(name);
  }

  setStub(definition: TaskDefinition, handler: Handler): void {
    if (!this.#definitions.has(definition.name)) this.#add(definition);
    this.#stubs.set(definition.name, handler);
  }

  #add(definition: TaskDefinition): void {
    const before = this.#definitions.get(definition.name);
    if (before === definition) return;
    if (before !== undefined && before.code.kind !== 'elsewhere') {
      if (definition.code.kind === 'elsewhere') return;
      throw new InvalidOptionError('tasks', 'definitions of distinct names', definition.name);
    }
    this.#definitions.set(definition.name, definition);
  }
}
