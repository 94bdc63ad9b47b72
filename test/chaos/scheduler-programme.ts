/**
 * Schedulers that die at every step of a firing, several at a time. Each slot must have made one
 * task, also when the scheduler that was to fire it dies.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { startRedis } from '../support/redis/redis-server.ts';
import type { ChaosOptions } from './options.ts';

const PROCESS = fileURLToPath(new URL('./scheduler-process.mjs', import.meta.url));
const PREFIX = 'chaos';

/** Schedules that fire, and how often, in ms. */
const SCHEDULES = ['a', 'b', 'c'];
const EVERY_MS = 1_000;

/** How often each death is tried. */
const ROUNDS = 2;

/** A scheduler that has not died by then, in ms, never had the chance. */
const PATIENCE_MS = 20_000;

/** A scheduler that takes over may need this long, in ms, lock and overdue slots included. */
const SETTLE_MS = 9_000;

interface Death {
  readonly operation: 'due' | 'fire';
  readonly when: 'before' | 'sent' | 'after';
  readonly count: number;
}

/** What the schedulers came to. */
export interface SchedulerReport {
  readonly deaths: number;
  readonly slots: number;
  readonly seconds: number;
  readonly wrong: readonly string[];
}

/** Every step at which a scheduler may die. */
function deaths(): readonly Death[] {
  const found: Death[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const operation of ['due', 'fire'] as const) {
      for (const when of ['before', 'sent', 'after'] as const) {
        found.push({ operation, when, count: 1 + round });
      }
    }
  }
  return found;
}

/** Runs `options.schedulers` of them at a time until all deaths have been died. */
export async function runSchedulerChaos(options: ChaosOptions): Promise<SchedulerReport> {
  const server = await startRedis({ args: ['--appendonly', 'yes'] });
  const backend = redis(server.url, { prefix: PREFIX });
  const loom = new Fairloom({ backend, log: silentLogger });
  const began = Date.now();
  try {
    for (const id of SCHEDULES) {
      const options = { every: EVERY_MS, overlap: 'allow', missed: 'all' } as const;
      await loom.schedules.setByName(id, { ...options, name: 'nobody' });
    }
    const fleet = new Fleet(server.url, options);
    const plan = [...deaths()];
    const lives = Array.from({ length: options.schedulers }, async () => {
      for (let death = plan.shift(); death !== undefined; death = plan.shift()) {
        await fleet.live(death);
      }
    });
    await Promise.all(lives);
    const last = fleet.start(undefined);
    await pause(SETTLE_MS);
    const until = Date.now() - SETTLE_MS / 3;
    const wrong = [...fleet.wrong];
    let slots = 0;
    for (const id of SCHEDULES) {
      const found = await check(loom, id, until);
      slots += found.slots;
      wrong.push(...found.wrong);
    }
    last.kill('SIGKILL');
    return { deaths: fleet.deaths, slots, seconds: (Date.now() - began) / 1_000, wrong };
  } finally {
    await loom.close({ timeout: 500 });
    await server.stop();
  }
}

/** The report as a line. */
export function renderSchedulers({ deaths: died, slots, seconds, wrong }: SchedulerReport): string {
  return `${died} schedulers died, ${slots} slots fired once each, ${wrong.length} wrong, ${seconds.toFixed(0)} s`;
}

class Fleet {
  readonly wrong: string[] = [];
  deaths = 0;
  readonly #url: string;
  readonly #options: ChaosOptions;
  #made = 0;

  constructor(url: string, options: ChaosOptions) {
    this.#url = url;
    this.#options = options;
  }

  start(death: Death | undefined): ChildProcess {
    const id = `s${++this.#made}`;
    const said = JSON.stringify({ url: this.#url, prefix: PREFIX, id, death });
    return spawn(process.execPath, [PROCESS, said], { stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** One scheduler, from its start to its death. */
  async live(death: Death): Promise<void> {
    const child = this.start(death);
    const text = `${death.operation} ${death.when} ${death.count}`;
    const impatient = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    const signal = await new Promise<string | null>((resolve) => {
      child.once('exit', (_code, by) => resolve(by));
    });
    clearTimeout(impatient);
    this.deaths++;
    this.#options.log(`died: ${text}`);
    if (signal !== 'SIGKILL') this.wrong.push(`a scheduler ended by itself: ${text}`);
  }
}

interface Checked {
  readonly slots: number;
  readonly wrong: readonly string[];
}

/** Whether each slot up to a moment has made one task, and the schedule says the same. */
async function check(loom: Fairloom, id: string, until: number): Promise<Checked> {
  const prefix = `~s.${id}.`;
  const slots: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await loom.tasks.list({ state: 'queued', user: 'default', limit: 500, cursor });
    for (const task of page.items) {
      if (task.id.startsWith(prefix)) slots.push(Number(task.id.slice(prefix.length)));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  slots.sort((a, b) => a - b);
  const wrong: string[] = [];
  for (const [at, slot] of slots.entries()) {
    const before = slots[at - 1];
    if (before !== undefined && slot !== before + EVERY_MS) {
      wrong.push(`${id}: after ${before} came ${slot}`);
    }
  }
  const info = await loom.schedules.get(id);
  if ((info?.fired ?? 0) < slots.length)
    wrong.push(`${id}: ${info?.fired} fired, ${slots.length} stored`);
  if ((slots.at(-1) ?? 0) < until - EVERY_MS)
    wrong.push(`${id}: it has stopped at ${slots.at(-1)}`);
  if (slots[0] !== (info?.anchor ?? 0) + EVERY_MS) wrong.push(`${id}: its first slot is missing`);
  if ((info?.missedSlots ?? 0) > 0) wrong.push(`${id}: ${info?.missedSlots} slots were missed`);
  return { slots: slots.length, wrong };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
