/** One program, run once: from its start to the moment when nothing of it is left. */

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

/** How a program is ended that is more than a child of this process. */
export interface Ending {
  /** Asks it to end; `endChild` ends the child for certain. */
  ask(endChild: () => void): void;
  /** Fulfilled once nothing of it is left; called when the child is gone, or will be at once. */
  clean(): Promise<void>;
}

/** What is run. */
export interface ProgramCall {
  /** How errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** On top of the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** `undefined` for a program without stdin. */
  readonly stdin: string | undefined;
  readonly ctx: TaskContext;
  /** What to do when there is no such program. */
  readonly advice: string;
  /** Absent when the child and its own children are all there is. */
  readonly ending?: Ending | undefined;
}

/** How long output may still come once a program has ended, in ms: others may hold its pipes. */
const DRAIN_MS = 1_000;

/** A program that runs. */
export class Program {
  readonly #call: ProgramCall;
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #stderr: StderrLines;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** It was made to end, so that something may be left of it. */
  #wasEnded = false;
  /** Present once what may be left of it is being removed. */
  #cleaning: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** Its stdout, or why there is none. */
  readonly result: Promise<Buffer>;

  /** @throws {@link ProgramNotStartedError} for what the system refuses at once. */
  constructor(clock: Clock, call: ProgramCall) {
    this.#clock = clock;
    this.#call = call;
    this.#stderr = new StderrLines(call.ctx.log);
    this.#child = this.#spawn();
    this.result = this.#run();
  }

  /** Ends it now; fulfilled once nothing of it is left. Its result will be an error. */
  async kill(): Promise<void> {
    this.#wasEnded = true;
    this.#force();
    // Begun here and now: this process may not be there any more when the child is gone.
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

  /** Fulfilled once it has ended and all of its output is here. */
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
        // Before its pipes are waited for: what is left of it may hold them.
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
