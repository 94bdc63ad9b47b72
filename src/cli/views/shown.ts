/** How commands show what their operations answer: rows, one thing, a note, or what became of each id. */
import { epochMs } from '../../base/globals.ts';
import type { Page } from '../../domain/port/backend.ts';
import type { Answers, OperationName } from '../../operations/answers.ts';
import type { ExitCode } from '../terminal/exit-code.ts';
import type { CommandCall, Shown } from '../terminal/operation-command.ts';
import { jsonLines, type Output, type Thing, type View } from '../terminal/output.ts';
import { changeEach } from './bulk.ts';
import { rowsOf, showFirst } from './select-tasks.ts';

/** By operation. */
export type ShownBy = Readonly<Partial<Record<OperationName, Shown>>>;

/** Operations that answer rows. */
type ListName = {
  [N in OperationName]: Answers[N] extends { readonly items: readonly unknown[] } ? N : never;
}[OperationName];

type RowOf<N extends ListName> = Answers[N]['items'][number];

/** What an operation answers to a call. */
export async function answerOf<N extends OperationName>(
  _name: N,
  { run }: Pick<CommandCall, 'run'>,
): Promise<Answers[N]> {
  // The compiler has held the entry of the table to it.
  return (await run()) as Answers[N];
}

/** Rows, with moments as seen from `now`; of a paged listing the first. */
export function rows<N extends ListName>(
  name: N,
  viewAt: (now: number) => View<RowOf<N>>,
): { readonly [K in N]: Shown } {
  const shown: Shown = {
    show: async ({ run, limit, output }) => {
      const view = viewAt(epochMs());
      // The compiler has held the entry of the table to it.
      const read = async (page: object): Promise<Page<RowOf<N>>> =>
        (await run({ ...page })) as Page<RowOf<N>>;
      if (Number.isNaN(limit)) output.rows((await read({})).items, view);
      else await showFirst(output, rowsOf(read), { limit, view });
      return undefined;
    },
  };
  return by(name, shown);
}

/** One thing; by default as JSON. */
export function thing<N extends OperationName>(
  name: N,
  shownAs: (answer: Answers[N], output: Output) => Omit<Thing, 'json'>,
  more: Omit<Shown, 'show'> = {},
): { readonly [K in N]: Shown } {
  const shown: Shown = {
    ...more,
    show: async ({ run, output }) => {
      const answer = await answerOf(name, { run });
      output.one({ json: Object(answer), ...shownAs(answer, output) });
      return undefined;
    },
  };
  return by(name, shown);
}

/** Does it to each id, and shows what became of it, under the name of the verb. */
export function each(verb: string): Shown {
  return { show: (call) => doEach(verb, call) };
}

/** The same. */
export function doEach(
  verb: string,
  { ids, output, run }: Pick<CommandCall, 'ids' | 'output' | 'run'>,
): Promise<ExitCode> {
  return changeEach(verb, ids, output, async (id) => {
    const { outcome, state } = Object(await run({ id }));
    return String(outcome ?? state);
  });
}

/** A line on stderr when it is done: what `key` of the input names, and these words. */
export function noted(key: string, words: string): Shown {
  return {
    show: async ({ run, output, input }) => {
      await run();
      output.note(`${String(input[key])} ${words}`);
      return undefined;
    },
  };
}

/** A thing whose text is its JSON. */
export function asJson(answer: object, id: string): Omit<Thing, 'json'> {
  return { id, text: jsonLines(answer) };
}

function by<N extends OperationName>(name: N, shown: Shown): { readonly [K in N]: Shown } {
  return { [name]: shown } as { readonly [K in N]: Shown };
}
