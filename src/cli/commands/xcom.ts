import type { Command } from 'commander';
import { epochMs } from '../../base/globals.ts';
import type { Duration } from '../../base/time.ts';
import type { XComWhere } from '../../client/facades/xcom-facade.ts';
import type { XComFact } from '../../domain/task/xcom.ts';
import { durationArgument, inputArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownMoment } from '../terminal/moments.ts';
import { jsonLines, type View } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { cellText } from '../terminal/text-table.ts';
import { type ConfirmOptions, confirm } from '../views/confirm.ts';
import type { JsonShapes, XComNamespace } from '../views/json-shapes.ts';
import { limitArgument, rowsOf, showFirst } from '../views/select-tasks.ts';
import { withConfirm } from './tasks.ts';

interface ListOptions extends XComWhere {
  readonly limit: number;
}

/** `fairloom xcom …` */
export function addXCom(program: Command, shell: Shell): void {
  const xcom = program.command('xcom').description('named values that tasks hand on');
  addLists(xcom, shell);
  addGet(xcom, shell);
  addPush(xcom, shell);
  addDelete(xcom, shell);
}

/** Adds whose values are meant. */
function withPlace(command: Command): Command {
  return withUser(command).option('--namespace <name>', 'default: default');
}

function withUser(command: Command): Command {
  return command.option('--user <user>', 'whose values; default: default');
}

function addLists(xcom: Command, shell: Shell): void {
  withPlace(xcom.command('list'))
    .description('the values of a user in one namespace')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action(({ limit, ...where }: ListOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const all = rowsOf((page) => loom.xcom.list({ ...page, ...where }));
        await showFirst(output, all, { limit, view: valueView(epochMs()) });
        return undefined;
      }),
    );
  withUser(xcom.command('namespaces'))
    .description('the namespaces in which a user has values')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action(({ limit, user }: ListOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const all = rowsOf((page) => loom.xcom.namespaces({ ...page, user }));
        await showFirst(output, all, { limit, view: NAMESPACE_VIEW });
        return undefined;
      }),
    );
}

function addGet(xcom: Command, shell: Shell): void {
  withPlace(xcom.command('get <key>'))
    .description('one value')
    .action((key: string, where: XComWhere, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const value = await loom.xcom.pull(key, where);
        if (value === undefined) throw new CliError(EXIT.notFound, `there is no value ${key}`);
        const text = jsonLines(value);
        output.one({ json: { key, value } satisfies JsonShapes['xcom get'], id: key, text });
        return undefined;
      }),
    );
}

function addPush(xcom: Command, shell: Shell): void {
  withPlace(xcom.command('push <key> <value>'))
    .description('put a value, as JSON, @file or -, in place of the one before')
    .option(
      '--ttl <time>',
      'how long it is kept; default: that of the configuration',
      durationArgument,
    )
    .action(
      (
        key: string,
        text: string,
        where: XComWhere & { readonly ttl?: Duration },
        command: Command,
      ) =>
        withLoom(shell, command, async (loom, output) => {
          await loom.xcom.push(key, await inputArgument(text, shell.stdin), where);
          output.note(`${key} is pushed`);
          return undefined;
        }),
    );
}

function addDelete(xcom: Command, shell: Shell): void {
  withConfirm(withPlace(xcom.command('delete <key>')))
    .description('take a value away')
    .action((key: string, options: XComWhere & ConfirmOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { user, namespace } = options;
        const where = { user, namespace };
        if ((await loom.xcom.pull(key, where)) === undefined) {
          throw new CliError(EXIT.notFound, `there is no value ${key}`);
        }
        if (!(await confirm('delete', [key], { ...options, noun: 'value' }, output))) {
          return undefined;
        }
        await loom.xcom.delete(key, where);
        output.note(`${key} is deleted`);
        return undefined;
      }),
    );
}

/** With moments as seen from `now` (ms since the epoch). */
function valueView(now: number): View<XComFact> {
  return {
    columns: () => [
      { title: 'KEY', cell: ({ key }) => cellText(key) },
      { title: 'PUSHED', cell: ({ pushedAt }) => shownMoment(pushedAt, now) },
      { title: 'BY TASK', cell: ({ writer }) => cellText(writer ?? '') },
      { title: 'GOES', cell: ({ expiresAt }) => goesText(expiresAt, now) },
    ],
    json: (value) => value,
    id: ({ key }) => key,
    none: 'no values',
  };
}

/** While a task keeps a value, its end is not known. */
function goesText(at: number | undefined, now: number): string {
  return at === undefined ? 'kept by a task' : shownMoment(at, now);
}

const NAMESPACE_VIEW: View<string> = {
  columns: () => [{ title: 'NAMESPACE', cell: cellText }],
  json: (namespace) => ({ namespace }) satisfies XComNamespace,
  id: (namespace) => namespace,
  none: 'no namespaces',
};
