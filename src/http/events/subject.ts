/** What a stream of changes may watch: readings of the table of operations, by short names. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { OperationName } from '../../operations/answers.ts';

/** One thing that is watched. */
export interface Subject {
  /** As it was asked for, as `task:<id>`. */
  readonly name: string;
  /** Of the same thing the same, however it was asked for. */
  readonly key: string;
  /** The operation that reads it. */
  readonly operation: OperationName;
  /** Parts of its path, by name. */
  readonly parts: ReadonlyMap<string, string>;
  /** Parameters of its reading, by name. */
  readonly query: Readonly<Record<string, string>>;
}

/** Things that one stream watches at most: a page shows a handful. */
const SUBJECTS = 32;

/** Which operation reads each kind, and what stands behind its colons: parts of the path, then parameters. */
export const KINDS: Readonly<Record<string, readonly [OperationName, ...string[]]>> = {
  overview: ['overview'],
  users: ['users.list', '?queue'],
  user: ['users.get', 'user', '?queue'],
  queues: ['queues.list'],
  queue: ['queues.get', 'queue'],
  task: ['tasks.get', 'id'],
  log: ['tasks.logs', 'id'],
  explain: ['tasks.explain', 'id'],
  run: ['runs.get', 'id'],
  graph: ['runs.graph', 'id'],
  timeline: ['runs.timeline', 'id'],
  runs: ['runs.list', '?state'],
  tasks: ['tasks.list', '?where'],
  dead: ['dead.list'],
  errors: ['dead.groups'],
  schedules: ['schedules.list'],
  asks: ['asks.list'],
  workers: ['workers.list'],
  bulks: ['bulk.list'],
  bulk: ['bulk.get', 'id'],
};

/** What may be watched, for people. */
const SUBJECT_WORDS: string = Object.entries(KINDS)
  .map(([kind, [, ...rest]]) => [kind, ...rest.map((one) => `<${one.replace('?', '')}>`)].join(':'))
  .join(', ');

/** How it is written; part of what is said about a mistake. */
const HOW = 'commas and colons inside of them percent-encoded';

/** Parts that take all that is left, colons too. */
const WHOLE: ReadonlySet<string> = new Set(['?where']);

/**
 * Reads the `watch` of an address: `overview,users:default,task:<id>`, in which what stands between commas and colons
 * is percent-encoded. The list may be encoded once more as a whole, as `URLSearchParams` does; then it has no comma
 * and no colon of its own.
 *
 * @throws {@link InvalidOptionError} for what cannot be watched.
 */
export function subjectsIn(url: string): readonly Subject[] {
  const [watch = ''] = [...new URL(url).search.matchAll(/[?&]watch=([^&]*)/g)].map(
    ([, text = '']) => text.replaceAll('+', ' '),
  );
  const list = /[,:]/.test(watch) ? watch : decoded(watch);
  const names = [...new Set(list.split(',').filter((name) => name !== ''))];
  if (names.length === 0 || names.length > SUBJECTS) {
    throw new InvalidOptionError('watch', `1 to ${SUBJECTS} of ${SUBJECT_WORDS}, ${HOW}`, list);
  }
  return names.map(subjectOf);
}

function subjectOf(name: string): Subject {
  const [kind = '', ...texts] = name.split(':');
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (known === undefined) throw refused(name);
  const [operation, ...places] = known;
  const isWhole = WHOLE.has(places.at(-1) ?? '') && texts.length > places.length;
  const said = isWhole
    ? [...texts.slice(0, places.length - 1), texts.slice(places.length - 1).join(':')]
    : texts;
  const given = said.map(decoded);
  const needed = places.filter((place) => !place.startsWith('?')).length;
  if (given.length < needed || given.length > places.length || given.includes('')) {
    throw refused(name);
  }
  const values = given.map((value, at): readonly [string, string] => [places[at] ?? '', value]);
  return {
    name,
    key: JSON.stringify([operation, ...given]),
    operation,
    parts: new Map(values.filter(([place]) => !place.startsWith('?'))),
    query: Object.fromEntries(
      values.flatMap(([place, value]) => (place.startsWith('?') ? [[place.slice(1), value]] : [])),
    ),
  };
}

function refused(name: string): InvalidOptionError {
  return new InvalidOptionError('watch', `one of ${SUBJECT_WORDS}, ${HOW}`, name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidOptionError('watch', 'texts that are percent-encoded', text);
  }
}
