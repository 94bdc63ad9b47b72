-- Counts the running tasks of workers, and what became of their attempts.

function F.runningAt(worker, change)
  runningChange[worker] = (runningChange[worker] or 0) + change
end

-- One attempt of a worker more that it has settled: 's' succeeded, 'f' failed.
function F.countAttempt(worker, field)
  local came = outcomes[worker] or {}
  outcomes[worker] = came
  came[field] = (came[field] or 0) + 1
end

-- One attempt more that nobody has settled; one of an earlier start is no matter of this one.
-- @rare
function F.countLost(t)
  local startedAt = redis.call('HGET', K.worker(t.worker), 'b')
  if startedAt and t.leasedAt >= tonumber(startedAt) then F.countAttempt(t.worker, 'g') end
end

-- Says that a worker lives and, in the same write, what it was given and what it has settled.
function F.saveLiving(worker, last)
  local fields, n = { 't', now }, 2
  if last then fields[3], fields[4], n = 'r', last, 4 end
  for field, more in pairs(outcomes[worker.id] or NONE) do
    if field ~= 'g' then
      fields[n + 1], fields[n + 2] = field, (worker[field] or 0) + more
      n, outcomes[worker.id][field] = n + 2, nil
    end
  end
  redis.call('HSET', K.worker(worker.id), unpack(fields))
end

function F.saveRunning()
  for worker, change in pairs(runningChange) do
    local key, came = K.worker(worker), outcomes[worker] or NONE
    local got = (change ~= 0 or next(came)) and redis.call('HMGET', key, 't', 'k') or NONE
    if got[1] then
      if change ~= 0 then redis.call('HINCRBY', key, 'k', change) end
      for field, more in pairs(came) do redis.call('HINCRBY', key, field, more) end
    elseif got[2] and redis.call('HINCRBY', key, 'k', change) <= 0 then
      redis.call('DEL', key)
    end
  end
end

-- Forgets a worker, but not how many leases are in force under its id: it may come back meanwhile.
-- @rare
function F.forgetWorker(id)
  local key = K.worker(id)
  local held = tonumber(redis.call('HGET', key, 'k') or 0)
  redis.call('DEL', key)
  if held > 0 then redis.call('HSET', key, 'k', held) end
  redis.call('ZREM', K.workers(), id)
end
