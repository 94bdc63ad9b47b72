import type { WaitStore } from '../../domain/port/backend.ts';
import { isEnd } from '../../domain/task/task.ts';
import type { Signal, SignalReply } from '../../domain/task/wait.ts';
import type { Session } from './connection/session.ts';
import { flat, stateOf, text } from './wire/decode.ts';

/** See `WaitStore`: what waits are answered by, one script each. */
export class RedisWaits implements WaitStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async signal(id: string, { name, payload, signalId = '' }: Signal): Promise<SignalReply> {
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
}
