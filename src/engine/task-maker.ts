import { DependencyCycleError, InvalidOptionError, InvalidPayloadError } from '../domain/errors.ts';
import { checkId, checkName } from '../domain/names.ts';
import type { NewTask } from '../domain/task.ts';
import { type SchemaResult, validate } from '../workflow/standard-schema.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import type { PlaceOptions } from '../workflow/task-options.ts';
import type { ValueCodec } from './codec.ts';
import {
  dependenciesOf,
  type EnqueueOptions,
  edgesOf,
  idOf,
  keyOf,
  NO_OPTIONS,
  type Place,
  placeOf,
  rejectsDuplicate,
  startOf,
  storedOptions,
} from './enqueue-options.ts';

/** The user of tasks that name none. */
const DEFAULT_USER = 'default';

const BUILT_IN: Place = { queue: 'default', level: 3, cost: 1, expiresInMs: undefined };

const NOTHING: EnqueueOptions = {};
const NO_DEPENDENCIES: readonly string[] = [];

interface MakerParts {
  readonly codec: ValueCodec;
  readonly newId: () => string;
  readonly requireUser: boolean;
  /** `FairloomOptions.defaults`. */
  readonly defaults: PlaceOptions;
}

/** Makes checked tasks out of what callers say. Everything is refused here or stored as it is. */
export class TaskMaker {
  readonly #codec: ValueCodec;
  readonly #newId: () => string;
  readonly #requireUser: boolean;
  readonly #base: Place;
  /** Places of the definitions met so far. */
  readonly #places = new WeakMap<TaskDefinition, Place>();
  readonly #edges = edgesOf(NOTHING);

  constructor(parts: MakerParts) {
    this.#codec = parts.codec;
    this.#newId = parts.newId;
    this.#requireUser = parts.requireUser;
    this.#base = placeOf(parts.defaults, BUILT_IN);
  }

  /** Gives a promise only when the schema of the input does; throws what it refuses. */
  make(
    definition: TaskDefinition,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): NewTask | Promise<NewTask> {
    const task = this.#task(definition.name, this.#placeOf(definition), { input, options });
    if (definition.input === undefined) return task;
    const answer = validate(definition.input, input);
    return answer instanceof Promise
      ? answer.then((result) => accepted(result, task))
      : accepted(answer, task);
  }

  /** For callers that have a name only. */
  makeByName(name: string, input: unknown, options: EnqueueOptions | undefined): NewTask {
    return this.#task(checkName('name', name), this.#base, { input, options });
  }

  #task(
    name: string,
    place: Place,
    call: { readonly input: unknown; readonly options: EnqueueOptions | undefined },
  ): NewTask {
    const payload = this.#codec.payload(name, call.input);
    const { options } = call;
    if (options === undefined) return this.#plain(name, place, payload);
    if (typeof options !== 'object' || options === null) {
      throw new InvalidOptionError('options', 'an object', options);
    }
    const { queue, level, cost, expiresInMs } = placeOf(options, place);
    const key = keyOf(options);
    const id = idOf(options, this.#newId);
    const dependsOn = dependenciesOf(options);
    if (dependsOn.includes(id)) throw new DependencyCycleError([id, id]);
    // Asked for again when the reply is there; a wrong value must be refused before anything is sent.
    rejectsDuplicate(options);
    return {
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
      ...startOf(options),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
      ...(key === undefined ? {} : { idempotency: key }),
    };
  }

  #plain(name: string, place: Place, payload: string): NewTask {
    const { queue, level, cost, expiresInMs } = place;
    const task = {
      id: this.#newId(),
      name,
      queue,
      user: this.userOf(undefined),
      level,
      cost,
      payload,
      options: NO_OPTIONS,
      dependsOn: NO_DEPENDENCIES,
      edges: this.#edges,
    };
    return expiresInMs === undefined ? task : { ...task, expiresInMs };
  }

  /** @throws {@link InvalidOptionError} when there is none and one is needed. */
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

function accepted(result: SchemaResult, task: NewTask): NewTask {
  if (result.ok) return task;
  throw new InvalidPayloadError(result.path, result.message);
}
