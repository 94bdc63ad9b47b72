/** Which code a definition runs, as data: a worker makes a function of it. */
import type { TaskContext } from './task-context.ts';

/** A handler as the engine calls it; its types live in the definition's. */
export type Handler = (input: unknown, ctx: TaskContext) => unknown;

/** Where a handler outside of this thread is found. */
export interface HandlerModule {
  /** A `file:` or `data:` URL. */
  readonly url: string;
  readonly exportName: string;
}

/** What a program is given and what is read of it, wherever it runs. */
export interface ProgramSpec {
  readonly args: readonly string[] | ((input: unknown) => unknown);
  readonly stdin: 'json' | 'none';
  readonly stdout: 'json' | 'text';
}

/** A program of the worker's machine. */
export interface CommandSpec extends ProgramSpec {
  readonly command: string;
  readonly cwd: string | undefined;
  /** On top of the worker's own variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program in a container. */
export interface ContainerSpec extends ProgramSpec {
  readonly engine: string;
  /** Options of `run` that are the same for every task. */
  readonly flags: readonly string[];
  readonly image: string;
}

/** A function here, a module elsewhere in this machine, a program, or what was registered. */
export type TaskCode =
  | { readonly kind: 'function'; readonly handler: Handler }
  | { readonly kind: 'thread' | 'process'; readonly module: HandlerModule }
  | { readonly kind: 'command'; readonly command: CommandSpec }
  | { readonly kind: 'container'; readonly container: ContainerSpec }
  | { readonly kind: 'registered'; readonly handler: string; readonly settings: unknown }
  | { readonly kind: 'elsewhere' };
