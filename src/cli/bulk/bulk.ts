import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { BulkInfo } from '../../bulk/bulk-facade.ts';
import type { BulkAction } from '../../bulk/bulk-record.ts';
import type { RateOptions } from '../../client/facades/settings-options.ts';
import { TaskNotFoundError } from '../../domain/errors/errors.ts';
import { type Shell, withLoom } from '../session/session.ts';
import { rateArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { jsonLines, type View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import { changeEach } from '../views/bulk.ts';
import type { JsonShapes } from '../views/json-shapes.ts';
import { limitArgument, rowsOf, showFirst } from '../views/select-tasks.ts';

interface StartOptions {
  readonly where: string;
  readonly rate?: RateOptions;
  readonly dryRun?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly queue?: string;
}

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
    .action((action: BulkAction, options: StartOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const info: JsonShapes['bulk start'] = await loom.bulk.start({ ...options, action });
        const text = [`${info.id} is stored; fairloom bulk get ${info.id} says how far it is`];
        output.one({ json: info, id: info.id, text });
        return undefined;
      }),
    );
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
