-- Gives queues: their settings, counts and totals.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  queue   or '' for all
-- Returns  each queue as JSON; nothing when there is none
-- Cost     O(queues)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/info.lua

local queue = ARGV[1]
local queues = queue ~= '' and { queue } or redis.call('SMEMBERS', K.queues())
local reply = {}
for _, each in ipairs(queues) do
  if redis.call('EXISTS', K.fair(K.lane(each))) == 1 then
    reply[#reply + 1] = cjson.encode(F.queueInfo(F.laneOf(each)))
  end
end
return reply
