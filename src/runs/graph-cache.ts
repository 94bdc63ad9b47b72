import type { SharedBackend } from '../backends/shared-backend.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import {
  GraphCorruptError,
  GraphEvictedError,
  GraphExpiredError,
  GraphNotFoundError,
  type GraphStoreError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { isSealed } from '../domain/task/sealed-text.ts';
import type { TaskGraph } from '../graph/graph.ts';
import { readGraph } from '../graph/graph-text.ts';
import { compile } from '../workflow/compile.ts';
import { KnownGraph } from './known-graph.ts';
import { sha256 } from './record.ts';
import { packGraph, unpackGraph } from './snapshot.ts';

/** Counters of a client's use of graph snapshots. */
export interface GraphStats {
  /** Number of uploads; concurrent calls for one graph share an upload. */
  readonly saves: number;
  /** Number of uploads that found the snapshot stored already. */
  readonly known: number;
  /** Number of downloads. */
  readonly loads: number;
  /** Number of reads from this process's memory. */
  readonly hits: number;
  /** Number of uploads that only extended the time to live of a snapshot. */
  readonly touches: number;
  /** Bytes of uploaded graphs before compression. */
  readonly bytesBefore: number;
  /** Bytes that were uploaded. */
  readonly bytesAfter: number;
}

interface Entry {
  readonly known: KnownGraph;
  /** When the store was last known to have it; absent: never. */
  storedAt: number | undefined;
}

/** Number of graphs that one client keeps in memory. */
const MOST_GRAPHS = 100;

/** Longest time between two uploads of a graph in use, in ms. */
const TOUCH_MS = LIMITS.graphTtlMs / 4;

/**
 * Graphs by hash, compiled here or loaded, the most recently used ones. A graph is uploaded only
 * before it is shared, and only if it may not be stored.
 */
export class GraphCache {
  readonly #connection: SharedBackend;
  readonly #clock: Clock;
  readonly #codec: ValueCodec;
  /** The least recently used one first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  readonly #saving = new Map<string, Promise<void>>();
  /** Graphs of steps that were compiled here. */
  readonly #compiled = new WeakMap<object, KnownGraph>();
  /** Derived data of graphs in memory: the text of a large one takes milliseconds. */
  readonly #known = new WeakMap<TaskGraph, KnownGraph>();
  readonly #stats = {
    saves: 0,
    known: 0,
    loads: 0,
    hits: 0,
    touches: 0,
    bytesBefore: 0,
    bytesAfter: 0,
  };

  constructor(connection: SharedBackend, clock: Clock, codec: ValueCodec) {
    this.#connection = connection;
    this.#clock = clock;
    this.#codec = codec;
  }

  stats(): GraphStats {
    return { ...this.#stats };
  }

  /** The graph of a step; compiled once. Throws as `compile` does. */
  ofStep(step: object): KnownGraph {
    const compiled = this.#compiled.get(step);
    if (compiled !== undefined) return this.#kept(compiled);
    const known = this.#kept(this.#named(compile(step)));
    this.#compiled.set(step, known);
    return known;
  }

  /** The derived data of a graph that was made in this process. */
  ofGraph(graph: TaskGraph): KnownGraph {
    const known = this.#known.get(graph) ?? this.#named(graph);
    this.#known.set(graph, known);
    return this.#kept(known);
  }

  /**
   * The graph of this hash, from memory or from the store.
   *
   * @throws {@link GraphNotFoundError}, {@link GraphExpiredError}, {@link GraphEvictedError},
   * {@link GraphCorruptError}.
   */
  async get(hash: string): Promise<KnownGraph> {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return (await this.#loaded(hash)).known;
    this.#stats.hits++;
    this.#use(entry);
    if (entry.storedAt !== undefined && this.#isOld(entry.storedAt)) await this.#touch(entry);
    return entry.known;
  }

  /** Ensures that the store has a graph before a task refers to it. */
  async share(known: KnownGraph): Promise<void> {
    const entry = this.#entryOf(known);
    if (entry.storedAt !== undefined && !this.#isOld(entry.storedAt)) return;
    await this.#save(entry);
  }

  /** Records that the store does not have the graph. */
  forgetStored({ hash }: KnownGraph): void {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) entry.storedAt = undefined;
  }

  /** With a codec the hash is keyed, so that the store cannot guess contents from it. */
  #named(graph: TaskGraph): KnownGraph {
    const { texts } = this.#codec;
    return KnownGraph.of(graph, texts === undefined ? undefined : (hash) => texts.nameOf(hash));
  }

  #kept(known: KnownGraph): KnownGraph {
    return this.#entryOf(known).known;
  }

  #entryOf(known: KnownGraph): Entry {
    const entry = this.#entries.get(known.hash) ?? { known, storedAt: undefined };
    this.#use(entry);
    return entry;
  }

  /** Marks an entry as the most recently used one. */
  #use(entry: Entry): void {
    const { hash, graph } = entry.known;
    this.#known.set(graph, entry.known);
    this.#entries.delete(hash);
    this.#entries.set(hash, entry);
    if (this.#entries.size <= MOST_GRAPHS) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  #isOld(storedAt: number): boolean {
    return elapsedMs(this.#clock) - storedAt >= TOUCH_MS;
  }

  /** Extends the time to live. A failure is ignored: the graph is in memory. */
  async #touch(entry: Entry): Promise<void> {
    this.#stats.touches++;
    try {
      await this.#save(entry);
    } catch {
      // The next use tries again.
    }
  }

  #save(entry: Entry): Promise<void> {
    const { hash } = entry.known;
    const open = this.#saving.get(hash);
    if (open !== undefined) return open;
    const saved = this.#upload(entry).finally(() => this.#saving.delete(hash));
    this.#saving.set(hash, saved);
    return saved;
  }

  async #upload(entry: Entry): Promise<void> {
    const { hash, text } = entry.known;
    const body = await packGraph(text);
    const { graphs } = await this.#connection.ready();
    const now = elapsedMs(this.#clock);
    const answer = await graphs.save(hash, body);
    entry.storedAt = now;
    this.#stats.saves++;
    if (answer === 'known') this.#stats.known++;
    this.#stats.bytesBefore += Buffer.byteLength(text);
    this.#stats.bytesAfter += Buffer.byteLength(body);
  }

  #loaded(hash: string): Promise<Entry> {
    const open = this.#loading.get(hash);
    if (open !== undefined) return open;
    const loaded = this.#download(hash).finally(() => this.#loading.delete(hash));
    this.#loading.set(hash, loaded);
    return loaded;
  }

  async #download(hash: string): Promise<Entry> {
    const { graphs } = await this.#connection.ready();
    const storedAt = elapsedMs(this.#clock);
    const reply = await graphs.load(hash);
    this.#stats.loads++;
    if (reply.kind !== 'found') throw missing(hash, reply.kind);
    if (isSealed(reply.body)) throw this.#codec.unreadable(reply.body);
    const text = await unpackGraph(hash, reply.body);
    const facts = { hash: sha256(text), length: text.length };
    // A codec verifies its own texts; without one the name is the hash.
    if (this.#codec.texts === undefined && facts.hash !== hash) {
      throw new GraphCorruptError(hash, 'its content has another hash');
    }
    const entry = { known: KnownGraph.read(graphIn(hash, text), hash, facts), storedAt };
    this.#use(entry);
    return entry;
  }
}

function missing(hash: string, why: 'unknown' | 'expired' | 'evicted'): GraphStoreError {
  switch (why) {
    case 'unknown':
      return new GraphNotFoundError(hash);
    case 'expired':
      return new GraphExpiredError(hash);
    case 'evicted':
      return new GraphEvictedError(hash);
  }
}

function graphIn(hash: string, text: string): TaskGraph {
  try {
    return readGraph(text);
  } catch (error) {
    throw new GraphCorruptError(hash, error instanceof Error ? error.message : 'it is not a graph');
  }
}
