/** Tasks that are programs: a command of the worker's machine, or an image. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { StandardSchemaV1 } from '../standard-schema.ts';
import type { Task } from '../step.ts';
import type { ProgramSpec } from '../task-code.ts';
import { checkDefinition, define, typed } from '../task-definition.ts';
import { TASK_KEYS, type TaskOptions } from '../task-options.ts';
import {
  CONTAINER_KEYS,
  type ContainerOptions,
  checkEngine,
  checkImage,
  containerFlags,
} from './container.ts';
import {
  checkArgument,
  checkEnvironment,
  type Environment,
  isArguments,
} from './program-arguments.ts';

/** Format of a program's stdout. */
export type Stdout = 'json' | 'text';

/** Result of a program: its stdout as text, or the JSON value in it. */
export type ProgramOutput<O, S extends Stdout> = [S] extends ['text'] ? string : O;

/** Input and output of a program. */
export interface ProgramOptions<I = unknown, O = unknown, S extends Stdout = Stdout>
  extends Omit<TaskOptions, 'output'> {
  /**
   * Its arguments; a function makes them from the input. No shell reads them. Put `--` before texts
   * that users wrote, so that the program does not read them as options. Default none.
   */
  readonly args?: readonly string[] | ((input: I) => readonly string[]) | undefined;
  /** `json` (default): stdin is the input as JSON. `none`: there is no stdin. */
  readonly stdin?: 'json' | 'none' | undefined;
  /**
   * Format of its stdout: one JSON value (default; empty output is no result), or plain text, which
   * is the result without the last line break.
   */
  readonly stdout?: S | undefined;
  /** Checks the value from stdout; the output of the schema is stored. */
  readonly output?: StandardSchemaV1<unknown, ProgramOutput<O, S>> | undefined;
}

const PROGRAM_KEYS: OptionKeys<ProgramOptions> = keysOf<ProgramOptions>()({
  ...TASK_KEYS,
  args: true,
  stdin: true,
  stdout: true,
});

/** Options of {@link commandTask}. */
export interface CommandTaskOptions<I = unknown, O = unknown, S extends Stdout = Stdout>
  extends ProgramOptions<I, O, S> {
  /** A program on the worker's PATH, or its path. */
  readonly command: string;
  /** Its working directory. Default: that of the worker. */
  readonly cwd?: string | undefined;
  /** Variables in addition to the worker's own. */
  readonly env?: Environment | undefined;
}

const COMMAND_KEYS: OptionKeys<CommandTaskOptions> = keysOf<CommandTaskOptions>()({
  ...PROGRAM_KEYS,
  command: true,
  cwd: true,
  env: true,
});

/** Options of {@link containerTask}. */
export interface ContainerTaskOptions<I = unknown, O = unknown, S extends Stdout = Stdout>
  extends ProgramOptions<I, O, S>,
    ContainerOptions {}

const CONTAINER_TASK_KEYS: OptionKeys<ContainerTaskOptions> = keysOf<ContainerTaskOptions>()({
  ...PROGRAM_KEYS,
  ...CONTAINER_KEYS,
});

/**
 * Defines a task that is a program of the worker's machine:
 * `commandTask('probe', { command: 'ffprobe', args: ['-of', 'json', 'a.mp4'], stdin: 'none' })`. Exit code 0 is a success; its stdout,
 * at most 1 MiB, is the result. Lines of stderr go to the log. When the task is canceled, times out,
 * or loses its lease, the program and its children get SIGTERM, and SIGKILL after three seconds.
 *
 * The attempt fails with {@link ProgramFailedError} for any other exit code, with
 * {@link ProgramNotStartedError} when there is no such program.
 *
 * @example
 * ```ts
 * import { commandTask, Fairloom, memory } from 'fairloom';
 *
 * const version = commandTask('version', { command: 'node', args: ['-p', '6 * 7'], stdin: 'none' });
 * const loom = new Fairloom({ backend: memory(), tasks: [version] });
 * console.log(await loom.run(version)); // prints 42
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function commandTask<I = unknown, O = unknown, const S extends Stdout = Stdout>(
  name: string,
  options: CommandTaskOptions<I, O, S>,
): Task<I, ProgramOutput<O, S>>;
export function commandTask(
  name: string,
  options: CommandTaskOptions<never, unknown>,
): Task<never, unknown> {
  checkDefinition(name, options, COMMAND_KEYS);
  const where = `task ${name}`;
  const { command, cwd, env = {}, args, stdin, stdout, ...rest } = options;
  checkArgument(`${where}: command`, command);
  if (cwd !== undefined) checkArgument(`${where}: cwd`, cwd);
  checkEnvironment(`${where}: env`, env);
  const spec = { ...programOf(where, { args, stdin, stdout }), command, cwd, env: { ...env } };
  return typed(define(name, rest, { kind: 'command', command: spec }));
}

/**
 * Defines a task that runs in a new container, by the command line of Docker or Podman:
 * `containerTask('thumbnail', { image: 'acme/thumbnail:3', memory: '512m', network: 'none' })`. Its
 * program gets its input and returns its result as a `commandTask` does. When the task is canceled,
 * times out, or loses its lease, the container gets SIGTERM, and is removed three seconds later. It
 * is removed in any case.
 *
 * The attempt fails with {@link ProgramFailedError} for any exit code but 0, with
 * {@link ProgramNotStartedError} when the engine is not installed.
 *
 * @example
 * ```ts
 * import { containerTask } from 'fairloom';
 *
 * const thumbnail = containerTask('thumbnail', { image: 'acme/thumbnail:3', memory: '512m' });
 * console.log(thumbnail.name); // prints thumbnail
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function containerTask<I = unknown, O = unknown, const S extends Stdout = Stdout>(
  name: string,
  options: ContainerTaskOptions<I, O, S>,
): Task<I, ProgramOutput<O, S>>;
export function containerTask(
  name: string,
  options: ContainerTaskOptions<never, unknown>,
): Task<never, unknown> {
  checkDefinition(name, options, CONTAINER_TASK_KEYS);
  const where = `task ${name}`;
  const { image, engine = 'docker', args, stdin, stdout, ...others } = options;
  const { env, passEnv, mounts, network, memory, cpus, engineArgs, ...rest } = others;
  const container = {
    ...programOf(where, { args, stdin, stdout }),
    engine: checkEngine(`${where}: engine`, engine),
    image: checkImage(`${where}: image`, image),
    flags: containerFlags(where, { env, passEnv, mounts, network, memory, cpus, engineArgs }),
  };
  return typed(define(name, rest, { kind: 'container', container }));
}

function programOf(
  where: string,
  options: Pick<ProgramOptions<never>, 'args' | 'stdin' | 'stdout'>,
): ProgramSpec {
  const { args = [], stdin = 'json', stdout = 'json' } = options;
  if (typeof args !== 'function' && !isArguments(args)) {
    throw new InvalidOptionError(`${where}: args`, 'a list of texts, or a function', args);
  }
  if (stdin !== 'json' && stdin !== 'none') {
    throw new InvalidOptionError(`${where}: stdin`, '"json" or "none"', stdin);
  }
  if (stdout !== 'json' && stdout !== 'text') {
    throw new InvalidOptionError(`${where}: stdout`, '"json" or "text"', stdout);
  }
  // The definition's type has the type of the function's input.
  const make = typeof args === 'function' ? (args as (input: unknown) => unknown) : [...args];
  return { args: make, stdin, stdout };
}
