-- Keeps a worker on the short path: unrestricted, and in no line; it may have been woken.

local function plainWorker(id)
  local got = redis.call('HMGET', K.worker(id), 'n', 'l', 'r', 'i', 't', 'x', 's')
  if not got[5] or got[2] or (got[4] and got[4] ~= '') or got[6] then return end
  return { id = id, names = got[1], last = got[3], woken = got[4], seen = tonumber(got[5]),
    gained = 0, succeeded = 0, before = got[7] or 0 }
end

-- `last`: the request and what it was given, for whoever asks the same again. What was settled is
-- counted by the write that says that the worker lives.
local function savePlainWorker(worker, last)
  local key = K.worker(worker.id)
  if math.floor(now / 1000) ~= math.floor(worker.seen / 1000) then
    redis.call('ZADD', K.workers(), now, worker.id)
  end
  local field, total = 't', now
  if worker.succeeded > 0 then field, total = 's', worker.before + worker.succeeded end
  if last then
    redis.call('HSET', key, 't', now, 'r', cmsgpack.pack(last), field, total)
    if worker.woken then
      redis.call('DEL', K.wake(worker.id))
      redis.call('HDEL', key, 'i')
    end
  else
    redis.call('HSET', key, 't', now, field, total)
  end
  if worker.gained ~= 0 then redis.call('HINCRBY', key, 'k', worker.gained) end
end
