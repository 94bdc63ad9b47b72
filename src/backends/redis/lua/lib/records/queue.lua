-- Loads and saves the state of queues: virtual clock, counts, and who is ready in which class; by kind
-- of class in use, what it remembers of the user that entered last (`Tag.enterTag`). What stands for it in
-- Redis is numbers: those that every step needs; those that few do, which usual steps hand through as they
-- are; and, where there are classes but that of users without a record and settings, or parked tasks, the rest.

-- Where the rest begins.
local REST_FROM = (AT.queue.rest + SIZE.seldom)
-- A queue of which nothing is stored.
local NEW_QUEUE = struct.pack(FORMAT.queue, 0, 0, 0, 0, 0, INF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0) .. string.rep('\0', SIZE.seldom)

function F.readSeldom(queue)
  local c = queue.counts
  queue.tat, c.failed, c.canceled, queue.failed, queue.canceled, queue.retried, queue.lost, queue.stolen
    = struct.unpack(FORMAT.seldom, queue.seldom)
end

-- Classes beside the one with the weight 100 of users without a record, how many tasks are parked, and the weights of
-- users with a record that count although they are not ready.
function F.readRest(queue, rest)
  local classes, lasts, parked, leaving = cmsgpack.unpack(rest)
  for class, n in pairs(classes) do queue.classes[class] = n end
  for kind, last in pairs(lasts) do queue.lasts[kind] = last end
  queue.parked, queue.leaving = parked, leaving or 0
end

-- What stands in `fair`: settings, and the mean time that leases are held where time is charged.
function F.readSettings(queue)
  local got = redis.call('HMGET', K.fair(queue.prefix), FIELD.fair.settings, FIELD.fair.mean)
  local config = got[1] and cmsgpack.unpack(got[1]) or NONE
  queue.hasSettings, queue.config, queue.perUser, queue.timed = true, config, config.perUser or NONE, config.charge == 'time'
  if got[2] then queue.mean = struct.unpack('<d', got[2]) end
end

function F.unpackQueue(queueName, queuePrefix, packed)
  local v, w, epoch, runnable, ready, idleLeast, old, tags, joined, scheduled, deferred, queued, started, ended,
    enqueued, finished, recordless, last, flags = struct.unpack(FORMAT.queue, packed)
  local queue = { name = queueName, prefix = queuePrefix, field = FIELD.clock.queue .. queueName,
    usualReady = K.ready(queuePrefix, USUAL.class), usualLine = K.line(queuePrefix, '', ''), virtual = v, weightSum = w, epoch = epoch, readEpoch = epoch, runnable = runnable,
    ready = ready, idleLeast = idleLeast, old = old, tags = tags, joined = joined, enqueued = enqueued, finished = finished,
    counts = { scheduled = scheduled, deferred = deferred, queued = queued, started = started, finished = ended },
    classes = { [USUAL.class] = recordless > 0 and recordless or nil }, lasts = { [USUAL.kind] = last >= 0 and last or nil },
    parked = 0, leaving = 0, config = NONE, perUser = NONE, timed = false, users = NONE, gain = 0, fresh = false, isTouched = false,
    seldom = string.sub(packed, AT.queue.rest, REST_FROM - 1), hasSettings = false, rest = string.sub(packed, REST_FROM), fronts = {}, turns = Dispatch.newTurns(), packed = false }
  if queue.rest ~= '' then F.readRest(queue, queue.rest) end
  if flags > 0 then F.readSettings(queue) end
  return queue
end

-- A queue as it is stored, or as it was kept. Settings may change while the numbers stay as they are.
function F.readQueue(queueName, queuePrefix, packed)
  local kept = not whole and F.takeKept(queuePrefix, packed)
  if kept and kept.hasSettings then F.readSettings(kept) end
  return kept or F.unpackQueue(queueName, queuePrefix, packed)
end

function F.queueOf(queueName)
  local queue = knownQueues[queueName]
  if queue then return queue end
  local queuePrefix, packed = K.queue(queueName), nil
  if queueName == queueName_ then packed = queueText else packed = redis.call('HGET', KEYS[1], FIELD.clock.queue .. queueName) end
  queue = F.readQueue(queueName, queuePrefix, packed or NEW_QUEUE)
  queue.fresh = not packed
  if whole then F.wholeQueue(queue) end
  knownQueues[queueName] = queue
  return queue
end

-- What a usual step does not read of it.
function F.wholeQueue(queue)
  queue.users = {}
  F.readSeldom(queue)
end

function F.touchQueue(queue)
  if queue.isTouched then return end
  queue.isTouched = true
  touched[#touched + 1] = queue
end

function F.packSeldom(queue)
  local c = queue.counts
  return struct.pack(FORMAT.seldom, queue.tat, c.failed, c.canceled, queue.failed, queue.canceled, queue.retried, queue.lost,
    queue.stolen)
end

-- What few steps change of a queue, packed.
function F.packRest(queue)
  local classes, lasts = queue.classes, queue.lasts
  local recordless, last, rest = classes[USUAL.class], lasts[USUAL.kind], ''
  classes[USUAL.class], lasts[USUAL.kind] = nil, nil
  if queue.parked > 0 or queue.leaving > 0 or next(classes) or next(lasts) then
    rest = cmsgpack.pack(classes, lasts, queue.parked, queue.leaving)
  end
  classes[USUAL.class], lasts[USUAL.kind] = recordless, last
  return rest
end

function F.packQueue(queue)
  local c = queue.counts
  -- A usual step says when it changes any of that.
  if whole or not queue.rest then queue.rest = F.packRest(queue) end
  return struct.pack(FORMAT.queue, queue.virtual, queue.weightSum,
    queue.epoch, queue.runnable, queue.ready,
    queue.idleLeast, queue.old, queue.tags, queue.joined, c.scheduled, c.deferred, c.queued, c.started, c.finished,
    queue.enqueued, queue.finished, queue.classes[USUAL.class] or 0, queue.lasts[USUAL.kind] or -1,
    queue.hasSettings and FLAG.queue.settings or 0) .. (whole and F.packSeldom(queue) or queue.seldom) .. queue.rest
end

function F.saveQueue(queue)
  local n = #saving
  queue.packed = F.packQueue(queue)
  saving[n + 1], saving[n + 2] = queue.field, queue.packed
  if queue.learned then redis.call('HSET', K.fair(queue.prefix), FIELD.fair.mean, struct.pack('<d', queue.mean)) end
  if queue.fresh then
    redis.call('SADD', K.queues(), queue.name)
    -- The series count from here on.
    redis.call('HSETNX', K.seriesTotals(), queue.name, string.format('%.0f', now) .. ' 0 0 0 0 0 0')
  end
end
