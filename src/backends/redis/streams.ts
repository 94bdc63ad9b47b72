import { CorruptRecordError } from '../../domain/errors/errors.ts';
import type { StreamLease, StreamStore } from '../../domain/port/streams.ts';
import {
  keptOf,
  type StreamEntry,
  type StreamFacts,
  type StreamWrite,
} from '../../domain/task/stream.ts';
import type { Session } from './connection/session.ts';
import { HASH_FIELDS } from './layout/fields.ts';
import { StreamWatch } from './stream-watch.ts';
import { flat, pairsOf, text } from './wire/decode.ts';

/** See `StreamStore`: a Redis stream of blocks for each stream, and a hash with the facts of all streams of a task. */
export class RedisStreams implements StreamStore {
  readonly waitForChunks: StreamStore['waitForChunks'];
  readonly #session: Session;
  readonly #watch: StreamWatch;

  constructor(session: Session) {
    this.#session = session;
    this.#watch = new StreamWatch(session, (id, name) => this.#next(id, name));
    this.waitForChunks = this.#watch.wait.bind(this.#watch);
  }

  async append(
    { worker, id, token }: StreamLease,
    { name, node, call, attempt, ordinal, count, text: chunks, closes }: StreamWrite,
  ): Promise<'ok' | 'lost' | 'closed' | 'full'> {
    const whose = [worker, id, token, name, node, call, attempt];
    const kept = keptOf(name);
    const args = [...whose, ordinal, count, chunks, closes ? '1' : '0', kept.chunks, kept.bytes];
    const [word] = flat(await this.#session.run('append', args));
    return word === 'ok' || word === 'closed' || word === 'full' ? word : 'lost';
  }

  async read(
    id: string,
    name: string,
    from: number,
    limit: number,
  ): Promise<readonly StreamEntry[]> {
    const args = [this.#session.keys.stream(id, name), `(${from}-0`, '+', 'COUNT', limit];
    const rows = flat(await this.#session.command('streams.read', 'XRANGE', args));
    return rows.map((row) => {
      const entry = decodeEntry(flat(row));
      if (entry !== undefined) return entry;
      throw new CorruptRecordError(`stream ${name} of task ${id}`, 'an entry cannot be read');
    });
  }

  async list(id: string): Promise<readonly StreamFacts[]> {
    const args = [this.#session.keys.streams(id)];
    const reply = await this.#session.command('streams.list', 'HGETALL', args);
    const found = pairsOf(reply).flatMap(([field, state]) => {
      if (!field.startsWith(STATE)) return [];
      const [next, first, bytes, closed] = state.split(' ').map(Number);
      if (next === undefined || first === undefined || bytes === undefined) return [];
      return [{ name: field.slice(STATE.length), first, next, bytes, closed: closed === 1 }];
    });
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  close(): void {
    this.#watch.close();
  }

  /** The next offset of a stream. */
  async #next(id: string, name: string): Promise<number> {
    const args = [this.#session.keys.streams(id), STATE + name];
    const state = await this.#session.command('streams.waitForChunks', 'HGET', args);
    return Number(text(state).split(' ', 1)[0]);
  }
}

const [STATE] = HASH_FIELDS.streams.state;

const KINDS: readonly string[] = ['chunks', 'reset', 'end'];

function isKind(kind: string | undefined): kind is StreamEntry['kind'] {
  return kind !== undefined && KINDS.includes(kind);
}

/** `undefined` for a foreign entry. */
function decodeEntry([number, fields]: readonly unknown[]): StreamEntry | undefined {
  const next = Number.parseInt(text(number), 10);
  const [, head, , chunks] = flat(fields);
  const [kind, offsets, attempt, ...node] = text(head).split(' ');
  const from = next - Number(offsets);
  if (!isKind(kind) || !(from >= 0) || !(Number(attempt) > 0)) return undefined;
  return { kind, from, next, attempt: Number(attempt), node: node.join(' '), text: text(chunks) };
}
