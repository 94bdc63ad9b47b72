/** Runs the same tests on every backend, each on a clock that the test moves. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, inject } from 'vitest';
import { file } from '../../src/backends/file/file-backend.ts';
import { memory } from '../../src/backends/memory/memory-backend.ts';
import { redisForTests } from '../../src/backends/redis/manual-time.ts';
import { Fairloom } from '../../src/client/client.ts';
import type { FairloomOptions } from '../../src/core/options.ts';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { TaskSource } from '../../src/handlers/registry.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import type { RedisPlace } from './redis/redis-server.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

/** Quiet turns of the event loop after which nothing is under way. */
const QUIET_TURNS = 6;

/** A backend in a test, with the clock that it and its clients share. */
export interface Harness {
  readonly backend: Backend;
  readonly clock: ManualClock;
  /** A client on this harness, closed with it; silent unless told otherwise. */
  loom(tasks: TaskSource, options?: Partial<FairloomOptions>): Fairloom;
  /** Fulfilled when this holds; looks after every turn of the event loop, without time passing. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Sets every clock of the harness without firing timers: what a frozen process wakes up to. */
  jump(ms: number): Promise<void>;
  /** Lets everything that is under way go on as far as it can. */
  quiet(): Promise<void>;
  /** Closes clients and backend, and removes what was stored. */
  close(): Promise<void>;
}

export type OpenHarness = () => Promise<Harness>;

/** For what is decided above the backend, from answers that the contract holds alike for all of them. */
export function embedded(body: (open: OpenHarness, name: 'memory') => void): void {
  describe('memory', () => body(openMemory, 'memory'));
}

/** One block of tests per backend. */
export function eachBackend(body: (open: OpenHarness, name: 'memory' | 'redis') => void): void {
  describe('memory', () => body(openMemory, 'memory'));
  describe('redis', () => body(openRedis, 'redis'));
}

/** The same with data in a folder too. */
export function everyBackend(
  body: (open: OpenHarness, name: 'memory' | 'file' | 'redis') => void,
): void {
  eachBackend(body);
  describe('file', () => body(openFile, 'file'));
}

/** The harness of the test that runs: opened before each test of a block, and closed after it. */
export function opened(open: OpenHarness): Harness {
  let harness: Harness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());
  return new Proxy({} as Harness, { get: (_, name) => Reflect.get(harness, name) });
}

export async function openMemory(): Promise<Harness> {
  const clock = new ManualClock(START);
  const backend = memory({ clock });
  const parts = {
    clock,
    quiet: turns,
    moved: async () => undefined,
    dispose: () => backend.close(),
  };
  return harness(backend, parts);
}

async function openFile(): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-engine-'));
  // What the clock has set off has calls under way: they go to the disk.
  const settle = (): Promise<void> => counted.quiet();
  const clock = new ManualClock(START, { settle });
  const counted = countCalls(file(folder, { clock }));
  const { backend, quiet } = counted;
  const dispose = async (): Promise<void> => {
    await backend.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  return harness(backend, { clock, quiet, moved: async () => undefined, dispose });
}

let namespaces = 0;

export async function openRedis(
  prefix = `engine-${process.pid}-${++namespaces}`,
  place: RedisPlace = inject('redisPlace'),
): Promise<Harness> {
  const { backend, setTime, dispose } = redisForTests(place, { prefix });
  const counted = countCalls(backend);
  // The sign that wakes a worker comes by another connection: it was sent before this answer is. A
  // backend that is closed has none to send.
  const quiet = async (): Promise<void> => {
    await counted.quiet();
    await backend.inspect.ping().catch(() => undefined);
    await counted.quiet();
  };
  const clock = new ManualClock(START, { moved: setTime, settle: quiet });
  await setTime(START);
  return harness(counted.backend, { clock, quiet, moved: setTime, dispose });
}

interface HarnessParts {
  readonly clock: ManualClock;
  readonly quiet: () => Promise<void>;
  readonly moved: (nowMs: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

function harness(backend: Backend, { clock, quiet, moved, dispose }: HarnessParts): Harness {
  const looms: Fairloom[] = [];
  return {
    backend,
    clock,
    quiet,
    jump: async (ms) => {
      clock.jump(ms);
      await moved(clock.now());
    },
    loom: (tasks, options = {}) => {
      const loom = new Fairloom({ backend, tasks, clock, log: silentLogger, ...options });
      looms.push(loom);
      return loom;
    },
    until: async (holds) => {
      while (!(await holds())) await turn();
    },
    close: async () => {
      for (const loom of looms) {
        const closed = loom.close({ timeout: 0 });
        await clock.advance(0);
        await closed;
      }
      await dispose();
    },
  };
}

/** Calls that wait by design. */
const WAITS: readonly (string | symbol)[] = ['waitForWork', 'waitForEnd', 'waitForChunks'];

/** The same backend, and a way to wait until none of its calls is under way. */
function countCalls(backend: Backend): {
  readonly backend: Backend;
  readonly quiet: () => Promise<void>;
} {
  let open = 0;
  const counting = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name): unknown {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (WAITS.includes(name)) return member.bind(target);
        return async (...args: readonly unknown[]) => {
          open++;
          try {
            return await member.apply(target, args);
          } finally {
            open--;
          }
        };
      },
    });
  const { tasks, users, queues, workers, inspect, runs, graphs, schedules } = backend;
  const { xcom, waits, streams, asks, series } = backend;
  return {
    backend: {
      name: backend.name,
      capabilities: backend.capabilities,
      open: (settings) => backend.open(settings),
      close: () => backend.close(),
      tasks: counting(tasks),
      users: counting(users),
      queues: counting(queues),
      workers: counting(workers),
      inspect: counting(inspect),
      runs: counting(runs),
      graphs: counting(graphs),
      schedules: counting(schedules),
      xcom: counting(xcom),
      waits: counting(waits),
      streams: counting(streams),
      asks: counting(asks),
      series: counting(series),
    },
    quiet: async () => {
      for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
        await turn();
        if (open > 0) quiet = -1;
      }
    },
  };
}

async function turns(): Promise<void> {
  for (let count = 0; count < QUIET_TURNS; count++) await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
