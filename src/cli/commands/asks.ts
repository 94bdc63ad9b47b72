import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { AskInfo } from '../../client/facades/asks-facade.ts';
import { AskNotFoundError, DecryptionError } from '../../domain/errors/errors.ts';
import { encryptedWords } from '../../domain/task/sealed-text.ts';
import { inputArgument } from '../terminal/arguments.ts';
import { shownMoment } from '../terminal/moments.ts';
import { jsonLines, type View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { cellText } from '../terminal/text-table.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { limitArgument, rowsOf, showFirst } from '../views/select-tasks.ts';

interface ListOptions {
  readonly user?: string;
  readonly for?: string;
  readonly limit: number;
}

interface AnswerOptions {
  readonly by: string;
  readonly comment?: string;
  readonly form?: string;
}

/** What commander hands on behind the arguments. */
type AnswerRest = [options: AnswerOptions, command: Command];

/** `fairloom asks …` */
export function addAsks(program: Command, shell: Shell): void {
  const asks = program.command('asks').description('what tasks ask people');
  addList(asks, shell);
  addGet(asks, shell);
  addAnswer(asks, shell);
}

function addList(asks: Command, shell: Shell): void {
  asks
    .command('list')
    .description('questions that are open, the oldest first')
    .option('--user <user>', 'of whose tasks; default: all')
    .option('--for <name>', 'whom they are for, as role:finance')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action(({ limit, ...where }: ListOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const all = rowsOf((page) => loom.asks.list({ ...page, ...where }));
        await showFirst(output, all, { limit, view: askView(epochMs()) });
        return undefined;
      }),
    );
}

function addGet(asks: Command, shell: Shell): void {
  asks
    .command('get <id>')
    .description('everything about one question, and who has answered it')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const ask = await loom.asks.get(id);
        if (ask === undefined) throw new AskNotFoundError(id);
        output.one({ json: ask satisfies JsonShapes['asks get'], id, text: jsonLines(ask) });
        return undefined;
      }),
    );
}

function addAnswer(asks: Command, shell: Shell): void {
  asks
    .command('answer <id> <choice>')
    .description('answer a question: the first answer counts')
    .requiredOption('--by <who>', 'who answers; kept with the answer')
    .option('--comment <text>', 'text for people, kept with the answer')
    .option('--form <json>', 'what its form asks for, as JSON, @file, or - for stdin')
    .action(async (id: string, choice: string, ...[options, command]: AnswerRest) => {
      const { by, comment, form } = options;
      return withLoom(shell, command, async (loom, output) => {
        const value = form === undefined ? undefined : await inputArgument(form, shell.stdin);
        // Its handler would not take what comes without the key, and the question is answered once.
        const encryptedWith = (await loom.asks.get(id))?.encryptedWith;
        if (encryptedWith !== undefined) throw new DecryptionError(encryptedWith, 'unknown-key');
        await loom.asks.answer(id, { choice, by, comment, form: value });
        const json = { id, choice, by } satisfies JsonShapes['asks answer'];
        output.one({ json, id, text: [`${by} has answered ${choice}`] });
        return undefined;
      });
    });
}

function titleOf({ title = '', encryptedWith }: AskInfo): string {
  return encryptedWith === undefined ? cellText(title) : encryptedWords(encryptedWith);
}

/** With moments as seen from `now` (ms since the epoch). */
function askView(now: number): View<AskInfo> {
  return {
    columns: () => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'TITLE', cell: titleOf },
      { title: 'CHOICES', cell: ({ choices }) => choices.join(', ') },
      { title: 'FOR', cell: ({ for: names }) => cellText(names.join(', ')) },
      { title: 'USER', cell: ({ user }) => cellText(user) },
      { title: 'ASKED', cell: ({ askedAt }) => shownMoment(askedAt, now) },
      {
        title: 'UNTIL',
        cell: ({ until }) => (until === undefined ? '' : shownMoment(until, now)),
      },
    ],
    json: (ask) => ask,
    id: ({ id }) => id,
    none: 'no open questions',
  };
}
