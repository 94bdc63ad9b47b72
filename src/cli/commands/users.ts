import type { Command } from 'commander';
import type { UserOptions } from '../../client/facades/settings-options.ts';
import type { UserHistory } from '../../client/facades/user-history.ts';
import type { Percentiles } from '../../domain/series/histogram.ts';
import {
  integerArgument,
  orDefault,
  positiveArgument,
  rateArgument,
} from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { shownLength } from '../terminal/moments.ts';
import { fieldLines, type Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { JsonShapes, UserDetails } from '../views/json-shapes.ts';
import { limitArgument, rowsOf, showFirst } from '../views/select-tasks.ts';
import { settingFields } from '../views/user-settings.ts';
import { userView } from '../views/views.ts';

interface QueueOption {
  readonly queue?: string;
}

/** `fairloom users …` */
export function addUsers(program: Command, shell: Shell): void {
  const users = program.command('users').description('who waits, who runs, and what each may');
  addReading(users, shell);
  addSet(users, shell);
  for (const verb of ['pause', 'resume'] as const) {
    users
      .command(`${verb} <user>`)
      .description(verb === 'pause' ? 'start nothing more of a user' : 'let a paused user go on')
      .option('--queue <name>', 'in this queue alone')
      .action((user: string, { queue }: QueueOption, command: Command) =>
        withLoom(shell, command, async (loom, output) => {
          await loom.users[verb](user, { queue });
          output.note(`${user} is ${verb === 'pause' ? 'paused' : 'resumed'}`);
          return undefined;
        }),
      );
  }
}

function addReading(users: Command, shell: Shell): void {
  users
    .command('list')
    .description('the users of a queue that have work in it, or settings')
    .option('--queue <name>', 'default: default')
    .option('--limit <n|all>', 'rows', limitArgument, 50)
    .action((options: QueueOption & { readonly limit: number }, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { queue, limit } = options;
        const all = rowsOf((page) => loom.users.list({ ...page, queue }));
        await showFirst(output, all, { limit, view: userView });
        return undefined;
      }),
    );
  users
    .command('get <user>')
    .description('one user in one queue')
    .option('--queue <name>', 'default: default')
    .action((user: string, { queue }: QueueOption, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const [found, history] = await Promise.all([
          loom.users.get(user, { queue }),
          loom.users.history(user, { queue }),
        ]);
        if (found === undefined) {
          throw new CliError(EXIT.notFound, `nothing is known about user ${user}`);
        }
        const details = { ...found, history } satisfies JsonShapes['users get'];
        output.one({ json: details, id: found.user, text: userLines(details, output) });
        return undefined;
      }),
    );
}

interface SetOptions extends QueueOption, UserOptions {}

function addSet(users: Command, shell: Shell): void {
  users
    .command('set <user>')
    .description('change settings of a user; "default" takes one back')
    .option('--queue <name>', 'in this queue alone; default: in all that have no own setting')
    .option('--weight <n>', 'claim on turns, 0.01 to 1000', orDefault(positiveArgument))
    .option('--max-running <n>', 'at most so many run at once', orDefault(integerArgument(1)))
    .option('--max-queued <n>', 'at most so many wait', orDefault(integerArgument(1)))
    .option('--rate <limit/per>', 'starts per time, as 100/1m', orDefault(rateArgument))
    .action((user: string, options: SetOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const { queue, ...settings } = options;
        if (Object.keys(settings).length === 0) {
          throw new CliError(EXIT.usage, 'nothing to set', 'see fairloom users set --help');
        }
        await loom.users.set(user, settings, { queue });
        output.note(`${user} is set`);
        return undefined;
      }),
    );
}

function userLines(user: UserDetails, { style }: Output): readonly string[] {
  return fieldLines(
    {
      user: user.user,
      queue: user.queue,
      ...settingFields(user),
      queued: `${user.queued} (very low to critical: ${user.levels.join(' ')})`,
      running: String(user.running),
      later: String(user.later),
      ready: user.ready ? 'yes' : 'no',
      ahead: `${user.ahead.toFixed(3)} turns`,
      ...historyFields(user.history),
    },
    style,
  );
}

function historyFields({
  oldestWaitMs,
  wait,
  run,
  perMinute,
  etaMs,
}: UserHistory): Readonly<Record<string, string | undefined>> {
  const spread = (of: Percentiles | undefined): string | undefined =>
    of && `half within ${shownLength(of.p50)}, 95 % within ${shownLength(of.p95)}`;
  const shown = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : shownLength(ms);
  return {
    'oldest waits': shown(oldestWaitMs),
    waited: spread(wait),
    ran: spread(run),
    starts: perMinute === 0 ? undefined : `${perMinute.toFixed(1)} a minute`,
    'line is over': etaMs === undefined ? undefined : `in about ${shownLength(etaMs)} at that rate`,
  };
}
