import type { Command } from 'commander';
import { clearTimeout, monotonicMs, setTimeout } from '../../base/globals.ts';
import { type Duration, durationMs } from '../../base/time.ts';
import type { Fairloom } from '../../client/client.ts';
import { type Shell, withLoom } from '../session/session.ts';
import { durationArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import type { Output } from '../terminal/output.ts';
import { terminalLine } from '../terminal/style.ts';
import { frameLines } from '../top/frame.ts';
import { FIRST_SCREEN, pressed, type Screen } from '../top/keys.ts';
import { type TopSnapshot, TopSource } from '../top/snapshot.ts';

interface Options {
  readonly every: Duration;
}

/** Rows of a terminal that does not say how many it has. */
const ROWS = 24;

/** Rows of what is not a terminal: all users. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Least time between two looks, in ms: each reads every user that is shown. */
const LEAST_EVERY_MS = 100;

/** The other screen of a terminal, without the cursor; and back. */
const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l';
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** `fairloom top` */
export function addTop(program: Command, shell: Shell): void {
  program
    .command('top')
    .description('users, their shares and what holds them back, live; q quits, / filters, s sorts')
    .option('--every <time>', 'how often it looks; default: 1s', durationArgument, '1s')
    .action(({ every }: Options, command: Command) =>
      withLoom(shell, command, async (loom, output) => {
        const everyMs = durationMs(every) ?? 0;
        if (everyMs < LEAST_EVERY_MS) {
          throw new CliError(EXIT.usage, `--every: at least ${LEAST_EVERY_MS}ms`);
        }
        const isLive = isTerminal(shell) && output.form === 'table';
        if (isLive) await showLive(loom, output, shell, everyMs);
        else showOnce(await new TopSource(loom).take(monotonicMs()), output);
        return undefined;
      }),
    );
}

/** A snapshot, where nobody can press a key. */
function showOnce(snapshot: TopSnapshot, output: Output): void {
  output.one({
    json: snapshot,
    id: snapshot.users.map(({ user }) => user),
    text: frameLines(snapshot, FIRST_SCREEN, UNLIMITED, output.style).slice(0, -2),
  });
}

async function showLive(
  loom: Fairloom,
  output: Output,
  shell: Shell,
  everyMs: number,
): Promise<void> {
  const terminal = shell.stdin as NodeJS.ReadStream;
  const source = new TopSource(loom);
  let screen: Screen = FIRST_SCREEN;
  let snapshot = await source.take(monotonicMs());
  const draw = (): void => {
    const { rows = ROWS } = shell.out as Partial<NodeJS.WriteStream>;
    const lines = frameLines(snapshot, screen, rows - 1, output.style);
    const text = lines.map((line) => `${terminalLine(line)}${CLEAR_LINE}`).join('\r\n');
    shell.out.write(`${HOME}${text}\r\n${CLEAR_BELOW}`);
  };
  shell.out.write(ENTER_SCREEN);
  terminal.setRawMode(true).setEncoding('utf8').resume();
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        source.take(monotonicMs()).then((next) => {
          snapshot = next;
          draw();
          if (!screen.isOver) timer.refresh();
        }, reject);
      };
      const timer = setTimeout(look, everyMs);
      terminal.on('data', (keys: string) => {
        for (const key of keysOf(keys)) screen = pressed(screen, key);
        if (screen.isOver) {
          clearTimeout(timer);
          resolve();
        } else draw();
      });
      terminal.on('end', resolve);
      draw();
    });
  } finally {
    terminal.removeAllListeners('data').setRawMode(false).pause();
    shell.out.write(LEAVE_SCREEN);
  }
}

/** Several keys may arrive at once; those that begin with escape are one. */
function keysOf(text: string): readonly string[] {
  return text.startsWith('\u001b') ? [text] : [...text];
}

function isTerminal(shell: Shell): boolean {
  const { isTTY, setRawMode } = shell.stdin as Partial<NodeJS.ReadStream>;
  return shell.out.isTTY === true && isTTY === true && setRawMode !== undefined;
}
