/** One run of a program: from its start until all its processes have ended. */

import type { ChildProcess } from 'node:child_process';
import { onAbort } from '../base/abort-watch.ts';
import type { Clock, Timer } from '../base/time.ts';
import {
  InvalidResultError,
  ProgramFailedError,
  ProgramNotStartedError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import { signalGroup, spawnChild } from './children.ts';
import { StderrLines } from './stderr-lines.ts';

/** Ends a program that is more than a child of this process. */
export interface Ending {
  /** Asks it to end; `endChild` surely ends the child. */
  ask(endChild: () => void): void;
  /** Resolves when all of it has ended; called when the child has exited, or is about to. */
  clean(): Promise<void>;
}

/** A program to run. */
export interface ProgramCall {
  /** Its name in errors. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** `undefined` for a program without stdin. */
  readonly stdin: string | undefined;
  readonly ctx: TaskContext;
  /** Advice for the case that there is no such program. */
  readonly advice: string;
  /** Absent when the program consists of the child and its own children. */
  readonly ending?: Ending | undefined;
}

/** Longest time for output after a program has ended, in ms: others may hold its pipes. */
const DRAIN_MS = 1_000;

/** A running program. */
export class Program {
  readonly #call: ProgramCall;
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #stderr: StderrLines;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** It was ended, so some of its processes may be left. */
  #wasEnded = false;
  /** Present once left processes are being removed. */
  #cleaning: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** Its stdout, or the error of the run. */
  readonly result: Promise<Buffer>;

  /** @throws {@link ProgramNotStartedError} for what the system refuses at once. */
  constructor(clock: Clock, call: ProgramCall) {
    this.#clock = clock;
    this.#call = call;
    this.#stderr = new StderrLines(call.ctx.log);
    this.#child = this.#spawn();
    this.result = this.#run();
  }

  /** Ends it now; resolves when all of it has ended. Its result is then an error. */
  async kill(): Promise<void> {
    this.#wasEnded = true;
    this.#force();
    // Started at once: this process may have exited before the child does.
    await Promise.all([this.#call.ending?.clean(), this.result.catch(() => undefined)]);
  }

  #spawn(): ChildProcess {
    const { command, args, cwd, env, stdin } = this.#call;
    try {
      return spawnChild(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
        stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
    } catch (error) {
      throw this.#notStarted(error);
    }
  }

  async #run(): Promise<Buffer> {
    const { signal } = this.#call.ctx;
    const unwatch = onAbort([signal], () => this.#askToEnd());
    try {
      const end = await this.#ended();
      await this.#cleaning;
      signal.throwIfAborted();
      return this.#resultOf(end);
    } finally {
      unwatch();
      this.#timer?.cancel();
    }
  }

  /** Resolves when it has ended and all of its output was read. */
  #ended(): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    const child = this.#child;
    child.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.write(chunk));
    // A program need not read its input.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(this.#call.stdin);
    return new Promise((resolve, reject) => {
      child.on('error', (error) => {
        if (child.pid === undefined) reject(this.#notStarted(error));
      });
      child.on('exit', (code) => {
        // Before waiting for its pipes: left processes may hold them.
        if (this.#wasEnded || code !== 0) this.#cleaning = this.#call.ending?.clean();
        this.#timer?.cancel();
        this.#timer = this.#clock.setTimer(DRAIN_MS, () => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        });
      });
      child.on('close', (code, signal) => resolve({ code, signal }));
    });
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= LIMITS.payloadBytes) this.#chunks.push(chunk);
    else if (!this.#wasEnded) void this.kill();
  }

  #askToEnd(): void {
    if (this.#wasEnded) return;
    this.#wasEnded = true;
    const { ending } = this.#call;
    if (ending === undefined) signalGroup(this.#child, 'SIGTERM');
    else ending.ask(() => this.#force());
    this.#timer = this.#clock.setTimer(LIMITS.killGraceMs, () => this.#force());
  }

  #resultOf(end: { readonly code: number | null; readonly signal: string | null }): Buffer {
    const stderr = this.#stderr.close();
    if (this.#bytes > LIMITS.payloadBytes) {
      const problem = `the program wrote more than ${LIMITS.payloadBytes} bytes to stdout`;
      throw new InvalidResultError('$', problem);
    }
    if (end.code === 0) return Buffer.concat(this.#chunks);
    const [exitCode, signal] = [end.code ?? undefined, end.signal ?? undefined];
    throw new ProgramFailedError(this.#call.name, { exitCode, signal, stderr });
  }

  #force(): void {
    signalGroup(this.#child, 'SIGKILL');
  }

  #notStarted(error: unknown): Error {
    return new ProgramNotStartedError(this.#call.command, this.#call.advice, error);
  }
}
