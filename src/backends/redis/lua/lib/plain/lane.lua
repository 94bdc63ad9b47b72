-- Keeps a queue on the short path: its numbers as an array in the order of LANE (lib/lane.lua), and
-- by name what else the step needs of it.

local LANE_V, LANE_W, LANE_EPOCH, LANE_RUNNABLE, LANE_READY, LANE_IDLE = 1, 2, 3, 5, 6, 7
local LANE_QUEUED, LANE_STARTED, LANE_FINISHED, LANE_ENQUEUED = 10, 11, 12, 15
local LANE_EVER_FINISHED, LANE_OLD, LANE_LAST = 16, 22, 22

-- nil for a queue that is new, paused, limited as a whole or charges time, or whose users have rates.
local function plainLane(queue)
  local p = K.lane(queue)
  local got = redis.call('HMGET', K.fair(p), 's', 'c')
  if not got[1] then return end
  local lane = { struct.unpack(LANE, got[1]) }
  lane.p, lane.queue, lane.users, lane.order = p, queue, {}, {}
  lane.perUser, lane.levelWeights = NONE, LIMIT.priorityWeights
  if got[2] then
    local config = cmsgpack.unpack(got[2])
    local perUser = config.perUser or NONE
    if config.paused or config.rate or config.maxRunning or config.charge == 'time'
      or perUser.rate or perUser.paused then
      return
    end
    lane.perUser, lane.config = perUser, config
    lane.levelWeights = config.priorityWeights or lane.levelWeights
  end
  lane.packedClasses = string.sub(got[1], lane[LANE_LAST + 1])
  lane[LANE_LAST + 1] = nil
  return lane
end

local function plainClasses(lane)
  local classes = lane.classes
  if not classes then
    classes, lane.lasts = cmsgpack.unpack(lane.packedClasses)
    lane.classes = classes
  end
  return classes
end

-- Whether the step's end would have more to do than to save the queue: it has run dry, or users
-- are to be forgotten.
local function plainRest(lane)
  if lane[LANE_QUEUED] == 0 and lane[LANE_STARTED] == 0 and lane[LANE_V] ~= 0 then return false end
  return lane[LANE_IDLE] > lane[LANE_V] and lane[LANE_OLD] >= lane[LANE_EPOCH]
end

local function savePlainLane(lane)
  local classes = lane.classes and cmsgpack.pack(lane.classes, lane.lasts) or lane.packedClasses
  redis.call('HSET', K.fair(lane.p), 's',
    struct.pack(LANE, unpack(lane, 1, LANE_LAST)) .. classes)
end
