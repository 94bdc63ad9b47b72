-- Lists the workers that live.
--
-- KEYS[1]  clock   hash
-- Returns  for each worker its spec as JSON, since when, last seen, running tasks; attempts that
--          succeeded, failed, were lost
-- Cost     O(workers)

F.readAll()
local reply = {}
F.addWorkers(reply)
return reply
