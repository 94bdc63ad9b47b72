import type { GraphReply, GraphStore } from '../../domain/backend.ts';
import { flat, text } from './decode.ts';
import type { Session } from './session.ts';

/** See `GraphStore`: one string per snapshot, with a mark that outlives it. */
export class RedisGraphs implements GraphStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async save(hash: string, body: string): Promise<'saved' | 'known'> {
    const [word] = flat(await this.#session.run('graphSave', [hash, body]));
    return text(word) === 'saved' ? 'saved' : 'known';
  }

  async load(hash: string): Promise<GraphReply> {
    const [word, body] = flat(await this.#session.run('graphLoad', [hash]));
    switch (text(word)) {
      case 'found':
        return { kind: 'found', body: text(body) };
      case 'expired':
        return { kind: 'expired' };
      case 'evicted':
        return { kind: 'evicted' };
      default:
        return { kind: 'unknown' };
    }
  }
}
