import type { Command } from 'commander';
import { parseNotation } from '../../workflow/notation/notation.ts';
import { inputArgument, integerArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import { jsonLines } from '../terminal/output.ts';
import { type Shell, withSteps } from '../terminal/session.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface Options {
  readonly user?: string;
  readonly maxSteps?: number;
  readonly startAt?: string;
}

/** `fairloom run <notation> [input]`: a workflow written as text, run in this process. */
export function addRun(program: Command, shell: Shell): void {
  program
    .command('run <notation> [input]')
    .description('run steps of --module here and now, as "extract >> (a | b) >> load"')
    .option('--user <id>', 'shown to the handlers; default: default')
    .option('--max-steps <n>', 'tasks and groups that it may come to', integerArgument(1))
    .option('--start-at <node>', 'begin at this node; the input is its own')
    .action((text: string, input: string | undefined, options: Options, command: Command) =>
      withSteps(shell, command, async (loom, output, steps) => {
        if (steps.size === 0) {
          const hint = 'name a module that exports the steps with --module';
          throw new CliError(EXIT.usage, 'there are no steps', hint);
        }
        const step = parseNotation(text, steps);
        const value = await inputArgument(input, shell.stdin);
        const result = await loom.run(step, value, options);
        const shown = result === undefined ? [] : jsonLines(result);
        output.one({ json: { result } satisfies JsonShapes['run'], id: step.name, text: shown });
        return undefined;
      }),
    );
}
