import type { Page, PageRequest, XComStore } from '../../domain/backend.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { XComFact, XComPlace, XComValue, XComWrite } from '../../domain/xcom.ts';
import { type Flat, flat, text } from './decode.ts';
import { xcomRow } from './encode.ts';
import type { Session } from './session.ts';

/** Fields of a value in a reply, without its text; see lua/lib/xcom.lua. */
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
    if (places.length === 0) return [];
    const args = places.flatMap(({ user, namespace, key }) => [user, namespace, key]);
    const reply = flat(await this.#session.run('xcomRead', args));
    let at = 0;
    return places.map((place) => {
      const fact = factAt(reply, at, place);
      at += fact === undefined ? 1 : FIELDS + 1;
      return fact === undefined ? undefined : { ...fact, text: text(reply[at - 1]) };
    });
  }

  async list(
    { user, namespace }: { readonly user: string; readonly namespace: string },
    page: PageRequest,
  ): Promise<Page<XComFact>> {
    const reply = await this.#page(user, namespace, page);
    const items: XComFact[] = [];
    let last = '';
    for (let at = 1; at < reply.length; ) {
      last = text(reply[at]);
      const fact = factAt(reply, at + 1, { user, namespace, key: last });
      at += fact === undefined ? 2 : 1 + FIELDS;
      if (fact !== undefined) items.push(fact);
    }
    return Number(reply[0]) === 1 ? { items, cursor: last } : { items };
  }

  async namespaces(user: string, page: PageRequest): Promise<Page<string>> {
    const reply = await this.#page(user, '', page);
    const items = reply.slice(1).map(text);
    return Number(reply[0]) === 1 ? { items, cursor: items.at(-1) ?? '' } : { items };
  }

  async #page(user: string, namespace: string, { cursor, limit }: PageRequest): Promise<Flat> {
    const most = Math.min(limit, LIMITS.pageMax);
    return flat(await this.#session.run('xcomList', [user, namespace, cursor ?? '', most]));
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
