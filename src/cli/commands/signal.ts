import type { Command } from 'commander';
import { type Shell, withLoom } from '../session/session.ts';
import { inputArgument } from '../terminal/arguments.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface Options {
  readonly signalId?: string;
}

/** `fairloom signal <id> <name> [payload]` */
export function addSignal(program: Command, shell: Shell): void {
  program
    .command('signal <id> <name> [payload]')
    .description('send a signal to a task or run; the payload is JSON, @file, or - for stdin')
    .option('--signal-id <id>', 'sent again under this id it changes nothing')
    .action(
      (
        id: string,
        name: string,
        payload: string | undefined,
        { signalId }: Options,
        command: Command,
      ) =>
        withLoom(shell, command, async (loom, output) => {
          const value = await inputArgument(payload, shell.stdin);
          const outcome = await loom.signal(id, name, value, { signalId });
          const text = `signal ${name} is ${outcome}`;
          output.one({
            json: { id, name, outcome } satisfies JsonShapes['signal'],
            id,
            text: [text],
          });
          return undefined;
        }),
    );
}
