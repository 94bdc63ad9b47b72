/** Mutants of schedules: when they fire, what a firing comes to on both backends, and who fires. */
import type { Mutant } from '../mutants.ts';

const IN_TIME: readonly Mutant[] = [
  {
    name: 'schedules: a time in a gap fires at the hour that clocks skip',
    file: 'src/schedules/timing/zone.ts',
    find: `  return { kind: 'gap', end: change };`,
    replace: `  return { kind: 'gap', end: wall - before };`,
  },
  {
    name: 'schedules: a time that is shown twice fires twice',
    file: 'src/schedules/timing/cron-times.ts',
    find: `      const fires = found.kind === 'gap' ? found.end : found.at;`,
    replace: `      const fires = found.kind === 'gap' ? found.end : found.kind === 'overlap' ? found.again : found.at;`,
  },
  {
    name: 'schedules: an interval does not look at changes of clocks',
    file: 'src/schedules/timing/cron-times.ts',
    find: `      if (change !== undefined) {`,
    replace: `      if (change === 0) {`,
  },
  {
    name: 'schedules: a range is taken for fixed times',
    file: 'src/schedules/timing/cron-pattern.ts',
    find: '/[*?/-]/',
    replace: '/[*?/]/',
  },
  {
    name: 'schedules: every counts from when it is asked',
    file: 'src/schedules/timing/every-times.ts',
    find: `    return this.#anchor + (Math.floor((at - this.#anchor) / this.#everyMs) + 1) * this.#everyMs;`,
    replace: `    return at + this.#everyMs;`,
  },
  {
    name: 'schedules: what was missed is fired like the rest',
    file: 'src/schedules/timing/catch-up.ts',
    find: `LIMITS.missedAfterMs) return each(`,
    replace: `Number.MAX_VALUE) return each(`,
  },
  {
    name: 'schedules: the cap of missed slots is not kept',
    file: 'src/schedules/timing/catch-up.ts',
    find: `  let from = slot;\n  for (;;) {`,
    replace: `  let from = slot;\n  if (cap > 0) return slot;\n  for (;;) {`,
  },
  {
    name: 'schedules: a slot after the end fires',
    file: 'src/schedules/timing/timing.ts',
    find: `slot === undefined || slot > end ?`,
    replace: `slot === undefined ?`,
  },
  {
    name: 'schedules: a slot at the start does not fire',
    file: 'src/schedules/timing/timing.ts',
    find: `start - 1`,
    replace: `start`,
  },
  {
    name: 'schedules: jitter is none',
    file: 'src/schedules/timing/timing.ts',
    find: `jitterMs === 0 ? slot :`,
    replace: `jitterMs >= 0 ? slot :`,
  },
  {
    name: 'schedules: jitter is longer than it may be',
    file: 'src/schedules/timing/timing.ts',
    find: `% (jitterMs + 1)`,
    replace: `% (2 * jitterMs + 1)`,
  },
  {
    name: 'schedules: jitter is the same for all of them',
    file: 'src/schedules/timing/timing.ts',
    find: '{this.#id}.$',
    replace: '',
  },
  {
    name: 'schedules: of what was missed the first slot fires, not the latest',
    file: 'src/schedules/timing/catch-up.ts',
    find: `? [last] : []`,
    replace: `? [slot] : []`,
  },
  {
    name: 'schedules: the slot that skip leaves out is not counted',
    file: 'src/schedules/timing/catch-up.ts',
    find: `(missed === 'one' ? 0 : 1)`,
    replace: `0`,
  },
  {
    name: 'schedules: a slot that its jitter holds back is taken for missed',
    file: 'src/schedules/timing/catch-up.ts',
    find: `now - table.jitterMs`,
    replace: `now`,
  },
  {
    name: 'schedules: more slots than one step may store',
    file: 'src/schedules/timing/catch-up.ts',
    find: `Math.min(most, LIMITS.scheduleFirings)`,
    replace: `most`,
  },
];

const IN_MEMORY: readonly Mutant[] = [
  {
    name: 'schedules: a slot is fired again',
    file: 'src/backends/memory/fire.ts',
    find: `    entry.next?.slot !== request.slot ||\n`,
    replace: '',
  },
  {
    name: 'schedules: an older scheduler fires on',
    file: 'src/backends/memory/fire.ts',
    find: `  if (request.fence < store.scheduler.fence) return { kind: 'superseded' };\n`,
    replace: '',
  },
  {
    name: 'schedules: two wait for the end of one',
    file: 'src/backends/memory/fire.ts',
    find: `active.length > 1)`,
    replace: `active.length > 2)`,
  },
  {
    name: 'schedules: the new task does not wait for the old one',
    file: 'src/backends/memory/fire.ts',
    find: `overlap === 'allow' ? [] : active.filter(`,
    replace: `overlap !== 'queue-one' ? [] : active.filter(`,
  },
  {
    name: 'schedules: a refused slot does not count as missed',
    file: 'src/backends/memory/fire.ts',
    find: `  if (outcome.kind === 'refused') entry.missed++;\n`,
    replace: '',
  },
  {
    name: 'schedules: an earlier slot does not free the lock',
    file: 'src/backends/memory/rules/schedule-places.ts',
    find: `store.scheduler.until = 0;`,
    replace: `store.scheduler.until += 0;`,
  },
  {
    name: 'schedules: idle workers spin while a slot is not fired',
    file: 'src/backends/memory/rules/schedule-places.ts',
    find: `  return store.now + LIMITS.scheduleRetryMs;`,
    replace: `  return dueAt;`,
  },
  {
    name: 'schedules: nobody takes over a slot that is overdue',
    file: 'src/backends/memory/schedules.ts',
    find: `first > now - LIMITS.scheduleOverdueMs`,
    replace: `first > 0`,
  },
  {
    name: 'schedules: a stale change is written',
    file: 'src/backends/memory/schedules.ts',
    find: `(known?.change.revision ?? 0) !== change.revision`,
    replace: `(known?.change.revision ?? 0) > change.revision + 1`,
  },
  {
    name: 'schedules: the limit holds for the next slot only',
    file: 'src/backends/memory/fire.ts',
    find: `  if (entry.fired >= limit) return { kind: 'over' };\n`,
    replace: '',
  },
  {
    name: 'schedules: one that has come to its limit stands on',
    file: 'src/backends/memory/rules/schedule-places.ts',
    find: `entry.fired >= limit ? undefined : next`,
    replace: `entry.fired > limit ? undefined : next`,
  },
  {
    name: 'schedules: what was answered by another task counts as fired',
    file: 'src/backends/memory/fire.ts',
    find: `if (outcome.kind !== 'created') return outcome;`,
    replace: `if (outcome.kind === 'refused') return outcome;`,
  },
  {
    name: 'schedules: slots that are passed over are not counted',
    file: 'src/backends/memory/fire.ts',
    find: `  entry.missed += request.passed;\n`,
    replace: '',
  },
  {
    name: 'schedules: the earlier task goes on',
    file: 'src/backends/memory/fire.ts',
    find: `overlap === 'cancel-previous'`,
    replace: `overlap === 'queue-one'`,
  },
  {
    name: 'schedules: a slot that was decided may come again',
    file: 'src/backends/memory/fire.ts',
    find: `Math.max(request.slot, request.firings.at(-1)?.slot ?? request.slot)`,
    replace: `0`,
  },
  {
    name: 'schedules: the lock keeps nobody away',
    file: 'src/backends/memory/schedules.ts',
    find: `scheduler.until = now + LIMITS.scheduleLockMs`,
    replace: `scheduler.until = now`,
  },
  {
    name: 'schedules: the lock is not renewed by its owner',
    file: 'src/backends/memory/schedules.ts',
    find: `scheduler.owner !== owner && isTaken`,
    replace: `isTaken`,
  },
  {
    name: 'schedules: a lock of before the clock went back keeps others away',
    file: 'src/backends/memory/schedules.ts',
    find: `scheduler.until > now && scheduler.until <= now + LIMITS.scheduleLockMs`,
    replace: `scheduler.until > now`,
  },
  {
    name: 'schedules: the fence does not rise',
    file: 'src/backends/memory/schedules.ts',
    find: `  if (scheduler.owner !== owner) scheduler.fence++;\n`,
    replace: '',
  },
  {
    name: 'schedules: anybody frees the lock',
    file: 'src/backends/memory/schedules.ts',
    find: `if (store.scheduler.owner === owner) store`,
    replace: `store`,
  },
  {
    name: 'schedules: a graph is let go that a schedule needs',
    file: 'src/backends/memory/schedules.ts',
    find: `  if (graph !== undefined) holdSnapshot(store, graph, scheduleHolder(change.id));\n`,
    replace: '',
  },
  {
    name: 'schedules: one that is removed is due still',
    file: 'src/backends/memory/schedules.ts',
    find: `  if (entry.next !== undefined) store.schedulesDue.delete(entry);\n`,
    replace: '',
  },
];

const IN_LUA: readonly Mutant[] = [
  {
    name: 'Lua: schedules: a slot is fired again',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: `not s or s.slot ~= slot or `,
    replace: `not s or `,
  },
  {
    name: 'Lua: schedules: an older scheduler fires on',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: `if fence < tonumber(`,
    replace: `if fence < -1 * tonumber(`,
  },
  {
    name: 'Lua: schedules: two wait for the end of one',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `#active > 1)`,
    replace: `#active > 2)`,
  },
  {
    name: 'Lua: schedules: the new task does not wait for the old one',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `if overlap ~= 'allow' then left`,
    replace: `if overlap == 'queue-one' then left`,
  },
  {
    name: 'Lua: schedules: a refused slot does not count as missed',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `  s.missed = s.missed + 1\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: an earlier slot does not free the lock',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `  redis.call('HSET', K.schedulerLock(), FIELD.schedulerLock.till, 0)\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: idle workers spin while a slot is not fired',
    file: 'src/backends/redis/lua/lib/time/due.lua',
    find: `H['schedules:due'] <= now and now + LIMIT.scheduleRetryMs or H['schedules:due']`,
    replace: `H['schedules:due']`,
  },
  {
    name: 'Lua: schedules: nobody takes over a slot that is overdue',
    file: 'src/backends/redis/lua/schedules/schedule-due.lua',
    find: `head > now - LIMIT.scheduleOverdueMs`,
    replace: `head > 0`,
  },
  {
    name: 'Lua: schedules: a stale change is written',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `if (s and s.revision or 0) ~= revision or isLate`,
    replace: `if (s and s.revision or 0) > revision + 1 or isLate`,
  },
  {
    name: 'Lua: schedules: the limit holds for the next slot only',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `  if s.limit and s.fired >= s.limit then return { kind = 'over' } end\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: one that has come to its limit stands on',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: `s.limit and s.fired >= s.limit)`,
    replace: `s.limit and s.fired > s.limit)`,
  },
  {
    name: 'Lua: schedules: what was answered by another task counts as fired',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `if outcome.kind ~= 'created' then return outcome end`,
    replace: `if outcome.kind == 'refused' then return outcome end`,
  },
  {
    name: 'Lua: schedules: slots that are passed over are not counted',
    file: 'src/backends/redis/lua/schedules/schedule-fire.lua',
    find: `s.missed = s.missed + passed`,
    replace: `s.missed = s.missed + 0`,
  },
  {
    name: 'Lua: schedules: the earlier task goes on',
    file: 'src/backends/redis/lua/lib/time/fire.lua',
    find: `if overlap == 'cancel-previous' then`,
    replace: `if overlap == 'queue-one' then`,
  },
  {
    name: 'Lua: schedules: a slot that was decided may come again',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: ` ~= revision or isLate or`,
    replace: ` ~= revision or`,
  },
  {
    name: 'Lua: schedules: the lock keeps nobody away',
    file: 'src/backends/redis/lua/schedules/schedule-due.lua',
    find: `'%.0f', now + LIMIT.scheduleLockMs`,
    replace: `'%.0f', now`,
  },
  {
    name: 'Lua: schedules: the lock is not renewed by its owner',
    file: 'src/backends/redis/lua/schedules/schedule-due.lua',
    find: `not isOwn and isTaken`,
    replace: `isTaken`,
  },
  {
    name: 'Lua: schedules: the fence does not rise',
    file: 'src/backends/redis/lua/schedules/schedule-due.lua',
    find: `(isOwn and 0 or 1)`,
    replace: `0`,
  },
  {
    name: 'Lua: schedules: anybody frees the lock',
    file: 'src/backends/redis/lua/schedules/schedule-leave.lua',
    find: `FIELD.schedulerLock.owner) == owner then`,
    replace: `'owner') then`,
  },
  {
    name: 'Lua: schedules: a graph is let go that a schedule needs',
    file: 'src/backends/redis/lua/schedules/schedule-set.lua',
    find: `if graph ~= '' then Graphs.hold(graph, '~S.' .. id) end\n`,
    replace: '',
  },
  {
    name: 'Lua: schedules: one that is removed is due still',
    file: 'src/backends/redis/lua/schedules/schedule-remove.lua',
    find: `F.move('schedules:due', id, false)\n`,
    replace: '',
  },
];

const IN_THE_ENGINE: readonly Mutant[] = [
  {
    name: 'schedules: a schedule that cannot be fired keeps the others from it',
    file: 'src/schedules/scheduler.ts',
    find: `      this.#parts.failed(\`schedule \${record.id}\`, error);\n      return { kind: 'failed' };`,
    replace: `      throw error;`,
  },
  {
    name: 'schedules: a scheduler that is kept away asks no more',
    file: 'src/schedules/scheduler.ts',
    find: `      this.#lockedUntil = elapsedMs(clock) + restMs;`,
    replace: `      this.#lockedUntil = Number.MAX_VALUE + restMs;`,
  },
  {
    name: 'schedules: who stops keeps the lock',
    file: 'src/schedules/scheduler.ts',
    find: `    await this.#parts.backend.schedules.leave(this.#parts.owner);\n`,
    replace: '',
  },
  {
    name: 'schedules: a failure is the end of it',
    file: 'src/schedules/scheduler.ts',
    find: `      sleepMs = pauseMs(this.#failures, this.#parts.random());\n`,
    replace: '',
  },
  {
    name: 'schedules: a change of the timing moves no slot',
    file: 'src/client/facades/schedules-facade.ts',
    find: ` && before !== undefined && hasSameTiming(before, known)) {`,
    replace: ` && before !== undefined) {`,
  },
  {
    name: 'schedules: the same again is written again',
    file: 'src/client/facades/schedules-facade.ts',
    find: `record !== undefined && isSame(record, made)`,
    replace: `record?.spec === ''`,
  },
  {
    name: 'schedules: slots of a pause are made up for',
    file: 'src/schedules/replan.ts',
    find: `Math.max(now, record.settledSlot ?? now)`,
    replace: `record.settledSlot ?? now`,
  },
  {
    name: 'schedules: the zone of the client is not asked',
    file: 'src/schedules/schedule-options.ts',
    find: `timeZone: timeZone ?? otherwise.timeZone`,
    replace: `timeZone: timeZone ?? 'UTC'`,
  },
];

export const SCHEDULE_MUTANTS: readonly Mutant[] = [
  ...IN_TIME,
  ...IN_MEMORY,
  ...IN_LUA,
  ...IN_THE_ENGINE,
];
