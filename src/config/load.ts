import { existsSync } from 'node:fs';
import { ConfigError, InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { readSource } from './config-file.ts';
import type { Config, ConfigInput } from './config-types.ts';
import { FILE_VARIABLE, givenOfEnvironment, givenOfHost } from './environment.ts';
import { frozen } from './frozen.ts';
import { type ConfigOrigin, type Given, type GivenMap, givenOf } from './given.ts';
import { checkLeases } from './lease-checks.ts';
import { TOP } from './options.ts';
import { Problems } from './problems.ts';
import { type Findings, type Layers, resolveSection } from './resolve.ts';
import { resolveWorkers } from './worker-list.ts';

/** Sources of a configuration. */
export interface LoadConfigOptions {
  /**
   * A YAML file. Default: `FAIRLOOM_CONFIG`, or else `fairloom.yaml` in the current folder if it
   * exists. `false`: none.
   */
  readonly file?: string | false | undefined;
  /** Environment variables. Default: those of the process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Values that override file and environment. */
  readonly overrides?: ConfigInput | undefined;
}

const KEYS: OptionKeys<LoadConfigOptions> = keysOf<LoadConfigOptions>()({
  file: true,
  env: true,
  overrides: true,
});

/** A configuration, and its origins. */
export interface LoadedConfig {
  /** Checked and frozen, with its defaults. */
  readonly config: Config;
  /** Name of the file as given. */
  readonly file: string | undefined;
  /** Origin of each option with a value, by path: `redis.url`, `workers[0].lease`. */
  readonly origins: ReadonlyMap<string, ConfigOrigin>;
}

/** For the command line, which shows options one by one. */
export interface ReadConfig extends LoadedConfig {
  /** Each option with a value, by path. */
  readonly values: ReadonlyMap<string, unknown>;
}

/** For the command line, whose flags are overrides. */
export interface ReadOptions extends Omit<LoadConfigOptions, 'overrides'> {
  /** Not typed: flags are checked as all other sources. */
  readonly overrides?: object | undefined;
  /** Flag of an override, by path. */
  readonly flags?: ReadonlyMap<string, string> | undefined;
}

/** Read without `--config` and `FAIRLOOM_CONFIG`. */
const DEFAULT_FILE = 'fairloom.yaml';

/**
 * Reads the configuration: defaults, then the file, then `FAIRLOOM_*` of the environment, then
 * overrides. Later ones take precedence, field by field. `REDIS_URL`, which hosts set, is read if
 * none of these names a server or another backend.
 *
 * @throws {@link ConfigError} with all problems, each with its origin.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  checkOptions('loadConfig', options, KEYS);
  const { env = {} } = options;
  if (typeof env !== 'object' || env === null) {
    throw new InvalidOptionError('env', 'an object of variables', env);
  }
  const { config, file, origins } = await readConfig(options);
  return { config, file, origins };
}

/** The same with the flags of the command line. */
export async function readConfig(options: ReadOptions): Promise<ReadConfig> {
  const { env = process.env, overrides = {}, flags } = options;
  const problems = new Problems();
  const file = fileOf(options.file, env);
  const fromFile = file === undefined ? undefined : await readFile(file, env, problems);
  const fromCode = givenOf(overrides, (path) => ({ from: 'code', flag: flags?.get(path) }));
  const named = [fromFile, givenOfEnvironment(env, problems), fromCode]
    .filter((given) => given !== undefined)
    .map((given) => withBackend(given, problems));
  const ofHost = isServerOpen(named) ? givenOfHost(env) : undefined;
  const layers = ofHost === undefined ? named : [withBackend(ofHost, problems), ...named];
  const findings = {
    problems,
    origins: new Map<string, ConfigOrigin>(),
    values: new Map<string, unknown>(),
    places: new Map<string, ConfigOrigin>(),
    spoiled: new Set<string>(),
  };
  const config = configOf(layers, findings);
  if (problems.all.length > 0) throw new ConfigError(problems.all);
  const { origins, values } = findings;
  return { config: frozen(config), file, origins: inList(origins), values: inList(values) };
}

/** Problems call a single worker `worker`; in a configuration it is the first of a list. */
function inList<T>(byPath: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const entries = [...byPath].map(([path, item]): [string, T] => [
    path.replace(/^worker\./, 'workers[0].'),
    item,
  ]);
  return new Map(entries);
}

function fileOf(named: string | false | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (named === false) return undefined;
  if (named !== undefined && typeof named !== 'string') {
    throw new InvalidOptionError('file', 'the path of a file, or false', named);
  }
  const variable = env[FILE_VARIABLE];
  if (named !== undefined) return named;
  if (variable !== undefined && variable !== '') return variable;
  return existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined;
}

async function readFile(
  file: string,
  env: NodeJS.ProcessEnv,
  problems: Problems,
): Promise<Given | undefined> {
  const source = readSource(file, problems);
  if (source === undefined) return undefined;
  // The parser is loaded only if there is a file.
  const { givenOfYaml } = await import('./yaml-file.ts');
  return givenOfYaml(source, env, problems);
}

/** Without `backend` a source with a Redis URL implies `redis`, one with a data folder `file`. */
function withBackend(given: Given, problems: Problems): Given {
  if (given.kind !== 'map' || given.entries.has('backend')) return given;
  const url = originIn(given, 'redis', 'url');
  const folder = originIn(given, 'data', 'folder');
  const origin = folder ?? url;
  if (origin === undefined) return given;
  if (url !== undefined && folder !== undefined) {
    const expected = 'file or redis, since there are both data.folder and redis.url';
    problems.add({ path: 'backend', origin, expected, got: 'nothing' });
  }
  const value = folder === undefined ? 'redis' : 'file';
  const backend = { key: origin, given: { kind: 'value', value, origin } } as const;
  return {
    ...given,
    entries: new Map([...given.entries, ['backend', backend]]),
  } satisfies GivenMap;
}

/** Whether no source names a server or another backend: then the host's variable applies, valid or not. */
function isServerOpen(layers: readonly Given[]): boolean {
  if (layers.some((given) => given.kind === 'map' && originIn(given, 'redis', 'url'))) return false;
  const backend = layers.map(backendIn).findLast((word) => word !== undefined);
  return backend === undefined || backend === 'redis';
}

function backendIn(given: Given): unknown {
  const backend = given.kind === 'map' ? given.entries.get('backend')?.given : undefined;
  return backend?.kind === 'value' ? backend.value : undefined;
}

function originIn(given: GivenMap, section: string, name: string): ConfigOrigin | undefined {
  const node = given.entries.get(section)?.given;
  return node?.kind === 'map' ? node.entries.get(name)?.given.origin : undefined;
}

function configOf(layers: Layers, findings: Findings): Config {
  const values = resolveSection(TOP, layers, '', findings);
  const workers = resolveWorkers(layers, findings);
  const shared = typeof values === 'object' ? values : {};
  const config = { ...shared, workers: workers.map((resolved) => resolved.values) };
  // The schema has a row for each field of these types, which the compiler checks.
  const typed = config as unknown as Config;
  checkBackend(typed, findings);
  const paths = workers.map(({ path }) => path);
  checkLeases(typed, paths, findings);
  return typed;
}

function checkBackend(config: Config, { problems, origins, spoiled }: Findings): void {
  const { backend, redis, data } = config;
  const place = {
    memory: undefined,
    file: { path: 'data.folder', value: data.folder, what: 'a folder' },
    redis: { path: 'redis.url', value: redis.url, what: 'a URL' },
  }[backend];
  if (place === undefined || place.value !== undefined || spoiled.has(place.path)) return;
  const origin = origins.get('backend') ?? { from: 'default' };
  const expected = `${place.what}, since backend is "${backend}"`;
  problems.add({ path: place.path, origin, expected, got: 'nothing' });
}
