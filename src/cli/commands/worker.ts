import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { Duration } from '../../base/time.ts';
import { stderrLogger } from '../../engine/logger.ts';
import type { WorkerOptions } from '../../engine/worker-options.ts';
import { durationArgument, integerArgument, repeated } from '../arguments.ts';
import { CliError, EXIT } from '../exit-code.ts';
import { type GlobalOptions, openLoom, type Shell } from '../session.ts';

interface Options {
  readonly id?: string;
  readonly concurrency?: number;
  readonly queue?: readonly string[];
  readonly assigned?: readonly string[];
  readonly steal?: 'any' | 'none';
  readonly stealFrom?: readonly string[];
  readonly lease?: Duration;
  readonly grace?: Duration;
}

/** `fairloom worker <module…>` */
export function addWorker(program: Command, shell: Shell): void {
  program
    .command('worker <module...>')
    .description('run the tasks that modules export, until SIGTERM or SIGINT has drained it')
    .option('--id <name>', 'a name of its own')
    .option('-c, --concurrency <n>', 'tasks that run at once; default: 10', integerArgument(1))
    .option('--queue <name[=weight]>', 'a queue that it serves; may be repeated', repeated)
    .option('--assigned <user>', 'a user that it serves first; may be repeated', repeated)
    .option('--steal <any|none>', 'whom it serves when those have nothing', stealArgument)
    .option('--steal-from <user>', 'a user to serve then; may be repeated', repeated)
    .option('--lease <time>', 'how long it may be silent; default: 15s', durationArgument)
    .option('--grace <time>', 'what a shutdown gives running tasks; default: 25s', durationArgument)
    .action((modules: readonly string[], options: Options, command: Command) =>
      serve(modules, options, command, shell),
    );
}

async function serve(
  modules: readonly string[],
  options: Options,
  command: Command,
  shell: Shell,
): Promise<void> {
  const plan = workerOptions(options);
  const globals = command.optsWithGlobals<GlobalOptions>();
  const loom = await openLoom(globals, [...(globals.module ?? []), ...modules], {
    env: shell.env,
    log: stderrLogger,
  });
  const say = (text: string): void => void shell.err.write(`fairloom worker: ${text}\n`);
  const onSignal = (): void => say('draining; a second signal ends it now');
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  say('working; SIGTERM or SIGINT drains it');
  const { unfinished } = await loom.serve(plan);
  if (unfinished.length === 0) {
    say('drained');
    return;
  }
  const ids = unfinished.join(' ');
  throw new CliError(EXIT.failed, `these tasks did not end in time; others will run them: ${ids}`);
}

function workerOptions(options: Options): WorkerOptions {
  const { queue, assigned, steal, stealFrom, ...rest } = options;
  if (stealFrom !== undefined && steal !== undefined) {
    throw new CliError(EXIT.usage, '--steal stands against --steal-from');
  }
  const targets = steal === 'any' ? 'any' : stealFrom;
  return {
    ...rest,
    ...(queue === undefined ? {} : { queues: queuesOf(queue) }),
    ...(assigned === undefined ? {} : { assignedUsers: assigned }),
    ...(targets === undefined ? {} : { stealTargets: targets }),
  };
}

/** `default` and `bulk=0.5`: names, with a weight where one was given. */
function queuesOf(queues: readonly string[]): Readonly<Record<string, number>> {
  const pairs = queues.map((text) => {
    const [name = '', weight = '1'] = text.split('=');
    return [name, weight.trim() === '' ? Number.NaN : Number(weight)] as const;
  });
  return Object.fromEntries(pairs);
}

function stealArgument(text: string): 'any' | 'none' {
  if (text === 'any' || text === 'none') return text;
  throw new InvalidArgumentError('Expected any or none; --steal-from names users.');
}
