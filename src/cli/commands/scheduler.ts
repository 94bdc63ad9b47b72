import type { Command } from 'commander';
import { stderrLogger } from '../../logging/logger.ts';
import { type Service, serveUntilSignal } from '../../worker/serve.ts';
import { portArgument, repeated } from '../terminal/arguments.ts';
import { loadModules } from '../terminal/modules.ts';
import {
  figuresFor,
  HEALTH_HOSTS,
  METRICS_USERS,
  metricsFlag,
  monitor,
} from '../terminal/monitoring.ts';
import { configFor, type GlobalOptions, openLoom, type Shell } from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';

interface Options {
  readonly id?: string;
  readonly healthPort?: number;
  readonly healthAllowHost?: readonly string[];
  readonly metricsUsers?: readonly string[];
}

/** `fairloom scheduler [module…]` */
export function addScheduler(program: Command, shell: Shell): void {
  program
    .command('scheduler [module...]')
    .description('fire schedules and run no tasks, until SIGTERM or SIGINT')
    .option('--id <name>', 'a name of its own; default: one that is made up')
    .option('--health-port <n>', 'answers /livez, /readyz and /metrics; 0: any', portArgument)
    .option(...HEALTH_HOSTS, repeated)
    .option(...METRICS_USERS, repeated)
    .action((modules: readonly string[], options: Options, command: Command) =>
      serve(modules, options, command.optsWithGlobals<GlobalOptions>(), shell),
    );
}

async function serve(
  modules: readonly string[],
  options: Options,
  globals: GlobalOptions,
  shell: Shell,
): Promise<void> {
  const loaded = await configFor(globals, shell, { metrics: metricsFlag(options.metricsUsers) });
  const exported = await loadModules([...(globals.module ?? []), ...modules]);
  const { id, healthPort } = options;
  const metrics = await figuresFor(healthPort, exported, loaded.config.metrics.users);
  const loom = await openLoom(globals, exported, { loaded, log: stderrLogger, metrics });
  const say = (text: string): void =>
    void shell.err.write(`${terminalLine(`fairloom scheduler: ${text}`)}\n`);
  const shown = { metrics, allowHosts: options.healthAllowHost };
  const monitored = healthPort === undefined ? undefined : await monitor(loom, healthPort, shown);
  if (monitored !== undefined) say(monitored.text);
  try {
    const scheduler = loom.scheduler(id === undefined ? {} : { id });
    const service: Service = {
      start: async () => {
        await scheduler.start();
        say(`${scheduler.id} fires; SIGTERM or SIGINT ends it`);
      },
      stop: async () => {
        await scheduler.stop();
        return { unfinished: [] };
      },
    };
    await serveUntilSignal([service], process);
  } finally {
    await monitored?.server.close();
    await loom.close();
  }
  say('ended');
}
