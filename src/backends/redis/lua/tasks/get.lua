-- Gives the records of tasks: of the first of them, as many as one script may.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  values  '1': with payloads and results
-- ARGV[2]  bytes   that they may weigh; the last may weigh more
-- ARGV[3..]  ids   of tasks
-- Returns  five texts for each id, as lib/records/record.lua tells them; five times '' when it is unknown
-- Cost     O(ids + bytes), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local reply, values = {}, ARGV[1] == '1'
F.limitBytes(tonumber(ARGV[2]))
for i = 3, #ARGV do
  if F.isSpent() then break end
  local t = F.taskOf(ARGV[i])
  if t then
    F.addRecord(reply, t, values)
  else
    F.spend(1, 0)
    for _ = 1, 5 do reply[#reply + 1] = '' end
  end
end
return reply
