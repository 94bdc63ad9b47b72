/**
 * plainjob on better-sqlite3, as in its README, except for one setting: it tells SQLite not to sync each commit
 * (`synchronous = 1`), so that the last jobs would not survive a power failure. Here it syncs, like all sides.
 */
import { peerUrl } from './peers.ts';
import type { DurableQueue } from './queue.ts';

/** The part of plainjob that is used. */
interface Plainjob {
  better(database: Database): Connection;
  defineQueue(options: { readonly connection: Connection; readonly logger: object }): Jobs;
  defineWorker(
    type: string,
    handle: () => Promise<void>,
    options: { readonly queue: Jobs; readonly pollIntervall: number; readonly logger: object },
  ): { start(): Promise<void>; stop(): Promise<void> };
}

interface Sqlite {
  readonly default: new (path: string) => Database;
}

interface Database {
  close(): void;
}

interface Connection {
  pragma(text: string): void;
}

interface Jobs {
  add(type: string, data: unknown): void;
  addMany(type: string, data: readonly unknown[]): void;
  close(): void;
}

const TYPE = 'job';
const QUIET = {
  error: console.error,
  warn: console.error,
  info: () => undefined,
  debug: () => undefined,
};
/** How long a worker without jobs sleeps, in ms; its default is a second. */
const POLL_MS = 10;

export async function openPlainjob(folder: string): Promise<DurableQueue> {
  const { better, defineQueue, defineWorker }: Plainjob = await import(peerUrl('plainjob'));
  const { default: Database }: Sqlite = await import(peerUrl('better-sqlite3'));
  const connection = better(new Database(`${folder}/jobs.db`));
  const queue = defineQueue({ connection, logger: QUIET });
  connection.pragma('synchronous = FULL');
  const stops: (() => Promise<void>)[] = [];
  return {
    add: async ({ payload }) => queue.add(TYPE, payload),
    addMany: async (works) => {
      queue.addMany(
        TYPE,
        works.map(({ payload }) => payload),
      );
    },
    work: async (slots, handled) => {
      const options = { queue, pollIntervall: POLL_MS, logger: QUIET };
      for (let slot = 0; slot < slots; slot++) {
        const worker = defineWorker(TYPE, async () => handled(), options);
        stops.push(() => worker.stop());
        void worker.start();
      }
    },
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
      queue.close();
    },
  };
}
