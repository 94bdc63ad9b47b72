import type { Command } from 'commander';
import { stderrLogger } from '../../engine/logger.ts';
import { loadModules } from '../modules.ts';
import { configFor, type GlobalOptions, openLoom, type Shell } from '../session.ts';

interface Options {
  readonly id?: string;
}

/** `fairloom scheduler [module…]` */
export function addScheduler(program: Command, shell: Shell): void {
  program
    .command('scheduler [module...]')
    .description('fire schedules and run no tasks, until SIGTERM or SIGINT')
    .option('--id <name>', 'a name of its own; default: one that is made up')
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
  const loaded = await configFor(globals, shell);
  const exported = await loadModules([...(globals.module ?? []), ...modules]);
  const loom = await openLoom(globals, exported, { loaded, log: stderrLogger });
  try {
    const scheduler = loom.scheduler(options);
    const signal = signalOf(process);
    await scheduler.start();
    shell.err.write(`fairloom scheduler: ${scheduler.id} fires; SIGTERM or SIGINT ends it\n`);
    await signal;
    await scheduler.stop();
  } finally {
    await loom.close();
  }
  shell.err.write('fairloom scheduler: ended\n');
}

/** Fulfilled by the first signal to end. */
function signalOf(source: NodeJS.Process): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      source.off('SIGTERM', end).off('SIGINT', end);
      resolve();
    };
    source.on('SIGTERM', end).on('SIGINT', end);
  });
}
