/** Where a Redis is, as text. */
import { InvalidOptionError } from '../domain/errors.ts';
import { MASK } from './secret.ts';

const EXPECTED = 'a URL such as redis://localhost:6379/0, or the path of a socket';

/** A connection as the client library takes it. */
export interface RedisAddress {
  readonly host?: string;
  readonly port?: number;
  /** Of a socket. */
  readonly path?: string;
  readonly db?: number;
  readonly username?: string;
  readonly password?: string;
  /** Whether the URL asks for TLS. */
  readonly isTls: boolean;
  /** More options of the client library: what stands behind the question mark. */
  readonly more: Readonly<Record<string, string | number>>;
}

/** @throws {@link InvalidOptionError} when the text is no address. */
export function checkRedisUrl(value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '') throw refused(EXPECTED);
  if (addressOf(value).password === MASK) throw refused('the password, not its mask');
}

/** @throws {@link InvalidOptionError} when the text is no address. */
export function addressOf(text: string): RedisAddress {
  if (text.startsWith('/')) return socketOf(text);
  if (!/^rediss?:\/\//i.test(text) || !URL.canParse(text)) throw refused(EXPECTED);
  const url = new URL(text);
  const db = url.pathname.slice(1);
  if (!/^\d*$/.test(db)) throw refused('a URL that ends with the number of a database, as /0');
  if (url.hostname === '') throw refused('a URL with a host');
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.username === '' ? {} : { username: decoded(url.username) }),
    ...(url.password === '' ? {} : { password: decoded(url.password) }),
    isTls: url.protocol === 'rediss:',
    more: moreOf(url.searchParams),
  };
}

function socketOf(text: string): RedisAddress {
  const [path = '', query = ''] = text.split('?', 2);
  return { path, isTls: false, more: moreOf(new URLSearchParams(query)) };
}

function moreOf(query: URLSearchParams): Readonly<Record<string, string | number>> {
  const pairs = [...query].map(([name, value]): [string, string | number] => [
    name,
    ['family', 'db'].includes(name) && /^\d+$/.test(value) ? Number(value) : value,
  ]);
  return Object.fromEntries(pairs);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused('a URL whose user and password are percent-encoded');
  }
}

/** Never with the text: it may hold a password. */
function refused(expected: string): InvalidOptionError {
  return new InvalidOptionError('', expected, MASK);
}
