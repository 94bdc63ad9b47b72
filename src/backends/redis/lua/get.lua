-- Gives the records of tasks.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  ids   of tasks
-- Returns  five texts for each id, as lib/record.lua tells them; five times '' when it is unknown
-- Cost     O(ids + bytes)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/record.lua

local reply = {}
for i = 1, #ARGV do
  local t = F.taskOf(ARGV[i])
  if t then
    F.addRecord(reply, t)
  else
    for _ = 1, 5 do reply[#reply + 1] = '' end
  end
end
return reply
