import { AttemptContext, type ContextSource } from '../../attempt/attempt-context.ts';
import { RunCanceledError } from '../../domain/errors/errors.ts';
import {
  againControl,
  type Control,
  gotoControl,
  nextControl,
  terminateControl,
} from '../../workflow/control.ts';
import { demandStep } from '../../workflow/pipeline-definition.ts';

/** Facts that only the context of a dynamic handler shows. */
export interface CycleFacts {
  /** Number of earlier runs of the node. */
  readonly cycle: number;
  readonly maxCycles: number;
}

/** Context of a dynamic handler, without the types of `DynamicContext`, which callers see. */
export class DynamicAttemptContext extends AttemptContext {
  readonly cycle: number;
  readonly canIterate: boolean;
  readonly #node: string;
  /** Present once the handler has canceled its run, even if it caught the error. */
  canceled: RunCanceledError | undefined = undefined;
  /** Controls by the name of the call that made them. */
  readonly #made: (readonly [string, Control])[] = [];

  constructor(
    source: ContextSource,
    { cycle, maxCycles, node }: CycleFacts & { readonly node: string },
  ) {
    super(source);
    this.cycle = cycle;
    this.canIterate = cycle + 1 < maxCycles;
    this.#node = node;
  }

  /** The calls whose control was not returned; there must be none. */
  unreturned(returned: Control | undefined): readonly string[] {
    return this.#made.flatMap(([call, made]) => (made === returned ? [] : [call]));
  }

  next(step: unknown, input?: unknown): Control {
    return this.#note('next', nextControl(demandStep('next', step), input));
  }

  goto(step: unknown, input?: unknown): Control {
    return this.#note('goto', gotoControl(demandStep('goto', step), input));
  }

  again(input: unknown): Control {
    return this.#note('again', againControl(input));
  }

  terminate(value: unknown): Control {
    return this.#note('terminate', terminateControl(value));
  }

  cancelRun(reason: string): never {
    this.canceled = new RunCanceledError({ type: 'cancel-run', node: this.#node, reason });
    throw this.canceled;
  }

  nextTask(step: unknown, input?: unknown): Control {
    return this.#note('nextTask', nextControl(demandStep('nextTask', step), input));
  }

  nextIteration(input: unknown): Control {
    return this.#note('nextIteration', againControl(input));
  }

  #note(call: string, made: Control): Control {
    this.#made.push([call, made]);
    return made;
  }
}
