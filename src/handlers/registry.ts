import { InvalidOptionError, UnknownTaskError } from '../domain/errors/errors.ts';
import { compareVersions, nameIn, versionedName } from '../domain/task/task-name.ts';
import { ownTask } from '../runs/own-tasks.ts';
import { type GroupPolicy, isGroupPolicy } from '../workflow/group-policy.ts';
import { partsOf } from '../workflow/parts.ts';
import { demandStep, PipelineDefinition, StepDefinition } from '../workflow/pipeline-definition.ts';
import type { AnyStep } from '../workflow/step.ts';
import { type Handler, TaskDefinition } from '../workflow/task-definition.ts';

/**
 * Values of `FairloomOptions.tasks`: a list, or the exports of a module. A pipeline registers all
 * tasks and policies in it.
 */
export type TaskSource = readonly (AnyStep | GroupPolicy)[] | Readonly<Record<string, unknown>>;

/** The definitions that this process knows, by name and version. */
export class Registry {
  /** Definitions by name, with the version if there is one. */
  readonly #definitions = new Map<string, TaskDefinition>();
  /** The newest versioned definitions, by name without version. */
  readonly #newest = new Map<string, TaskDefinition>();
  readonly #policies = new Map<string, GroupPolicy>();
  /** Steps that run as runs, by name: pipelines, and dynamic tasks. */
  readonly #pipelines = new Map<string, StepDefinition>();
  /** Increases when a name gets another definition. */
  revision = 0;
  /** Handlers that tests put in place of the real ones. */
  readonly #stubs = new Map<string, Handler>();

  /**
   * Every member of a list must be a step or a policy; other exports of a module are ignored.
   *
   * @throws {@link InvalidOptionError} when one name and version has two handlers, or one name two
   * policies.
   */
  constructor(source: TaskSource | undefined) {
    if (source === undefined) return;
    if (Array.isArray(source)) {
      const all: readonly unknown[] = source;
      for (const one of all) {
        if (!this.#take(one)) demandStep('tasks', one);
      }
      return;
    }
    if (typeof source !== 'object' || source === null) {
      throw new InvalidOptionError('tasks', 'a list of definitions, or an object of them', source);
    }
    for (const value of Object.values(source)) this.#take(value);
  }

  /**
   * The definition with this name, and version if given, if it has code here. A name without version
   * means the definition without one, if there is one, else the newest.
   */
  runnable(name: string): TaskDefinition | undefined {
    const definition = this.#find(name);
    if (definition === undefined) return ownTask(nameIn(name));
    if (definition.code.kind !== 'elsewhere') return definition;
    return this.stub(definition) === undefined ? undefined : definition;
  }

  /** Every definition, including those whose code is elsewhere. */
  all(): readonly TaskDefinition[] {
    return [...this.#definitions.values()];
  }

  /** The definition with its own code; @throws {@link UnknownTaskError} when there is none. */
  demand({ name: of, options }: TaskDefinition): TaskDefinition {
    const name = versionedName(of, options.version);
    const definition = this.#find(name);
    if (definition === undefined || definition.code.kind === 'elsewhere') {
      throw new UnknownTaskError(name);
    }
    return definition;
  }

  /** Names with code here, sorted; versioned ones are listed with and without their version. */
  names(): readonly string[] {
    const all = new Set([...this.#definitions.keys(), ...this.#newest.keys()]);
    return [...all].filter((name) => this.runnable(name) !== undefined).sort();
  }

  /** Names of pipelines that are not names of tasks which can be leased alone, sorted. */
  pipelines(): readonly string[] {
    return [...this.#pipelines.keys()].filter((name) => this.isPipeline(name)).sort();
  }

  /** Whether a name is that of a pipeline here, and not of a task that can be leased alone. */
  isPipeline(name: string): boolean {
    const definition = this.#find(name);
    const isTask = definition !== undefined && definition.dynamic === undefined;
    return this.#pipelines.has(name) && !isTask;
  }

  /** The step with this name that runs as a run: the one that was registered last. */
  pipeline(name: string): StepDefinition | undefined {
    return this.#pipelines.get(name);
  }

  /** The policy with this name, if its function is here. */
  policy(name: string): GroupPolicy | undefined {
    return this.#policies.get(name);
  }

  /** The function that a test put in place of the definition's own code, if any. */
  stub({ name, options }: TaskDefinition): Handler | undefined {
    if (this.#stubs.size === 0) return undefined;
    return this.#stubs.get(versionedName(name, options.version)) ?? this.#stubs.get(name);
  }

  setStub(definition: TaskDefinition, handler: Handler): void {
    const name = versionedName(definition.name, definition.options.version);
    if (!this.#definitions.has(name)) this.#add(definition);
    this.#stubs.set(name, handler);
    this.revision++;
  }

  /** Registers a value. @returns whether it can be registered. */
  #take(value: unknown): boolean {
    if (isGroupPolicy(value)) {
      this.#addPolicy(value);
      return true;
    }
    if (!(value instanceof StepDefinition)) return false;
    if (runsAsRun(value)) this.#pipelines.set(value.name, value);
    // A renamed task is enqueued alone under its new name.
    if (value instanceof TaskDefinition) this.#add(value);
    const { tasks, policies } = partsOf(value);
    // A node finds its code by the original name of the task, not by its name in the graph.
    for (const task of tasks) this.#add(task.name === task.taskName ? task : firstNamed(task));
    for (const policy of policies) this.#addPolicy(policy);
    return true;
  }

  #find(name: string): TaskDefinition | undefined {
    const definition = this.#definitions.get(name);
    if (definition !== undefined && definition.code.kind !== 'elsewhere') return definition;
    return this.#newest.get(name) ?? definition;
  }

  #add(definition: TaskDefinition): void {
    const { version } = definition.options;
    const name = versionedName(definition.name, version);
    const before = this.#definitions.get(name);
    if (before === definition) return;
    if (before !== undefined && before.code.kind !== 'elsewhere') {
      if (definition.code.kind === 'elsewhere' || definition.code === before.code) return;
      throw new InvalidOptionError('tasks', 'one handler per name and version', name);
    }
    this.#definitions.set(name, definition);
    if (version !== undefined && definition.code.kind !== 'elsewhere')
      this.#note(definition, version);
  }

  #note(definition: TaskDefinition, version: string): void {
    const { version: newest } = this.#newest.get(definition.name)?.options ?? {};
    if (newest !== undefined && compareVersions(newest, version) > 0) return;
    this.#newest.set(definition.name, definition);
  }

  #addPolicy(policy: GroupPolicy): void {
    const before = this.#policies.get(policy.name);
    if (before !== undefined && before.decide !== policy.decide) {
      throw new InvalidOptionError('tasks', 'one policy per name', policy.name);
    }
    this.#policies.set(policy.name, policy);
  }
}

/** Whether its name is that of a run. A pipeline without a name of its own cannot be found. */
function runsAsRun(step: StepDefinition): boolean {
  if (step instanceof TaskDefinition) return step.dynamic !== undefined;
  return step instanceof PipelineDefinition && step.isNamed;
}

function firstNamed(task: TaskDefinition): TaskDefinition {
  return task.as(task.taskName);
}
