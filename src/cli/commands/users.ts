import type { Command } from 'commander';
import type { UserOptions } from '../../client/facades/settings-options.ts';
import type { UserStatus } from '../../client/facades/user-facade.ts';
import { type Shell, withLoom } from '../session/session.ts';
import {
  integerArgument,
  orDefault,
  positiveArgument,
  rateArgument,
} from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { fieldLines, type Output } from '../terminal/output.ts';
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
        const found = await loom.users.get(user, { queue });
        if (found === undefined) {
          throw new CliError(EXIT.notFound, `nothing is known about user ${user}`);
        }
        output.one({ json: found, id: found.user, text: userLines(found, output) });
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

function userLines(user: UserStatus, { style }: Output): readonly string[] {
  return fieldLines(
    {
      user: user.user,
      queue: user.queue,
      ...settingFields(user),
      queued: `${user.queued} (very low to critical: ${user.levels.join(' ')})`,
      running: String(user.running),
      later: String(user.later),
      ready: user.ready ? 'yes' : 'no',
      ahead: `${user.ahead.toFixed(3)} turns of weight 1`,
    },
    style,
  );
}
