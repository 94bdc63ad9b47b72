-- Lists the workers that live.
--
-- KEYS[1]  clock   hash
-- Returns  for each worker its spec as JSON, since when, last seen, running tasks; attempts that
--          succeeded, failed, were lost
-- Cost     O(workers)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/info.lua

F.readAll()
local reply = {}
F.addWorkers(reply)
return reply
