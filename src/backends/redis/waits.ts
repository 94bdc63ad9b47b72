import type { WaitStore } from '../../domain/port/backend.ts';
import { isEnd } from '../../domain/task/task.ts';
import {
  type SignalMessage,
  type SignalReply,
  WAIT_KINDS,
  type WaitEvent,
  type WaitFigure,
  type WaitTarget,
} from '../../domain/task/wait.ts';
import type { Session } from './connection/session.ts';
import { eventPair } from './wire/ask.ts';
import { flat, stateOf, text } from './wire/decode.ts';

/** See `WaitStore`: what waits are answered by, one script each. */
export class RedisWaits implements WaitStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async signal(id: string, { name, payload, signalId = '' }: SignalMessage): Promise<SignalReply> {
    const reply = flat(await this.#session.run('signal', [id, name, payload, signalId]));
    const kind = text(reply[0]);
    switch (kind) {
      case 'delivered':
      case 'buffered':
      case 'repeated':
        return { kind };
      case 'ended': {
        const state = stateOf(reply[1]);
        return isEnd(state) ? { kind, state } : { kind: 'not-found' };
      }
      case 'full':
        return { kind, limit: text(reply[1]) === 'signals' ? 'signals' : 'signalBytes' };
      default:
        return { kind: 'not-found' };
    }
  }

  async publish(user: string, event: WaitEvent): Promise<'published' | 'repeated'> {
    const { payload, eventId, keepMs } = event;
    const args = [user, eventPair(event), payload, eventId, keepMs];
    const [kind] = flat(await this.#session.run('publish', args));
    return kind === 'repeated' ? kind : 'published';
  }

  figures(): Promise<readonly WaitFigure[]> {
    return Promise.all(WAIT_KINDS.map((kind) => this.#figure(kind)));
  }

  async #figure(kind: WaitTarget['kind']): Promise<WaitFigure> {
    const key = this.#session.keys.waits(kind);
    const [count, first] = await Promise.all([
      this.#session.command('waits.figures', 'ZCARD', [key]),
      this.#session.command('waits.figures', 'ZRANGEBYSCORE', [
        ...[key, '-inf', '+inf', 'WITHSCORES'],
        ...['LIMIT', '0', '1'],
      ]),
    ]);
    // A pair, by the client's protocol within a list of its own or not.
    const since = flat(flat(first).flat()).at(1);
    return Number(count) === 0 || since === undefined
      ? { kind, count: 0 }
      : { kind, count: Number(count), since: Number(since) };
  }
}
