import { closeSync, openSync, writeSync } from 'node:fs';
import type { Command } from 'commander';
import { memory } from '../../backends/memory/memory-backend.ts';
import { epochMs } from '../../base/globals.ts';
import { messageOf } from '../../base/message-of.ts';
import type { Fairloom } from '../../client/client.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { type DemoResult, playDemo } from '../demo/demo.ts';
import { Screen } from '../demo/screen.ts';
import { integerArgument, positiveArgument } from '../terminal/arguments.ts';
import { CliError, EXIT } from '../terminal/exit-code.ts';
import {
  type GlobalOptions,
  openBackend,
  refuseTwoBackends,
  type Shell,
} from '../terminal/session.ts';
import { escaped, styleFor } from '../terminal/style.ts';
import { dashboardAccess, dashboardService } from './server.ts';

interface Options extends GlobalOptions {
  readonly dashboard?: boolean;
  readonly json?: boolean;
  readonly seconds?: number;
  readonly seed: number;
  readonly trace?: string;
}

/** Long enough to watch, short enough to wait for. */
const DEFAULT_SECONDS = 8;
/** With the page: it is stopped by hand. */
const DASHBOARD_SECONDS = 3_600;
/** So much longer do tasks work there: 30 to 90 ms, so that lines can be followed. */
const DASHBOARD_SLOWER = 30;

/** Characters of the trace that are written at a time. */
const TRACE_CHUNK = 65_536;

/** `fairloom demo` */
export function addDemo(program: Command, shell: Shell): void {
  program
    .command('demo')
    .description('one noisy user with 100,000 tasks against nine quiet ones, live')
    .option('--json', 'end with one line of JSON, and show the rest on stderr')
    .option('--dashboard', 'with the page at a URL, slower, until it is interrupted')
    .option('--seconds <n>', `how long they compete; default: ${DEFAULT_SECONDS}`, positiveArgument)
    .option('--seed <n>', 'of the lengths of the tasks', integerArgument(0), 1)
    .option('--trace <file>', 'write the sequence of leases, one JSON line each')
    .action((_options: unknown, command: Command) =>
      runDemo(command.optsWithGlobals<Options>(), shell),
    );
}

async function runDemo(options: Options, shell: Shell): Promise<void> {
  const { json = false, dashboard = false, seed, data } = options;
  const { seconds = dashboard ? DASHBOARD_SECONDS : DEFAULT_SECONDS } = options;
  const stream = json ? shell.err : shell.out;
  const live = stream.isTTY === true && shell.env['TERM'] !== 'dumb';
  const { backend, forget } = await storeOf(options);
  const screen = new Screen({
    write: (text) => void stream.write(escaped(text)),
    style: styleFor(stream, shell.env),
    live,
    title: `Fairloom demo: ${backend.name} backend, seed ${seed}`,
  });
  const trace = options.trace === undefined ? undefined : new TraceFile(options.trace);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const result = await playDemo({
      backend,
      seconds,
      seed,
      trace: trace?.write,
      news: (text) => screen.news(text),
      frame: (figures, elapsed) => screen.draw(figures, elapsed),
      frameMs: screen.intervalMs,
      ...(dashboard
        ? {
            slower: DASHBOARD_SLOWER,
            beside: (loom) => showPage(loom, (text) => screen.news(text)),
          }
        : {}),
      goesOn: data !== undefined,
      signal: interrupt.signal,
    });
    screen.end(result, [
      ...closing(result, dashboard ? DASHBOARD_SLOWER : 1),
      ...(data === undefined ? [] : [leftText(result, data)]),
    ]);
    if (json) shell.out.write(`${JSON.stringify(result)}\n`);
  } finally {
    trace?.close();
    // Where this fails, the demo has failed too and said why, or its keys do no harm.
    await forget().catch(() => undefined);
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** The page of the demo, on any port that is free; answers with its end. */
async function showPage(
  loom: Fairloom,
  say: (text: string) => void,
): Promise<() => Promise<unknown>> {
  const place = { port: 0, host: '127.0.0.1' };
  const access = dashboardAccess(place, { env: {} });
  const service = await dashboardService(loom, place, { access, namespace: 'demo', say });
  await service.start();
  return () => service.stop();
}

/** The demo's own store: embedded unless a Redis or a folder is named. */
interface Store {
  readonly backend: Backend;
  /** Takes away what the demo has stored. */
  readonly forget: () => Promise<void>;
}

/**
 * On Redis under a prefix that nothing else uses, so that it can be taken away afterwards. A folder is its user's, who
 * may look whether the tasks are still there.
 */
async function storeOf({ redis: url, data: folder, prefix }: GlobalOptions): Promise<Store> {
  if (prefix !== undefined) {
    throw new CliError(EXIT.usage, 'the demo uses a prefix of its own; leave --prefix out');
  }
  refuseTwoBackends(url, folder);
  const forget = (): Promise<void> => Promise.resolve();
  if (folder !== undefined) return { backend: await openBackend({ data: { folder } }), forget };
  if (url === undefined) return { backend: memory(), forget };
  const own = `demo-${process.pid}-${epochMs()}`;
  const backend = await openBackend({ redis: { url, keyPrefix: own } });
  const { forgetPrefix } = await import('../../backends/redis/connection/forget.ts');
  return { backend, forget: () => forgetPrefix(url, own) };
}

/** What the figures say. */
function closing(result: DemoResult, slower: number): readonly string[] {
  const { tasksPerSecond, maxDeviation, jain, turns, seconds } = result;
  return [
    `${turns} turns in ${seconds.toFixed(1)} s (${tasksPerSecond}/s on 10 slots, ${slower} to ${slower * 3} ms each)`,
    `largest deviation of any user from its exact weighted share, at any moment: ${maxDeviation.toFixed(3)} turns`,
    `Jain index of turns over fair share: ${jain.toFixed(4)}`,
  ];
}

/** That they are not gone with the process. */
function leftText({ users }: DemoResult, folder: string): string {
  const waiting = users.reduce((sum, user) => sum + user.waiting, 0);
  return `${waiting} tasks wait in ${folder}: the demo goes on with them when it is started again`;
}

/** The trace on disk, written in chunks. */
class TraceFile {
  readonly #file: number;
  /** Lines that are not on disk yet. */
  #pending = '';

  constructor(path: string) {
    try {
      this.#file = openSync(path, 'w');
    } catch (error) {
      const problem = messageOf(error);
      throw new CliError(EXIT.failed, `the trace cannot be written: ${problem}`);
    }
  }

  readonly write = (line: string): void => {
    this.#pending += `${line}\n`;
    if (this.#pending.length >= TRACE_CHUNK) this.#flush();
  };

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    writeSync(this.#file, this.#pending);
    this.#pending = '';
  }
}
