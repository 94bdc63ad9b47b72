import type { SharedBackend } from '../backends/shared-backend.ts';
import { atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock, Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Leased, SeriesEntry } from '../domain/port/backend.ts';
import { type SeriesCount, SeriesRow } from '../domain/series/series-row.ts';
import { say } from '../logging/log-events.ts';

/** Queue and user of a count. */
type QueueAndUser = Pick<Leased, 'queue' | 'user'>;

/** Rows of a task: that of its queue, and that of its user there. */
type Rows = readonly [queue: SeriesRow, user: SeriesRow];

/** Counts of a queue, as a whole and by user; other users are under an empty name. */
interface Gathered {
  readonly row: SeriesRow;
  readonly users: Map<string, Rows>;
}

/**
 * Counts what a client stores and what its workers run, and adds it to the series of the store:
 * some time after the first count, and no more often. Counts that were not sent are lost when the
 * process is killed, as are those in a call during an outage.
 */
export class SeriesGatherer {
  readonly #connection: SharedBackend;
  readonly #clock: Clock;
  readonly #log: Logger;
  #queues = new Map<string, Gathered>();
  /** Number of users with their own row. */
  #users = 0;
  /** Set while there are counts to send. */
  #timer: Timer | undefined;
  /** It works, or has lived for a while: it also sends the rest at its end. */
  #isLasting = false;
  #hasFailed = false;

  constructor(connection: SharedBackend, clock: Clock, log: Logger) {
    this.#connection = connection;
    this.#clock = clock;
    this.#log = log;
  }

  /** A task of a caller was stored. */
  enqueued(task: QueueAndUser): void {
    this.#count(task, 'enqueued');
  }

  /** A handler is called. */
  started(lease: Leased): void {
    this.#isLasting = true;
    const rows = this.#count(lease, 'started');
    if (!isFirst(lease)) return;
    for (const { wait } of rows) wait.note(lease.leasedAt - lease.createdAt);
  }

  /** An attempt ended with this outcome after `ranMs`. */
  settled(lease: QueueAndUser, outcome: SeriesCount, ranMs: number): void {
    for (const { run } of this.#count(lease, outcome)) run.note(ranMs);
  }

  /** A lease has ended before its attempt was settled. */
  lost(lease: QueueAndUser): void {
    this.#count(lease, 'lost');
  }

  /** Sends the rest. A process that made only one enqueue does not wait for that. */
  async close(): Promise<void> {
    if (this.#isLasting) await this.#flush();
    this.#timer?.cancel();
  }

  #count({ queue, user }: QueueAndUser, what: SeriesCount): Rows {
    let gathered = this.#queues.get(queue);
    if (gathered === undefined) {
      gathered = { row: new SeriesRow(), users: new Map() };
      this.#queues.set(queue, gathered);
    }
    const rows = this.#rowsOf(gathered, user);
    rows[0].count(what);
    rows[1].count(what);
    this.#timer ??= this.#clock.setTimer(LIMITS.seriesFlushMs, () => {
      this.#isLasting = true;
      void atRoot(() => this.#flush());
    });
    return rows;
  }

  #rowsOf(gathered: Gathered, user: string): Rows {
    const known = gathered.users.get(user);
    if (known !== undefined) return known;
    if (user !== '' && this.#users >= LIMITS.seriesGathered) return this.#rowsOf(gathered, '');
    const rows: Rows = [gathered.row, new SeriesRow()];
    gathered.users.set(user, rows);
    this.#users++;
    return rows;
  }

  async #flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const entries = entriesOf(this.#queues);
    this.#queues = new Map();
    this.#users = 0;
    if (entries.length === 0) return;
    try {
      await this.#connection.backend.series.add(entries);
      this.#hasFailed = false;
    } catch (error) {
      if (this.#hasFailed || this.#connection.closed) return;
      this.#hasFailed = true;
      say(this.#log, 'series.not-kept', 'counts could not be stored', { error });
    }
  }
}

/** For other leases the moment when they could have started is unknown. */
function isFirst({ attempt, losses, releases, upstreams, name }: Leased): boolean {
  const isOwn = name.startsWith('~');
  return attempt === 1 && losses === 0 && releases === 0 && upstreams.length === 0 && !isOwn;
}

/** Each queue, then its users with the most traffic; the others in one row. */
function entriesOf(queues: ReadonlyMap<string, Gathered>): readonly SeriesEntry[] {
  const named = [...queues.values()].flatMap(({ users }) =>
    [...users].flatMap(([user, [, row]]) => (user === '' ? [] : [row])),
  );
  named.sort((one, other) => other.rank - one.rank);
  const first = new Set(named.slice(0, LIMITS.seriesUsers));
  return [...queues].flatMap(([queue, { row, users }]) => {
    const entries: SeriesEntry[] = [{ queue, row }];
    const others = new SeriesRow();
    for (const [user, [, one]] of users) {
      if (first.has(one)) entries.push({ queue, user, row: one });
      else others.add(one);
    }
    const hasOthers = entries.length <= users.size;
    return hasOthers ? [...entries, { queue, user: '', row: others }] : entries;
  });
}
