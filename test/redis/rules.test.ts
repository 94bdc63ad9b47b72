/**
 * The rules of src/domain/fairness/, as production runs them on Redis, agree with the domain bit for bit.
 * The server runs the functions of the library over random inputs; what they answer is compared byte by byte.
 */
import { describe, expect, inject, it } from 'vitest';
import {
  afterTurn,
  chooseHead,
  correction,
  costLeft,
  enterTag,
  exactStep,
  expectedRun,
  finishOf,
  keptTag,
  learned,
  raisedTag,
  recountedTag,
  rescaledTag,
  scaleOf,
  seated,
  sharedClass,
  sharedStep,
  startOf,
  turn,
} from '../../src/domain/fairness/fair-share.ts';
import { began, emptied, nextLevel, served } from '../../src/domain/fairness/priority-shares.ts';
import {
  afterGiveBack,
  afterStart,
  afterStarts,
  allowedAt,
} from '../../src/domain/fairness/rate-limit.ts';
import type { Level } from '../../src/domain/task/task.ts';
import { read } from '../support/files.ts';
import { adminOf } from './faults/kit.ts';

const SEED = 20_261_129;
const BATCH = 5_000;
const LIBRARY = read('src/backends/redis/lua/expanded/library.lua');

type Kind = Exclude<keyof Numbers, 'roll' | 'whole'>;

/** A rule: how many numbers it takes, what it answers, and the same in Lua, over `a[1]`, `a[2]`, … */
interface Rule {
  readonly inputs: readonly Kind[];
  readonly inTypeScript: (a: readonly number[]) => readonly number[];
  readonly inLua: string;
}

/** Numbers as rules meet them; whole and broken ones, and those next to an edge. */
class Numbers {
  #state = SEED;

  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  whole(below: number): number {
    return Math.floor(this.roll() * below);
  }

  weight(): number {
    return this.roll() < 0.3 ? 100 : 1 + this.whole(100_000);
  }

  virtual(): number {
    const kind = this.whole(4);
    if (kind === 0) return this.whole(1_000);
    return this.roll() * 10 ** this.whole(8);
  }

  tag(): number {
    const kind = this.whole(5);
    if (kind === 0) return 0;
    if (kind === 1) return this.whole(4_096);
    // Seats of many turns, and what no seat is.
    return kind === 2
      ? 1_024 * this.whole(2 ** 40) + this.whole(2)
      : this.roll() * 2 ** this.whole(54);
  }

  last(): number {
    return this.roll() < 0.2 ? -1 : this.tag();
  }

  cost(): number {
    return this.roll() < 0.3 ? 1 : this.roll() * 10 ** (this.whole(12) - 5);
  }

  moment(): number {
    return 1_780_000_000_000 + this.whole(1_000_000);
  }

  arrival(): number {
    return 1_780_000_000_000 + this.roll() * 2_000_000 - 500_000;
  }

  limit(): number {
    return 1 + this.whole(1_000);
  }

  perMs(): number {
    return 1 + this.whole(3_600_000);
  }

  burst(): number {
    return 1 + this.whole(50);
  }

  power(): number {
    return this.whole(24) - 12;
  }

  level(): number {
    return 1 + this.whole(6);
  }

  count(): number {
    return this.roll() < 0.4 ? 0 : 1 + this.whole(3);
  }

  share(): number {
    return this.roll() < 0.3 ? 0 : this.whole(64) / (1 + this.whole(16));
  }
}

const RATE = ['limit', 'perMs', 'burst'] as const;

function rateOf([limit = 0, perMs = 0, burst = 0]: readonly number[]): {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
} {
  return { limit, perMs, burst };
}

const LUA_RATE = '{ limit = a[1], perMs = a[2], burst = a[3] }';

/** A function of numbers, under the same name in both. */
function same(
  name: string,
  inputs: readonly Kind[],
  rule: (...a: number[]) => number,
): readonly [string, Rule] {
  const list = inputs.map((_, at) => `a[${at + 1}]`).join(', ');
  return [
    name,
    { inputs, inTypeScript: (a) => [rule(...a)], inLua: `return Tag.${name}(${list})` },
  ];
}

/** Classes in the order in which ties of several go: 'p' before 'o' before 'a', own weights before shared ones. */
const CLASSES = ['pw', 'ps', 'ow', 'os', 'aw', 'as'];

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  same('scaleOf', ['weight'], scaleOf),
  same('startOf', ['tag', 'weight'], startOf),
  same('exactStep', ['weight'], exactStep),
  same('finishOf', ['tag', 'weight'], finishOf),
  same('turn', ['cost'], turn),
  same('seated', ['tag', 'tag'], seated),
  same('raisedTag', ['tag', 'tag'], raisedTag),
  same('keptTag', ['tag', 'weight', 'virtual'], keptTag),
  same('rescaledTag', ['tag', 'virtual', 'weight', 'weight'], rescaledTag),
  same('expectedRun', ['cost', 'cost'], expectedRun),
  same('learned', ['cost', 'cost'], learned),
  same('recountedTag', ['tag', 'virtual', 'weight'], recountedTag),
  same('sharedClass', ['weight'], sharedClass),
  same('sharedStep', ['power'], sharedStep),
  [
    'enterTag',
    {
      inputs: ['tag', 'virtual', 'weight', 'last'],
      inTypeScript: ([kept = 0, v = 0, weight = 0, last = 0]) => {
        const entry = enterTag(kept, v, weight, last);
        return [entry.tag, entry.last];
      },
      inLua: 'return Tag.enterTag(a[1], a[2], a[3], a[4])',
    },
  ],
  [
    'correction',
    {
      inputs: ['cost', 'cost'],
      inTypeScript: ([chargedS = 0, actualS = 0]) => [correction(chargedS, actualS)],
      inLua: 'return Tag.correction(a[1], a[2])',
    },
  ],
  [
    'costLeft',
    {
      inputs: ['cost', 'virtual', 'virtual', 'weight'],
      inTypeScript: ([cost = 0, v = 0, start = 0, weights = 0]) => [
        costLeft(cost, v, start, weights),
      ],
      inLua: 'return Turn.costLeft(a[1], a[2], a[3], a[4])',
    },
  ],
  [
    'afterTurn',
    {
      inputs: ['virtual', 'cost', 'weight'],
      inTypeScript: ([v = 0, cost = 0, weights = 0]) => [afterTurn(v, cost, weights)],
      inLua: 'return Turn.afterTurn(a[1], a[2], a[3])',
    },
  ],
  [
    'rates',
    {
      inputs: [...RATE, 'arrival', 'moment', 'level'],
      inTypeScript: (a) => {
        const [tat = 0, now = 0, starts = 0] = a.slice(3);
        const rate = rateOf(a);
        return [
          allowedAt(rate, tat),
          afterStart(rate, tat, now),
          afterStarts(rate, tat, now, starts),
          afterGiveBack(rate, tat),
        ];
      },
      inLua: `local rate = ${LUA_RATE}
        return Rate.allowedAt(rate, a[4]), Rate.afterStart(rate, a[4], a[5]),
          Rate.afterStarts(rate, a[4], a[5], a[6]), Rate.afterGiveBack(rate, a[4])`,
    },
  ],
  ['heads', headRule()],
  ['levels', levelRule()],
]);

function headRule(): Rule {
  return {
    inputs: ['virtual', ...CLASSES.flatMap((): readonly Kind[] => ['virtual', 'weight'])],
    inTypeScript: ([v = 0, ...rest]) => {
      // Many tie, and many stand about where a user may be ahead of V.
      const heads = CLASSES.map((_, at) => {
        const [start = 0, weight = 0] = rest.slice(2 * at);
        return {
          start: (Math.floor(start) % 3) + (weight % 4) / 1_024,
          step: exactStep((weight % 7) + 1),
        };
      });
      const found = chooseHead(heads, Math.floor(v) % 3);
      return [(found?.index ?? -2) + 1, found?.v ?? -1];
    },
    inLua: `local fronts, classes = {}, { ${CLASSES.map((name) => `'${name}'`).join(', ')} }
      for i = 6, 1, -1 do
        fronts[7 - i] = { class = classes[i], at = i, step = 100 / (a[2 * i + 1] % 7 + 1),
          start = math.floor(a[2 * i]) % 3 + (a[2 * i + 1] % 4) / 1024 }
      end
      local best, v = Choose.best(fronts, 6, math.floor(a[1]) % 3)
      return best.at, v`,
  };
}

/** One turn of a user: which level, and what its shares are then; then one level is emptied, and another begins. */
function levelRule(): Rule {
  const five = (name: Kind): readonly Kind[] => Array.from({ length: 5 }, () => name);
  return {
    inputs: [
      'count',
      ...five('share'),
      ...five('count'),
      'count',
      ...five('level'),
      'count',
      'level',
    ],
    inTypeScript: (a) => {
      const shares = { criticalRun: a[0] ?? 0, waited: a.slice(1, 6) };
      const [counts, weights] = [a.slice(6, 12), a.slice(12, 17)];
      const level = nextLevel(shares, counts, weights, a[17] === 0 ? undefined : a[17]);
      if (level !== 0) served(shares, level, counts, weights);
      emptied(shares, a[18] as Level);
      const before = shares.criticalRun;
      began(shares);
      return [level, before, shares.criticalRun, ...shares.waited];
    },
    inLua: `local five = function(from) return { a[from], a[from + 1], a[from + 2], a[from + 3], a[from + 4] } end
      local cnt = five(7)
      cnt[6] = a[12]
      local shares = { crit = a[1], waited = five(2) }
      local u = { cnt = cnt, shares = shares,
        queue = { config = { priorityWeights = five(13), criticalBurst = a[18] > 0 and a[18] or nil } } }
      local level = F.nextLevel(u)
      if level > 0 then F.served(u, level) end
      F.emptied(u, a[19])
      local before = shares.crit
      F.began(u)
      return level, before, shares.crit, unpack(shares.waited)`,
  };
}

/** Reads numbers and packs what the rule answers, of many at once. */
function scriptOf({ inputs, inLua }: Rule): string {
  const asked = `F.sharesOf = function(u) return u.shares end
local function rule(a)
${inLua}
end
local format, told = '<' .. string.rep('d', ${inputs.length}), {}
for at = 1, #given, ${8 * inputs.length} do
  local found = { rule({ struct.unpack(format, given, at) }) }
  told[#told + 1] = struct.pack('<' .. string.rep('d', #found), unpack(found))
end
return table.concat(told)`;
  return `local given = ARGV[1]\n${LIBRARY.replace(/return run\s*$/, () => asked)}`;
}

function bytesOf(numbers: readonly number[]): Buffer {
  return Buffer.from(Float64Array.from(numbers).buffer);
}

/** What the server answers to so many random inputs, beside what the domain does: the first that differ. */
async function differences(
  rule: Rule,
  count: number,
  numbers: Numbers,
): Promise<readonly string[]> {
  const admin = adminOf(inject('redisUrl'));
  const script = scriptOf(rule);
  for (let done = 0; done < count; done += BATCH) {
    const inputs = Array.from({ length: BATCH }, () => rule.inputs.map((name) => numbers[name]()));
    const told = await admin.callBuffer('EVAL', script, 0, bytesOf(inputs.flat()));
    if (!Buffer.isBuffer(told)) throw new TypeError('a script answered no text');
    const expected = inputs.map((a) => rule.inTypeScript(a));
    if (told.equals(bytesOf(expected.flat()))) continue;
    const found = [
      ...new Float64Array(told.buffer.slice(told.byteOffset, told.byteOffset + told.length)),
    ];
    const size = expected[0]?.length ?? 1;
    return inputs
      .flatMap((a, at) => {
        const here = found.slice(at * size, (at + 1) * size);
        const wanted = expected[at] ?? [];
        return bytesOf(here).equals(bytesOf(wanted)) ? [] : [`${a}: ${here}, and ${wanted}`];
      })
      .slice(0, 3);
  }
  return [];
}

describe('a million random inputs', () => {
  const numbers = new Numbers();
  const each = Math.ceil(1_000_000 / RULES.size / BATCH) * BATCH;

  it.each([...RULES])('%s is the same on Redis, bit for bit', async (_, rule) => {
    expect(await differences(rule, each, numbers)).toEqual([]);
  });
});
