import type { Command } from 'commander';
import { inputArgument } from '../terminal/arguments.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface Options {
  readonly signalId?: string;
}

type Rest = [options: Options, command: Command];

/** `fairloom signal <id> <name> [payload]` */
export function addSignal(program: Command, shell: Shell): void {
  program
    .command('signal <id> <name> [payload]')
    .description('send a signal to a task or run; the payload is JSON, @file, or - for stdin')
    .option('--signal-id <id>', 'sent again under this id it changes nothing')
    .action(async (id: string, name: string, payload: string | undefined, ...rest: Rest) => {
      const [{ signalId }, command] = rest;
      return withLoom(shell, command, async (loom, output) => {
        const value = await inputArgument(payload, shell.stdin);
        const outcome = await loom.signal(id, name, value, { signalId });
        const json = { id, name, outcome } satisfies JsonShapes['signal'];
        output.one({ json, id, text: [`signal ${name} is ${outcome}`] });
        return undefined;
      });
    });
}
