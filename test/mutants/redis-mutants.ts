/** Mutants of the Lua scripts. */
import type { Mutant } from './mutants.ts';

const DIR = 'src/backends/redis/lua';

export const REDIS_MUTANTS: readonly Mutant[] = [
  {
    name: 'Lua: settle accepts any token',
    file: `${DIR}/lib/settle-one.lua`,
    find: `if t.state ~= 'started' or not own then`,
    replace: `if t.state ~= 'started' then`,
  },
  {
    name: 'Lua: a settle that is sent again is not recognised',
    file: `${DIR}/lib/settle-one.lua`,
    find: `  t.isSettled = true\n`,
    replace: '',
  },
  {
    name: 'Lua: a requested cancel is forgotten at settle',
    file: `${DIR}/lib/settle-one.lua`,
    find: `  if t.canceling then`,
    replace: `  if t.canceling == 'never' then`,
  },
  {
    name: 'Lua: a retry is not counted as a failure',
    file: `${DIR}/lib/settle-one.lua`,
    find: `  t.failures = t.failures + 1\n  F.setField(t, 'e', err)\n`,
    replace: `  F.setField(t, 'e', err)\n`,
  },
  {
    name: 'Lua: a delayed release keeps its place in line',
    file: `${DIR}/lib/settle-one.lua`,
    find: `    t.seq = 0\n`,
    replace: '',
  },
  {
    name: 'Lua: a task never keeps its place in line',
    file: `${DIR}/lib/places.lua`,
    find: `  if t.seq == 0 then\n    u.seq`,
    replace: `  if t.seq >= 0 then\n    u.seq`,
  },
  {
    name: 'Lua: the running id is not removed',
    file: `${DIR}/lib/places.lua`,
    find: `      u.running = u.running - 1\n`,
    replace: '',
  },
  {
    name: 'Lua: a task stays in the index of its old state',
    file: `${DIR}/lib/places.lua`,
    find: `    F.move(state, t.id, false)\n`,
    replace: '',
  },
  {
    name: 'Lua: a level that runs empty keeps its tag',
    file: `${DIR}/lib/places.lua`,
    find: `  if u.cnt[level] == 0 then F.emptied(u, level) end\n`,
    replace: '',
  },
  {
    name: 'Lua: a due task goes on although it is blocked',
    file: `${DIR}/lib/places.lua`,
    find: `F.isBlocked(t) then F.enterDeferred(t, u) else F.enterQueue(t, u) end`,
    replace: `F.isBlocked(t) then F.enterQueue(t, u) else F.enterQueue(t, u) end`,
  },
  {
    name: 'Lua: a charge is given back twice',
    file: `${DIR}/lib/places.lua`,
    find: `(F.fixed(t).cost * 100) / u.w`,
    replace: `(F.fixed(t).cost * 200) / u.w`,
  },
  {
    name: 'Lua: the key of an ended task is not released',
    file: `${DIR}/lib/end.lua`,
    find: `    if x.k then F.releaseKey(t, u) end\n`,
    replace: '',
  },
  {
    name: 'Lua: the end of a task tells no dependent',
    file: `${DIR}/lib/end.lua`,
    find: `  if (x and x.d) or t.dependents then`,
    replace: `  if x and x.d then`,
  },
  {
    name: 'Lua: a user who is done is counted for ever',
    file: `${DIR}/lib/end.lua`,
    find: `  u.live = u.live - 1\n`,
    replace: '',
  },
  {
    name: 'Lua: a reader is not counted',
    file: `${DIR}/lib/cascade.lua`,
    find: `  t.readers = t.readers + change_\n`,
    replace: '',
  },
  {
    name: 'Lua: the first dependency that ends sets a task going',
    file: `${DIR}/lib/cascade.lua`,
    find: ` == 0 or redis.call('EXISTS', key) == 1 then return end`,
    replace: ` == 0 then return end`,
  },
  {
    name: 'Lua: a canceled dependency counts as a failed one',
    file: `${DIR}/lib/cascade.lua`,
    find: `  if upstream.state == 'canceled' then return dependent.x.g[2] end`,
    replace: `  if upstream.state == 'canceled' then return dependent.x.g[1] end`,
  },
  {
    name: 'Lua: who is held stands in the wrong key',
    file: `${DIR}/lib/cascade.lua`,
    find: `F.zset(K.held(upstream.id), t.id, F.fixed(t).created)`,
    replace: `F.zset(K.waiting(upstream.id), t.id, F.fixed(t).created)`,
  },
  {
    name: 'Lua: the weight of one who stops stays in W',
    file: `${DIR}/lib/fair.lua`,
    find: `  lane.w = lane.w - u.w\n`,
    replace: '',
  },
  {
    name: 'Lua: a paused user is served',
    file: `${DIR}/lib/fair.lua`,
    find: `  if queued > 0 and not set.paused then`,
    replace: `  if queued > 0 then`,
  },
  {
    name: 'Lua: a kept tag is forgotten',
    file: `${DIR}/lib/fair.lua`,
    find: `  if not u.ready and not (u.ep == lane.epoch and tag > v) then tag = v end`,
    replace: `  if not u.ready then tag = v end`,
  },
  {
    name: 'Lua: a rate opens when it opened last',
    file: `${DIR}/lib/fair.lua`,
    find: `  return allowed > now and allowed or nil`,
    replace: `  return allowed > now + 1000 and allowed or nil`,
  },
  {
    name: 'Lua: round robin instead of fair turns',
    file: `${DIR}/lib/choose.lua`,
    find: `      local finish = tag + Choose.stepOf(head[3])`,
    replace: `      local finish = tag`,
  },
  {
    name: 'Lua: nobody has to wait to be eligible',
    file: `${DIR}/lib/choose.lua`,
    find: `    if tag <= v + EPSILON then`,
    replace: `    if tag then`,
  },
  {
    name: 'Lua: the tag is not stored after a turn',
    file: `${DIR}/lib/lease.lua`,
    find: `  u.s = u.s + turn\n`,
    replace: '',
  },
  {
    name: 'Lua: virtual time stands still',
    file: `${DIR}/lib/lease.lua`,
    find: `  lane.v = lane.v + cost / lane.w\n`,
    replace: '',
  },
  {
    name: 'Lua: the clock of a list is not stored',
    file: `${DIR}/lib/lease.lua`,
    find: `    list.dirty = true\n`,
    replace: '',
  },
  {
    name: 'Lua: the last chance is not alone',
    file: `${DIR}/lib/lease.lua`,
    find: `  if alone and #batch > 0 then`,
    replace: `  if alone and #batch < 0 then`,
  },
  {
    name: 'Lua: the sweep skips the lease that ends now',
    file: `${DIR}/lib/tick.lua`,
    find: `Tick.dueOf('started', now, SWEEP)`,
    replace: `Tick.dueOf('started', now - 1, SWEEP)`,
  },
  {
    name: 'Lua: no sweep pause after an outage',
    file: `${DIR}/lib/tick.lua`,
    find: `  if now < C.pause or not`,
    replace: `  if not`,
  },
  {
    name: 'Lua: a fourth chance for a task that loses its leases',
    file: `${DIR}/lib/tick.lua`,
    find: `  local last = t.losses >= LIMIT.maxLost`,
    replace: `  local last = t.losses > LIMIT.maxLost`,
  },
  {
    name: 'Lua: retention takes all that is too many at once',
    file: `${DIR}/lib/retain.lua`,
    find: `if not (size and size > keepCount and score <= surely) then`,
    replace: `if not (size and size > keepCount) then`,
  },
];
