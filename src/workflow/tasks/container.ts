/** Options of a container, and the argument list that they come to. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import {
  checkArgument,
  checkEnvironment,
  checkVariable,
  type Environment,
  isArguments,
} from './program-arguments.ts';

/** A folder or file that a container sees. */
export interface ContainerMount {
  /** An absolute path on the worker's machine, or the name of a volume. */
  readonly source: string;
  /** An absolute path in the container. */
  readonly target: string;
  /** Whether it may be written to. Default false. */
  readonly writable?: boolean | undefined;
}

const MOUNT_KEYS: OptionKeys<ContainerMount> = keysOf<ContainerMount>()({
  source: true,
  target: true,
  writable: true,
});

/** The options that the engine gets for a container; absent ones take the engine's defaults. */
export interface ContainerOptions {
  /** As `acme/resize:3` or `registry.example/acme/resize@sha256:…`. */
  readonly image: string;
  /** `docker` (default), `podman`, or the path of a program that has their command line. */
  readonly engine?: string | undefined;
  /** Variables with their values, which stand in the argument list: no place for secrets. */
  readonly env?: Environment | undefined;
  /** Names of the worker's own variables that the container gets too; good for secrets. */
  readonly passEnv?: readonly string[] | undefined;
  /** What it sees of the machine. */
  readonly mounts?: readonly ContainerMount[] | undefined;
  /** `none`, `bridge`, `host`, or the name of a network. */
  readonly network?: string | undefined;
  /** Most memory: bytes, or a number with `k`, `m` or `g`. */
  readonly memory?: number | string | undefined;
  /** Most processors, as 0.5 or 2. */
  readonly cpus?: number | undefined;
  /** Further options of `run`, put before the image as they are: `['--gpus', 'all']`. */
  readonly engineArgs?: readonly string[] | undefined;
}

/** What may stand in {@link ContainerOptions}. */
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

/** A name of an image begins with a letter or digit, so it cannot be taken for an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/;

/** Longest name of an image, in characters: 255 of the name, and a tag or digest. */
const IMAGE_CHARS = 512;

/** Networks and volumes. */
const THING = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

const MEMORY = /^[1-9][0-9]*[bkmg]?$/;

/** A mount is told as comma-separated values: paths with these characters would be read otherwise. */
const PATH = /^\/[^,"\r\n\0]*$/;

/** @throws {@link InvalidOptionError} when the value is no name of an image. */
export function checkImage(option: string, value: unknown): string {
  const isImage = typeof value === 'string' && value.length <= IMAGE_CHARS && IMAGE.test(value);
  if (isImage) return value;
  throw new InvalidOptionError(option, 'the name of an image, as "acme/resize:3"', value);
}

/** @throws {@link InvalidOptionError} when the value is no program. */
export function checkEngine(option: string, value: unknown): string {
  const engine = checkArgument(option, value);
  if (!engine.startsWith('-')) return engine;
  throw new InvalidOptionError(option, '"docker", "podman", or the path of a program', value);
}

/** The options of `run`; @throws {@link InvalidOptionError} for the first that is none. */
export function containerFlags(
  where: string,
  options: Omit<ContainerOptions, 'image' | 'engine'>,
): readonly string[] {
  const { env = {}, passEnv = [], mounts = [], network, memory, cpus, engineArgs = [] } = options;
  const list = (option: string, value: unknown): readonly unknown[] => {
    // A hole becomes what it is read as, which `map` would pass over.
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
