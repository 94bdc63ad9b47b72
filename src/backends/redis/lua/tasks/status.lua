-- Tells how tasks stand, and what they came to, without the rest of their records: of the first of them, as
-- many as one script may.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  ids   of tasks
-- Returns  four values for each id, as lib/ends/status.lua tells them
-- Cost     O(ids + bytes), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local reply = {}
for i = 1, #ARGV do
  if F.isSpent() then break end
  local n = 4 * i - 4
  F.addStatus(reply, n, F.taskOf(ARGV[i]))
  F.spend(0.8, #(reply[n + 2] or '') + #(reply[n + 3] or ''))
end
return reply
