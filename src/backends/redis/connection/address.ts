/** Parses the address of a Redis server. */
import { MASK, maskedUrl } from '../../../base/masked-url.ts';
import { InvalidOptionError } from '../../../domain/errors/errors.ts';

const EXPECTED = 'a URL such as redis://localhost:6379/0, or the path of a socket';

const PORT_MAX = 65_535;

/** An address in the form of the client library. */
export interface RedisAddress {
  readonly host?: string;
  readonly port?: number;
  /** Path of a socket. */
  readonly path?: string;
  readonly db?: number;
  readonly username?: string;
  readonly password?: string;
  /** Whether the URL asks for TLS. */
  readonly isTls: boolean;
  /** More options of the client library: the query of the URL. */
  readonly more: Readonly<Record<string, string | number>>;
}

/** @throws {@link InvalidOptionError} for an invalid address. */
export function checkRedisUrl(value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new InvalidOptionError('', EXPECTED, MASK);
  }
  if (addressOf('', value).password === MASK) {
    throw new InvalidOptionError('', 'the password, not its mask', MASK);
  }
}

/**
 * Parses an address. Messages never contain the password, wherever it is in the text.
 *
 * @throws {@link InvalidOptionError} for an invalid address.
 */
export function addressOf(option: string, text: string): RedisAddress {
  if (text.startsWith('/')) return socketOf(text);
  const problem = problemOf(text);
  if (problem !== undefined) throw new InvalidOptionError(option, problem, maskedUrl(text));
  const url = new URL(text);
  const db = url.pathname.slice(1);
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    isTls: url.protocol === 'rediss:',
    more: moreOf(url.searchParams),
  };
}

/** Describes the problem of a text; `undefined` for a valid URL. */
function problemOf(text: string): string | undefined {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme === undefined) return EXPECTED;
  if (!/^rediss?$/i.test(scheme)) {
    return `${EXPECTED}: it begins with redis:// or, for TLS, rediss://`;
  }
  if (/\s/.test(rest)) return 'a URL without spaces; one in a password is written %20';
  if (rest.includes('#')) return 'a URL in whose password "#" is written %23';
  const at = rest.lastIndexOf('@');
  const account = at < 0 ? '' : rest.slice(0, at);
  // Otherwise the URL would end before the host, and another host be connected to.
  if (/[/?]/.test(account))
    return 'a URL in whose password "/" is written %2F, "?" %3F and "@" %40';
  if (!isEncoded(account)) return 'a URL in whose password "%" is written %25';
  return placeProblemOf(rest.slice(at + 1)) ?? (URL.canParse(text) ? undefined : EXPECTED);
}

/** Problem of the part after the password: host, port, database, options. */
function placeProblemOf(place: string): string | undefined {
  const [, host = '', port = '', path = ''] =
    /^(\[[^\]]*\]|[^:/?]*)(:[^/?]*)?(\/[^?]*)?/.exec(place) ?? [];
  if (host === '') return 'a URL with a host, as redis://localhost:6379';
  const digits = port.slice(1);
  if (port !== '' && !(/^\d+$/.test(digits) && Number(digits) >= 1 && Number(digits) <= PORT_MAX)) {
    return `a URL whose port is a number from 1 to ${PORT_MAX}`;
  }
  return /^(\/\d*)?$/.test(path)
    ? undefined
    : 'a URL that ends with the number of a database, as /0';
}

function isEncoded(part: string): boolean {
  try {
    // The result is used: a bundler drops a call without a use, and its error.
    return typeof decodeURIComponent(part) === 'string';
  } catch {
    return false;
  }
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
