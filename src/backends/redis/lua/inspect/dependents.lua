-- Tells who waits for a task, or for an id that is not stored.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- ARGV[2]  after   place of the last row of the page before, as JSON, or ''
-- ARGV[3]  limit   most rows to tell
-- Returns  the page as JSON; see inspect/dependents.lua
-- Cost     O(log dependents + limit), within LIMIT.scriptUnits

F.readAll()
local id, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
return cjson.encode(F.dependents(id, after ~= '' and cjson.decode(after) or nil, limit))
