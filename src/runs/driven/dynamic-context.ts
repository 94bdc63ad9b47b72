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

/** What a dynamic handler's context shows besides that of every handler. */
export interface CycleFacts {
  /** How often the node ran before. */
  readonly cycle: number;
  readonly maxCycles: number;
}

/** The view of a dynamic handler. Callers see `DynamicContext`; its types are promises only. */
export class DynamicAttemptContext extends AttemptContext {
  readonly cycle: number;
  readonly canIterate: boolean;
  readonly #node: string;
  /** Present once the handler has canceled its run, even if it caught the error. */
  canceled: RunCanceledError | undefined = undefined;
  /** By the name of the call. */
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

  /** What was asked for but the control that was returned: none may be left. */
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
