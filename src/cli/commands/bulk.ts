import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { BulkInfo } from '../../bulk/bulk-facade.ts';
import { ACTION_STATES, type BulkAction } from '../../bulk/bulk-record.ts';
import { coreOf, type Fairloom } from '../../client/client.ts';
import type { RateOptions } from '../../client/facades/settings-options.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { rateArgument } from '../terminal/arguments.ts';
import { CliError, EXIT, type ExitCode } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { jsonLines, type Output, type View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { cellText } from '../terminal/text-table.ts';
import { changeEach } from '../views/bulk.ts';
import { confirm } from '../views/confirm.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { foundTasks, limitArgument, rowsOf, showFirst, take } from '../views/select-tasks.ts';
import { saying, sayObstacle } from '../views/wait.ts';

interface StartOptions {
  readonly where: string;
  readonly rate?: RateOptions;
  readonly dryRun?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly queue?: string;
  readonly yes?: boolean;
  readonly wait?: boolean;
}

/** What takes something away, and so asks first. */
const ASKED: readonly BulkAction[] = ['cancel', 'remove'];

/** Tasks that are counted before a question. */
const COUNTED = 1_000;

/** `fairloom bulk …` */
export function addBulk(program: Command, shell: Shell): void {
  const bulk = program.command('bulk').description('changes of many tasks, by workers');
  addStart(bulk, shell);
  addList(bulk, shell);
  addGet(bulk, shell);
  addCancel(bulk, shell);
}

function addStart(bulk: Command, shell: Shell): void {
  bulk
    .command('start <action>')
    .description('redrive, cancel, remove or run-now what a filter means; workers carry it out')
    .requiredOption('--where <filter>', 'which tasks, as "state:failed user:acme"')
    .option('--rate <limit/per>', 'so many per time, as 10/1s', rateArgument)
    .option('--dry-run', 'only count what it would change')
    .option('--by <who>', 'who asks for it; kept with it')
    .option('--reason <text>', 'why; kept with it, and with what it cancels')
    .option('--queue <name>', 'whose workers carry it out; default: default')
    .option('-y, --yes', 'do not ask: cancel and remove do')
    .option('--wait', 'until it has ended')
    .action((action: BulkAction, options: StartOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { wait = false, yes, ...what } = options;
        if (yes !== true && what.dryRun !== true) await ask(loom, action, options.where, output);
        const info = await loom.bulk.start({ ...what, action });
        if (wait) return showEnd(await ended(loom, info.id, output), output);
        const text = [`${info.id} is stored; fairloom bulk get ${info.id} says how far it is`];
        output.one({ json: info satisfies JsonShapes['bulk start'], id: info.id, text });
        return undefined;
      }),
    );
}

/** Asks, when it takes something away, with those that it would find now. */
async function ask(
  loom: Fairloom,
  action: BulkAction,
  where: string,
  output: Output,
): Promise<void> {
  if (!ASKED.includes(action)) return;
  let isAll = true;
  const found = foundTasks(loom, { where }, () => {
    isAll = false;
  });
  const { items, more } = await take(inStates(found, action), COUNTED);
  const ids = items.map(({ id }) => id);
  await confirm(action, ids, { more: more || !isAll }, output);
}

async function* inStates(
  tasks: AsyncIterable<TaskInfo>,
  action: BulkAction,
): AsyncGenerator<TaskInfo> {
  for await (const task of tasks) if (ACTION_STATES[action].includes(task.state)) yield task;
}

/** Waits for the end of one, and shows its progress. It goes on when this command ends. */
async function ended(loom: Fairloom, id: string, output: Output): Promise<BulkInfo> {
  output.note(`${id} is stored; it goes on when this command is ended`);
  const say = async (): Promise<void> => {
    const info = await loom.bulk.get(id).catch(() => undefined);
    if (info?.state === 'queued') return sayObstacle(loom, id, output);
    if (info !== undefined) output.note(`waiting: ${id}: ${countsText(info)}`);
  };
  const { signal } = new AbortController();
  await saying(say, () => coreOf(loom).results.waitForEnd(id, signal));
  const info = await loom.bulk.get(id);
  if (info === undefined) throw new TaskNotFoundError(id);
  return info;
}

function showEnd(info: BulkInfo, output: Output): ExitCode {
  const { id, state, failed, errors } = info;
  const lines = errors.map((one) => `  ${one.id}: ${one.error}`);
  const text = [`${id} has ended as ${state}: ${countsText(info)}`, ...lines];
  output.one({ json: info satisfies JsonShapes['bulk start'], id, text });
  return state === 'finished' && failed === 0 ? EXIT.ok : EXIT.failed;
}

function countsText({ matched = 0, done, skipped, failed }: BulkInfo): string {
  return `${matched} matched, ${done} done, ${skipped} skipped, ${failed} failed`;
}

function addList(bulk: Command, shell: Shell): void {
  bulk
    .command('list')
    .description('changes of many tasks, the newest first')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action(({ limit }: { readonly limit: number }, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const all = rowsOf((page) => loom.bulk.list(page));
        await showFirst(output, all, { limit, view: bulkView(epochMs()) });
        return undefined;
      }),
    );
}

function addGet(bulk: Command, shell: Shell): void {
  bulk
    .command('get <id>')
    .description('how far one is, and what has failed of it')
    .action((id: string, _options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const info = await loom.bulk.get(id);
        if (info === undefined) throw new TaskNotFoundError(id);
        output.one({ json: info satisfies JsonShapes['bulk get'], id, text: jsonLines(info) });
        return undefined;
      }),
    );
}

function addCancel(bulk: Command, shell: Shell): void {
  bulk
    .command('cancel <id...>')
    .description('end them; what they have changed stays so')
    .option('--reason <text>', 'kept with them')
    .action((ids: readonly string[], { reason }: { readonly reason?: string }, command: Command) =>
      withLoom(shell, command, (loom, output) =>
        changeEach('cancel', ids, output, async (id) => {
          const reply = await loom.bulk.cancel(id, reason === undefined ? {} : { reason });
          if (reply.kind === 'not-found') throw new TaskNotFoundError(id);
          if (reply.kind !== 'already-ended') return reply.kind;
          throw new CliError(EXIT.refused, `bulk action ${id} has ended as ${reply.state}`);
        }),
      ),
    );
}

/** With moments as seen from `now` (ms since the epoch). */
function bulkView(now: number): View<BulkInfo> {
  const count = (value: number | undefined): string => (value === undefined ? '' : String(value));
  return {
    columns: () => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'ACTION', cell: ({ action, dryRun }) => (dryRun ? `${action} (dry)` : action) },
      { title: 'WHERE', cell: ({ where }) => cellText(where) },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'MATCHED', cell: ({ matched }) => count(matched), align: 'right' },
      { title: 'DONE', cell: ({ done }) => count(done), align: 'right' },
      { title: 'SKIPPED', cell: ({ skipped }) => count(skipped), align: 'right' },
      { title: 'FAILED', cell: ({ failed }) => count(failed), align: 'right' },
      { title: 'SINCE', cell: (info) => shownMoment(info.endedAt ?? info.createdAt, now) },
      { title: 'BY', cell: ({ by = '' }) => cellText(by) },
    ],
    json: (info) => info,
    id: ({ id }) => id,
    none: 'no bulk actions',
  };
}
