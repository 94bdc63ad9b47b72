/** Options of `httpApi`, checked. */

import { isPlainObject } from '../base/records.ts';
import type { Duration } from '../base/time.ts';
import type { RateOptions } from '../client/facades/settings-options.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { isId } from '../domain/fairness/names.ts';
import { type Access, PERMISSIONS } from '../operations/view.ts';
import { durationOption, integerOption } from '../workflow/task-options.ts';
import { readHost } from './hosts.ts';

/** How an HTTP API is made. */
export interface HttpApiOptions {
  /**
   * What a request may, asked once for each, and each 15 s of a stream of changes. Default: `deny` to
   * all. What it throws is a refusal, and so is an answer that takes longer than 10 s, or than `timeout`.
   */
  readonly access?: ((request: Request) => Access | Promise<Access>) | undefined;
  /**
   * Whose request it is, for the limit on requests: an address, or what stands for a session. Default: the
   * address that `nodeHandler` has seen, else the `Authorization` header.
   */
  readonly client?: ((request: Request) => string) | undefined;
  /**
   * Under which names it may be asked, as browsers send them in `Host`: `queue.example`, `localhost:3000`. All
   * others get 400. Default: any that can be read. Needed where `access` lets in all who can reach it.
   */
  readonly hosts?: readonly string[] | undefined;
  /** Requests of one client. Default 1,000 in 10 s. */
  readonly rate?: Pick<RateOptions, 'limit' | 'per'> | undefined;
  /**
   * Values of inputs, results, errors, logs and streams that are not shown, by their keys: `*.password` is a
   * password in anything, `card.*` all of a card.
   */
  readonly redact?: readonly string[] | undefined;
  /** Leaves inputs, results, metadata, chunks, words of errors and logs out of every answer. Default false. */
  readonly hidePayloads?: boolean | undefined;
  /** Shown beside the version: which of several stores of one server it is. */
  readonly namespace?: string | undefined;
  /** Origins that may show the page in a frame, as `https://intranet.example`. Default none. */
  readonly frameAncestors?: readonly string[] | undefined;
  /** Bytes of the body of one request, at most. Default 2 MiB. */
  readonly maxBody?: number | undefined;
  /** How long one request may take, streams of changes aside. Default 10 s. */
  readonly timeout?: Duration | undefined;
}

/** What may stand in them. */
const KEYS: OptionKeys<HttpApiOptions> = keysOf<HttpApiOptions>()({
  access: true,
  client: true,
  hosts: true,
  rate: true,
  redact: true,
  hidePayloads: true,
  namespace: true,
  frameAncestors: true,
  maxBody: true,
  timeout: true,
});

/** The same, with what holds where nothing was said. */
export interface HttpSettings {
  readonly access: (request: Request) => Access | Promise<Access>;
  readonly client: ((request: Request) => string) | undefined;
  readonly hosts: ReadonlySet<string> | undefined;
  readonly rate: { readonly limit: number; readonly perMs: number };
  readonly redact: readonly string[];
  readonly hidesPayloads: boolean;
  readonly namespace: string | undefined;
  readonly frameAncestors: readonly string[];
  readonly maxBody: number;
  readonly timeoutMs: number;
}

/** An input may have a MiB; as JSON in JSON it is longer. */
const MAX_BODY = 2_097_152;

const RATE = { limit: 1_000, per: '10s' } as const;

/** @throws {@link InvalidOptionError} for the first option that is not what it should be. */
export function httpSettings(options: HttpApiOptions): HttpSettings {
  checkOptions('httpApi', options, KEYS);
  const { access = () => 'deny' as const, client, rate = RATE, namespace } = options;
  const { hidePayloads = false, maxBody = MAX_BODY, timeout = '10s' } = options;
  demandFunction('access', access);
  if (client !== undefined) demandFunction('client', client);
  if (!isPlainObject(rate)) throw new InvalidOptionError('rate', 'a limit and a time', rate);
  if (typeof hidePayloads !== 'boolean') {
    throw new InvalidOptionError('hidePayloads', 'true or false', hidePayloads);
  }
  if (namespace !== undefined && typeof namespace !== 'string') {
    throw new InvalidOptionError('namespace', 'a text', namespace);
  }
  const { least, most } = { least: 1, most: Number.MAX_SAFE_INTEGER };
  return {
    access,
    client,
    hosts: options.hosts === undefined ? undefined : hostsOption(options.hosts),
    rate: {
      limit: integerOption('rate.limit', rate.limit, { least, most }),
      perMs: durationOption('rate.per', rate.per, { least, most: 86_400_000 }),
    },
    redact: textsOption('redact', options.redact, isKeys, 'keys joined by dots'),
    hidesPayloads: hidePayloads,
    namespace,
    frameAncestors: textsOption(
      'frameAncestors',
      options.frameAncestors,
      isOrigin,
      `origins, or 'self'`,
    ),
    maxBody: integerOption('maxBody', maxBody, { least, most }),
    timeoutMs: durationOption('timeout', timeout, { least, most: 600_000 }),
  };
}

/** Whether it says what a request may: what `access` answers is a program's own. */
export function isAccess(access: unknown): access is Access {
  if (access === 'all' || access === 'read' || access === 'deny') return true;
  if (!isPlainObject(access)) return false;
  const { can, users, by, ...rest } = access;
  // A lookup that has found nothing is no leave to see all.
  if ('users' in access && users === undefined) return false;
  if (Object.keys(rest).length > 0 || (by !== undefined && typeof by !== 'string')) return false;
  return (
    (can === 'all' || isListOf(can, isPermission)) && (users === undefined || isListOf(users, isId))
  );
}

function isPermission(word: unknown): boolean {
  return PERMISSIONS.some((one) => one === word);
}

function isListOf(list: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne);
}

function demandFunction(option: string, value: unknown): void {
  if (typeof value !== 'function') throw new InvalidOptionError(option, 'a function', value);
}

function isKeys(word: string): boolean {
  return /^[^.\s]+(\.[^.\s]+)*$/.test(word);
}

function isOrigin(word: string): boolean {
  return /^(https?:\/\/[\w.:[\]*-]+|'self')$/.test(word);
}

function hostsOption(value: unknown): ReadonlySet<string> {
  const isHost = (word: string): boolean => readHost(word) !== undefined;
  const words = textsOption('hosts', value, isHost, 'hosts, as "queue.example", "localhost:3000"');
  return new Set(words.map((word) => word.toLowerCase()));
}

function textsOption(
  option: string,
  value: unknown,
  isOne: (word: string) => boolean,
  expected: string,
): readonly string[] {
  if (value === undefined) return [];
  const words: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (words === undefined) throw new InvalidOptionError(option, `a list of ${expected}`, value);
  return words.map((word, at) => {
    if (typeof word === 'string' && isOne(word)) return word;
    throw new InvalidOptionError(`${option}[${at}]`, expected, word);
  });
}
