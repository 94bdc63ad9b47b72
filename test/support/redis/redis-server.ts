/**
 * Redis servers for tests: started on a free loopback port, stopped by their own pid. The program is the one that
 * `FAIRLOOM_TEST_REDIS` names by its path, else the one of `processes/programs.ts`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from '../../../src/backends/redis/connection/client.ts';
import { programPath } from '../processes/programs.ts';

/** How a server is to be started; everything has a default. */
export interface RedisOptions {
  /** More arguments, for example `['--appendonly', 'yes']`. They come last, so they win. */
  readonly args?: readonly string[] | undefined;
  /** Default: a free one. The plain port stays open when `args` adds a TLS port. */
  readonly port?: number | undefined;
  /** A program that runs it in its own process, as valgrind, with the arguments before the server's. */
  readonly under?: readonly string[] | undefined;
  /** A sentinel, whose configuration file is the first of `args`. */
  readonly sentinel?: boolean | undefined;
  /** Where it writes. Default: a temporary folder, gone after `stop()`. */
  readonly dir?: string | undefined;
}

/** Where a server is: for our backend and for a plain client. */
export type RedisPlace = Omit<ConnectionOptions, 'replyMapping'>;

/** A server that this process started. */
export interface RedisServer {
  /** `redis://127.0.0.1:<port>`; the same after a restart. */
  readonly url: string;
  readonly port: number;
  /** The path of its socket, on which a call takes two thirds of the time. */
  readonly socket: string;
  readonly dir: string;
  /** Of the process that runs now; another after a restart. */
  readonly pid: number;
  /** Ends it politely and removes the temporary folder. Safe to call twice. */
  stop(): Promise<void>;
  /** `kill -9`. The folder stays, for `restart()`. */
  kill(): Promise<void>;
  /** Ends it politely if it still runs, and starts it on the same port, folder and arguments. */
  restart(): Promise<void>;
}

/** How long a server may take to answer, in ms: a loaded machine with an AOF to read. */
const START_MS = 15_000;
/** How long a polite end may take, in ms, before it is killed. */
const STOP_MS = 5_000;
/** A free port may be taken between the look and the start. */
const ATTEMPTS = 5;

/** What this process started and has not stopped, so that nothing outlives it. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a server and answers when it serves commands. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const command = [...(options.under ?? []), programPath('redis')];
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'fairloom-redis-'));
  const socket = join(dir, 'redis.sock');
  const start = (port: number): Promise<ChildProcess> =>
    options.sentinel === true
      ? launch(command, port, [...(options.args ?? []), '--sentinel', '--port', String(port)])
      : launch(command, port, [...fixedArgs(port, socket), '--dir', dir, ...(options.args ?? [])]);
  const first = await firstStart(start, options.port);
  const { port } = first;
  let { child } = first;

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    socket,
    dir,
    get pid() {
      return child.pid ?? 0;
    },
    async stop() {
      await end(child, 'SIGTERM');
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
    kill: () => end(child, 'SIGKILL'),
    async restart() {
      await end(child, 'SIGTERM');
      child = await start(port);
    },
  };
}

async function firstStart(
  start: (port: number) => Promise<ChildProcess>,
  wanted: number | undefined,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted ?? (await freePort());
    try {
      return { port, child: await start(port) };
    } catch (error) {
      if (wanted !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

function fixedArgs(port: number, socket: string): readonly string[] {
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--unixsocket', socket];
  return [...place, '--daemonize', 'no', '--save', '', '--appendonly', 'no'];
}

async function launch(
  [program = '', ...before]: readonly string[],
  port: number,
  args: readonly string[],
): Promise<ChildProcess> {
  const child = spawn(program, [...before, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const output = tail(child);
  const deadline = performance.now() + START_MS;
  while (!(await answers(port, child.pid))) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(`${program} ended while starting on port ${port}:\n${output()}`);
    }
    if (performance.now() > deadline) {
      await end(child, 'SIGKILL');
      throw new Error(`${program} did not answer on port ${port} in ${START_MS} ms:\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

/** Keeps the last of what it prints: a pipe that is not read would stop the server. */
function tail(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-2_000);
    });
  }
  child.on('error', (error) => {
    text += error.message;
  });
  return () => text;
}

/** Whether the server behind the port is this process and ready; one that wants a password is. */
function answers(port: number, pid: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = createConnection({ host: '127.0.0.1', port });
    const settle = (): void => {
      socket.destroy();
      const process = /^process_id:(\d+)/m.exec(reply)?.[1];
      resolve(process === String(pid) || reply.startsWith('-NOAUTH'));
    };
    socket.setTimeout(1_000, settle);
    socket.once('error', settle);
    socket.once('connect', () => socket.write('INFO server\r\nQUIT\r\n'));
    socket.on('data', (chunk) => {
      reply += chunk.toString();
    });
    socket.once('end', settle);
  });
}

/** Ends a child by its own pid and waits until it is gone. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  child.kill(signal);
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(impatient);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no free port')),
      );
    });
  });
}
