import type { Command } from 'commander';
import { monotonicMs } from '../../base/globals.ts';
import { type Duration, durationMs } from '../../base/time.ts';
import { snapshotLines } from '../live/frame.ts';
import { FIRST_SCREEN } from '../live/keys.ts';
import { userListing } from '../live/lists.ts';
import { showLive, type Terminal } from '../live/live-screen.ts';
import { durationArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';
import { type Shell, withLoom } from '../terminal/session.ts';
import { type TopSnapshot, TopSource } from '../views/snapshot.ts';

interface Options {
  readonly every: Duration;
}

/** Least time between two looks, in ms: each reads every user that is shown. */
const LEAST_EVERY_MS = 100;

/** `fairloom top` */
export function addTop(program: Command, shell: Shell): void {
  program
    .command('top')
    .description(
      'users, tasks, runs, workers and dead letters, live; 1 to 5 are tabs, q quits, / filters',
    )
    .option('--every <time>', 'how often it looks; default: 1s', durationArgument, '1s')
    .action(({ every }: Options, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const everyMs = durationMs(every) ?? 0;
        if (everyMs < LEAST_EVERY_MS) {
          throw new CliError(EXIT.usage, `--every: at least ${LEAST_EVERY_MS}ms`);
        }
        const isLive = isTerminal(shell) && output.form === 'table';
        if (isLive) await showLive(loom, terminalOf(shell, output), everyMs);
        else showOnce(await new TopSource(loom).take(monotonicMs()), output);
        return undefined;
      }),
    );
}

/** A snapshot, without a keyboard. */
function showOnce(snapshot: TopSnapshot, output: Output): void {
  const { style } = output;
  output.one({
    json: snapshot,
    id: snapshot.users.map(({ user }) => user),
    text: snapshotLines(snapshot, userListing(snapshot, FIRST_SCREEN.sort, style), style),
  });
}

function terminalOf(shell: Shell, { style }: Output): Terminal {
  return { keys: shell.stdin as NodeJS.ReadStream, out: shell.out, style };
}

function isTerminal(shell: Shell): boolean {
  const { isTTY, setRawMode } = shell.stdin as Partial<NodeJS.ReadStream>;
  return shell.out.isTTY === true && isTTY === true && setRawMode !== undefined;
}
