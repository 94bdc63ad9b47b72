import type { HandlerRun, HandlerRuns } from './handler-runs.ts';

/** Observes one task's handler, including its earlier calls. */
export interface Spy<in out I, out O> {
  /** Every run so far, in the order of the starts. */
  readonly runs: readonly SpiedRun<I, O>[];
  /** The first run whose input matches. */
  started(matches?: (input: I) => boolean): Promise<SpiedRun<I, O>>;
  /** The first run that returned. */
  returned(matches?: (input: I) => boolean): Promise<SpiedRun<I, O>>;
  /** The first run that threw. */
  threw(matches?: (input: I) => boolean): Promise<SpiedRun<I, O>>;
}

/** One run of the handler that a {@link Spy} observes. */
export interface SpiedRun<out I, out O> extends Omit<HandlerRun, 'input' | 'result'> {
  /** Input of the handler. */
  readonly input: I;
  /** Its result. */
  readonly result?: O;
}

/** A spy on the handler of one task, from a journal. */
export function spyOn<I, O>(journal: HandlerRuns, name: string): Spy<I, O> {
  const first = async (
    state: HandlerRun['state'] | 'any',
    matches: (input: I) => boolean = () => true,
  ): Promise<SpiedRun<I, O>> => {
    const isIt = (run: HandlerRun): boolean =>
      run.name === name && (state === 'any' || run.state === state) && matches(run.input as I);
    return typed(await journal.first(isIt));
  };
  return {
    get runs() {
      return journal.runs.filter((run) => run.name === name).map((run) => typed<I, O>(run));
    },
    started: (matches) => first('any', matches),
    returned: (matches) => first('returned', matches),
    threw: (matches) => first('threw', matches),
  };
}

/** The definition has the types of its input and output. */
function typed<I, O>(run: HandlerRun): SpiedRun<I, O> {
  return run as SpiedRun<I, O>;
}
