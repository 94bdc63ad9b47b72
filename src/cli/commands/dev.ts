import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { memory } from '../../backends/memory/memory-backend.ts';
import { Fairloom } from '../../client/client.ts';
import { stderrLogger } from '../../logging/logger.ts';
import { serveUntilSignal } from '../../worker/serve.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { type Exports, loadModules } from '../terminal/modules.ts';
import { configFor, type GlobalOptions, openLoom, type Shell } from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';
import {
  type DashboardOptions,
  dashboardAccess,
  dashboardService,
  withDashboard,
} from './server.ts';

interface Options extends DashboardOptions {
  readonly watch: boolean;
}

/** What a restart gives running tasks: who waits for one wants to see the change. */
const GRACE = '1s';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** `fairloom dev <module…>` */
export function addDev(program: Command, shell: Shell): void {
  withDashboard(program.command('dev <module...>'))
    .description('run the tasks of modules and serve the page; starts anew when a module changes')
    .option('--no-watch', 'do not look for changes')
    .action((modules: readonly string[], options: Options, command: Command) => {
      // A mistake is told once, and not by each new start.
      const access = dashboardAccess(options, shell);
      if (options.watch) return watching(shell);
      const globals = command.optsWithGlobals<GlobalOptions>();
      return work(modules, globals, shell, async (loom, say) => {
        const around = { access, namespace: globals.prefix, say };
        const dashboard = await dashboardService(loom, options, around);
        await serveUntilSignal([loom.worker({ grace: GRACE }), dashboard], process);
      });
    });
}

/** The same command in a process that Node starts anew when a file that it has imported changes. */
async function watching(shell: Shell): Promise<void> {
  const [node, script = '', ...rest] = process.argv;
  const args = ['--watch', '--watch-preserve-output', script, ...rest, '--no-watch'];
  const child = spawn(node ?? process.execPath, [...process.execArgv, ...args], {
    stdio: 'inherit',
    env: shell.env,
  });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    if (code !== 0 && code !== null) throw new CliError(EXIT.failed, 'it ended by itself');
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}

async function work(
  modules: readonly string[],
  globals: GlobalOptions,
  shell: Shell,
  serve: (loom: Fairloom, say: (text: string) => void) => Promise<void>,
): Promise<void> {
  const say = (text: string): void =>
    void shell.err.write(`${terminalLine(`fairloom dev: ${text}`)}\n`);
  const exported = await loadModules([...(globals.module ?? []), ...modules]);
  const loom = await loomFor(exported, globals, shell, say);
  try {
    await serve(loom, say);
  } finally {
    await loom.close();
  }
}

/** On the backend that was named or configured, else in this process. */
async function loomFor(
  exported: Exports,
  globals: GlobalOptions,
  shell: Shell,
  say: (text: string) => void,
): Promise<Fairloom> {
  const loaded = await configFor(globals, shell);
  const { backend, defaults, requireUser } = loaded.config;
  if (exported.loom !== undefined || backend !== 'memory') {
    return openLoom(globals, exported, { loaded, log: stderrLogger });
  }
  say('tasks are kept in this process: they are gone with it, and with each change');
  const { steps: tasks, handlers } = exported;
  return new Fairloom({ backend: memory(), tasks, handlers, defaults, requireUser });
}
