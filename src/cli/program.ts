/** The command line: noun, then verb. Data on stdout, everything else on stderr. */

import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { foreignHint } from '../base/foreign-names.ts';
import { messageOf } from '../base/message-of.ts';
import { printableLine } from '../base/printable.ts';
import { isOwn } from '../domain/errors/errors.ts';
import type { Operation } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/table.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addCopy } from './commands/copy.ts';
import { addDashboard } from './commands/dashboard.ts';
import { addDead } from './commands/dead.ts';
import { addDemo } from './commands/demo.ts';
import { addDev } from './commands/dev.ts';
import { addDoctor } from './commands/doctor.ts';
import { OPERATION_COMMANDS } from './commands/operations.ts';
import { addOverview } from './commands/overview.ts';
import { addRun } from './commands/run.ts';
import { addImport } from './commands/runs.ts';
import { addScheduler } from './commands/scheduler.ts';
import { addTop } from './commands/top.ts';
import { addWorker } from './commands/worker.ts';
import { offering, repeated } from './terminal/arguments.ts';
import { CliError, EXIT, type ExitCode, exitCodeOf } from './terminal/exit-code.ts';
import { addOperation } from './terminal/operation-command.ts';
import { OUTPUT_FORMS, type OutputForm } from './terminal/output.ts';
import type { Shell } from './terminal/session.ts';
import { refuseBlankAndTwice, refuseBlankArguments } from './terminal/strict-options.ts';
import { styleFor, terminalLine } from './terminal/style.ts';

const EPILOGUE = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 unhealthy, 4 backend unreachable, 5 timed out,
6 refused, 7 not found. The JSON shapes are in docs/cli-output.md.`;

/** Runs one command line (without node and script) and gives the exit code. Never throws. */
export async function runCommandLine(args: readonly string[], shell: Shell): Promise<ExitCode> {
  try {
    await programOf(shell).parseAsync(args, { from: 'user' });
    return shell.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    report(error, shell);
    return exitCodeOf(error);
  }
}

/** What commands of one noun are about. */
const NOUNS: Readonly<Record<string, string>> = {
  tasks: 'look at tasks, and change single ones',
  runs: 'runs of workflows',
  graphs: 'graphs of workflows',
  schedules: 'what starts at given times, or at events',
  bulk: 'changes of many tasks, by workers',
  dead: 'dead letters: tasks that failed',
  users: 'users: what they wait for, run, and may do',
  queues: 'queues, their settings and counts',
  xcom: 'named values that tasks hand on',
  streams: 'what tasks write while they run',
  asks: 'questions of tasks to people',
  workers: 'the live workers',
};

/** The tree of commands. */
export function programOf(shell: Shell, operations: readonly Operation[] = OPERATIONS): Command {
  const program = new Command('fairloom')
    .description('a fair, durable task queue for many users')
    .version(version())
    .option('--redis <url>', 'the Redis backend; default: that of the configuration')
    .option(
      '--data <folder>',
      'the data folder, without a server; default: that of the configuration',
    )
    .option('--prefix <name>', 'of the keys in Redis; default: that of the configuration, or fq')
    .option('--config <file>', 'the configuration; default: FAIRLOOM_CONFIG, or fairloom.yaml')
    .option('-m, --module <file>', 'a module that exports a Fairloom; may be repeated', repeated)
    .addOption(
      offering(
        new Option('-o, --output <form>', 'how data is written').default('table'),
        OUTPUT_FORMS,
        formArgument,
      ),
    )
    .addHelpText('after', EPILOGUE)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.out.write(text),
      // What was typed is in its messages.
      outputError: (text, write) => write(withForeignHint(text)),
      writeErr: (text) => void shell.err.write(text.split('\n').map(terminalLine).join('\n')),
    })
    .exitOverride();
  for (const add of [addDemo, addWorker, addRun]) add(program, shell);
  for (const [noun, words] of Object.entries(NOUNS)) program.command(noun).description(words);
  for (const one of operations) {
    const { command, name } = one;
    if (command !== undefined) addOperation(program, shell, one, OPERATION_COMMANDS[name]);
  }
  for (const add of [
    addDead,
    addImport,
    addScheduler,
    addConfig,
    addOverview,
    addDoctor,
    addCopy,
    addTop,
    addDashboard,
    addDev,
    addCompletion,
  ]) {
    add(program, shell);
  }
  refuseBlankAndTwice(program);
  refuseBlankArguments(program);
  return program;
}

/** An error as one line, and the way out on a second; a stack only for what is a bug. */
function report(error: unknown, shell: Shell): void {
  const style = styleFor(shell.err, shell.env);
  const known = error instanceof CliError || 'code' in Object(error);
  const text = messageOf(error);
  // Of a configuration each problem has a line, in texts that are made plain one by one.
  const line = isOwn(error, 'INVALID_CONFIG') ? text : printableLine(text);
  const shown = known || !(error instanceof Error) ? line : (error.stack ?? text);
  for (const line of `${style.red('fairloom:')} ${shown}`.split('\n')) {
    shell.err.write(`${terminalLine(line)}\n`);
  }
  if (error instanceof CliError && error.hint !== undefined) {
    shell.err.write(`${terminalLine(style.dim(error.hint))}\n`);
  }
}

/** The refusal of an option that another system has: with what it is here. */
function withForeignHint(text: string): string {
  const flag = /unknown option '(--[\w-]+)/.exec(text)?.[1];
  const hint = flag === undefined ? undefined : foreignHint(flag, ['flag']);
  return hint === undefined ? text : `${text.trimEnd()}\n(${hint})\n`;
}

/** `config show` writes YAML too, and is named where that is asked of another command. */
function formArgument(text: string): OutputForm | 'yaml' {
  const form = [...OUTPUT_FORMS, 'yaml' as const].find((known) => known === text);
  if (form !== undefined) return form;
  throw new InvalidArgumentError(`Allowed choices are ${OUTPUT_FORMS.join(', ')}.`);
}

function version(): string {
  const manifest = createRequire(import.meta.url)('../../package.json') as { version: string };
  return manifest.version;
}
