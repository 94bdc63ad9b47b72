import type { SharedBackend } from '../../backends/shared-backend.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { TaskGraph } from '../../graph/graph.ts';
import type { GraphCache, GraphStats } from '../../runs/graph-cache.ts';

const HASH = /^[0-9a-f]{64}$/;

/** `loom.graphs`: graphs of workflows, by hash. */
export class Graphs {
  readonly #connection: SharedBackend;
  readonly #graphs: GraphCache;

  /** @internal */
  constructor({ connection, graphs }: { connection: SharedBackend; graphs: GraphCache }) {
    this.#connection = connection;
    this.#graphs = graphs;
  }

  /**
   * A stored graph; frozen.
   *
   * @throws {@link GraphNotFoundError}, {@link GraphExpiredError}, {@link GraphEvictedError} when
   * it is not stored, {@link GraphCorruptError} when it is damaged; {@link InvalidOptionError} for
   * an invalid hash.
   */
  async get(hash: string): Promise<TaskGraph> {
    if (typeof hash !== 'string' || !HASH.test(hash)) {
      throw new InvalidOptionError('hash', '64 hexadecimal digits', hash);
    }
    await this.#connection.open();
    return (await this.#graphs.get(hash)).graph;
  }

  /** Number of uploads, downloads and cache hits of this client. */
  stats(): GraphStats {
    return this.#graphs.stats();
  }
}
