/** Mutants of what is done about records that cannot be read, and of indexes that are made anew. */
import type { Mutant } from '../mutants.ts';

const REDIS = 'src/backends/redis';

/** Name, what is found, and what stands there instead. */
type Row = readonly [name: string, find: string, replace: string];

const GUARD: readonly Row[] = [
  [
    'a text is read whatever stands in it',
    `    if not Readable.isText(f) then return 'its text cannot be read' end\n`,
    ``,
  ],
  [
    'a task whose facts are lost is read',
    `    if kind >= FLAG.kind.facts and not facts then return 'its facts are lost' end\n`,
    ``,
  ],
  [
    'a lease that cannot be read is none',
    `      if not look then real.call('HSET', key, field, over) end\n      return over\n`,
    `      if not look then real.call('HDEL', key, field) end\n      return false\n`,
  ],
  [
    'a key of a wrong type stays where it is',
    `      real.call('RENAME', key, base .. FAMILY.setAside .. ':' .. name)\n`,
    ``,
  ],
  [
    'who only looks sets aside',
    `function F.guardOf(real, look)`,
    `function F.guardOf(real, _)\n  local look = false`,
  ],
  [
    'stamps begin anew with a clock that is lost',
    `      64000 * seconds, 1, waiting`,
    `      0 * seconds, 1, waiting`,
  ],
  [
    'a clock that is lost knows of no leases',
    `0, headOf(FAMILY.leases), firstOf`,
    `0, math.huge, firstOf`,
  ],
  [
    'what a user was counted as is believed in part',
    `        if not look then real.call('DEL', key) end\n        return nothing(#fields)\n`,
    ``,
  ],
];

const REBUILD: readonly Row[] = [
  [
    'leases that nobody looks after stay so',
    `  if Rebuild.missesIn(K.leases(), worker, 0, repair) then`,
    `  if Rebuild.missesIn(K.leases(), worker, 0, false) then`,
  ],
  [
    'a class that its queue does not know stays so',
    `  if size > 0 and not queue.classes[class] then`,
    `  if false then`,
  ],
  [
    'a user that is in no index counts as indexed',
    `  return u.queued == 0 or u.set.paused or u.throttled or u.running >= u.set.maxRunning`,
    `  return true`,
  ],
  ['who is due is looked for as it was', `    if repair then F.dueChanged(u) end\n`, ``],
  [
    'a value that is in no index stays for ever',
    `    if repair then F.move('xcom-ends', place, now) end\n`,
    ``,
  ],
];

const EDGES: readonly Row[] = [
  [
    'a key that is given back holds as if it had no time',
    `    key.holdsUntil, key.windowFrom = x.keyHoldsUntil, x.keyWindowFrom\n`,
    ``,
  ],
  ['who waits for nothing waits on', `  if repair then F.unblock(t, u) end\n`, ``],
  [
    'who waits for one that does not know waits on',
    `  if repair then Deps.blockBy(t, upstream) end\n`,
    ``,
  ],
  [
    'a deadline that is in no index is none',
    `    if repair then F.move('deadlines', F.member(t), t.optional.leastDeadline) end\n`,
    ``,
  ],
];

export const DAMAGE_MUTANTS: readonly Mutant[] = [
  ...of('lua/lib/damage/guard.lua', GUARD),
  ...of('lua/lib/damage/rebuild.lua', REBUILD),
  ...of('lua/lib/damage/rebuild-edges.lua', EDGES),
  ...of('lua/lib/steps/lease-step.lua', [
    [
      'leases of a call that broke off stay with a worker that does not know',
      `    if given then Lease.again(given, batch) end\n`,
      ``,
    ],
  ]),
  ...of('lua/lib/steps/dispatch.lua', [
    [
      'a text that cannot be read costs others their places',
      `      if not c or string.sub(text,`,
      `      if string.sub(text,`,
    ],
  ]),
  ...of('connection/repair.ts', [
    ['what was left half done stays so', `      if (!onlyReads(verb)) void this.#all();\n`, ``],
    [
      'all is looked at again and again in vain',
      `        this.#vainAt = monotonicMs();\n        throw third;`,
      `        throw third;`,
    ],
  ]),
];

function of(file: string, rows: readonly Row[]): readonly Mutant[] {
  return rows.map(([name, find, replace]) => ({
    name: `damage: ${name}`,
    file: `${REDIS}/${file}`,
    find,
    replace,
  }));
}
