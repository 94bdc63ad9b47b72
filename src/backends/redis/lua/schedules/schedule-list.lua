-- Tells schedules: one, or a part of a page of them by name.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the one to tell, or ''
-- ARGV[2]  cursor  the last name of the page before, or ''
-- ARGV[3]  limit   most schedules to tell
-- ARGV[4]  bytes   that their specs may weigh; the last may weigh more
-- Returns  now, 1 when more follow, else 0; then 19 fields of each, see lib/time/schedule.lua
-- Cost     O(limit + bytes), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local id, cursor, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local reply = { now, 0 }
if id ~= '' then
  Schedule.add(reply, id)
  return reply
end
local from = cursor == '' and '-' or '(' .. cursor
local ids = redis.call('ZRANGEBYLEX', K.schedules(), from, '+', 'LIMIT', 0, limit + 1)
F.limitBytes(tonumber(ARGV[4]))
for i = 1, #ids do
  if i > limit or F.isSpent() then
    reply[2] = 1
    break
  end
  local n = #reply
  Schedule.add(reply, ids[i])
  F.spend(1, #(reply[n + 2] or ''))
end
return reply
