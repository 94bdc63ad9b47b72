/** Runs one bench: its sides take turns, round after round, so that drift hits all of them. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { ROOT } from '../../scripts/run.ts';
import type { Bench, BenchContext, BenchSide, Figures } from './bench.ts';
import type { BenchRedis } from './bench-redis.ts';
import { watchMachine } from './quiet.ts';
import type { Servers } from './servers.ts';
import { median, rounded, seeded } from './statistics.ts';

export interface RunOptions {
  readonly quick: boolean;
  readonly rounds: number;
  readonly seed: number;
  readonly servers: Servers;
  readonly print: (line: string) => void;
}

export interface SideResult {
  readonly side: BenchSide['name'];
  readonly rounds: readonly Figures[];
  readonly medians: Figures;
}

/** A quick run does this part of the work, but never less than this. */
const QUICK_PART = 1 / 50;
const QUICK_LEAST = 100;
/** Each side runs this part of the work once before the measurement: cold code is not meaningful. */
const WARM_PART = 1 / 20;

export async function runBench(bench: Bench, options: RunOptions): Promise<readonly SideResult[]> {
  const taken = new Map<BenchSide, Figures[]>(bench.sides.map((side) => [side, []]));
  if (!options.quick) {
    for (const side of bench.sides) await oneRound(side, options, WARM_PART);
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const [side, rounds] of taken) {
      const figures = await oneRound(side, options, options.quick ? QUICK_PART : 1);
      rounds.push(figures);
      options.print(`  ${round + 1} ${side.name.padEnd(16)} ${shown(figures)}`);
    }
  }
  return [...taken].map(([side, rounds]) => ({
    side: side.name,
    rounds,
    medians: mediansOf(rounds),
  }));
}

async function oneRound(side: BenchSide, options: RunOptions, part: number): Promise<Figures> {
  const { servers, seed } = options;
  const used = new Set<BenchRedis>();
  const folders: string[] = [];
  const empty = async (server: BenchRedis): Promise<BenchRedis> => {
    if (!used.has(server)) await server.flush();
    used.add(server);
    return server;
  };
  const context: BenchContext = {
    redis: async () => empty(await servers.get('volatile')),
    durableRedis: async () => empty(await servers.get('durable')),
    syncedRedis: async () => empty(await servers.get('synced')),
    folder: async () => {
      const folder = await emptyFolder();
      folders.push(folder);
      return folder;
    },
    size: (full) => (part === 1 ? full : Math.max(QUICK_LEAST, Math.round(full * part))),
    random: () => seeded(seed),
  };
  const serverBefore = await servers.cpuUs();
  const foreign = watchMachine();
  const figures = await side.run(context);
  const foreignCores = rounded(foreign((await servers.cpuUs()) - serverBefore));
  for (const server of used) await server.flush();
  for (const folder of folders) await rm(folder, { recursive: true });
  return { ...roundedAll(figures), foreignCores };
}

/** Not in the system's folder for temporary files: that may be no disk. */
async function emptyFolder(): Promise<string> {
  const parent = `${ROOT}temp/bench-data`;
  await mkdir(parent, { recursive: true });
  return mkdtemp(`${parent}/`);
}

function roundedAll(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([metric, value]) => [metric, rounded(value)]),
  );
}

function mediansOf(rounds: readonly Figures[]): Figures {
  const metrics = Object.keys(rounds[0] ?? {});
  const valuesOf = (metric: string): readonly number[] =>
    rounds.map((figures) => figures[metric] ?? Number.NaN);
  return Object.fromEntries(metrics.map((metric) => [metric, rounded(median(valuesOf(metric)))]));
}

function shown(figures: Figures): string {
  return Object.entries(figures)
    .map(([metric, value]) => `${metric} ${value.toLocaleString('en-US')}`)
    .join('  ');
}
