/**
 * No two things share a key. The names come from what scripts are given to make them, evaluated by the
 * server, for every family of src/backends/redis/layout/; what `keys.ts` makes must be the same.
 */
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { luaKeys, luaNames } from '../../scripts/lua/layout.ts';
import { KEYS as LAYOUT, partsOfName } from '../../src/backends/redis/layout/keys.ts';
import { checkPrefix, keysOf } from '../../src/backends/redis/wire/keys.ts';
import { isId, isName } from '../../src/domain/fairness/names.ts';
import { TASK_STATES } from '../../src/domain/task/task.ts';

const PREFIX = 'fq';
const SEED = 20_261_128;
const TUPLES = 150_000;

/** Calls of one script: arguments of one command. */
const BATCH = 2_000;

const SOURCE = luaKeys();

/** Every fixed part of a key, and its tails: of `list-names:` also `-names:` and `names:`. */
const FIXED = [...SOURCE.matchAll(/'([a-z:-]+)'/g)].flatMap(([, text = '']) => {
  const tails = [...text.matchAll(/[:-](?=.)/g)].flatMap(({ index }) => {
    return [text.slice(index), text.slice(index + 1)];
  });
  return [text, ...tails];
});

/** Free text that looks like parts of keys, so that a missing separator shows. */
const PIECES = [
  ...new Set([
    ...[':', '::', '{', '}', '{x}', '0', '1', '2', '3', '10', 'a', 'b', 'é', '😀', ' ', '\n', '%'],
    ...['~', 'queue:a:', '__proto__', ...FIXED],
  ]),
];

/** Names that look like families. */
const NAME_PIECES = [
  'default',
  'queue',
  'user',
  'queue',
  'key',
  'list',
  'a',
  'b',
  '1',
  '2',
  '.',
  '-',
];

/** One key: what it is for, and for whom. */
interface Use {
  readonly family: string;
  readonly args: readonly string[];
}

/** The families with the names of their parameters. */
const FAMILIES: ReadonlyMap<string, readonly string[]> = new Map(
  [...SOURCE.matchAll(/^function K\.(\w+)\(([^)]*)\)/gm)]
    .map(([, name = '', parameters = '']): [string, readonly string[]] => {
      return [name, parameters.split(/,\s*/).filter((parameter) => parameter !== '')];
    })
    // Parts of keys, and members of sets.
    // An index has a family of its own, by which it is named here.
    .filter(([name]) => !['queue', 'pair', 'levelPart', 'index'].includes(name)),
);

/** Families of each queue: their first parameter is what begins its keys. */
const OF_QUEUES: ReadonlySet<string> = new Set(
  Object.entries(LAYOUT).flatMap(([family, { name }]) =>
    partsOfName(name).start === 'queue' ? [family] : [],
  ),
);

/** A sequence of numbers in [0, 1) that is the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Maker {
  readonly #roll = seeded(SEED);

  /** Each family once, then any of those that have parameters. */
  uses(count: number): readonly Use[] {
    const open = [...FAMILIES.keys()].filter((family) => FAMILIES.get(family)?.length !== 0);
    const more = Array.from({ length: count - FAMILIES.size }, () => this.#one(open));
    return [...FAMILIES.keys(), ...more].map((family) => ({
      family,
      args: (FAMILIES.get(family) ?? []).map((name) => this.#argument(name)),
    }));
  }

  /** What a parameter of this name may be; a `queue` is told by its queue. */
  #argument(parameter: string): string {
    if (parameter === 'state') return this.#one(TASK_STATES);
    // Level 3, as most tasks have it, is not told.
    if (parameter === 'level') return this.#one(['', '1', '2', '4', '5', '6']);
    if (parameter === 'epoch') return String(Math.floor(this.#roll() * 12));
    if (/^(queue|queueName|worker)$/.test(parameter)) return this.#text(NAME_PIECES, isName);
    return this.#text(PIECES, isId);
  }

  #text(pieces: readonly string[], holds: (text: string) => boolean): string {
    for (;;) {
      const count = 1 + Math.floor(this.#roll() * 4);
      const text = Array.from({ length: count }, () => this.#one(pieces)).join('');
      if (holds(text)) return text;
    }
  }

  #one<T>(list: readonly T[]): T {
    const found = list[Math.floor(this.#roll() * list.length)];
    if (found === undefined) throw new RangeError('nothing to choose from');
    return found;
  }
}

const SCRIPT = `
local prefix = KEYS[1]
local CODES = ${luaNames().constants.get('TABLE.codes')}
${SOURCE}
local names = {}
for i, text in ipairs(ARGV) do
  local call = cjson.decode(text)
  local args = call.args
  if call.queue then args[1] = K.queue(args[1]) end
  names[i] = K[call.family](unpack(args))
end
return names`;

/** The name of each, as the scripts build it. */
async function namesOf(uses: readonly Use[]): Promise<readonly string[]> {
  const admin = new Redis(inject('redisUrl'));
  const names: string[] = [];
  for (let from = 0; from < uses.length; from += BATCH) {
    const calls = uses.slice(from, from + BATCH).map(({ family, args }) => {
      return JSON.stringify({ family, args, queue: OF_QUEUES.has(family) });
    });
    const told: unknown = await admin.eval(SCRIPT, 1, `${PREFIX}:`, ...calls);
    if (Array.isArray(told)) names.push(...told.map(String));
  }
  admin.disconnect();
  return names;
}

/** Pairs of different uses with the same name, the first few. */
function collisions(uses: readonly Use[], names: readonly string[]): readonly string[] {
  const owners = new Map<string, string>();
  const found: string[] = [];
  for (const [at, use] of uses.entries()) {
    const name = names[at] ?? '';
    const owner = JSON.stringify(use);
    const other = owners.get(name);
    if (other !== undefined && other !== owner) found.push(`${name}: ${other} and ${owner}`);
    owners.set(name, owner);
  }
  return found.slice(0, 5);
}

const KEYS = keysOf(PREFIX);

/** What the client calls the same. */
function twinOf({ family, args }: Use): string | undefined {
  const key: unknown = Reflect.get(KEYS, family);
  return typeof key === 'function'
    ? String(key(...args))
    : typeof key === 'string'
      ? key
      : undefined;
}

/** Every text of one to three of these, for what chance would not meet. */
function shortTexts(): readonly string[] {
  const letters = [':', '1', '2', 'a'];
  const two = letters.flatMap((one) => letters.map((other) => one + other));
  return [...letters, ...two, ...two.flatMap((pair) => letters.map((letter) => pair + letter))];
}

describe('names of keys', () => {
  const uses = new Maker().uses(TUPLES);
  let names: readonly string[] = [];

  beforeAll(async () => {
    names = await namesOf(uses);
  });

  it('differ for more than 100,000 uses, within a family and between families', () => {
    expect(names).toHaveLength(TUPLES);
    expect(new Set(names).size).toBeGreaterThan(100_000);
    expect(collisions(uses, names)).toEqual([]);
  });

  it('are the same in TypeScript', () => {
    const other = uses.flatMap((use, at) => {
      const twin = twinOf(use);
      return twin === undefined || twin === names[at] ? [] : [`${twin} and ${names[at]}`];
    });
    expect(other.slice(0, 5)).toEqual([]);
    const twins = new Set(uses.filter((use) => twinOf(use) !== undefined).map((use) => use.family));
    expect([...FAMILIES.keys()].filter((family) => !twins.has(family))).toEqual([]);
  });

  it('differ for all short users and idempotency keys', async () => {
    const texts = shortTexts();
    const all = ['a', '1', 'a.1'].flatMap((queue) =>
      texts.flatMap((user) => texts.map((key) => ({ family: 'key', args: [queue, user, key] }))),
    );
    expect(collisions(all, await namesOf(all))).toEqual([]);
  });

  it('differ for all short users and queues', async () => {
    const families = ['user', 'scheduled', 'idle', 'ready', 'list'];
    const all = families.flatMap((family) =>
      ['default', 'a', '1', 'user'].flatMap((queue) =>
        shortTexts().map((text) => ({ family, args: [queue, text] })),
      ),
    );
    expect(collisions(all, await namesOf(all))).toEqual([]);
  });
});

// F39
describe('a prefix', () => {
  it.each([
    ['app_a:workflows', 'app_a.workflows'],
    ['app:', 'app'],
    [':app', 'app'],
    ['a b', 'a.b'],
    ['{app:x}', '{app.x}'],
    ['müller', 'm.ller'],
  ])('%s is refused, and %s is the near one', (prefix, near) => {
    expect(() => checkPrefix(prefix)).toThrow(
      `(":" parts the prefix from the rest of a key), as "${near}", got`,
    );
    expect(() => checkPrefix(near)).not.toThrow();
  });

  it('shares no key with another, with any ids and users', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,6}$/);
    const prefix = fc.oneof(
      name,
      name.map((text) => `{${text}}`),
      fc.constantFrom('task', 'fq', 'fq.task', 'fq-task', '{fq}', '{fq.task}'),
    );
    const id = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), prefix);
    const free = fc.array(fc.oneof(id, fc.constantFrom(':', 'task:', '{', '}')), { minLength: 1 });
    const some = free.map((parts) => parts.join(''));
    const keys = (base: string, text: string): readonly string[] => {
      const made = keysOf(base);
      const { clock, meta } = made;
      return [clock, meta, made.tasks, made.run(text), made.channel(text), made.wake(text)];
    };
    fc.assert(
      fc.property(prefix, prefix, some, some, (one, other, text, another) => {
        for (const valid of [one, other]) checkPrefix(valid);
        if (one === other) return;
        const first = new Set(keys(one, text));
        expect(keys(other, another).filter((key) => first.has(key))).toEqual([]);
        // Nor can any key that scripts make: each begins with the base of its own prefix.
        expect(keysOf(one).base.startsWith(keysOf(other).base)).toBe(false);
      }),
    );
  });
});
