import type { HandlerRun, HandlerRuns } from './handler-runs.ts';

/** Looks at one task's handler. What it waits for may have happened already. */
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

/** One run of the handler that a {@link Spy} looks at. */
export interface SpiedRun<out I, out O> extends Omit<HandlerRun, 'input' | 'result'> {
  /** What the handler was given. */
  readonly input: I;
  /** What it returned. */
  readonly result?: O;
}

/** What is seen of the handler of one task in a journal. */
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

/** The definition says of which types its input and output are. */
function typed<I, O>(run: HandlerRun): SpiedRun<I, O> {
  return run as SpiedRun<I, O>;
}
