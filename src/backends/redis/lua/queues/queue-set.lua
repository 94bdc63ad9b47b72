-- Changes the settings of a queue. Its users hear of new defaults at once, or in further calls and ticks when
-- they are many.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  queue   the queue
-- ARGV[2]  patch   as JSON; '' to go on with telling users
-- Returns  {'ok'}, or {'more'} when users are left that have not heard
-- Cost     O(users, at most LIMIT.refreshStep, and started tasks)
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/patch.lua
-- @include lib/refresh.lua

local queue = ARGV[1]
local lane = F.laneOf(queue)
redis.call('DEL', K.oom())

-- True when its users have to hear of it.
local function change(patch)
  local key = K.fair(lane.prefix)
  lane.config = F.patched(redis.call('HGET', key, FIELD.fair.settings), patch) or {}
  lane.perUser, lane.defaults = lane.config.perUser or {}, nil
  local timed = lane.config.charge == 'time'
  local recounts = timed ~= lane.timed
  lane.timed = timed
  if recounts then Step.newEpoch(lane) end
  redis.call('HSET', key, FIELD.fair.settings, cmsgpack.pack(lane.config))
  if not lane.config.rate then redis.call('ZREM', K.index('rated'), queue) end
  F.touchLane(lane)
  lane.gain = lane.gain + lane.runnable
  return patch.perUser ~= nil or recounts
end

if ARGV[2] ~= '' and change(cjson.decode(ARGV[2])) then
  -- Those too that have nothing but running tasks.
  lane.runs = F.runningOf(lane)
  for name in pairs(lane.runs) do F.zset(K.users(lane.prefix), name, 0) end
  Tick.refreshFrom(queue, '-')
end
C.settles = true
local more = select(2, Tick.refreshOne(queue, LIMIT.refreshStep))
F.writeStep()
F.closeStep()
return { more and 'more' or 'ok' }
