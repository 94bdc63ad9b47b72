-- Loads and saves the state of queues: virtual clock, counts, and who is ready in which class; by kind
-- of class in use, what it remembers of the user that entered last (lib/tags.lua).

local LANE = '<ddIddddddddddddddddddddB'

function F.newLane(queue, p)
  return { queue = queue, p = p, v = 0, w = 0, epoch = 0, tat = 0, runnable = 0, ready = 0, parked = 0,
    idleLeast = INF, fresh = true, classes = {}, lasts = {}, counts = { scheduled = 0, deferred = 0,
      queued = 0, started = 0, finished = 0, failed = 0, canceled = 0 },
    tags = 0, joined = 0, enqueued = 0, finished = 0, failed = 0, canceled = 0, retried = 0, lost = 0, stolen = 0 }
end

function F.readLane(lane, packed)
  local c = lane.counts
  local rest
  lane.v, lane.w, lane.epoch, lane.tat, lane.runnable, lane.ready, lane.idleLeast,
    c.scheduled, c.deferred, c.queued, c.started, c.finished, c.failed, c.canceled,
    lane.enqueued, lane.finished, lane.failed, lane.canceled, lane.retried, lane.lost,
    lane.stolen, lane.old, lane.tags, lane.joined, rest = struct.unpack(LANE, packed)
  local parked
  lane.classes, lane.lasts, parked = cmsgpack.unpack(string.sub(packed, rest))
  lane.parked = parked or 0
  lane.fresh = false
end

function F.laneOf(queue)
  local lane = lanes[queue]
  if lane then return lane end
  local p = K.lane(queue)
  lane = F.newLane(queue, p)
  local got = redis.call('HMGET', K.fair(p), 's', 'c', 't')
  if got[1] then F.readLane(lane, got[1]) end
  lane.old, lane.readEpoch = lane.old or 0, lane.epoch
  lane.config = got[2] and cmsgpack.unpack(got[2]) or {}
  lane.perUser = lane.config.perUser or {}
  lane.timed = lane.config.charge == 'time'
  if got[3] then lane.mean = struct.unpack('<d', got[3]) end
  lane.users, lane.gain = {}, 0
  lanes[queue] = lane
  return lane
end

function F.touchLane(lane)
  if lane.isTouched then return end
  lane.isTouched = true
  touched[#touched + 1] = lane
end

function F.saveLane(lane)
  local c = lane.counts
  local packed = struct.pack(LANE, lane.v, lane.w, lane.epoch, lane.tat, lane.runnable,
    lane.ready, lane.idleLeast, c.scheduled, c.deferred, c.queued, c.started, c.finished,
    c.failed, c.canceled, lane.enqueued, lane.finished, lane.failed, lane.canceled,
    lane.retried, lane.lost, lane.stolen, lane.old, lane.tags, lane.joined) 
  local rest = lane.parked == 0 and cmsgpack.pack(lane.classes, lane.lasts)
    or cmsgpack.pack(lane.classes, lane.lasts, lane.parked)
  redis.call('HSET', K.fair(lane.p), 's', packed .. rest)
  if lane.learned then redis.call('HSET', K.fair(lane.p), 't', struct.pack('<d', lane.mean)) end
  if lane.fresh then redis.call('SADD', K.queues(), lane.queue) end
end
