import type { WaitStore } from '../../domain/port/backend.ts';
import { type EventStart, type PublishReply, refusedStart } from '../../domain/port/event-start.ts';
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
import { schedulesIn } from './schedules.ts';
import { eventPair } from './wire/ask.ts';
import { decodeReplies, flat, stateOf, text } from './wire/decode.ts';
import { pushTasks } from './wire/encode.ts';
import type { ScriptArgument } from './wire/script.ts';

/** See `WaitStore`: signals and events, one script each. */
export class RedisWaits implements WaitStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async signal(id: string, { name, payload, signalId = '' }: SignalMessage): Promise<SignalReply> {
    let reply = flat(await this.#session.run('signal', [id, name, payload, signalId]));
    // Many earlier waits have timed out, and are ended in steps.
    while (text(reply[0]) === 'more') {
      reply = flat(await this.#session.run('signal', [id, name, payload, signalId]));
    }
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

  async publish(
    user: string,
    event: WaitEvent,
    starts: readonly EventStart[],
  ): Promise<PublishReply> {
    const { payload, eventId, keepMs } = event;
    const known = starts.map(({ schedule, revision, task }) =>
      [schedule, revision, task === undefined ? 0 : 1].join(' '),
    );
    const args: ScriptArgument[] = [user, eventPair(event), payload, eventId, keepMs];
    args.push(known.join(' '));
    const tasks = starts.flatMap(({ task }) => (task === undefined ? [] : [task]));
    if (tasks.length > 0) pushTasks(args, tasks);
    const reply = flat(await this.#session.run('publish', args));
    const kind = text(reply[0]);
    switch (kind) {
      case 'repeated':
        return { kind };
      case 'schedules':
        return { kind, schedules: schedulesIn(reply, 1) };
      case 'refused':
        return refusedStart(tasks, decodeReplies(tasks, reply.slice(1))) ?? { kind: 'published' };
      default:
        return { kind: 'published' };
    }
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
    // A pair, nested in a list or not, by the client's protocol.
    const since = flat(flat(first).flat()).at(1);
    return Number(count) === 0 || since === undefined
      ? { kind, count: 0 }
      : { kind, count: Number(count), since: Number(since) };
  }
}
