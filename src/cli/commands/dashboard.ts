import type { Command } from 'commander';
import { serveUntilSignal } from '../../worker/serve.ts';
import { type GlobalOptions, type Shell, withLoom } from '../terminal/session.ts';
import { terminalLine } from '../terminal/style.ts';
import {
  type DashboardOptions,
  dashboardAccess,
  dashboardService,
  withDashboard,
} from './server.ts';

/** `fairloom dashboard` */
export function addDashboard(program: Command, shell: Shell): void {
  withDashboard(program.command('dashboard'))
    .description('serve the page and the HTTP API, until SIGTERM or SIGINT')
    .action((options: DashboardOptions, command: Command) => {
      const access = dashboardAccess(options, shell);
      const { prefix: namespace } = command.optsWithGlobals<GlobalOptions>();
      const say = (text: string): void =>
        void shell.err.write(`${terminalLine(`fairloom dashboard: ${text}`)}\n`);
      return withLoom(shell, command, async (loom) => {
        const around = { access, namespace, say };
        await serveUntilSignal([await dashboardService(loom, options, around)], process);
        return undefined;
      });
    });
}
