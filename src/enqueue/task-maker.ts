import type { ValueCodec } from '../codec/codec.ts';
import { DependencyCycleError, InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, checkTaskName } from '../domain/fairness/names.ts';
import type { NewTask } from '../domain/task/task.ts';
import { nameIn, versionedName } from '../domain/task/task-name.ts';
import { invalidPayload, type SchemaResult, validate } from '../workflow/standard-schema.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import type { PlaceOptions } from '../workflow/task-options.ts';
import {
  DEFAULT_EDGES,
  dependenciesOf,
  type EnqueueOptions,
  edgesOf,
  idOf,
  keyOf,
  NO_DEPENDENCIES,
  NO_OPTIONS,
  type Place,
  placeOf,
  rejectsDuplicate,
  startOf,
  storedOptions,
  versioningOf,
} from './enqueue-options.ts';

/** The default user. */
const DEFAULT_USER = 'default';

const BUILT_IN: Place = { queue: 'default', level: 3, cost: 1, expiresInMs: undefined };

const NOTHING: EnqueueOptions = {};

/** The definitions of this process. */
interface KnownNames {
  /** Whether a name is that of a pipeline, and not of a task that can be leased alone. */
  isPipeline(name: string): boolean;
}

interface MakerParts {
  readonly codec: ValueCodec;
  readonly newId: () => string;
  readonly requireUser: boolean;
  /** `FairloomOptions.defaults`. */
  readonly defaults: PlaceOptions;
  readonly registry: KnownNames;
}

/** Makes checked tasks from callers' arguments: everything is refused or stored unchanged. */
export class TaskMaker {
  readonly #codec: ValueCodec;
  readonly #newId: () => string;
  readonly #requireUser: boolean;
  readonly #base: Place;
  readonly #registry: KnownNames;
  /** Places by definition. */
  readonly #places = new WeakMap<TaskDefinition, Place>();

  constructor(parts: MakerParts) {
    this.#codec = parts.codec;
    this.#newId = parts.newId;
    this.#requireUser = parts.requireUser;
    this.#registry = parts.registry;
    this.#base = placeOf(parts.defaults, BUILT_IN);
  }

  /** The default place of tasks. */
  get base(): Place {
    return this.#base;
  }

  /** Returns a promise only when the schema of the input does; throws its refusals. */
  make(
    definition: TaskDefinition,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): NewTask | Promise<NewTask> {
    const task = this.makeUnchecked(definition, input, options);
    if (definition.input === undefined) return task;
    const answer = validate(definition.input, input);
    return answer instanceof Promise
      ? answer.then((result) => accepted(result, task))
      : accepted(answer, task);
  }

  /** Makes a task without a check by the schema, for an input that is not known yet. */
  makeUnchecked(
    definition: TaskDefinition,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): NewTask {
    const name = nameFor(definition, options);
    return this.#task(name, this.#placeOf(definition), { input, options });
  }

  /** For callers that have only the name of a task: a pipeline cannot run as one. */
  makeByName(name: string, input: unknown, options: EnqueueOptions | undefined): NewTask {
    if (this.#registry.isPipeline(name)) {
      throw new InvalidOptionError('name', 'a task, not a pipeline', name);
    }
    const taskName = checkTaskName('name', name);
    const kept = versioningOf(options) === 'latest' ? nameIn(taskName) : taskName;
    return this.#task(kept, this.#base, { input, options });
  }

  #task(
    name: string,
    place: Place,
    call: { readonly input: unknown; readonly options: EnqueueOptions | undefined },
  ): NewTask {
    const payload = this.#codec.payload(name, call.input);
    const { options = NOTHING } = call;
    if (place.expiresInMs === undefined && setsUserOnly(options)) {
      return {
        id: this.#newId(),
        name,
        queue: place.queue,
        user: this.userOf(options.user),
        level: place.level,
        cost: place.cost,
        payload,
        options: NO_OPTIONS,
        dependsOn: NO_DEPENDENCIES,
        edges: DEFAULT_EDGES,
      };
    }
    const { queue, level, cost, expiresInMs } = placeOf(options, place);
    const optional = optionalOf(options, expiresInMs, name);
    const id = idOf(options, this.#newId);
    const dependsOn = dependenciesOf(options);
    if (dependsOn.includes(id)) throw new DependencyCycleError([id, id]);
    // Read again with the reply; an invalid value must be refused before anything is sent.
    rejectsDuplicate(options);
    const task: NewTask = {
      id,
      name,
      queue,
      user: this.userOf(options.user),
      level,
      cost,
      payload,
      options: storedOptions(options),
      dependsOn,
      edges: edgesOf(options),
    };
    return optional === undefined ? task : { ...task, ...optional };
  }

  /** @throws {@link InvalidOptionError} when there is none and one is required. */
  userOf(user: string | undefined): string {
    if (user !== undefined) return checkId('user', user);
    if (!this.#requireUser) return DEFAULT_USER;
    throw new InvalidOptionError('user', 'a user (requireUser is set)', user);
  }

  #placeOf(definition: TaskDefinition): Place {
    const known = this.#places.get(definition);
    if (known !== undefined) return known;
    const place = placeOf(definition.options, this.#base);
    this.#places.set(definition, place);
    return place;
  }
}

/** The name with its version, unless definition or enqueue say that it keeps none. */
function nameFor(definition: TaskDefinition, options: EnqueueOptions | undefined): string {
  const versioning = versioningOf(options);
  if (versioning === undefined) return definition.storedName;
  return versioning === 'pin'
    ? versionedName(definition.name, definition.options.version)
    : definition.name;
}

/** Whether the options set only the user, as most do: then there is nothing else to read or check. */
function setsUserOnly(options: EnqueueOptions): boolean {
  for (const name in options) if (name !== 'user') return false;
  // An instance of a class may have further options behind accessors.
  return Object.getPrototypeOf(options) === Object.prototype;
}

/** Fields of few tasks, so that the other tasks cost only one plain object. */
function optionalOf(
  options: EnqueueOptions,
  expiresInMs: number | undefined,
  name: string,
): Pick<NewTask, 'delayMs' | 'executeAfter' | 'expiresInMs' | 'idempotency'> | undefined {
  const start = startOf(options);
  const key = keyOf(options, name);
  if (start === undefined && key === undefined && expiresInMs === undefined) return undefined;
  return {
    ...start,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(key === undefined ? {} : { idempotency: key }),
  };
}

function accepted(result: SchemaResult, task: NewTask): NewTask {
  if (result.ok) return task;
  throw invalidPayload(result);
}
