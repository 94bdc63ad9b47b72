import { type Command, InvalidArgumentError, Option } from 'commander';
import { messageOf } from '../../base/message-of.ts';
import type { Duration } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import type { Config, WorkerConfig } from '../../config/config-types.ts';
import { LOG_LEVEL_NAMES, type LogLevel, stderrLogger } from '../../logging/logger.ts';
import { serveUntilSignal } from '../../worker/serve.ts';
import type { StopReport } from '../../worker/shutdown.ts';
import type { Worker } from '../../worker/worker.ts';
import type { WorkerOptions } from '../../worker/worker-options.ts';
import {
  durationArgument,
  integerArgument,
  offering,
  portArgument,
  repeated,
} from '../terminal/arguments.ts';
import { counted } from '../terminal/counted.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { loadModules } from '../terminal/modules.ts';
import {
  figuresFor,
  HEALTH_HOSTS,
  METRICS_USERS,
  metricsFlag,
  monitor,
} from '../terminal/monitoring.ts';
import {
  configFor,
  type FlagValues,
  type GlobalOptions,
  openLoom,
  type Shell,
} from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';
import { drain } from './drain.ts';

interface Options {
  readonly id?: string;
  readonly concurrency?: number;
  readonly queue?: readonly string[];
  readonly assigned?: readonly string[];
  readonly steal?: 'any' | 'none';
  readonly stealFrom?: readonly string[];
  readonly lease?: Duration;
  readonly grace?: Duration;
  readonly healthPort?: number;
  readonly logLevel?: LogLevel;
  readonly healthAllowHost?: readonly string[];
  readonly metricsUsers?: readonly string[];
  readonly drain?: boolean;
}

/** `fairloom worker <module…>` */
export function addWorker(program: Command, shell: Shell): void {
  program
    .command('worker <module...>')
    .description('run the tasks that modules export, until SIGTERM or SIGINT has drained it')
    .option('--id <name>', 'a name of its own, or one worker of the configuration; default: all')
    .option('-c, --concurrency <n>', 'tasks that run at once; default: 10', integerArgument(1))
    .option('--queue <name[=weight]>', 'a queue that it serves; may be repeated', repeated)
    .option('--assigned <user>', 'a user that it serves first; may be repeated', repeated)
    .addOption(
      offering(
        new Option('--steal <any|none>', 'whom it serves when those have nothing'),
        ['any', 'none'],
        stealArgument,
      ),
    )
    .option('--steal-from <user>', 'a user to serve then; may be repeated', repeated)
    .option('--lease <time>', 'how long it may be silent; default: 15s', durationArgument)
    .option('--grace <time>', 'what a shutdown gives running tasks; default: 25s', durationArgument)
    .addOption(
      new Option('--log-level <level>', 'how loud a line must be; default: info').choices(
        LOG_LEVEL_NAMES,
      ),
    )
    .option('--drain', 'end when nothing is left that could run now')
    .option('--health-port <n>', 'answers /livez, /readyz and /metrics; 0: any', portArgument)
    .option(...HEALTH_HOSTS, repeated)
    .option(...METRICS_USERS, repeated)
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
  const globals = command.optsWithGlobals<GlobalOptions>();
  const flags = { worker: flagValues(options), metrics: metricsFlag(options.metricsUsers) };
  const { logLevel } = options;
  const top = logLevel === undefined ? {} : { logLevel: { flag: '--log-level', value: logLevel } };
  const loaded = await configFor(globals, shell, { ...flags, top });
  const workers = chosen(loaded.config.workers, options);
  const exported = await loadModules([...(globals.module ?? []), ...modules]);
  if (logLevel !== undefined && exported.loom !== undefined) {
    const hint = 'give it the option `logLevel` there';
    throw new CliError(EXIT.usage, '--log-level: the module has a Fairloom of its own', hint);
  }
  const { healthPort } = options;
  const metrics = await figuresFor(healthPort, exported, loaded.config.metrics.users);
  const loom = await openLoom(globals, exported, { loaded, log: stderrLogger, metrics });
  const say = (text: string): void =>
    void shell.err.write(`${terminalLine(`fairloom worker: ${text}`)}\n`);
  await apply(loom, loaded.config, say);
  const shown = { metrics, allowHosts: options.healthAllowHost };
  const monitored = healthPort === undefined ? undefined : await monitor(loom, healthPort, shown);
  if (monitored !== undefined) say(monitored.text);
  const stopping = new AbortController();
  const onSignal = (): void => {
    say('draining; a second signal ends it now');
    stopping.abort();
  };
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  const end =
    options.drain === true ? 'ends when nothing more can run' : 'SIGTERM or SIGINT drains it';
  const made = (those: readonly Worker[]): void =>
    announce(those, `working${namesOf(workers)}; ${end}`, say);
  const { unfinished } =
    options.drain === true
      ? await drain(loom, workers, { signal: stopping.signal, say, made })
      : await serveAll(loom, workers, made);
  await monitored?.server.close();
  if (unfinished.length === 0) {
    say('drained');
    return;
  }
  const ids = unfinished.join(' ');
  throw new CliError(EXIT.failed, `these tasks did not end in time; others will run them: ${ids}`);
}

/** Runs workers until the process is told to end. Closes the client. */
async function serveAll(
  loom: Fairloom,
  plans: readonly WorkerOptions[],
  made: (workers: readonly Worker[]) => void,
): Promise<StopReport> {
  try {
    const workers = plans.map((plan) => loom.worker(plan));
    made(workers);
    return await serveUntilSignal(workers, process);
  } finally {
    await loom.close();
  }
}

/** Says that they work once all have started, and before that why one cannot. */
function announce(workers: readonly Worker[], working: string, say: (text: string) => void): void {
  let waiting = workers.length;
  for (const worker of workers) {
    const offError = worker.on('worker.error', ({ error }) => {
      offError();
      say(`${worker.id} cannot work yet: ${messageOf(error)}`);
    });
    worker.on('worker.started', () => {
      offError();
      waiting -= 1;
      if (waiting === 0) say(working);
    });
  }
}

/** Stores what the configuration says of queues and users, before anything runs. */
async function apply(loom: Fairloom, config: Config, say: (text: string) => void): Promise<void> {
  const [queues, users] = [Object.keys(config.queues).length, Object.keys(config.users).length];
  if (queues + users === 0) return;
  const { applySettings } = await import('../../config/apply.ts');
  try {
    await applySettings(loom, config);
  } catch (error) {
    await loom.close({ timeout: 0 });
    throw error;
  }
  say(`stored the settings of ${counted(queues, 'queue')} and ${counted(users, 'user')}`);
}

/** The workers to start: all, or the one of that name. A single worker takes any name. */
function chosen(
  workers: readonly WorkerConfig[],
  { id, steal }: Options,
): readonly WorkerOptions[] {
  const named = workers.filter((worker) => worker.id === id);
  const all = id === undefined ? workers : named;
  const some =
    all.length === 0 && workers.length === 1 ? workers.map((one) => ({ ...one, id })) : all;
  if (some.length === 0) {
    const names = workers.map((worker) => worker.id ?? 'one without a name').join(', ');
    throw new CliError(
      EXIT.usage,
      `there is no worker ${id} in the configuration`,
      `there are ${names}`,
    );
  }
  return steal === 'none' ? some.map(({ stealTargets: _none, ...rest }) => rest) : some;
}

function namesOf(workers: readonly WorkerOptions[]): string {
  const names = workers.flatMap(({ id }) => id ?? []);
  return names.length === 0 ? '' : ` as ${names.join(', ')}`;
}

function flagValues(options: Options): FlagValues {
  const { concurrency, queue, assigned, steal, stealFrom, lease, grace } = options;
  if (stealFrom !== undefined && steal !== undefined) {
    throw new CliError(EXIT.usage, '--steal stands against --steal-from');
  }
  const any = steal === 'any' ? { flag: '--steal', value: 'any' } : undefined;
  const from = stealFrom === undefined ? any : { flag: '--steal-from', value: stealFrom };
  const queues = queue === undefined ? undefined : queuesOf(queue);
  const given = {
    concurrency: { flag: '--concurrency', value: concurrency },
    queues: { flag: '--queue', value: queues },
    assignedUsers: { flag: '--assigned', value: assigned },
    stealTargets: from ?? { flag: '--steal', value: undefined },
    lease: { flag: '--lease', value: lease },
    grace: { flag: '--grace', value: grace },
  };
  return Object.fromEntries(Object.entries(given).filter(([, { value }]) => value !== undefined));
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
