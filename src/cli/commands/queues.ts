import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Duration } from '../../base/time.ts';
import type { QueueOptions, UserOptions } from '../../client/facades/settings-options.ts';
import {
  durationArgument,
  integerArgument,
  offering,
  orDefault,
  positiveArgument,
  rateArgument,
} from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { queueView } from '../views/views.ts';

/** `fairloom queues …` */
export function addQueues(program: Command, shell: Shell): void {
  const queues = program.command('queues').description('the queues, and what holds for each');
  queues
    .command('list')
    .description('every queue with its counts')
    .action((_options: unknown, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        output.rows(await loom.queues.list(), queueView);
        return undefined;
      }),
    );
  addSet(queues, shell);
  for (const verb of ['pause', 'resume'] as const) {
    queues
      .command(`${verb} <queue>`)
      .description(verb === 'pause' ? 'start nothing more of a queue' : 'let a paused queue go on')
      .action((queue: string, _options: unknown, command: Command) =>
        withLoom(shell, command, async (loom, output) => {
          await loom.queues[verb](queue);
          output.note(`${queue} is ${verb === 'pause' ? 'paused' : 'resumed'}`);
          return undefined;
        }),
      );
  }
}

interface SetOptions extends Omit<QueueOptions, 'perUser'> {
  readonly userWeight?: UserOptions['weight'];
  readonly userMaxRunning?: UserOptions['maxRunning'];
  readonly userMaxQueued?: UserOptions['maxQueued'];
  readonly userRate?: UserOptions['rate'];
  readonly userDefaults?: boolean;
}

function addSet(queues: Command, shell: Shell): void {
  queues
    .command('set <queue>')
    .description('change settings of a queue; "default" takes one back')
    .option('--max-running <n>', 'at most so many run at once', orDefault(integerArgument(1)))
    .option('--rate <limit/per>', 'starts per time, as 100/1m', orDefault(rateArgument))
    .option('--priority-weights <list>', 'of 1 to 5, as 1,2,4,8,16', orDefault(weightsArgument))
    .addOption(
      offering(
        new Option('--charge <what>', 'what a turn costs'),
        ['task', 'time', 'default'],
        orDefault(chargeArgument),
      ),
    )
    .option('--critical-burst <n>', 'then one normal turn', orDefault(integerArgument(1)))
    .option('--retries <n>', 'attempts after the first', orDefault(integerArgument(0)))
    .option('--timeout <length>', 'of one attempt, or none', orDefault(timeoutArgument))
    .option('--lease <length>', 'how long a worker may be silent', orDefault(durationArgument))
    .option(
      '--user-weight <n>',
      'of users without settings of their own',
      orDefault(positiveArgument),
    )
    .option('--user-max-running <n>', 'of such users', orDefault(integerArgument(1)))
    .option('--user-max-queued <n>', 'of such users', orDefault(integerArgument(1)))
    .option('--user-rate <limit/per>', 'of such users', orDefault(rateArgument))
    .option('--no-user-defaults', 'take back what was set for such users')
    .action((queue: string, options: SetOptions, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        await loom.queues.set(queue, settingsOf(options));
        output.note(`${queue} is set`);
        return undefined;
      }),
    );
}

/** The settings for users replace those that were set before, so they are given together. */
function settingsOf(options: SetOptions): QueueOptions {
  const { userWeight, userMaxRunning, userMaxQueued, userRate, userDefaults, ...own } = options;
  const perUser = {
    weight: userWeight,
    maxRunning: userMaxRunning,
    maxQueued: userMaxQueued,
    rate: userRate,
  };
  const given = Object.values(perUser).some((value) => value !== undefined);
  if (given && userDefaults === false) {
    throw new CliError(EXIT.usage, '--no-user-defaults stands against the other --user options');
  }
  if (given) return { ...own, perUser };
  if (userDefaults === false) return { ...own, perUser: 'default' };
  if (Object.keys(own).length > 0) return own;
  throw new CliError(EXIT.usage, 'nothing to set', 'see fairloom queues set --help');
}

function timeoutArgument(text: string): Duration | 'none' {
  return text === 'none' ? text : durationArgument(text);
}

function chargeArgument(text: string): 'task' | 'time' {
  if (text === 'task' || text === 'time') return text;
  throw new InvalidArgumentError('Expected task or time.');
}

function weightsArgument(text: string): readonly number[] {
  const weights = text.split(',').map(integerArgument(1));
  if (weights.length === 5) return weights;
  throw new InvalidArgumentError('Expected five whole numbers, as 1,2,4,8,16.');
}
