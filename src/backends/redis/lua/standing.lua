-- Tells how tasks stand, and what they came to, without the rest of their records.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  ids   of tasks
-- Returns  four values for each id: the code of its state (lib/state.lua; 0 when it is unknown),
--          result, error and cause (JSON), each false where there is none
-- Cost     O(ids + bytes)
-- @include lib/state.lua
-- @include lib/read.lua

local reply, n = {}, 0
for i = 1, #ARGV do
  local t = F.taskOf(ARGV[i])
  reply[n + 1] = t and CODES[t.state] or 0
  reply[n + 2] = t and t.result or false
  reply[n + 3] = t and redis.call('HGET', K.errors(), t.id) or false
  reply[n + 4] = t and t.y and t.y.ca or false
  n = n + 4
end
return reply
