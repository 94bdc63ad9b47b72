/** Results as lines of JSON under `bench/results/`: one file per bench, one line per side and run. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { Bench, Figures, SideName } from './bench.ts';
import type { Origin } from './machine.ts';

export interface Result extends Origin {
  readonly bench: string;
  readonly side: SideName;
  /** When the run began; the same for all lines of one run. */
  readonly at: string;
  readonly seed: number;
  readonly medians: Figures;
  /** In the order in which they ran; the sides took turns. */
  readonly rounds: readonly Figures[];
}

const FOLDER = new URL('../results/', import.meta.url);

export function saveResults(results: readonly Result[]): void {
  mkdirSync(FOLDER, { recursive: true });
  for (const result of results) {
    appendFileSync(fileOf(result.bench), `${JSON.stringify(result)}\n`);
  }
}

/** The sides of the newest run of a bench; none when it never ran. */
export function newestResults({ name }: Bench): ReadonlyMap<SideName, Result> {
  if (!existsSync(fileOf(name))) return new Map();
  const lines = readFileSync(fileOf(name), 'utf8').split('\n').filter(Boolean);
  const results = lines.map((line): Result => JSON.parse(line));
  const newest = results.at(-1)?.at;
  const ran = results.filter(({ at }) => at === newest);
  return new Map(ran.map((result) => [result.side, result]));
}

function fileOf(bench: string): URL {
  return new URL(`${bench}.jsonl`, FOLDER);
}
