-- Says what workers live, and counts what became of their attempts.

-- How attempts that succeeded are called here; those of other outcomes are counted in fields of the worker.
local SUCCEEDED = 'succeeded'

-- An attempt of a worker that it has settled.
function F.countAttempt(worker, field, n)
  local came = outcomes[worker] or {}
  outcomes[worker] = came
  came[field] = (came[field] or 0) + (n or 1)
end

-- One attempt more that is not settled; one of an earlier start is no matter of this one.
function F.countLost(t)
  local startedAt = redis.call('HGET', K.worker(t.worker), FIELD.worker.began)
  if startedAt and t.leasedAt >= tonumber(startedAt) then F.countAttempt(t.worker, FIELD.worker.lost) end
end

function F.saveOutcomes()
  for id, came in pairs(outcomes) do
    local worker = F.workerOf(id)
    for field, more in pairs(worker and came or NONE) do
      if field == SUCCEEDED then
        worker.succeeded = worker.succeeded + more
        F.touchWorker(worker)
      else
        redis.call('HINCRBY', K.worker(id), field, more)
      end
    end
  end
end
