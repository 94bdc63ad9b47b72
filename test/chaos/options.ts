import { parseArgs } from 'node:util';

/** The kinds of faults, in the order in which they are shown. */
export const FAULT_KINDS = [
  'kill',
  'term',
  'stop',
  'redis-restart',
  'flush',
  'cut',
  'move',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface ChaosOptions {
  /** Where the tasks live. */
  readonly backend: 'redis' | 'file' | 'cluster';
  /** How many faults of each kind. */
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** Decides the order, the targets, the pauses and the tasks. */
  readonly seed: number;
  /** Runs of workflows in place of tasks; 0: none. Faults go on until they have ended. */
  readonly runs: number;
  /** So many of these runs sleep and wait, all of them; 0: they are of all shapes. */
  readonly waits: number;
  /** Schedulers at a time that die at every step, in place of all else; 0: none. */
  readonly schedulers: number;
  readonly workers: number;
  readonly slots: number;
  readonly leaseMs: number;
  /** Mean pause between two faults, in ms. */
  readonly paceMs: number;
  /** Says what it does while it does it. */
  readonly log: (line: string) => void;
}

/** What happens to processes. */
const OF_PROCESSES: readonly FaultKind[] = ['kill', 'term', 'stop'];

/** What else happens to where the tasks live. */
const OF_PLACES: Readonly<Record<ChaosOptions['backend'], readonly FaultKind[]>> = {
  file: [],
  redis: ['redis-restart', 'flush', 'cut'],
  cluster: ['move'],
};

/** Whether there is anything to which a fault can happen. */
export function canStrike(kind: FaultKind, backend: ChaosOptions['backend']): boolean {
  return OF_PROCESSES.includes(kind) || OF_PLACES[backend].includes(kind);
}

const FLAGS: Readonly<Record<FaultKind, string>> = {
  kill: 'kills',
  term: 'terms',
  stop: 'stops',
  'redis-restart': 'redis-restarts',
  flush: 'flushes',
  cut: 'cuts',
  move: 'moves',
};

/** Faults of a run without arguments: about a minute. */
const DEFAULTS: Readonly<Record<FaultKind, number>> = {
  kill: 15,
  term: 5,
  stop: 5,
  'redis-restart': 3,
  flush: 6,
  cut: 8,
  move: 8,
};

const PLACES: Readonly<Record<ChaosOptions['backend'], string>> = {
  file: 'a data folder',
  redis: 'one server',
  cluster: 'a Cluster',
};

export const USAGE =
  'npm run chaos -- [--backend redis|file|cluster] --kills n --terms n --stops n --redis-restarts n --flushes n --cuts n --moves n [--seed n] [--workers n] [--slots n] [--lease ms] [--pace ms] [--quiet]\nnpm run chaos -- --runs n, or --waits n [--seed n] [--workers n] [--slots n] [--lease ms] [--pace ms] [--quiet]\nnpm run chaos -- --schedulers n [--quiet]';

/** Reads the command line; throws a TypeError that names what is wrong. */
export function chaosOptions(args: readonly string[]): ChaosOptions {
  const number = { type: 'string' } as const;
  const flags = [
    'seed',
    'workers',
    'slots',
    'lease',
    'pace',
    'runs',
    'waits',
    'schedulers',
    ...Object.values(FLAGS),
  ];
  const options = {
    ...Object.fromEntries(flags.map((flag) => [flag, number])),
    quiet: { type: 'boolean' },
    backend: { type: 'string', default: 'redis' },
  } as const;
  const parsed = parseArgs({ args: [...args], options });
  const values: Readonly<Record<string, string | boolean | undefined>> = parsed.values;
  const named = FAULT_KINDS.some((kind) => values[FLAGS[kind]] !== undefined);
  for (const flag of ['runs', 'waits']) {
    if (named && values[flag] !== undefined)
      throw new TypeError(`--${flag}: chooses the faults itself`);
  }
  if (values['runs'] !== undefined && values['waits'] !== undefined)
    throw new TypeError('--waits: are runs, not beside --runs');
  const read = (flag: string, otherwise: number): number => {
    const text = values[flag];
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`--${flag}: ${text}`);
    return value;
  };
  const { backend } = values;
  if (backend !== 'redis' && backend !== 'file' && backend !== 'cluster')
    throw new TypeError(`--backend: ${backend}`);
  const counts = FAULT_KINDS.map((kind) => {
    const can = canStrike(kind, backend);
    const count = read(FLAGS[kind], named || !can ? 0 : DEFAULTS[kind]);
    if (count > 0 && !can)
      throw new TypeError(`--${FLAGS[kind]}: cannot happen to ${PLACES[backend]}`);
    return [kind, count] as const;
  });
  if (backend !== 'redis' && values['schedulers'] !== undefined)
    throw new TypeError('--schedulers: of Redis only');
  return {
    backend,
    faults: Object.fromEntries(counts) as Record<FaultKind, number>,
    seed: read('seed', Date.now() % 1_000_000),
    runs: read('waits', read('runs', 0)),
    waits: read('waits', 0),
    schedulers: read('schedulers', 0),
    workers: Math.max(2, read('workers', 4)),
    slots: Math.max(1, read('slots', 4)),
    leaseMs: Math.max(200, read('lease', 1_500)),
    paceMs: read('pace', 800),
    log: values['quiet'] === true ? () => undefined : (line) => console.log(line),
  };
}
