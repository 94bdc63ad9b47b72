-- Says what workers live, and counts what became of their attempts.

-- An attempt of a worker that it has settled: 's' succeeded, 'f' failed.
-- @rare
function F.countAttempt(worker, field, n)
  local came = outcomes[worker] or {}
  outcomes[worker] = came
  came[field] = (came[field] or 0) + (n or 1)
end

-- One attempt more that nobody has settled; one of an earlier start is no matter of this one.
-- @rare
function F.countLost(t)
  local startedAt = redis.call('HGET', K.worker(t.worker), FIELD.worker.began)
  if startedAt and t.leasedAt >= tonumber(startedAt) then F.countAttempt(t.worker, FIELD.worker.lost) end
end

-- Says that a worker lives and, in the same write, what it was given and what it has settled.
function F.saveLiving(worker, last)
  local key, done = K.worker(worker.id), worker.succeeded
  if done > 0 then
    redis.call('HSET', key, FIELD.worker.seen, now, FIELD.worker.last, last or worker.last or '',
      FIELD.worker.succeeded, (worker.succeededBefore or 0) + done)
  else
    redis.call('HSET', key, FIELD.worker.seen, now, FIELD.worker.last, last or worker.last or '')
  end
end

-- @rare
function F.saveOutcomes()
  for worker, came in pairs(outcomes) do
    local key = K.worker(worker)
    if redis.call('HEXISTS', key, FIELD.worker.seen) == 1 then
      for field, more in pairs(came) do redis.call('HINCRBY', key, field, more) end
    end
  end
end

-- @rare
function F.forgetWorker(id)
  redis.call('DEL', K.worker(id), K.wake(id))
  redis.call('ZREM', K.workers(), id)
end
