/** What every command does alike: find the backend, do its work, close, end with a code. */
import type { Command } from 'commander';
import { memory } from '../backends/memory/memory-backend.ts';
import type { Logger } from '../base/logger.ts';
import type { Backend } from '../domain/backend.ts';
import { Fairloom } from '../engine/client.ts';
import { silentLogger } from '../engine/logger.ts';
import { CliError, EXIT, type ExitCode } from './exit-code.ts';
import { type Exports, loadModules } from './modules.ts';
import { Output, type OutputForm, type Streams } from './output.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly redis?: string;
  readonly prefix?: string;
  readonly module?: readonly string[];
  readonly output: OutputForm;
}

/** The process as the commands see it. */
export interface Shell extends Streams {
  readonly stdin: AsyncIterable<string | Buffer>;
  /** Set by a command that did not throw; 0 until then. */
  exitCode: ExitCode;
}

/** Used when neither `--redis` nor a module names a backend. */
const REDIS_ENV = 'FAIRLOOM_REDIS_URL';

/** Time to close in ms: a command has no work of its own to wait for. */
const CLOSE_MS = 500;

/** Steps that the modules of a command export, by name. */
export type NamedSteps = Exports['named'];

/** A command's work on an open Fairloom; what it answers is the exit code, 0 by default. */
export type Work = (
  loom: Fairloom,
  output: Output,
  steps: NamedSteps,
) => Promise<ExitCode | undefined>;

/** Does a command's work on the backend that its options name, and closes it. */
export async function withLoom(shell: Shell, command: Command, work: Work): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  // What a worker must say about the server would only be in the way here.
  const exported = await loadModules(options.module ?? []);
  const loom = await loomOf(exported, options, { env: shell.env, log: silentLogger });
  try {
    const output = new Output(options.output, shell);
    shell.exitCode = (await work(loom, output, exported.named)) ?? EXIT.ok;
  } finally {
    await loom.close({ timeout: CLOSE_MS });
  }
}

/**
 * The Fairloom that the modules export, or one of their steps on the backend that was named.
 *
 * @throws {@link CliError} when there is no backend, or two.
 */
export async function openLoom(
  options: GlobalOptions,
  modules: readonly string[],
  around: Surroundings,
): Promise<Fairloom> {
  return loomOf(await loadModules(modules), options, around);
}

interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

async function loomOf(
  { loom, steps }: Exports,
  options: GlobalOptions,
  { env, log }: Surroundings,
): Promise<Fairloom> {
  if (loom === undefined) {
    return new Fairloom({ backend: await namedBackend(options, env), tasks: steps, log });
  }
  if (options.redis !== undefined || options.prefix !== undefined) {
    const problem = 'a module exports a Fairloom, which has its own backend';
    throw new CliError(EXIT.usage, problem, 'leave --redis and --prefix out');
  }
  return loom;
}

/** Does work that needs no backend on the steps of modules: here, and nothing is stored. */
export async function withSteps(shell: Shell, command: Command, work: Work): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { loom, steps, named } = await loadModules(options.module ?? []);
  const local = loom ?? new Fairloom({ backend: memory(), tasks: steps, log: silentLogger });
  try {
    shell.exitCode = (await work(local, new Output(options.output, shell), named)) ?? EXIT.ok;
  } finally {
    await local.close({ timeout: CLOSE_MS });
  }
}

/** A Redis backend; its client is loaded here and nowhere else. */
export async function openRedis(url: string, prefix: string | undefined): Promise<Backend> {
  let redis: typeof import('../redis.ts').redis;
  try {
    ({ redis } = await import('../redis.ts'));
  } catch (error) {
    if (!String(error).includes('ioredis')) throw error;
    throw new CliError(EXIT.usage, 'Redis needs the package ioredis', 'npm install ioredis');
  }
  return redis(url, prefix === undefined ? {} : { prefix });
}

/** `--redis`, or the environment's URL. */
function redisUrl(options: GlobalOptions, env: NodeJS.ProcessEnv): string | undefined {
  const url = options.redis ?? env[REDIS_ENV];
  return url === '' ? undefined : url;
}

function namedBackend(options: GlobalOptions, env: NodeJS.ProcessEnv): Promise<Backend> {
  const url = redisUrl(options, env);
  if (url !== undefined) return openRedis(url, options.prefix);
  throw new CliError(
    EXIT.usage,
    'no backend was named',
    `give --redis <url>, set ${REDIS_ENV}, or name a module that exports a Fairloom with --module`,
  );
}
