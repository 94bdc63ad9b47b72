-- Tells schedules: one, or a page of them by name.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the one to tell, or ''
-- ARGV[2]  cursor  the last name of the page before, or ''
-- ARGV[3]  limit   most schedules to tell
-- Returns  now, 1 when more follow, else 0; then 17 fields of each, see lib/schedule.lua
-- Cost     O(limit)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/schedule.lua

local id, cursor, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local reply = { now, 0 }
if id ~= '' then
  Schedule.add(reply, id)
  return reply
end
local from = cursor == '' and '-' or '(' .. cursor
local ids = redis.call('ZRANGEBYLEX', K.schedules(), from, '+', 'LIMIT', 0, limit + 1)
if #ids > limit then reply[2] = 1 end
for i = 1, math.min(#ids, limit) do Schedule.add(reply, ids[i]) end
return reply
