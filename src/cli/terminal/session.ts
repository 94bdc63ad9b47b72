/** What every command does alike: find the backend, do its work, close, end with a code. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { memory } from '../../backends/memory/memory-backend.ts';
import type { Logger } from '../../base/logger.ts';
import { coreOf, Fairloom } from '../../client/client.ts';
import type { ConfigInput } from '../../config/config-types.ts';
import type { ConfigOrigin } from '../../config/given.ts';
import type { LoadedConfig, ReadConfig } from '../../config/load.ts';
import type { Instruments } from '../../core/instruments.ts';
import type { Backend } from '../../domain/port/backend.ts';
import { silentLogger } from '../../logging/logger.ts';
import { CliError, EXIT, type ExitCode } from './exit-code.ts';
import { type Exports, loadModules } from './modules.ts';
import { Output, type OutputForm, type Streams } from './output.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly redis?: string;
  readonly data?: string;
  readonly prefix?: string;
  readonly module?: readonly string[];
  readonly config?: string;
  readonly output: OutputForm | 'yaml';
}

/** The process as the commands see it. */
export interface Shell extends Streams {
  readonly stdin: AsyncIterable<string | Buffer>;
  /** Set by a command that did not throw; 0 until then. */
  exitCode: ExitCode;
}

/** Time to close in ms: a command has no work of its own to wait for, and a server may not answer. */
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
export function withLoom(shell: Shell, command: Command, work: Work): Promise<void> {
  return workOn(shell, command, { work, maintains: false });
}

/** The same for maintenance: a data folder is taken over from no process that lives. */
export function withLoomAtRest(shell: Shell, command: Command, work: Work): Promise<void> {
  return workOn(shell, command, { work, maintains: true });
}

async function workOn(
  shell: Shell,
  command: Command,
  { work, maintains }: { readonly work: Work; readonly maintains: boolean },
): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const output = outputOf(options, shell);
  const exported = await loadModules(options.module ?? []);
  if (exported.loom !== undefined) refuseBackend(options, ['config']);
  // What a worker must say about the server would only be in the way here.
  const around = { log: silentLogger, maintains };
  const loom = exported.loom ?? (await loomFor(await configFor(options, shell), exported, around));
  try {
    shell.exitCode = (await work(loom, output, exported.named)) ?? EXIT.ok;
  } finally {
    // A data folder is left in order, so that the next process opens it at once.
    const { sync } = coreOf(loom).connection.backend.capabilities;
    await loom.close(sync === undefined ? { timeout: CLOSE_MS } : {});
  }
}

/** The data folder that a command would open; `undefined`: it has another backend, or that of a module. */
export async function dataFolderOf(shell: Shell, command: Command): Promise<string | undefined> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { loom } = await loadModules(options.module ?? []);
  if (loom !== undefined) return undefined;
  const { config } = await configFor(options, shell);
  return config.backend === 'file' ? config.data.folder : undefined;
}

/** Does work that needs no backend on the steps of modules: here, and nothing is stored. */
export async function withSteps(shell: Shell, command: Command, work: Work): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const output = outputOf(options, shell);
  const exported = await loadModules(options.module ?? []);
  const { loom, named } = exported;
  const local = loom ?? (await localLoom(await configFor(options, shell), exported));
  try {
    shell.exitCode = (await work(local, output, named)) ?? EXIT.ok;
  } finally {
    await local.close({ timeout: CLOSE_MS });
  }
}

async function localLoom(
  { config }: LoadedConfig,
  { steps: tasks, handlers }: Exports,
): Promise<Fairloom> {
  const { defaults, requireUser } = config;
  const given = { tasks, handlers, defaults, requireUser };
  return new Fairloom({ ...given, backend: memory(), log: silentLogger });
}

/**
 * The Fairloom that the modules export, or one of their steps on the backend that was named.
 *
 * @throws {@link CliError} when there is no backend, or two.
 */
export async function openLoom(
  options: GlobalOptions,
  exported: Exports,
  around: Around,
): Promise<Fairloom> {
  if (exported.loom !== undefined) refuseBackend(options);
  return exported.loom ?? (await loomFor(around.loaded, exported, { ...around, maintains: false }));
}

/** What a Fairloom is made of beside what modules export. */
interface Around {
  readonly loaded: LoadedConfig;
  readonly log: Logger;
  readonly metrics?: Instruments | undefined;
}

/** Flags and environment and the file: the only way in which a command gets its configuration. */
export async function configFor(
  { redis, data, prefix, config: file }: GlobalOptions,
  { env }: Shell,
  { worker = {}, metrics = {}, top = {} }: Flags = {},
): Promise<ReadConfig> {
  refuseTwoBackends(redis, data);
  const [{ readConfig }, { FILE_VARIABLE }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../config/environment.ts'),
  ]);
  const named = file ?? env[FILE_VARIABLE];
  if (named !== undefined && named !== '' && !existsSync(named)) {
    const by = file === undefined ? `, which ${FILE_VARIABLE} names` : '';
    throw new CliError(EXIT.notFound, `there is no file ${named}${by}`);
  }
  const overrides = {
    ...(redis === undefined && prefix === undefined
      ? {}
      : { redis: { url: redis, keyPrefix: prefix } }),
    ...(data === undefined ? {} : { data: { folder: data } }),
    worker: valuesOf(worker),
    ...(Object.keys(metrics).length === 0 ? {} : { metrics: valuesOf(metrics) }),
    ...valuesOf(top),
  };
  const flags = new Map([
    ['redis.url', '--redis'],
    ['data.folder', '--data'],
    ['redis.keyPrefix', '--prefix'],
    ...Object.entries(worker).map(([name, { flag }]) => [`worker.${name}`, flag] as const),
    ...Object.entries(metrics).map(([name, { flag }]) => [`metrics.${name}`, flag] as const),
    ...Object.entries(top).map(([name, { flag }]) => [name, flag] as const),
  ]);
  const read = await readConfig({ file, env, overrides, flags });
  if (prefix !== undefined && read.config.backend === 'file') {
    throw new CliError(EXIT.usage, 'a data folder has no prefix', 'leave --prefix out');
  }
  return read;
}

/** Tasks live in one place. */
export function refuseTwoBackends(redis: string | undefined, data: string | undefined): void {
  if (redis === undefined || data === undefined) return;
  throw new CliError(EXIT.usage, '--redis and --data are two backends', 'leave one of them out');
}

function valuesOf(flags: FlagValues): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(flags).map(([name, { value }]) => [name, value]));
}

/** What flags say of the sections `worker` and `metrics`, and of the options above all sections. */
interface Flags {
  readonly worker?: FlagValues;
  readonly metrics?: FlagValues;
  readonly top?: FlagValues;
}

/** Options of a section, by name, with the flag that gave each. */
export type FlagValues = Readonly<
  Record<string, { readonly flag: string; readonly value: unknown }>
>;

/** A backend by these words alone; what it needs is loaded here and nowhere else. */
export async function openBackend(
  overrides: Pick<ConfigInput, 'data' | 'redis'>,
): Promise<Backend> {
  const { readConfig } = await import('../../config/load.ts');
  const { config } = await readConfig({ file: false, env: {}, overrides });
  const { fairloomOptions } = await import('../../config/apply.ts');
  return (await fairloomOptions(config)).backend;
}

async function loomFor(
  { config, origins }: LoadedConfig,
  { steps: tasks, handlers }: Exports,
  { log, metrics, maintains }: Omit<Around, 'loaded'> & { readonly maintains: boolean },
): Promise<Fairloom> {
  if (config.backend === 'memory') throw noBackend(origins.get('backend'));
  const { fairloomOptions, maintenanceOptions } = await import('../../config/apply.ts');
  const options = await (maintains ? maintenanceOptions : fairloomOptions)(config);
  return new Fairloom({ ...options, tasks, handlers, log, metrics });
}

function noBackend(origin: ConfigOrigin | undefined): CliError {
  if (origin !== undefined && origin.from !== 'default') {
    const problem =
      'the backend is memory, which lives in one process: a command finds nothing in it';
    return new CliError(
      EXIT.usage,
      problem,
      'give --redis <url> or --data <folder>, or name a module that exports a Fairloom',
    );
  }
  return new CliError(
    EXIT.usage,
    'no backend was named',
    'give --redis <url> or --data <folder>, set FAIRLOOM_REDIS_URL, REDIS_URL or FAIRLOOM_DATA_FOLDER, write redis.url or data.folder into fairloom.yaml, or name a module that exports a Fairloom with --module',
  );
}

/** A Fairloom of a module has its own backend. */
function refuseBackend(options: GlobalOptions, more: readonly 'config'[] = []): void {
  const names = ['redis', 'data', 'prefix', ...more] as const;
  if (names.every((name) => options[name] === undefined)) return;
  const flags = names.map((name) => `--${name}`).join(' and ');
  const problem = 'a module exports a Fairloom, which has its own backend';
  throw new CliError(EXIT.usage, problem, `leave ${flags} out`);
}

/** The output that the options of a command ask for. */
export function outputFor(shell: Shell, command: Command): Output {
  return outputOf(command.optsWithGlobals<GlobalOptions>(), shell);
}

/** Where a command writes what it finds. @throws {@link CliError} for a form that it has not. */
export function outputOf({ output }: GlobalOptions, shell: Shell): Output {
  if (output !== 'yaml') return new Output(output, shell);
  throw new CliError(EXIT.usage, 'only fairloom config show writes yaml');
}
