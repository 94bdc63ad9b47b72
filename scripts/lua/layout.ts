/** The parts of src/backends/redis/layout/ for the scripts: constants, names of fields, and functions that name keys. */

import { FLAGS, NOT_ENDED, PLACES, STATE_CODES } from '../../src/backends/redis/layout/codes.ts';
import { type Fields, HASH_FIELDS, PACKED_NAMES } from '../../src/backends/redis/layout/fields.ts';
import {
  KEYS,
  partsOfName,
  USUAL_LEVEL,
  USUAL_QUEUE,
} from '../../src/backends/redis/layout/keys.ts';
import {
  formatOf,
  offsetsOf,
  PACKED,
  TEXT_OFFSETS,
  TEXT_WIDTHS,
  ZERO_BYTE,
} from '../../src/backends/redis/layout/packed.ts';
import { SLACK, TURN, USUAL_WEIGHT } from '../../src/domain/fairness/fair-share.ts';
import { LIMITS, PRIORITY_WEIGHTS } from '../../src/domain/limits.ts';
import { STEP_BOUNDS } from '../../src/domain/step-bounds.ts';
import { CHANNEL_NUMBER_BYTES } from '../../src/domain/task/channel.ts';
import { MOVES } from '../../src/domain/task/transition.ts';
import type { LuaNames } from './names.ts';

/** `STATE.codes` and the like: paths of src/backends/redis/layout/, and their values as Lua. */
export function luaNames(): LuaNames {
  const constants = new Map<string, string>();
  const put = (root: string, values: Readonly<Record<string, string | number>>): void => {
    for (const [name, value] of Object.entries(values)) {
      constants.set(`${root}.${name}`, typeof value === 'number' ? String(value) : `'${value}'`);
    }
  };
  put('LIMIT', { ...LIMITS, channelNumberBytes: CHANNEL_NUMBER_BYTES });
  for (const [name, { value }] of Object.entries(STEP_BOUNDS)) put('LIMIT', { [name]: value });
  constants.set('LIMIT.priorityWeights', `{ ${PRIORITY_WEIGHTS.join(', ')} }`);
  put('CODE', { ...STATE_CODES, notEnded: NOT_ENDED });
  put('PLACE', PLACES);
  for (const [of, flags] of Object.entries(FLAGS)) {
    put(`FLAG.${of}`, flags);
    put('FLAG', { [`${of}.all`]: 2 * Math.max(...Object.values(flags)) });
  }
  for (const [of, record] of Object.entries(PACKED)) {
    put('FORMAT', { [of]: formatOf(record) });
    put(`AT.${of}`, offsetsOf(record));
    put(`END.${of}`, endsOf(offsetsOf(record)));
    put('SIZE', { [of]: (offsetsOf(record)['rest'] ?? 1) - 1 });
  }
  put('AT.text', TEXT_OFFSETS);
  put('END.text', endsOf(TEXT_OFFSETS));
  put('WIDTH', TEXT_WIDTHS);
  put('BYTE', {
    zero: ZERO_BYTE,
    facts: ZERO_BYTE + FLAGS.kind.facts,
    place: ZERO_BYTE + FLAGS.kind.place,
  });
  put('GRAINS', { turn: TURN, slack: SLACK });
  put('USUAL', {
    level: USUAL_LEVEL,
    weight: USUAL_WEIGHT,
    kind: `w${USUAL_WEIGHT}`,
    class: `pw${USUAL_WEIGHT}`,
  });
  for (const [family, fields] of Object.entries<Fields>(HASH_FIELDS)) {
    put(`FIELD.${family}`, shortNames(fields));
  }
  put('DIGIT', { finished: String(STATE_CODES.finished) });
  put('MEMBERS', shortsOf());
  constants.set('TABLE.states', `{ ${Object.keys(STATE_CODES).map(quoted).join(', ')} }`);
  constants.set('TABLE.codes', tableOf(STATE_CODES));
  const { line: _inLine, ...places } = PLACES;
  constants.set('TABLE.places', tableOf(places));
  for (const [family, { name }] of Object.entries(KEYS)) put('FAMILY', { [family]: beginOf(name) });
  for (const [type, families] of familiesByType()) {
    constants.set(`TABLE.${type.toLowerCase()}s`, quoted(families.join(' ')));
  }
  return { constants, members: memberNames() };
}

/** Where each field ends. */
function endsOf(offsets: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const begins = Object.values(offsets);
  return Object.fromEntries(
    Object.keys(offsets)
      .slice(0, -1)
      .map((name, at) => [name, (begins[at + 1] ?? 1) - 1]),
  );
}

/** Short names, separated by blanks, that lua/lib/damage/guard.lua treats alike. */
function shortsOf(): Readonly<Record<string, string>> {
  const { optional } = PACKED_NAMES;
  const { schedule } = HASH_FIELDS;
  const text = (fields: readonly (readonly [string, string])[]): string =>
    fields.map(([short]) => short).join(' ');
  return {
    moments: text([
      optional.startUntil,
      optional.waitUntil,
      optional.wakeDue,
      optional.leastDeadline,
      optional.startWithin,
      optional.keyHoldsUntil,
      optional.keyWindowFrom,
      optional.pausedSince,
    ]),
    texts: text([
      optional.keyName,
      optional.payloadDigest,
      optional.batchId,
      optional.ownerRun,
      optional.graphHash,
      optional.awaitKind,
      optional.awaitName,
      optional.awaitEntry,
      optional.pauseReason,
      optional.pausedBy,
      optional.asideFor,
      optional.decidesAfter,
    ]),
    scheduleNumbers: text([
      schedule.revision,
      schedule.limit,
      schedule.due,
      schedule.created,
      schedule.changed,
      schedule.fired,
      schedule.missed,
      schedule.overlapped,
      schedule.settled,
    ]),
  };
}

function memberNames(): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const fields of Object.values<Fields>(PACKED_NAMES)) {
    for (const [name, short] of Object.entries(shortNames(fields))) {
      if (members.has(name)) throw new Error(`two packed values have the name ${name}`);
      members.set(name, short);
    }
  }
  return members;
}

function shortNames(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([name, [short]]) => [name, short]));
}

/**
 * A file of the library: a function of one expression for each family of keys, and for each
 * event in the life of a task.
 */
export function luaKeys(): string {
  const families = Object.entries(KEYS).map(([family, { name }]) => keyFunction(family, name));
  return [
    'local K, May = {}, {}',
    'function K.queue(queue)',
    `  return queue == '${USUAL_QUEUE}' and prefix or prefix .. 'queue:' .. queue .. ':'`,
    'end',
    "function K.pair(first, second) return #first .. ':' .. first .. second end",
    `function K.levelPart(level) return level == ${USUAL_LEVEL} and '' or level end`,
    ...families,
    ...questions(),
    // An index of the whole namespace: by state, or by its own name.
    "function K.index(name) return CODES[name] and prefix .. 'state:' .. name or prefix .. name end",
    '',
  ].join('\n');
}

/** Whether an event may take a task from a state: `May.redriven(state)`. */
function questions(): readonly string[] {
  return Object.entries(MOVES).map(([event, { from }]) => {
    const states = from.map((state) => `state == ${quoted(state)}`);
    return `function May.${event}(state) return ${states.join(' or ')} end`;
  });
}

function keyFunction(family: string, name: string): string {
  const { start, parts } = partsOfName(name);
  const free = parts.flatMap((part) => (typeof part === 'string' ? [] : part));
  const pieces = parts.map((part) => {
    if (typeof part === 'string') return quoted(part);
    return part.length === 1 ? part[0] : `K.pair(${part.join(', ')})`;
  });
  const parameters = start === 'queue' ? ['queue', ...free] : free;
  const from = start === 'queue' ? 'queue' : 'prefix';
  return `function K.${family}(${parameters.join(', ')}) return ${[from, ...pieces].join(' .. ')} end`;
}

/** Prefixes of key names, up to a colon, by the type of the keys; for lua/lib/damage/guard.lua. */
function familiesByType(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { type, name } of Object.values(KEYS)) {
    const { parts } = partsOfName(name);
    const [first = ''] = parts;
    const words = typeof first === 'string' ? wordsOf(first, parts[1]) : [];
    found.set(type, new Set([...(found.get(type) ?? []), ...words]));
  }
  const all = [...found.values()].flatMap((words) => [...words]);
  // Keys of several types, or of any type, begin with this.
  const unclear = new Set(all.filter((word, at) => all.indexOf(word) !== at));
  return new Map(
    [...found].map(([type, words]) => [type, [...words].filter((word) => !unclear.has(word))]),
  );
}

/** A name without its prefix, or its part before the first colon that a parameter follows. */
function beginOf(name: string): string {
  const [, , begin = ''] = name.split(/[{}]/);
  return begin.replace(/:$/, '');
}

/** The first word of a name; of lines with each level. */
function wordsOf(first: string, next: unknown): readonly string[] {
  const [word = ''] = first.split(':');
  if (first !== word || !Array.isArray(next) || next[0] !== 'level') return [word];
  return ['', 1, 2, 4, 5, 6].map((level) => `${word}${level}`);
}

function tableOf(values: Readonly<Record<string, number>>): string {
  return `{ ${Object.entries(values)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')} }`;
}

function quoted(text: string): string {
  return `'${text}'`;
}
