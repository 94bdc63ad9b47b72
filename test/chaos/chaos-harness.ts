import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { History, type Run } from '../support/history.ts';
import { type LedgerEntry, LedgerReader } from '../support/ledger.ts';
import { WorkerProcess } from '../support/processes/worker-fleet.ts';
import { type FaultProxy, startFaultProxy } from '../support/redis/fault-proxy.ts';
import { type RedisCluster, startCluster } from '../support/redis/redis-cluster.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';
import type { ChaosOptions } from './options.ts';

/** How long a stopping worker may let its handlers go on, in ms: longer than any handler runs. */
const GRACE_MS = 8_000;
/** How often the ledger is looked at while something is awaited, in ms. */
const LOOK_MS = 10;
/** A process that is not ready by then, in ms, never will be. */
const READY_MS = 30_000;

/** Workers with the handlers of workflows. */
const RUN_WORKER = fileURLToPath(new URL('./run-worker.mjs', import.meta.url));

/** A server that writes every command to disk before it answers. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Masters of a Cluster: a slot moves between two. */
const MASTERS = 2;

/** A server, and a proxy before it. */
interface Served {
  readonly server: RedisServer;
  readonly proxy: FaultProxy;
}

/** What the programme hurts: worker processes, their ledger, and a server where there is one. */
export class ChaosHarness {
  readonly redis: Served | undefined;
  /** Neither this nor a server: the tasks are in {@link data}. */
  readonly cluster: RedisCluster | undefined;
  readonly history = new History();
  readonly prefix: string;
  /** Every line of the ledger. */
  readonly lines: LedgerEntry[] = [];
  readonly #options: ChaosOptions;
  readonly #folder: string;
  readonly #ledger: LedgerReader;
  /** Workers that take part; the stopped ones too. */
  readonly #fleet = new Map<string, WorkerProcess>();
  /** Frozen by SIGSTOP now. */
  readonly frozen = new Set<string>();
  /** What ended without having been told to. */
  readonly crashes: string[] = [];
  #made = 0;

  private constructor(
    options: ChaosOptions,
    folder: string,
    { redis, cluster }: Pick<ChaosHarness, 'redis' | 'cluster'>,
  ) {
    this.#options = options;
    this.#folder = folder;
    this.redis = redis;
    this.cluster = cluster;
    this.prefix = cluster === undefined ? 'chaos' : '{chaos}';
    this.#ledger = new LedgerReader(this.ledgerPath);
  }

  static async open(options: ChaosOptions): Promise<ChaosHarness> {
    const folder = mkdtempSync(join(tmpdir(), 'fairloom-chaos-'));
    const redis = options.backend === 'redis' ? await served() : undefined;
    const cluster =
      options.backend === 'cluster' ? await startCluster(MASTERS, DURABLE) : undefined;
    const harness = new ChaosHarness(options, folder, { redis, cluster });
    for (let count = 0; count < options.workers; count++) harness.hire();
    await harness.until(() => harness.able().length === options.workers);
    return harness;
  }

  /** The data folder of a programme without a server. */
  get data(): string {
    return join(this.#folder, 'data');
  }

  get isFolder(): boolean {
    return this.redis === undefined && this.cluster === undefined;
  }

  get ledgerPath(): string {
    return join(this.#folder, 'ledger.jsonl');
  }

  /** Ready workers that no fault has in hand. */
  able(): readonly WorkerProcess[] {
    return [...this.#fleet.values()].filter(
      ({ id, isRunning }) => isRunning && this.history.ready.has(id) && !this.frozen.has(id),
    );
  }

  /** A further worker. */
  hire(): WorkerProcess {
    this.#made += 1;
    const { leaseMs, slots: concurrency, runs } = this.#options;
    const { prefix, ledgerPath: ledger } = this;
    const worker = new WorkerProcess({
      id: `w${this.#made}`,
      url: this.redis?.proxy.url ?? '',
      ...(this.isFolder ? { data: this.data } : {}),
      ...(this.cluster === undefined ? {} : { nodes: this.cluster.nodes }),
      prefix,
      ledger,
      leaseMs,
      graceMs: GRACE_MS,
      concurrency,
      ...(runs > 0 ? { script: RUN_WORKER } : {}),
    });
    this.#fleet.set(worker.id, worker);
    void worker.exited.then(({ code, signal }) => {
      if (!this.#fleet.delete(worker.id)) return;
      this.crashes.push(`${worker.id}: code ${code}, signal ${signal}\n${worker.said}`);
    });
    return worker;
  }

  /** Waits until the server has read its files and serves commands. */
  async serving(): Promise<void> {
    while (this.redis !== undefined && !(await pongs(this.redis.server.port))) await pause(LOOK_MS);
  }

  /** Takes a worker out, so that its end is no crash. */
  dismiss(worker: WorkerProcess): void {
    this.#fleet.delete(worker.id);
    this.frozen.delete(worker.id);
  }

  /** Reads what the ledger has gained. */
  look(): void {
    const fresh = this.#ledger.next();
    this.history.take(fresh);
    this.lines.push(...fresh);
  }

  /** Runs whose handlers work now. */
  inFlight(worker?: WorkerProcess): readonly Run[] {
    this.look();
    return this.history.inFlight(
      worker === undefined ? new Set(this.#fleet.keys()) : new Set([worker.id]),
    );
  }

  /** Waits until it holds; false when it does not in time. */
  async until(holds: () => boolean, ms: number = READY_MS): Promise<boolean> {
    const deadline = Date.now() + ms;
    for (;;) {
      this.look();
      if (holds()) return true;
      if (Date.now() > deadline) return false;
      await pause(LOOK_MS);
    }
  }

  /** Ends every worker politely; those that do not end so are named. */
  async dismissAll(): Promise<readonly string[]> {
    const workers = [...this.#fleet.values()];
    const exits = workers.map(async (worker) => {
      this.dismiss(worker);
      worker.signal('SIGTERM');
      const { code, signal } = await worker.exited;
      return code === 0 ? '' : `${worker.id}: code ${code}, signal ${signal}\n${worker.said}`;
    });
    return (await Promise.all(exits)).filter((text) => text !== '');
  }

  async close(): Promise<void> {
    const workers = [...this.#fleet.values()];
    for (const worker of workers) this.dismiss(worker);
    await Promise.all(workers.map((worker) => worker.end()));
    await this.redis?.proxy.close();
    await this.redis?.server.stop();
    await this.cluster?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function served(): Promise<Served> {
  const server = await startRedis({ args: DURABLE });
  return { server, proxy: await startFaultProxy({ port: server.port }) };
}

/** Whether a server answers a ping; one that still loads answers otherwise. */
function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('error', () => settle(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')));
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
