import { LIMITS } from '../../domain/limits.ts';
import type { Page, PageRequest, XComStore } from '../../domain/port/backend.ts';
import type { XComFact, XComPlace, XComValue, XComWrite } from '../../domain/task/xcom.ts';
import type { Session } from './connection/session.ts';
import { type Flat, flat, text } from './wire/decode.ts';
import { xcomRow } from './wire/encode.ts';
import { answersFor, pageOf } from './wire/parts.ts';

/** Fields of a value in a reply, without its text; see lua/lib/records/xcom.lua. */
const FIELDS = 4;

/** See `XComStore`. Every method is one script. */
export class RedisXCom implements XComStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async write(writes: readonly XComWrite[]): Promise<void> {
    const pushes = writes.filter(({ type }) => type === 'push').length;
    await this.#session.run('xcomWrite', [pushes, JSON.stringify(writes.map(xcomRow))]);
  }

  async read(places: readonly XComPlace[]): Promise<readonly (XComValue | undefined)[]> {
    return answersFor(places, LIMITS.scriptUnits, async (some) => {
      const args = some.flatMap(({ user, namespace, key }) => [user, namespace, key]);
      const reply = flat(await this.#session.run('xcomRead', args));
      const found: (XComValue | undefined)[] = [];
      let at = 0;
      for (const place of some) {
        // A missing value takes a place too: after the last one the reply ends.
        if (at === reply.length) break;
        const fact = factAt(reply, at, place);
        at += fact === undefined ? 1 : FIELDS + 1;
        found.push(fact === undefined ? undefined : { ...fact, text: text(reply[at - 1]) });
      }
      return found;
    });
  }

  async list(
    { user, namespace }: { readonly user: string; readonly namespace: string },
    page: PageRequest,
  ): Promise<Page<XComFact>> {
    // An expired value is a row like others, which is not shown.
    const { items, ...rest } = await pageOf<XComFact | undefined>(page, async (part) => {
      const reply = await this.#part(user, namespace, part);
      const rows: (XComFact | undefined)[] = [];
      let key = '';
      for (let at = 1; at < reply.length; ) {
        key = text(reply[at]);
        const fact = factAt(reply, at + 1, { user, namespace, key });
        at += fact === undefined ? 2 : 1 + FIELDS;
        rows.push(fact);
      }
      return Number(reply[0]) === 1 ? { items: rows, cursor: key } : { items: rows };
    });
    return { ...rest, items: items.filter((fact) => fact !== undefined) };
  }

  namespaces(user: string, page: PageRequest): Promise<Page<string>> {
    return pageOf(page, async (part) => {
      const reply = await this.#part(user, '', part);
      const items = reply.slice(1).map(text);
      return Number(reply[0]) === 1 ? { items, cursor: items.at(-1) ?? '' } : { items };
    });
  }

  async #part(user: string, namespace: string, { cursor, limit }: PageRequest): Promise<Flat> {
    return flat(await this.#session.run('xcomList', [user, namespace, cursor ?? '', limit]));
  }
}

function factAt(reply: Flat, at: number, place: XComPlace): XComFact | undefined {
  if (reply[at] !== 'found') return undefined;
  const writer = text(reply[at + 1]);
  const till = text(reply[at + 3]);
  return {
    ...place,
    pushedAt: Number(reply[at + 2]),
    ...(writer === '' ? {} : { writer }),
    ...(till === '' ? {} : { expiresAt: Number(till) }),
  };
}
