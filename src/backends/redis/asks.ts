import type { AskStore, Page, PageRequest } from '../../domain/port/backend.ts';
import {
  type AskFilter,
  type AskRecord,
  type AskReply,
  askAnswerText,
  askPlace,
  type GivenAnswer,
  readClosing,
} from '../../domain/task/ask.ts';
import type { Session } from './connection/session.ts';
import { ASK_FIELDS, askRecordAt } from './wire/ask.ts';
import { flat, text } from './wire/decode.ts';
import { pageOf } from './wire/parts.ts';

/** See `AskStore`: one script each. */
export class RedisAsks implements AskStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async answer(id: string, answer: GivenAnswer): Promise<AskReply> {
    const place = askPlace(id);
    if (place === undefined) return { kind: 'not-found' };
    const args = [place.taskId, place.mark, answer.choice, askAnswerText(answer)];
    const [kind, ...more] = flat(await this.#session.run('askAnswer', args));
    switch (kind) {
      case 'answered':
        return { kind };
      case 'closed':
        return { kind, closing: readClosing(text(more[0])) };
      case 'no-choice':
        return { kind, choices: more.map(text) };
      default:
        return { kind: 'not-found' };
    }
  }

  async get(id: string): Promise<AskRecord | undefined> {
    const place = askPlace(id);
    if (place === undefined) return undefined;
    const reply = flat(await this.#session.run('askGet', [place.taskId, place.mark]));
    return reply.length === 0 ? undefined : askRecordAt(reply, 0);
  }

  async list(
    { user = '', for: name = '' }: AskFilter,
    page: PageRequest,
  ): Promise<Page<AskRecord>> {
    const { items, ...rest } = await pageOf<AskRecord>(page, async ({ cursor = '', limit }) => {
      const reply = flat(await this.#session.run('askList', [user, name, cursor, limit]));
      const rows: AskRecord[] = [];
      for (let at = 1; at < reply.length; at += ASK_FIELDS) rows.push(askRecordAt(reply, at));
      const next = text(reply[0]);
      return next === '' ? { items: rows } : { items: rows, cursor: next };
    });
    // An entry of a damaged set may be closed.
    return { ...rest, items: items.filter(({ closing }) => closing === undefined) };
  }
}
