-- Stores a schedule whole, unless it is at another revision than the one named.
--
-- KEYS[1]  clock     hash
-- ARGV[1]  id        the schedule
-- ARGV[2]  revision  that it was read at, 0 when it was not there
-- ARGV[3]  spec      JSON text, kept as it is
-- ARGV[4]  paused    '1' or '0'
-- ARGV[5]  overlap   the policy
-- ARGV[6]  limit     of firings, or ''
-- ARGV[7]  graph     hash of the snapshot that it needs, or ''
-- ARGV[8]  slot      that comes next, or ''
-- ARGV[9]  due       when that is to be fired, or ''
-- ARGV[10]  user      whose events it fires at, or ''
-- ARGV[11]  event     the name of these, or ''
-- ARGV[12]  passed    slots that it gives up, which count as missed; absent: none
-- ARGV[13]  at        the slot that it stands at then, or ''
-- Returns  'ok' and the 19 fields of lib/time/schedule.lua; or {'changed'}, {'graph-missing'}, {'full'}, nothing
--          written
-- Cost     O(log schedules)

F.readAll()
local id, revision, spec, paused, overlap = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local limit, graph, slot, due = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local user, event, passed, at = ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local s = Schedule.read(id)
local isLate = s and s.settled and slot ~= '' and tonumber(slot) <= s.settled
if (s and s.revision or 0) ~= revision or isLate or (passed and (s and s.slot or '') ~= at) then return F.unchanged({ 'changed' }) end
if graph ~= '' and not Graphs.isAlive(graph) then return F.unchanged({ 'graph-missing' }) end
local before = Schedule.listKey(s)
local list = Schedule.listKey({ user = user, event = event ~= '' and event, paused = paused == '1' })
if list and list ~= before and redis.call('SCARD', list) >= LIMIT.eventSchedules then return F.unchanged({ 'full' }) end
local key = K.schedule(id)
-- To pause it frees and adds next to nothing: that works when memory is full, and so does going on.
local isPause = s and s.paused ~= (paused == '1')
if s and (isPause or redis.call('HGET', key, FIELD.schedule.spec) == spec) then redis.call('DEL', K.oom()) end
redis.call('HSET', key, FIELD.schedule.spec, spec, FIELD.schedule.revision, revision + 1, FIELD.schedule.paused, paused,
  FIELD.schedule.overlap, overlap, FIELD.schedule.limit, limit, FIELD.schedule.graph,
  graph, FIELD.schedule.changed, string.format('%.0f', now))
if not s then
  redis.call('HSET', key, FIELD.schedule.created, string.format('%.0f', now), FIELD.schedule.fired, 0,
    FIELD.schedule.missed, 0, FIELD.schedule.overlapped, 0)
  redis.call('ZADD', K.schedules(), 0, id)
end
if event ~= '' then
  redis.call('HSET', key, FIELD.schedule.user, user, FIELD.schedule.event, event)
elseif s and s.event then
  redis.call('HDEL', key, FIELD.schedule.user, FIELD.schedule.event)
end
if passed then redis.call('HINCRBY', key, FIELD.schedule.missed, passed) end
if before and before ~= list then redis.call('SREM', before, id) end
if list then redis.call('SADD', list, id) end
if graph ~= '' then Graphs.hold(graph, '~S.' .. id) end
if s and s.graph ~= '' and s.graph ~= graph then Graphs.letGo(s.graph, '~S.' .. id) end
local head, over = H['schedules:due'], s and limit ~= '' and s.fired >= tonumber(limit)
Schedule.moveOn(id, slot, due, over)
-- A scheduler that hears of the new least moment may take over: the present owner sleeps longer.
if slot ~= '' and not over and tonumber(due) < head then
  redis.call('HSET', K.schedulerLock(), FIELD.schedulerLock.till, 0)
end
F.writeStep()
F.closeStep()
local reply = { 'ok' }
Schedule.add(reply, id)
return reply
