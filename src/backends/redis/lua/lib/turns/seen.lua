-- Reads and saves what is known of a worker, and says that it lives.

-- What every lease of a worker needs stands with the clock; nil: it is not registered.
function F.workerOf(id)
  local worker = knownWorkers[id]
  if worker ~= nil then return worker or nil end
  local packed
  if id == workerName then packed = workerText else packed = redis.call('HGET', KEYS[1], FIELD.clock.worker .. id) end
  worker = packed and (not whole and F.takeKept(K.worker(id), packed) or F.unpackWorker(id, packed))
  knownWorkers[id] = worker or false
  return worker or nil
end

function F.unpackWorker(id, packed)
  local seen, succeeded, announced, flags, size, rest = struct.unpack(FORMAT.worker, packed)
  local last, line = string.sub(packed, rest, rest + size - 1), string.sub(packed, rest + size)
  return { id = id, key = K.worker(id), field = FIELD.clock.worker .. id, hot = K.hot(id), seen = seen, succeeded = succeeded, announced = announced, flags = flags, last = last,
    request = string.match(last, '%-(.*)$') or '', line = line ~= '' and line or false, places = false, isTouched = false, names = false, scope = false, listed = false }
end

-- It has changed, and is saved with the clock.
function F.touchWorker(worker)
  if worker.isTouched then return end
  worker.isTouched = true
  touchedWorkers[#touchedWorkers + 1] = worker
end

-- A worker with the names that it knows and its lists; nil when it is not registered, or its lists were dropped while it
-- was silent.
function F.readWorker(id)
  local worker = F.workerOf(id)
  return worker and F.readNames(worker)
end

function F.readNames(worker)
  if worker.flags >= FLAG.worker.unlisted then return end
  if worker.names then return worker end
  local id = worker.id
  local got = redis.call('HMGET', K.worker(id), FIELD.worker.names, FIELD.worker.lists)
  if not got[1] then return end
  worker.names = got[1]
  if got[2] then
    local lists = cmsgpack.unpack(got[2])
    worker.scope = { assigned = lists.assignedList, steal = lists.stealList }
    worker.listed = lists.assignedList or (lists.stealList and lists.stealList ~= 'any')
  end
  return worker
end

-- Where workers stand by the moment that they were heard, a second is as good as its first moment.
function F.seen(worker)
  if math.floor(now / 1000) ~= math.floor(worker.seen / 1000) then
    redis.call('ZADD', K.workers(), now, worker.id)
  end
  if worker.listed then F.move('listed-workers', worker.id, now) end
end

-- A worker lives, and was given something by this request, if any.
function F.saveLiving(worker, request)
  worker.seen = now
  if request then worker.last, worker.request = string.format('%d-', C.steps) .. request, request end
  F.touchWorker(worker)
end

function F.packWorker(worker)
  return struct.pack(FORMAT.worker, worker.seen, worker.succeeded, worker.announced, worker.flags, #worker.last) .. worker.last
    .. (worker.line or '')
end

function F.forgetWorker(id)
  redis.call('DEL', K.worker(id), K.wake(id))
  redis.call('ZREM', K.workers(), id)
  redis.call('HDEL', KEYS[1], FIELD.clock.worker .. id)
  local worker = knownWorkers[id]
  if worker then worker.isTouched, worker.isGone = true, true end
  knownWorkers[id] = false
end
