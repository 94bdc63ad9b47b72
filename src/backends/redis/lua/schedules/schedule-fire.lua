-- Stores the tasks of slots, and moves the schedule on; if it still stands at the slot named.
--
-- KEYS[1]  clock      hash
-- ARGV[1]  id         the schedule
-- ARGV[2]  revision   that it was read at
-- ARGV[3]  slot       that it was read at
-- ARGV[4]  fence      of the scheduler
-- ARGV[5]  passed     slots passed over as missed
-- ARGV[6]  next_slot  where it stands then, or ''
-- ARGV[7]  next_due   when that is to be fired, or ''
-- ARGV[8]  slots      of the tasks, parted by commas; behind a + they were missed, and run one by one
-- ARGV[9..]  items    one task for each of them, as for enqueue
-- Returns  {'stale'} or {'superseded'}, nothing written; else 'fired' and an outcome for each as JSON
-- Cost     O(items × log tasks)

F.readAll()
local id, revision, slot = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local fence, passed, nextSlot, nextDue = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[7]
local slots = ARGV[8]
local isCatchUp = string.sub(slots, 1, 1) == '+'
local s = Schedule.read(id)
if not s or s.slot ~= slot or s.revision ~= revision then return F.unchanged({ 'stale' }) end
if fence < tonumber(redis.call('HGET', K.schedulerLock(), FIELD.schedulerLock.fence) or 0) then
  return F.unchanged({ 'superseded' })
end
local items = Store.readItems(9)
local reply, latest, i = { 'fired' }, slot, 0
local overlap = isCatchUp and 'queue' or s.overlap
redis.call('HSET', K.schedule(id), FIELD.schedule.missed, s.missed + passed)
s.missed = s.missed + passed
for one in string.gmatch(slots, '%d+') do
  i, latest = i + 1, one
  reply[i + 1] = cjson.encode(Schedule.fireOne(s, items[i], one, overlap))
end
redis.call('HSET', K.schedule(id), FIELD.schedule.fired, s.fired, FIELD.schedule.missed, s.missed,
  FIELD.schedule.overlapped, s.overlapped, FIELD.schedule.settled, latest,
  FIELD.schedule.active, table.concat(s.active, '\0'))
if s.lastId then redis.call('HSET', K.schedule(id), FIELD.schedule.lastSlot, s.lastSlot, FIELD.schedule.lastId, s.lastId) end
Schedule.moveOn(id, nextSlot, nextDue, s.limit and s.fired >= s.limit)
Step.saveTasks()
if H.cascade < INF or I.cascade then F.cascade(LIMIT.cascadeStep) end
F.writeStep()
F.closeStep()
return reply
