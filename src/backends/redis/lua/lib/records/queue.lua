-- Loads and saves the state of queues: virtual clock, counts, and who is ready in which class; by kind
-- of class in use, what it remembers of the user that entered last (`Tag.enterTag`). What stands for it in
-- Redis is numbers: those that every step needs; those that few do, which the short scripts hand through as they
-- are; and, where there are classes but that of users without a record and settings, or parked tasks, the rest.

-- Where the rest begins.
local REST_FROM = (AT.queue.rest + SIZE.seldom)

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

function F.queueOf(queueName)
  local queue = knownQueues[queueName]
  if queue then return queue end
  local p = K.queue(queueName)
  local got = redis.call('HMGET', K.fair(p), FIELD.fair.numbers, FIELD.fair.settings, FIELD.fair.mean)
  local packed, config = got[1], NONE
  if got[2] then config = cmsgpack.unpack(got[2]) end
  local v, w, epoch, runnable, ready, idleLeast, old, tags, joined, scheduled, deferred, queued, started, ended,
    enqueued, finished, recordless, last = 0, 0, 0, 0, 0, INF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1
  if packed then
    v, w, epoch, runnable, ready, idleLeast, old, tags, joined, scheduled, deferred, queued, started, ended,
      enqueued, finished, recordless, last = struct.unpack(FORMAT.queue, packed)
  end
  queue = { name = queueName, prefix = p, virtual = v, weightSum = w, epoch = epoch, readEpoch = epoch, runnable = runnable,
    ready = ready,
    idleLeast = idleLeast, old = old, tags = tags, joined = joined, enqueued = enqueued, finished = finished,
    counts = { scheduled = scheduled, deferred = deferred, queued = queued, started = started, finished = ended },
    classes = { [USUAL.class] = recordless > 0 and recordless or nil }, lasts = { [USUAL.kind] = last >= 0 and last or nil }, parked = 0, leaving = 0,
    config = config, perUser = config.perUser or NONE, timed = config.charge == 'time', users = whole and {} or NONE,
    gain = 0, fresh = not packed, isTouched = false, seldom = '' }
  -- A queue that is new: numbers that are 0.
  packed = packed or string.rep('\0', REST_FROM - 1)
  queue.seldom = string.sub(packed, AT.queue.rest, REST_FROM - 1)
  if whole then F.readSeldom(queue) end
  if #packed >= REST_FROM then F.readRest(queue, string.sub(packed, REST_FROM)) end
  if got[3] then queue.mean = struct.unpack('<d', got[3]) end
  knownQueues[queueName] = queue
  return queue
end

-- The step goes on with all that is known.
function F.readAll()
  if whole then return end
  whole = true
  for _, queue in pairs(knownQueues) do
    queue.users = {}
    F.readSeldom(queue)
  end
end

-- The step begins with what most need; a call with care reads all.
function F.beginPlain()
  whole = guard ~= nil
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

function F.saveQueue(queue)
  local c, classes, lasts = queue.counts, queue.classes, queue.lasts
  local recordless, last, rest = classes[USUAL.class], lasts[USUAL.kind], ''
  classes[USUAL.class], lasts[USUAL.kind] = nil, nil
  if queue.parked > 0 or queue.leaving > 0 or next(classes) or next(lasts) then
    rest = cmsgpack.pack(classes, lasts, queue.parked, queue.leaving)
  end
  classes[USUAL.class], lasts[USUAL.kind] = recordless, last
  redis.call('HSET', K.fair(queue.prefix), FIELD.fair.numbers, struct.pack(FORMAT.queue, queue.virtual, queue.weightSum,
    queue.epoch, queue.runnable, queue.ready,
    queue.idleLeast, queue.old, queue.tags, queue.joined, c.scheduled, c.deferred, c.queued, c.started, c.finished,
    queue.enqueued, queue.finished, recordless or 0, last or -1) .. (whole and F.packSeldom(queue) or queue.seldom) .. rest)
  if queue.learned then redis.call('HSET', K.fair(queue.prefix), FIELD.fair.mean, struct.pack('<d', queue.mean)) end
  if queue.fresh then
    redis.call('SADD', K.queues(), queue.name)
    -- The series count from here on.
    redis.call('HSETNX', K.seriesTotals(), queue.name, string.format('%.0f', now) .. ' 0 0 0 0 0 0')
  end
end
