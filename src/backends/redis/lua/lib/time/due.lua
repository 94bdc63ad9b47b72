-- Finds the next moment at which waiting work falls due.

function F.rateOpensAt(queue)
  local rate = queue.config.rate
  if not rate or (queue.runnable == 0 and queue.parked == 0) then return INF end
  local allowed = Rate.allowedAt(rate, Rate.boundedTat(rate, queue.tat, now))
  return allowed > now and allowed or INF
end

-- When the rate of any queue opens that holds something back. Of many some are looked at: it is told too early
-- then rather than too late.
function F.ratesOpenAt(most)
  local rows = redis.call('ZRANGEBYSCORE', K.index('rated'), '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES',
    'LIMIT', 0, most)
  for i = 1, #rows, 2 do
    local at_ = F.rateOpensAt(F.queueOf(rows[i]))
    if at_ < INF or i == 2 * most - 1 then return math.min(at_, tonumber(rows[i + 1])) end
  end
  return INF
end

-- When the rate of a queue opens, whether or not anything is held back.
function F.saveRate(queue)
  local rate = queue.config.rate
  local at_ = Rate.allowedAt(rate, queue.tat)
  redis.call('ZADD', K.index('rated'), string.format('%.0f', at_), queue.name)
end

-- When a scheduler has to look for due schedules; again after a while when none has fired one.
function F.scheduleLookAt()
  return H['schedules:due'] <= now and now + LIMIT.scheduleRetryMs or H['schedules:due']
end

-- 1 when some schedule is due, else 0.
function F.schedulesDue()
  if not whole then return 0 end
  return H['schedules:due'] <= now and 1 or 0
end

-- The least moment at which something falls due that a step would act on; INF when nothing does.
-- Dependents that a step had no room to tell are due at once.
function F.nextDue()
  if not whole then
    if C.due > now then return math.ceil(math.min(H.started, C.due)) end
    F.readAll()
  end
  return H.cascade < INF and now or math.ceil(math.min(H.started < INF and math.max(H.started, C.pause) or INF,
    H['scheduled-users'], H.throttled, H.deadlines, F.scheduleLookAt()))
end
