-- Makes a scheduled task due now.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- Returns  {'ok', state}, {'not-found'} or {'wrong-state', state}
-- Cost     O(log tasks)
-- @include lib/state.lua
-- @include lib/base.lua

local id = ARGV[1]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
if not May.due(t.state) then return F.unchanged({ 'wrong-state', t.state }) end
redis.call('DEL', K.oom())
F.becomeDue(t, F.ownerOf(t))
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'ok', t.state }
