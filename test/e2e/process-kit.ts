/** What the process tests have in common: a server, a client, worker processes and their ledger. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EnqueueOptions,
  Fairloom,
  ref,
  silentLogger,
  type Task,
  type TaskInfo,
} from 'fairloom';
import { redis } from 'fairloom/redis';
import { inject } from 'vitest';
import { History, type Run } from '../support/history.ts';
import { LedgerReader } from '../support/ledger.ts';
import { WorkerProcess, type WorkerSetup } from '../support/processes/worker-fleet.ts';

/** Short, so that what waits for its end is fast; three heartbeats still fit on a busy machine. */
export const LEASE_MS = 900;
/**
 * How long after a death its tasks must run again, in ms, on an idle machine: the lease, and the sweep of a busy
 * worker (0.8 s ± 20 %) or the second alarm (0.5 s). What is not swept comes with the sleep of an idle worker, after
 * 4 s at the earliest.
 */
export const RECOVERY_MS: number = LEASE_MS + 960;

/** Starts of a process that fit into what a busy machine may add. */
const STARTS = 30;

/**
 * What this machine may add to a promised length of time now, in ms: as long as some starts of a process take, which
 * is 1 to 2 s while nothing else runs.
 */
export function slackMs(): number {
  const began = performance.now();
  spawnSync(process.execPath, ['-e', '']);
  return STARTS * (performance.now() - began);
}

const LOOK_MS = 5;
/** Only what hangs takes so long. */
const UNTIL_MS = 300_000;

/** Tasks of `worker-process.mjs`. */
export type TaskName = 'work' | 'deaf' | 'hopeless' | 'poison' | 'hog' | 'spin';

export interface Input {
  readonly ms?: number;
  readonly fails?: number;
}

let prefixes = 0;

export class ProcessKit {
  readonly url: string;
  readonly prefix: string;
  readonly loom: Fairloom;
  readonly history = new History();
  readonly #folder: string;
  readonly #ledger: LedgerReader;
  readonly #workers: WorkerProcess[] = [];

  /** On the server of this layer, unless `url` names another. */
  constructor(url: string = inject('redisUrl')) {
    prefixes += 1;
    this.url = url;
    this.prefix = `process-${process.pid}-${prefixes}`;
    this.#folder = mkdtempSync(join(tmpdir(), 'fairloom-process-'));
    this.#ledger = new LedgerReader(this.#ledgerPath);
    this.loom = new Fairloom({
      backend: redis(url, { prefix: this.prefix }),
      log: silentLogger,
    });
  }

  get #ledgerPath(): string {
    return join(this.#folder, 'ledger.jsonl');
  }

  /** Starts a worker process and waits until it is ready to lease. */
  async hire(setup: Partial<WorkerSetup> = {}): Promise<WorkerProcess> {
    const worker = this.launch(setup);
    await this.until(() => this.history.ready.has(worker.id) || !worker.isRunning);
    if (!worker.isRunning) throw new Error(`${worker.id} did not get ready:\n${worker.said}`);
    return worker;
  }

  /** Starts a worker process. */
  launch(setup: Partial<WorkerSetup> = {}): WorkerProcess {
    const worker = new WorkerProcess({
      id: `w${this.#workers.length + 1}`,
      url: this.url,
      prefix: this.prefix,
      ledger: this.#ledgerPath,
      leaseMs: LEASE_MS,
      graceMs: 10_000,
      concurrency: 10,
      ...setup,
    });
    this.#workers.push(worker);
    return worker;
  }

  async enqueue(name: TaskName, input: Input = {}, options: EnqueueOptions = {}): Promise<string> {
    const step = ref<Task<Input, unknown>>(name);
    const { id } = await this.loom.enqueue(step, { ms: 0, ...input }, options);
    return id;
  }

  runs(task: string): readonly Run[] {
    this.history.take(this.#ledger.next());
    return this.history.runsOf(task);
  }

  /** The run of this number, from 1, once it has begun. */
  async started(task: string, number = 1): Promise<Run> {
    await this.until(() => this.runs(task).length >= number);
    const run = this.runs(task)[number - 1];
    if (run === undefined) throw new Error(`${task} has no run ${number}`);
    return run;
  }

  async ended(task: string): Promise<TaskInfo> {
    let record: TaskInfo | undefined;
    await this.until(async () => {
      record = await this.loom.tasks.get(task).catch(() => undefined);
      return ['finished', 'failed', 'canceled'].includes(record?.state ?? '');
    });
    if (record === undefined) throw new Error(`${task} is not stored`);
    return record;
  }

  /** Waits until it holds; throws with what the workers said when it does not. */
  async until(holds: () => boolean | Promise<boolean>, ms: number = UNTIL_MS): Promise<void> {
    const deadline = Date.now() + ms;
    for (;;) {
      this.history.take(this.#ledger.next());
      if (await holds()) return;
      if (Date.now() > deadline) {
        const said = this.#workers.map(({ id, said }) => `${id}: ${said}`).join('\n');
        throw new Error(`waited ${ms} ms for ${holds}\n${said}`);
      }
      await delay(LOOK_MS);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
    await this.loom.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Lets a moment of the scenario come, such as "200 ms after the signal". */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
