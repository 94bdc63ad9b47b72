-- Reads what a worker has announced, and says that it lives.

-- nil when the worker is not registered, or its lists were dropped while it was silent.
function F.readWorker(id)
  local got = redis.call('HMGET', K.worker(id), FIELD.worker.names, FIELD.worker.lists, FIELD.worker.last,
    FIELD.worker.line, FIELD.worker.seen, FIELD.worker.unlisted, FIELD.worker.succeeded)
  if not got[5] or got[6] then return end
  local worker = { id = id, names = got[1], last = got[3], line = got[4], seen = tonumber(got[5]),
    succeededBefore = got[7], succeeded = 0 }
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
