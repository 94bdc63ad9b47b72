import type { Command } from 'commander';
import type { Duration } from '../../base/time.ts';
import { durationArgument, inputArgument } from '../terminal/arguments.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import type { JsonShapes } from '../views/json-shapes.ts';

interface Options {
  readonly user?: string;
  readonly eventId?: string;
  readonly keep?: Duration;
}

type Rest = [options: Options, command: Command];

/** `fairloom publish <name> <key> [payload]` */
export function addPublish(program: Command, shell: Shell): void {
  program
    .command('publish <name> <key> [payload]')
    .description('publish an event; the payload is JSON, @file, or - for stdin')
    .option('--user <user>', 'whose tasks hear of it; default: default')
    .option('--event-id <id>', 'published again under this id it changes nothing')
    .option('--keep <time>', 'for waits that look back; default: 1h', durationArgument)
    .action(async (name: string, key: string, payload: string | undefined, ...rest: Rest) => {
      const [options, command] = rest;
      return withLoom(shell, command, async (loom, output) => {
        const value = await inputArgument(payload, shell.stdin);
        const outcome = await loom.publish(name, key, value, options);
        const json = { name, key, outcome } satisfies JsonShapes['publish'];
        output.one({ json, id: key, text: [`event ${name} of ${key} is ${outcome}`] });
        return undefined;
      });
    });
}
