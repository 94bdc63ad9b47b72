-- Applies writes to the channels of a run now, on behalf of a leased task.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the task that writes
-- ARGV[2]  token    of its lease
-- ARGV[3]  run      whose channels they are
-- ARGV[4]  writes   JSON: kind, field, text or number, once
-- Returns  {'ok'}, {'lost'} or {'refused …'}
-- Cost     O(writes + bytes of the lists that they append to)

F.readAll()
local id, token, run, writes = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local t = F.taskOf(id)
if not t or not F.isAttendedBy(t, token) then return F.unchanged({ 'lost' }) end
redis.call('DEL', K.oom())
local refused = F.writeChannel(run, cjson.decode(writes))
if refused then return F.unchanged({ refused }) end
F.writeStep()
F.closeStep()
return { 'ok' }
