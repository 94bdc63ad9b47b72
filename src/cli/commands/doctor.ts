import type { Command } from 'commander';
import { type Check, type Diagnosis, diagnose } from '../doctor/checks.ts';
import { examine } from '../doctor/data-checks.ts';
import { dataFolderOf, outputFor, type Shell, withLoom } from '../session/session.ts';
import { EXIT, type ExitCode } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';
import { cellText } from '../terminal/text-table.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

/** `fairloom doctor` */
export function addDoctor(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description(
      'look for what is wrong with store, workers and indexes; exit code 3 when something is',
    )
    .option(
      '--repair',
      'mend indexes that do not agree with the tasks, and a data folder that has lost something',
    )
    .action(async ({ repair = false }: { readonly repair?: boolean }, command: Command) => {
      const folder = await dataFolderOf(shell, command);
      const examined = folder === undefined ? undefined : await examine(folder, repair);
      const { checks = [], data } = examined ?? {};
      const found = data === undefined ? {} : { data };
      if (examined?.opens === false) {
        const nothing = { checked: 0, drift: [], repaired: 0 };
        shell.exitCode = show({ checks, ...nothing, ...found }, outputFor(shell, command));
        return;
      }
      await withLoom(shell, command, async (loom, output) => {
        const diagnosis = await diagnose(loom, repair);
        return show({ ...diagnosis, checks: [...checks, ...diagnosis.checks], ...found }, output);
      });
    });
}

function show(diagnosis: Diagnosis, output: Output): ExitCode {
  const { checks, drift } = diagnosis;
  output.one({
    json: diagnosis satisfies JsonShapes['doctor'],
    id: checks.filter(({ verdict }) => verdict !== 'ok').map(({ check }) => check),
    text: [...checks.flatMap((check) => lines(check, output.style)), ...drift.map(indented)],
  });
  return checks.some(({ verdict }) => verdict === 'failed') ? EXIT.unhealthy : EXIT.ok;
}

function lines({ verdict, text, hint }: Check, style: Style): readonly string[] {
  const mark = {
    ok: style.green('ok'),
    warning: style.yellow('warning'),
    failed: style.red('failed'),
  };
  const line = `${mark[verdict]}  ${text}`;
  return hint === undefined ? [line] : [line, indented(style.dim(hint))];
}

function indented(text: string): string {
  return `        ${cellText(text)}`;
}
