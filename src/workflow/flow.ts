/** Flows: acyclic graphs, written as a function that wires steps to each other. */
import { encodeJson } from '../base/json.ts';
import { isPlainObject } from '../base/records.ts';
import { InvalidOptionError, InvalidPayloadError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Binding, Json, ValuePath } from '../graph/graph-binding.ts';
import { demandStep, type FlowStep, PipelineDefinition } from './pipeline-definition.ts';
import type { Pipeline, Step } from './step.ts';

/** Carries the type of a value that exists during a run; absent at run time. */
declare const valueType: unique symbol;

/** A reference to a value of a run: the input of a flow, or the output of a step. */
export interface Ref<out T> {
  /** Carries the type; absent at run time. */
  readonly [valueType]: T;
  /** A reference to a part of it. A part that is missing during the run is `undefined`. */
  get<K extends keyof T>(key: K): Ref<T[K]>;
}

/** A value without parts. */
export type Primitive = string | number | boolean | null | undefined;

/** A value; any part of it may be a {@link Ref}. */
export type Wire<T> =
  | Ref<T>
  | (T extends Primitive
      ? T
      : T extends readonly unknown[]
        ? { [K in keyof T]: Wire<T[K]> }
        : { [K in keyof T]: Wire<T[K]> });

/** Options of {@link Flow.step}. */
export interface FlowStepOptions {
  /** Further steps that must end first; their outputs are not read. */
  readonly after?: readonly Ref<unknown>[] | undefined;
  /** Name of the step in this flow, as `.as(name)`. */
  readonly as?: string | undefined;
}

const STEP_KEYS: OptionKeys<FlowStepOptions> = keysOf<FlowStepOptions>()({
  after: true,
  as: true,
});

/** The argument of the function of a {@link flow}. */
export interface Flow<I> {
  /** The input of the flow. */
  readonly input: Ref<I>;
  /**
   * Adds a step. It starts when every step in its `input` and in `after` has ended; at once when
   * there is none. A step that may end the run by `goto` or `terminate` is not accepted.
   *
   * @returns a reference to its output.
   * @throws {@link InvalidOptionError} when a ref belongs to another flow, or the flow is complete.
   */
  step<J, P>(step: Step<J, P, never>, input: Wire<NoInfer<J>>, options?: FlowStepOptions): Ref<P>;
}

/**
 * Defines an acyclic graph of steps by a function that gets a {@link Flow}. The function runs once, at definition; it
 * only wires steps. The flow gives the value of the returned ref, and ends when all its steps have ended.
 *
 * @example
 * ```ts
 * import { Fairloom, type Flow, flow, memory, task } from 'fairloom';
 *
 * const half = task('half', async (n: number) => n / 2);
 * const sum = task('sum', async ({ a, b }: { a: number; b: number }) => a + b);
 * const both = flow('both', (f: Flow<number>) => {
 *   const a = f.step(half, f.input);
 *   return f.step(sum, { a, b: f.input });
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [both] });
 * console.log(await loom.run(both, 8)); // prints 12
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the function does not return a ref to one of its steps.
 * @throws {@link InvalidPayloadError} when a constant in a wire is not JSON.
 */
export function flow<I = void, O = void>(
  name: string,
  build: (f: Flow<I>) => Ref<O>,
): Pipeline<I, O> {
  checkName('flow name', name);
  if (typeof build !== 'function')
    throw new InvalidOptionError(`flow ${name}`, 'a function', build);
  const builder = new FlowBuilder(name);
  // Types of refs exist at compile time only.
  const result: unknown = build(builder as unknown as Flow<I>);
  const definition = new PipelineDefinition(builder.finish(result), name);
  return definition as unknown as Pipeline<I, O>;
}

/** A {@link Ref} at run time: its flow, its step (none: the input) and the path of its part. */
class FlowRef {
  readonly owner: FlowBuilder;
  readonly step: number | undefined;
  readonly path: ValuePath;

  constructor(owner: FlowBuilder, step: number | undefined, path: ValuePath = []) {
    this.owner = owner;
    this.step = step;
    this.path = path;
    Object.freeze(this);
  }

  get(key: unknown): FlowRef {
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new InvalidOptionError(`flow ${this.owner.name}: get()`, 'a key or a position', key);
    }
    return new FlowRef(this.owner, this.step, [...this.path, key]);
  }

  get binding(): Binding {
    const part = this.path.length === 0 ? {} : { path: Object.freeze(this.path) };
    return Object.freeze(
      this.step === undefined
        ? { from: 'input', ...part }
        : { from: 'node', node: String(this.step), ...part },
    );
  }
}

/** A {@link Flow} at run time. */
class FlowBuilder {
  readonly name: string;
  readonly input: FlowRef;
  readonly #steps: FlowStep[] = [];
  #isBuilt = false;

  constructor(name: string) {
    this.name = name;
    this.input = new FlowRef(this, undefined);
  }

  step(given: unknown, input: unknown, options: FlowStepOptions = {}): FlowRef {
    const where = `flow ${this.name}`;
    if (this.#isBuilt) throw new InvalidOptionError(where, 'steps inside its function only', given);
    const unnamed = demandStep(`${where}: step`, given);
    checkOptions(`${where}: step ${unnamed.name}`, options, STEP_KEYS);
    const step = options.as === undefined ? unnamed : unnamed.as(options.as);
    const waits: unknown = options.after ?? [];
    if (!Array.isArray(waits)) {
      throw new InvalidOptionError(`${where}: after`, 'a list of refs', waits);
    }
    const after = Array.from(waits, (ref: unknown) => this.#own(`${where}: after`, ref).step);
    this.#steps.push(
      Object.freeze({
        step,
        input: this.#bindingOf(input, { path: '$', depth: 0 }),
        after: Object.freeze(after.filter((at) => at !== undefined).map(String)),
      }),
    );
    return new FlowRef(this, this.#steps.length - 1);
  }

  finish(result: unknown): PipelineDefinition['shape'] {
    this.#isBuilt = true;
    const where = `flow ${this.name}`;
    const ref = this.#own(where, result);
    if (ref.step === undefined) {
      throw new InvalidOptionError(where, 'a function that returns the ref of a step', result);
    }
    return Object.freeze({ kind: 'flow', steps: Object.freeze(this.#steps), output: ref.binding });
  }

  /** Checks that a value is a ref of this flow. */
  #own(where: string, ref: unknown): FlowRef {
    if (ref instanceof FlowRef && ref.owner === this) return ref;
    throw new InvalidOptionError(where, 'refs of this flow', ref);
  }

  #bindingOf(wire: unknown, at: { readonly path: string; readonly depth: number }): Binding {
    if (wire instanceof FlowRef) {
      this.#own(`flow ${this.name}: ref at ${at.path}`, wire);
      return wire.binding;
    }
    if (wire === undefined) return Object.freeze({ from: 'constant' });
    if (at.depth > LIMITS.graphDepth) {
      throw new InvalidPayloadError(at.path, `is nested deeper than ${LIMITS.graphDepth}`);
    }
    if (Array.isArray(wire)) return this.#arrayOf(wire, at);
    // Only plain objects and arrays may contain refs; other values must be JSON.
    if (isPlainObject(wire)) return this.#objectOf(wire, at);
    const checked = encodeJson(wire, LIMITS.payloadBytes);
    if (!checked.ok) throw new InvalidPayloadError(at.path, checked.problem);
    return Object.freeze({ from: 'constant', value: wire as Json });
  }

  #arrayOf(
    wires: readonly unknown[],
    at: { readonly path: string; readonly depth: number },
  ): Binding {
    const items = wires.map((wire, index) =>
      this.#bindingOf(wire, { path: `${at.path}[${index}]`, depth: at.depth + 1 }),
    );
    const values = items.map(constantOf);
    if (values.every((value) => value !== undefined)) {
      return Object.freeze({ from: 'constant', value: Object.freeze(values) });
    }
    return Object.freeze({ from: 'array', items: Object.freeze(items) });
  }

  #objectOf(wires: object, at: { readonly path: string; readonly depth: number }): Binding {
    const members = Object.entries(wires)
      .filter(([, wire]) => wire !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, wire]) => {
        const path = `${at.path}.${key}`;
        const text = encodeJson(key, LIMITS.payloadBytes);
        if (!text.ok) throw new InvalidPayloadError(path, `the key ${text.problem}`);
        return Object.freeze([key, this.#bindingOf(wire, { path, depth: at.depth + 1 })] as const);
      });
    const values = members.map(([key, part]) => [key, constantOf(part)] as const);
    if (values.every((entry): entry is [string, Json] => entry[1] !== undefined)) {
      return Object.freeze({ from: 'constant', value: Object.freeze(Object.fromEntries(values)) });
    }
    return Object.freeze({ from: 'object', members: Object.freeze(members) });
  }
}

function constantOf(binding: Binding): Json | undefined {
  return binding.from === 'constant' ? binding.value : undefined;
}
