import { BackendUnavailableError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { GraphReply, GraphStore } from '../../domain/port/backend.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';

/** TTL of a long snapshot that was sent until the script saves it, in s. */
const SENT_S = 60;

/** Most tries for a long snapshot that expires or is evicted on the way. */
const TRIES = 3;

/**
 * See `GraphStore`: one string per snapshot, with a mark that outlives it. A long one is not passed
 * to scripts: Lua would read each of its bytes while other clients wait.
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
    throw new BackendUnavailableError('graphs.save', 'the sent snapshot was evicted');
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
