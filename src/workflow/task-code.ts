/** The code of a definition, as data: a worker makes a function of it. */
import type { TaskContext } from './task-context.ts';

/** A handler as the engine calls it; its definition has the types. */
export type Handler = (input: unknown, ctx: TaskContext) => unknown;

/** Location of a handler outside this thread. */
export interface HandlerModule {
  /** A `file:` or `data:` URL. */
  readonly url: string;
  readonly exportName: string;
}

/** Input and output of a program. */
export interface ProgramSpec {
  readonly args: readonly string[] | ((input: unknown) => unknown);
  readonly stdin: 'json' | 'none';
  readonly stdout: 'json' | 'text';
}

/** A program on the worker's machine. */
export interface CommandSpec extends ProgramSpec {
  readonly command: string;
  readonly cwd: string | undefined;
  /** Variables in addition to the worker's own. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program in a container. */
export interface ContainerSpec extends ProgramSpec {
  readonly engine: string;
  /** Options of `run` that are equal for every task. */
  readonly flags: readonly string[];
  readonly image: string;
}

/** A function here, a module in a thread or process, a program, or a registered handler. */
export type TaskCode =
  | { readonly kind: 'function'; readonly handler: Handler }
  | { readonly kind: 'thread' | 'process'; readonly module: HandlerModule }
  | { readonly kind: 'command'; readonly command: CommandSpec }
  | { readonly kind: 'container'; readonly container: ContainerSpec }
  | { readonly kind: 'registered'; readonly handler: string; readonly settings: unknown }
  | { readonly kind: 'elsewhere' };
