-- Takes a schedule away; tasks that it has made stay.
--
-- KEYS[1]  clock  hash
-- ARGV[1]  id     the schedule
-- Returns  {1}, or {0} when there was none
-- Cost     O(log schedules)

F.readAll()
local id = ARGV[1]
local s = Schedule.read(id)
if not s then return F.unchanged({ 0 }) end
redis.call('DEL', K.schedule(id))
redis.call('ZREM', K.schedules(), id)
local list = Schedule.listKey(s)
if list then redis.call('SREM', list, id) end
if s.graph ~= '' then Graphs.letGo(s.graph, '~S.' .. id) end
F.move('schedules:due', id, false)
F.writeStep()
F.closeStep()
return { 1 }
