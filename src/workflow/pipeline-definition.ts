/** Steps at run time. Callers see `Step`, `Task` and `Pipeline`. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { JoinPolicy } from '../graph/graph.ts';
import type { Binding } from '../graph/graph-binding.ts';
import type { GroupPolicy } from './group-policy.ts';
import type { PipelineOptions } from './step.ts';

/** Checked options of a group. */
export interface GroupSpec {
  readonly policy: JoinPolicy;
  readonly failFast: boolean;
  readonly concurrency?: number;
  readonly timeoutMs?: number;
}

/** One step of a flow. Bindings and `after` refer to steps by their number in the flow, as text. */
export interface FlowStep {
  readonly step: StepDefinition;
  readonly input: Binding;
  readonly after: readonly string[];
}

const PIPELINE_KEYS: OptionKeys<PipelineOptions> = keysOf<PipelineOptions>()({ version: true });

/** Composition of a pipeline. Parts are shared, never copied, so that building is linear. */
export type PipelineShape =
  | {
      readonly kind: 'sequence';
      readonly first: StepDefinition;
      /** `undefined` in a pipeline of one step. */
      readonly second: StepDefinition | undefined;
    }
  | {
      readonly kind: 'parallel';
      readonly shape: 'record' | 'tuple';
      readonly members: readonly (readonly [string, StepDefinition])[];
      readonly group: GroupSpec;
      /** The policy, if it was given with its function. */
      readonly policy: GroupPolicy | undefined;
    }
  | {
      readonly kind: 'each';
      readonly step: StepDefinition;
      readonly group: GroupSpec;
      readonly policy: GroupPolicy | undefined;
    }
  | { readonly kind: 'flow'; readonly steps: readonly FlowStep[]; readonly output: Binding };

/** Base class of all steps. */
export abstract class StepDefinition {
  abstract readonly type: 'task' | 'pipeline';
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  abstract as(name: string): StepDefinition;

  pipe(next: unknown): PipelineDefinition {
    const second = demandStep('the step after pipe()', next);
    return new PipelineDefinition({ kind: 'sequence', first: this, second });
  }

  /** Names of the first and the last step, for the name of a sequence without one. */
  get ends(): readonly [string, string] {
    return [this.name, this.name];
  }
}

/** The result of `pipe`, `parallel`, `each` and `flow`. */
export class PipelineDefinition extends StepDefinition {
  readonly type = 'pipeline';
  readonly shape: PipelineShape;
  /** The caller gave the name. A derived name is no prefix of node names. */
  readonly isNamed: boolean;
  /** Version of its tasks that have none of their own. */
  readonly version: string | undefined;
  readonly #ends: readonly [string, string];

  constructor(shape: PipelineShape, name?: string, version?: string) {
    const ends = name === undefined ? endsOf(shape) : undefined;
    super(name === undefined ? derivedName(shape, ends) : checkName('pipeline name', name));
    this.shape = shape;
    this.isNamed = name !== undefined;
    this.version = version;
    this.#ends = ends ?? [this.name, this.name];
    Object.freeze(this);
  }

  override as(name: string, options: PipelineOptions = {}): PipelineDefinition {
    const where = `pipeline ${checkName('pipeline name', name)}`;
    checkOptions(where, options, PIPELINE_KEYS);
    const { version = this.version } = options;
    if (version !== undefined) checkName(`${where}.version`, version);
    return new PipelineDefinition(this.shape, name, version);
  }

  override get ends(): readonly [string, string] {
    return this.#ends;
  }
}

/** @throws {@link InvalidOptionError} when the value is not a step. */
export function demandStep(where: string, value: unknown): StepDefinition {
  if (value instanceof StepDefinition) return value;
  throw new InvalidOptionError(where, 'a step, made by task(), parallel(), flow()…', value);
}

function endsOf(shape: PipelineShape): readonly [string, string] | undefined {
  if (shape.kind !== 'sequence') return undefined;
  const { first, second = first } = shape;
  return [first.ends[0], second.ends[1]];
}

function derivedName(shape: PipelineShape, ends: readonly [string, string] | undefined): string {
  if (ends !== undefined) {
    const [first, last] = ends;
    const half = Math.floor((LIMITS.nameLength - '-to-'.length) / 2);
    return first === last ? first : `${first.slice(0, half)}-to-${last.slice(0, half)}`;
  }
  if (shape.kind === 'each') return `each-${shape.step.name}`.slice(0, LIMITS.nameLength);
  return shape.kind;
}
