/** The demo by the binary, and its largest deviation recomputed from its trace by other means. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backend, memory } from 'fairloom';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { playDemo } from '../../../src/cli/demo/demo.ts';
import { type Ended, fairloom } from '../../support/processes/run-process.ts';

type Line =
  | { readonly lease: string; readonly backlogged?: undefined }
  | { readonly backlogged: Readonly<Record<string, number>>; readonly lease?: undefined };

/** Leases so far against leases due by weight, for every backlogged user after every lease. */
function largestDeviation(lines: readonly Line[]): number {
  let weights: Readonly<Record<string, number>> = {};
  let ahead: Record<string, number> = {};
  let largest = 0;
  for (const { backlogged, lease } of lines) {
    if (backlogged !== undefined) {
      const someoneLeft = Object.keys(weights).some((user) => !(user in backlogged));
      weights = backlogged;
      const users = Object.keys(weights);
      ahead = Object.fromEntries(users.map((u) => [u, someoneLeft ? 0 : (ahead[u] ?? 0)]));
      continue;
    }
    const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
    for (const [user, weight] of Object.entries(weights)) {
      ahead[user] = (ahead[user] ?? 0) + (user === lease ? 1 : 0) - weight / sum;
      largest = Math.max(largest, Math.abs(ahead[user]));
    }
  }
  return largest;
}

interface Result {
  readonly backend: string;
  readonly seed: number;
  readonly turns: number;
  readonly tasksPerSecond: number;
  readonly maxDeviation: number;
  readonly jain: number;
  readonly users: readonly {
    readonly user: string;
    readonly weight: number;
    readonly turns: number;
    readonly share: number;
    readonly fairShare: number;
    readonly deviation: number;
    readonly waitMs: { readonly p50: number; readonly p99: number };
  }[];
  readonly story: {
    readonly retried: { readonly attempts: number };
    readonly canceled: { readonly state: string };
    readonly diamond: { readonly order: readonly string[] };
    readonly pipeline: {
      readonly result: string;
      readonly nodes: Readonly<Record<string, string>>;
    };
  };
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairloom-demo-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['memory', 'redis'] as const)('on the %s backend', (backend) => {
  let result: Result;
  let lines: readonly Line[];
  let stderr: string;

  beforeAll(async () => {
    const trace = join(folder, `${backend}.jsonl`);
    const redis = backend === 'redis' ? ['--redis', inject('redisUrl')] : [];
    const args = ['demo', '--json', '--seconds', '2', '--seed', '7', '--trace', trace, ...redis];
    const ended = await fairloom(args);
    expect(ended.code).toBe(0);
    expect(ended.stdout.split('\n')).toHaveLength(2);
    stderr = ended.stderr;
    result = JSON.parse(ended.stdout) as Result;
    lines = readFileSync(trace, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  });

  it('keeps every user within one turn of its exact weighted share', () => {
    expect(result.maxDeviation).toBeGreaterThan(0);
    expect(result.maxDeviation).toBeLessThanOrEqual(1);
    expect(largestDeviation(lines)).toBeCloseTo(result.maxDeviation, 5);
  });

  it('traces every lease, and everybody backlogged at once', () => {
    expect(lines.filter(({ lease }) => lease !== undefined)).toHaveLength(result.turns);
    const crowds = lines.map(({ backlogged }) => Object.values(backlogged ?? {}));
    expect(crowds.some((weights) => weights.length === 10)).toBe(true);
    const all = lines.filter(({ lease }) => lease !== undefined).map(({ lease }) => lease);
    for (const { user, turns } of result.users) {
      expect(all.filter((lease) => lease === user)).toHaveLength(turns);
    }
  });

  it('reports shares, waits and speed', () => {
    expect(result).toMatchObject({ backend, seed: 7, tasksPerSecond: expect.any(Number) });
    expect(result.jain).toBeGreaterThan(0.99);
    expect(result.users.map(({ weight }) => weight)).toEqual([1, 7, 7, 7, 3, 3, 3, 1, 1, 1]);
    for (const { turns, share, fairShare, waitMs } of result.users) {
      expect(Math.abs(share - fairShare) * result.turns).toBeLessThan(2);
      expect(turns).toBeGreaterThan(0);
      expect(waitMs.p99).toBeGreaterThanOrEqual(waitMs.p50);
    }
  });

  it('tells its story: a retry, a cancel, a diamond and a pipeline with a group', () => {
    expect(result.story).toMatchObject({
      retried: { attempts: 2 },
      canceled: { state: 'canceled' },
      diamond: { order: ['top', 'left', 'right', 'bottom'] },
      pipeline: {
        result: 'mean 8, peak 18',
        nodes: { measure: 'finished', mean: 'finished', peak: 'finished', publish: 'finished' },
      },
    });
    expect(stderr).toMatch(/noisy \(weight 1\) enqueues 100000 tasks/);
  });
});

it('on a data folder it goes on with what it left', async () => {
  const data = join(folder, 'data');
  const play = (): Promise<Ended> => fairloom(['demo', '--seconds', '0.2', '--data', data]);
  const [first, again] = [await play(), await play()];
  const [, left = ''] =
    /^(\d+) tasks wait in .*: the demo goes on with them/m.exec(first.stdout) ?? [];
  expect(Number(left)).toBeGreaterThan(99_000);
  expect(again.stdout).toContain(`${left} tasks of an earlier demo are still here`);
  expect(again.stdout).toMatch(/noisy \(weight 1\) enqueues \d{1,4} tasks/);
  const figures = / deviation of any user .*: (\d\.\d+) turns$/m.exec(again.stdout)?.[1];
  // A turn, and what the noisy one was ahead or behind by when the others came.
  expect(Number(figures)).toBeLessThan(2);

  // A command that had it open leaves it in order, however much there is.
  await fairloom(['status', '--data', data]);
  expect(readdirSync(data).filter((name) => !/^(reserve|(log|state)-[\d-]+)$/.test(name))).toEqual(
    [],
  );

  const others = join(folder, 'others');
  await fairloom(['enqueue', 'double', '1', '--user', 'ada', '--data', others]);
  const refused = await fairloom(['demo', '--data', others]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('tasks of others') });
});

describe('the measure', () => {
  it('finds a backend that leases in turns without weights', async () => {
    const lines: Line[] = [];
    const { maxDeviation } = await playDemo({
      backend: roundRobin(memory()),
      seconds: 1,
      seed: 7,
      trace: (line) => lines.push(JSON.parse(line) as Line),
      news: () => undefined,
      frame: () => undefined,
      frameMs: 1_000,
    });
    expect(maxDeviation).toBeGreaterThan(1);
    expect(largestDeviation(lines)).toBeCloseTo(maxDeviation, 5);
  });
});

/** With equal weights fair turns are round robin, so a backend that hears of no weight does that. */
function roundRobin(backend: Backend): Backend {
  return {
    ...backend,
    users: {
      ...backend.users,
      set: (user, { weight: _unheard, ...patch }, options) =>
        backend.users.set(user, patch, options),
    },
  };
}
