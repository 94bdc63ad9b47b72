-- Gives queues: their settings, counts and totals; of the first of them, as many as one script may.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  queues
-- Returns  for each queue JSON, or '' when nothing was ever in it, or set for it
-- Cost     O(queues), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local UNITS = 2
local reply = {}
for i = 1, #ARGV do
  if F.isSpent() then break end
  local isUsed = redis.call('HEXISTS', KEYS[1], FIELD.clock.queue .. ARGV[i]) == 1
  reply[i] = isUsed and cjson.encode(F.queueInfo(F.queueOf(ARGV[i]))) or ''
  F.spend(UNITS, #reply[i])
end
return reply
