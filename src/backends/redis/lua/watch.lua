-- Asks for a message when a task ends.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the task
-- ARGV[2]  channel  where to tell; '' when nobody listens
-- Returns  {1} when it has ended or is unknown, {0} when it will be told
-- Cost     O(1)
-- @include lib/state.lua
-- @include lib/clock.lua
-- @include lib/read.lua

local id, channel = ARGV[1], ARGV[2]
local t = F.taskOf(id)
if not t or F.isEnd(t.state) then return { 1 } end
local known = t.w or ''
if channel ~= '' and not string.find(' ' .. known .. ' ', ' ' .. channel .. ' ', 1, true) then
  redis.call('DEL', K.oom())
  t.w = known .. ' ' .. channel
  F.saveEar(t)
  F.saveClock()
end
return { 0 }
