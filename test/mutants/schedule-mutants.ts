/** Mutants of schedules: when they fire, and what a firing comes to on both backends. */
import type { Mutant } from './mutants.ts';

const PURE = 'src/schedule';
const MEMORY = 'src/backends/memory';
const LUA = 'src/backends/redis/lua';

const IN_TIME: readonly Mutant[] = [
  {
    name: 'schedules: a time in a gap fires at the hour that clocks skip',
    file: `${PURE}/zone.ts`,
    find: `  return { kind: 'gap', end: change };`,
    replace: `  return { kind: 'gap', end: wall - before };`,
  },
  {
    name: 'schedules: a time that is shown twice fires twice',
    file: `${PURE}/cron-times.ts`,
    find: `      const fires = found.kind === 'gap' ? found.end : found.at;`,
    replace: `      const fires = found.kind === 'gap' ? found.end : found.kind === 'overlap' ? found.again : found.at;`,
  },
  {
    name: 'schedules: an interval does not look at changes of clocks',
    file: `${PURE}/cron-times.ts`,
    find: `      if (change !== undefined) {`,
    replace: `      if (change === 0) {`,
  },
  {
    name: 'schedules: a range is taken for fixed times',
    file: `${PURE}/cron-pattern.ts`,
    find: '/[*?/-]/',
    replace: '/[*?/]/',
  },
  {
    name: 'schedules: every counts from when it is asked',
    file: `${PURE}/every-times.ts`,
    find: `    return this.#anchor + (Math.floor((at - this.#anchor) / this.#everyMs) + 1) * this.#everyMs;`,
    replace: `    return at + this.#everyMs;`,
  },
  {
    name: 'schedules: what was missed is fired like the rest',
    file: `${PURE}/catch-up.ts`,
    find: `LIMITS.missedAfterMs) return each(`,
    replace: `Number.MAX_VALUE) return each(`,
  },
  {
    name: 'schedules: the cap of missed slots is not kept',
    file: `${PURE}/catch-up.ts`,
    find: `  let from = slot;\n  for (;;) {`,
    replace: `  let from = slot;\n  if (cap > 0) return slot;\n  for (;;) {`,
  },
];

const IN_MEMORY: readonly Mutant[] = [
  {
    name: 'schedules: a slot is fired again',
    file: `${MEMORY}/fire.ts`,
    find: `    entry.next?.slot !== request.slot ||\n`,
    replace: '',
  },
  {
    name: 'schedules: an older scheduler fires on',
    file: `${MEMORY}/fire.ts`,
    find: `  if (request.fence < store.scheduler.fence) return { kind: 'superseded' };\n`,
    replace: '',
  },
  {
    name: 'schedules: two wait for the end of one',
    file: `${MEMORY}/fire.ts`,
    find: `active.length > 1)`,
    replace: `active.length > 2)`,
  },
  {
    name: 'schedules: the new task does not wait for the old one',
    file: `${MEMORY}/fire.ts`,
    find: `overlap === 'allow' ? [] : active.filter(`,
    replace: `overlap !== 'queue-one' ? [] : active.filter(`,
  },
  {
    name: 'schedules: a refused slot does not count as missed',
    file: `${MEMORY}/fire.ts`,
    find: `  if (outcome.kind === 'refused') entry.missed++;\n`,
    replace: '',
  },
  {
    name: 'schedules: an earlier slot does not free the lock',
    file: `${MEMORY}/schedule-places.ts`,
    find: `store.scheduler.until = 0;`,
    replace: `store.scheduler.until += 0;`,
  },
  {
    name: 'schedules: idle workers spin while a slot is not fired',
    file: `${MEMORY}/schedule-places.ts`,
    find: `  return store.now + LIMITS.scheduleRetryMs;`,
    replace: `  return dueAt;`,
  },
  {
    name: 'schedules: nobody takes over a slot that is overdue',
    file: `${MEMORY}/schedules.ts`,
    find: `first > now - LIMITS.scheduleOverdueMs`,
    replace: `first > 0`,
  },
  {
    name: 'schedules: a stale change is written',
    file: `${MEMORY}/schedules.ts`,
    find: `(known?.change.revision ?? 0) !== change.revision`,
    replace: `(known?.change.revision ?? 0) > change.revision + 1`,
  },
];

const IN_LUA: readonly Mutant[] = [
  {
    name: 'Lua: schedules: a slot is fired again',
    file: `${LUA}/schedule-fire.lua`,
    find: `not s or s.slot ~= slot or `,
    replace: `not s or `,
  },
  {
    name: 'Lua: schedules: an older scheduler fires on',
    file: `${LUA}/schedule-fire.lua`,
    find: `if fence < tonumber(`,
    replace: `if fence < -1 * tonumber(`,
  },
  {
    name: 'Lua: schedules: two wait for the end of one',
    file: `${LUA}/lib/fire.lua`,
    find: `#active > 1)`,
    replace: `#active > 2)`,
  },
  {
    name: 'Lua: schedules: the new task does not wait for the old one',
    file: `${LUA}/lib/fire.lua`,
    find: `if s.overlap ~= 'allow' then behind`,
    replace: `if s.overlap == 'queue-one' then behind`,
  },
  {
    name: 'Lua: schedules: a refused slot does not count as missed',
    file: `${LUA}/lib/fire.lua`,
    find: `  s.missed = s.missed + 1\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: an earlier slot does not free the lock',
    file: `${LUA}/schedule-set.lua`,
    find: `  redis.call('HSET', K.schedulerLock(), 'until', 0)\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: idle workers spin while a slot is not fired',
    file: `${LUA}/lib/due.lua`,
    find: `due <= now and now + LIMIT.scheduleRetryMs or due`,
    replace: `due`,
  },
  {
    name: 'Lua: schedules: nobody takes over a slot that is overdue',
    file: `${LUA}/schedule-due.lua`,
    find: `head > now - LIMIT.scheduleOverdueMs`,
    replace: `head > 0`,
  },
  {
    name: 'Lua: schedules: a stale change is written',
    file: `${LUA}/schedule-set.lua`,
    find: `if (s and s.revision or 0) ~= revision or isLate`,
    replace: `if (s and s.revision or 0) > revision + 1 or isLate`,
  },
  {
    name: 'Lua: schedules: the short path does not see that one is due',
    file: `${LUA}/lib/plain/quiet.lua`,
    find: `clock[CLOCK_SCHEDULES] > now and `,
    replace: '',
  },
];

export const SCHEDULE_MUTANTS: readonly Mutant[] = [...IN_TIME, ...IN_MEMORY, ...IN_LUA];
