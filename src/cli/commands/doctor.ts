import type { Command } from 'commander';
import { messageOf } from '../../base/message-of.ts';
import { isOwn } from '../../domain/errors/errors.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';
import {
  dataFolderOf,
  outputFor,
  type Shell,
  withLoom,
  withLoomAtRest,
} from '../terminal/session.ts';
import type { Style } from '../terminal/style.ts';
import { cellText } from '../terminal/text-table.ts';
import { type Check, type Diagnosis, diagnose } from '../views/checks.ts';
import { closedCheck, type ExaminedData, examine } from '../views/data-checks.ts';
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
      if (folder === undefined) {
        await withLoom(shell, command, async (loom, output) =>
          show(await diagnose(loom, repair), output),
        );
        return;
      }
      await diagnoseFolder(await examine(folder, repair), { shell, command, repair });
    });
}

interface Around {
  readonly shell: Shell;
  readonly command: Command;
  readonly repair: boolean;
}

/** What its files tell is said in any case: where the folder cannot be opened, with the reason for that. */
async function diagnoseFolder(
  { checks, data, opens, exitCode }: ExaminedData,
  { shell, command, repair }: Around,
): Promise<void> {
  const filesAlone = (why: readonly Check[]): ExitCode => {
    const nothing = { checked: 0, drift: [], repaired: 0 };
    return show({ checks: [...checks, ...why], ...nothing, data }, outputFor(shell, command));
  };
  if (!opens) {
    const shown = filesAlone([]);
    shell.exitCode = exitCode ?? shown;
    return;
  }
  await withLoomAtRest(shell, command, async (loom, output) => {
    const diagnosis = await diagnose(loom, repair).catch((error: unknown) => {
      if (isOwn(error)) return error;
      throw error;
    });
    if (isOwn(diagnosis)) {
      filesAlone([closedCheck(messageOf(diagnosis))]);
      return exitCodeOf(diagnosis);
    }
    return show({ ...diagnosis, checks: [...checks, ...diagnosis.checks], data }, output);
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
