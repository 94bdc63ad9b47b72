import { encodeJson } from '../base/json.ts';
import { messageOf } from '../base/message-of.ts';
import type { Clock } from '../base/time.ts';
import {
  ClosedError,
  InvalidOptionError,
  InvalidPayloadError,
  InvalidResultError,
} from '../domain/errors/errors.ts';
import type { CommandSpec, ContainerSpec, ProgramSpec } from '../workflow/task-code.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import { isArguments } from '../workflow/tasks/program-arguments.ts';
import { ContainerEnding, containerName } from './container-ending.ts';
import { Program, type ProgramCall } from './program.ts';

/** Runs the programs of commands and containers, and keeps a list of running ones. */
export class ProgramRunner {
  readonly #clock: Clock;
  readonly #running = new Set<Program>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a command. Rejects with the reason of the signal once the whole program has ended. */
  command(spec: CommandSpec, input: unknown, ctx: TaskContext): Promise<unknown> {
    const { command, cwd, env } = spec;
    const where = cwd === undefined ? '' : `, and whether there is a folder ${cwd}`;
    const advice = `check whether it is installed on this machine${where}`;
    const given = { args: argumentsOf(spec, input), stdin: stdinOf(spec, input) };
    const variables = { ...env, ...factsOf(ctx) };
    const call = { name: command, command, cwd, env: variables, advice, ctx, ...given };
    return this.#run(spec, call);
  }

  /** Runs a container. Its name is known, so that it can be ended by it. */
  container(spec: ContainerSpec, input: unknown, ctx: TaskContext): Promise<unknown> {
    const { engine, image, flags } = spec;
    const name = containerName(ctx);
    const stdin = stdinOf(spec, input);
    const open = stdin === undefined ? [] : ['-i'];
    const env = factsOf(ctx);
    const known = ['--name', name, '--label', `fairloom.task=${env.FAIRLOOM_TASK_ID}`];
    // Only the names: the values are in the environment of the command line.
    const facts = Object.keys(env).flatMap((variable) => ['--env', variable]);
    return this.#run(spec, {
      name: image,
      command: engine,
      args: [
        'run',
        '--rm',
        ...open,
        ...known,
        ...facts,
        ...flags,
        image,
        ...argumentsOf(spec, input),
      ],
      env,
      stdin,
      ctx,
      advice: 'install Docker or Podman on this machine, or name another program as `engine`',
      ending: new ContainerEnding(this.#clock, engine, name),
    });
  }

  /** Ends all programs now; no new one starts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((program) => program.kill()));
  }

  async #run(spec: ProgramSpec, call: ProgramCall): Promise<unknown> {
    call.ctx.signal.throwIfAborted();
    if (this.#isClosed) throw new ClosedError('this Fairloom');
    const program = new Program(this.#clock, call);
    this.#running.add(program);
    try {
      return resultOf(spec, await program.result);
    } finally {
      this.#running.delete(program);
    }
  }
}

/** Environment variables with facts about the task; values do not contain NUL. */
interface ProgramFacts extends Readonly<Record<string, string>> {
  readonly FAIRLOOM_TASK_ID: string;
}

function factsOf(ctx: TaskContext): ProgramFacts {
  const { taskId, user, attempt, fencingToken, traceparent } = ctx;
  const whole = (text: string): string => text.replaceAll('\0', '\uFFFD');
  return {
    FAIRLOOM_TASK_ID: whole(taskId),
    FAIRLOOM_TASK_USER: whole(user),
    FAIRLOOM_TASK_ATTEMPT: String(attempt),
    FAIRLOOM_TASK_FENCING_TOKEN: String(fencingToken),
    ...(traceparent === undefined ? {} : { TRACEPARENT: whole(traceparent) }),
  };
}

function argumentsOf({ args }: ProgramSpec, input: unknown): readonly string[] {
  const made: unknown = typeof args === 'function' ? args(input) : args;
  if (isArguments(made)) return made;
  throw new InvalidOptionError('args', 'a list of texts without NUL', made);
}

/** The input as JSON, whatever the codec of the store; empty for a task without an input. */
function stdinOf({ stdin }: ProgramSpec, input: unknown): string | undefined {
  if (stdin === 'none') return undefined;
  const encoded = encodeJson(input, Number.MAX_SAFE_INTEGER);
  if (encoded.ok) return encoded.text;
  throw new InvalidPayloadError(encoded.path, encoded.problem);
}

/** Parses the output as data; output of a program is never executed. */
function resultOf({ stdout }: ProgramSpec, bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidResultError('$', 'the stdout of the program is not UTF-8');
  }
  if (stdout === 'text') return text.replace(/\r?\n$/, '');
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = `the stdout of the program is not JSON (${messageOf(error)})`;
    throw new InvalidResultError('$', problem);
  }
}
