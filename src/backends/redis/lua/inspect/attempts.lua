-- Gives the attempts of a task; the only one of a task that went well at once from its record.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- Returns  each attempt as JSON
-- Cost     O(attempts)

F.readAll()
local id = ARGV[1]
local t = F.taskOf(id)
if not t then return {} end
local kept = redis.call('LRANGE', K.attempts(id), 0, -1)
-- A join has ended without one.
if #kept > 0 or t.state ~= 'finished' or t.leasedAt == 0 then return kept end
return { cjson.encode({ attempt = 1, worker = t.worker, leasedAt = t.leasedAt, endedAt = t.at,
  outcome = 'succeeded', decision = 'finish' }) }
