import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { GraphReply, GraphStore } from '../../domain/port/backend.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';

/** A long snapshot that was sent waits this long, in s, for the script that saves it. */
const SENT_S = 60;

/** Who loses a long snapshot on the way, to its end or to an eviction, sends or asks again so often. */
const TRIES = 3;

/**
 * See `GraphStore`: one string per snapshot, with a mark that outlives it. A long one passes beside
 * the scripts: Lua would look at each of its bytes while everybody waits.
 */
export class RedisGraphs implements GraphStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async save(hash: string, body: string): Promise<'saved' | 'known'> {
    const isLong = Buffer.byteLength(body) > LIMITS.graphScriptBytes;
    for (let tried = 0; tried <= TRIES; tried++) {
      const args = [hash, isLong ? '' : body];
      const [word] = flat(await this.#session.run('graphSave', args));
      if (text(word) !== 'wanted') return text(word) === 'saved' ? 'saved' : 'known';
      const key = this.#session.keys.graphNew(hash);
      await this.#session.command('graphs.save', 'SET', [key, body, 'EX', SENT_S]);
    }
    throw new BackendUnavailableError('graphs.save', 'what was sent is gone');
  }

  async load(hash: string): Promise<GraphReply> {
    for (let tried = 0; tried < TRIES; tried++) {
      const [word, body] = flat(await this.#session.run('graphLoad', [hash]));
      switch (text(word)) {
        case 'found':
          return { kind: 'found', body: text(body) };
        case 'expired':
          return { kind: 'expired' };
        case 'evicted':
          return { kind: 'evicted' };
        case 'unknown':
          return { kind: 'unknown' };
      }
      const key = this.#session.keys.graph(hash);
      const long = await this.#session.command('graphs.load', 'GET', [key]);
      if (typeof long === 'string') return { kind: 'found', body: long };
    }
    return { kind: 'evicted' };
  }
}
