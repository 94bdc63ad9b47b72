-- Tells how tasks stand, and what they came to, without the rest of their records.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  ids   of tasks
-- Returns  four values for each id, as lib/standing.lua tells them
-- Cost     O(ids + bytes)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/standing.lua

local reply = {}
for i = 1, #ARGV do F.addStanding(reply, 4 * i - 4, F.taskOf(ARGV[i])) end
return reply
