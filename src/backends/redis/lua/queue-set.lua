-- Changes the settings of a queue. Its users hear of new defaults at once, or in steps when many.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  queue   the queue
-- ARGV[2]  patch   as JSON
-- Returns  {'ok'}
-- Cost     O(users, at most 500, and started tasks)
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/patch.lua

local queue, patch = ARGV[1], cjson.decode(ARGV[2])
local EAGER = 500
local lane = F.laneOf(queue)
local key = K.fair(lane.p)
redis.call('DEL', K.oom())
lane.config = F.patched(redis.call('HGET', key, 'c'), patch) or {}
lane.perUser, lane.defaults = lane.config.perUser or {}, nil
local timed = lane.config.charge == 'time'
local recounts = timed ~= lane.timed
lane.timed = timed
if recounts then Step.newEpoch(lane) end
redis.call('HSET', key, 'c', cmsgpack.pack(lane.config))
F.touchLane(lane)
lane.gain = lane.gain + lane.runnable
if patch.perUser ~= nil or recounts then
  -- Those too that have nothing but running tasks.
  C.settles = true
  for name in pairs(F.runningOf(lane)) do F.zset(K.users(lane.p), name, 0) end
  F.flushKey(K.users(lane.p))
  local names = redis.call('ZRANGE', K.users(lane.p), 0, EAGER)
  for i = 1, math.min(#names, EAGER) do F.reindex(F.userOf(lane, names[i])) end
  if #names > EAGER then
    redis.call('HSET', K.refreshing(), queue, '(' .. names[EAGER])
    C.refresh = 1
  end
end
F.writeStep()
F.closeStep()
return { 'ok' }
