-- Loads and saves the state of queues: virtual clock, counts, and who is ready in which class; by kind
-- of class in use, what it remembers of the user that entered last (`Tag.enterTag`). What stands for it in
-- Redis is numbers: those that every step needs; those that few do, which the short scripts hand through as they
-- are; and, where there are classes but that of users without a record and settings, or parked tasks, the rest.

-- Where the rest begins.
local REST_FROM = (AT.queue.rest + SIZE.seldom)

function F.readSeldom(lane, packed)
  local c = lane.counts
  lane.tat, c.failed, c.canceled, lane.failed, lane.canceled, lane.retried, lane.lost, lane.stolen
    = struct.unpack(FORMAT.seldom, packed, AT.queue.rest)
end

-- Classes beside the one with the weight 100 of users without a record, and how many tasks are parked.
function F.readRest(lane, rest)
  local classes, lasts, parked = cmsgpack.unpack(rest)
  for class, n in pairs(classes) do lane.classes[class] = n end
  for kind, last in pairs(lasts) do lane.lasts[kind] = last end
  lane.parked = parked
end

function F.laneOf(queue)
  local lane = lanes[queue]
  if lane then return lane end
  local p = K.lane(queue)
  local got = redis.call('HMGET', K.fair(p), FIELD.fair.numbers, FIELD.fair.settings, FIELD.fair.mean)
  local packed, config = got[1], NONE
  if got[2] then config = cmsgpack.unpack(got[2]) end
  local v, w, epoch, runnable, ready, idleLeast, old, tags, joined, scheduled, deferred, queued, started, ended,
    enqueued, finished, plain, last = 0, 0, 0, 0, 0, INF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1
  if packed then
    v, w, epoch, runnable, ready, idleLeast, old, tags, joined, scheduled, deferred, queued, started, ended,
      enqueued, finished, plain, last = struct.unpack(FORMAT.queue, packed)
  end
  lane = { queue = queue, prefix = p, virtual = v, weightSum = w, epoch = epoch, readEpoch = epoch, runnable = runnable,
    ready = ready,
    idleLeast = idleLeast, old = old, tags = tags, joined = joined, enqueued = enqueued, finished = finished,
    counts = { scheduled = scheduled, deferred = deferred, queued = queued, started = started, finished = ended },
    classes = { pw100 = plain > 0 and plain or nil }, lasts = { w100 = last >= 0 and last or nil }, parked = 0,
    config = config, perUser = config.perUser or NONE, timed = config.charge == 'time', users = rich and {} or NONE,
    gain = 0, fresh = not packed, isTouched = false, seldom = '' }
  -- A queue that is new: numbers that are 0.
  packed = packed or string.rep('\0', REST_FROM - 1)
  if rich then
    F.readSeldom(lane, packed)
  else
    lane.seldom = string.sub(packed, AT.queue.rest, REST_FROM - 1)
  end
  if #packed >= REST_FROM then F.readRest(lane, string.sub(packed, REST_FROM)) end
  if got[3] then lane.mean = struct.unpack('<d', got[3]) end
  lanes[queue] = lane
  return lane
end

function F.touchLane(lane)
  if lane.isTouched then return end
  lane.isTouched = true
  touched[#touched + 1] = lane
end

function F.packSeldom(lane)
  local c = lane.counts
  return struct.pack(FORMAT.seldom, lane.tat, c.failed, c.canceled, lane.failed, lane.canceled, lane.retried, lane.lost,
    lane.stolen)
end

function F.saveLane(lane)
  local c, classes, lasts = lane.counts, lane.classes, lane.lasts
  local plain, last, rest = classes.pw100, lasts.w100, ''
  classes.pw100, lasts.w100 = nil, nil
  if lane.parked > 0 or next(classes) or next(lasts) then rest = cmsgpack.pack(classes, lasts, lane.parked) end
  classes.pw100, lasts.w100 = plain, last
  redis.call('HSET', K.fair(lane.prefix), FIELD.fair.numbers, struct.pack(FORMAT.queue, lane.virtual, lane.weightSum,
    lane.epoch, lane.runnable, lane.ready,
    lane.idleLeast, lane.old, lane.tags, lane.joined, c.scheduled, c.deferred, c.queued, c.started, c.finished,
    lane.enqueued, lane.finished, plain or 0, last or -1) .. (rich and F.packSeldom(lane) or lane.seldom) .. rest)
  if lane.learned then redis.call('HSET', K.fair(lane.prefix), FIELD.fair.mean, struct.pack('<d', lane.mean)) end
  if lane.fresh then redis.call('SADD', K.queues(), lane.queue) end
end
