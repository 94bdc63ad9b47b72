/** Options of a container, and the argument list made of them. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import {
  checkArgument,
  checkEnvironment,
  checkVariable,
  type Environment,
  isArguments,
} from './program-arguments.ts';

/** A folder or file that is mounted into a container. */
export interface ContainerMount {
  /** An absolute path on the worker's machine, or the name of a volume. */
  readonly source: string;
  /** An absolute path in the container. */
  readonly target: string;
  /** The container may write to it. Default false. */
  readonly writable?: boolean | undefined;
}

const MOUNT_KEYS: OptionKeys<ContainerMount> = keysOf<ContainerMount>()({
  source: true,
  target: true,
  writable: true,
});

/** Options of the container engine; absent ones take the engine's defaults. */
export interface ContainerOptions {
  /** Image, such as `acme/resize:3` or `registry.example/acme/resize@sha256:…`. */
  readonly image: string;
  /** `docker` (default), `podman`, or the path of a program with their command line. */
  readonly engine?: string | undefined;
  /** Variables with their values. They are in the argument list: do not pass secrets here. */
  readonly env?: Environment | undefined;
  /** Names of the worker's own variables that the container gets too; suited to secrets. */
  readonly passEnv?: readonly string[] | undefined;
  /** Mounted folders and files. */
  readonly mounts?: readonly ContainerMount[] | undefined;
  /** `none`, `bridge`, `host`, or the name of a network. */
  readonly network?: string | undefined;
  /** Memory limit: bytes, or a number with `k`, `m` or `g`. */
  readonly memory?: number | string | undefined;
  /** Processor limit, such as 0.5 or 2. */
  readonly cpus?: number | undefined;
  /** Further options of `run`, inserted before the image: `['--gpus', 'all']`. */
  readonly engineArgs?: readonly string[] | undefined;
}

/** Keys of {@link ContainerOptions}. */
export const CONTAINER_KEYS: OptionKeys<ContainerOptions> = keysOf<ContainerOptions>()({
  image: true,
  engine: true,
  env: true,
  passEnv: true,
  mounts: true,
  network: true,
  memory: true,
  cpus: true,
  engineArgs: true,
});

/** The name of an image begins with a letter or digit, so it cannot be read as an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/;

/** Longest name of an image, in characters: 255 for the name, the rest for a tag or digest. */
const IMAGE_CHARS = 512;

/** Name of a network or volume. */
const THING = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

const MEMORY = /^[1-9][0-9]*[bkmg]?$/;

/** A mount is passed as comma-separated values, so its paths cannot contain these characters. */
const PATH = /^\/[^,"\r\n\0]*$/;

/** @throws {@link InvalidOptionError} when the value is not the name of an image. */
export function checkImage(option: string, value: unknown): string {
  const isImage = typeof value === 'string' && value.length <= IMAGE_CHARS && IMAGE.test(value);
  if (isImage) return value;
  throw new InvalidOptionError(option, 'the name of an image, as "acme/resize:3"', value);
}

/** @throws {@link InvalidOptionError} when the value is not a program. */
export function checkEngine(option: string, value: unknown): string {
  const engine = checkArgument(option, value);
  if (!engine.startsWith('-')) return engine;
  throw new InvalidOptionError(option, '"docker", "podman", or the path of a program', value);
}

/** The options of `run`; @throws {@link InvalidOptionError} for the first invalid one. */
export function containerFlags(
  where: string,
  options: Omit<ContainerOptions, 'image' | 'engine'>,
): readonly string[] {
  const { env = {}, passEnv = [], mounts = [], network, memory, cpus, engineArgs = [] } = options;
  const list = (option: string, value: unknown): readonly unknown[] => {
    // `Array.from` fills holes with `undefined`; `map` would skip them.
    if (Array.isArray(value)) return Array.from<unknown>(value);
    throw new InvalidOptionError(`${where}: ${option}`, 'a list', value);
  };
  if (!isArguments(engineArgs)) {
    throw new InvalidOptionError(`${where}: engineArgs`, 'a list of texts', engineArgs);
  }
  const given = checkEnvironment(`${where}: env`, env).map(([name, value]) => `${name}=${value}`);
  const passed = list('passEnv', passEnv).map((name) => checkVariable(`${where}: passEnv`, name));
  const mounted = list('mounts', mounts).map((mount) => mountText(`${where}: mounts`, mount));
  return [
    ...[...given, ...passed].flatMap((one) => ['--env', one]),
    ...mounted.flatMap((one) => ['--mount', one]),
    ...(network === undefined ? [] : ['--network', checkThing(`${where}: network`, network)]),
    ...(memory === undefined ? [] : ['--memory', memoryText(`${where}: memory`, memory)]),
    ...(cpus === undefined ? [] : ['--cpus', cpusText(`${where}: cpus`, cpus)]),
    ...engineArgs,
  ];
}

function checkThing(option: string, value: unknown): string {
  if (typeof value === 'string' && THING.test(value)) return value;
  throw new InvalidOptionError(option, 'a name ([A-Za-z0-9][A-Za-z0-9_.-]*)', value);
}

function mountText(option: string, mount: unknown): string {
  checkPart(option, mount, MOUNT_KEYS);
  const { source, target, writable = false } = mount;
  const isPath = typeof source === 'string' && PATH.test(source);
  if (!isPath && !(typeof source === 'string' && THING.test(source))) {
    const expected = 'an absolute path without commas and quotes, or the name of a volume';
    throw new InvalidOptionError(`${option}.source`, expected, source);
  }
  if (typeof target !== 'string' || !PATH.test(target)) {
    const expected = 'an absolute path without commas and quotes';
    throw new InvalidOptionError(`${option}.target`, expected, target);
  }
  const type = isPath ? 'bind' : 'volume';
  return `type=${type},source=${source},target=${target}${writable === true ? '' : ',readonly'}`;
}

function memoryText(option: string, memory: unknown): string {
  const isCount = typeof memory === 'number' && Number.isSafeInteger(memory) && memory > 0;
  if (isCount || (typeof memory === 'string' && MEMORY.test(memory))) return String(memory);
  throw new InvalidOptionError(option, 'bytes above 0, or a text such as "512m"', memory);
}

function cpusText(option: string, cpus: unknown): string {
  if (typeof cpus === 'number' && Number.isFinite(cpus) && cpus > 0) return String(cpus);
  throw new InvalidOptionError(option, 'a number above 0', cpus);
}
