-- Finds the next moment at which waiting work falls due.

function F.rateOpensAt(lane)
  local rate = lane.config.rate
  if not rate or (lane.runnable == 0 and lane.parked == 0) then return INF end
  local allowed = math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit))
  return allowed > now and allowed or INF
end

-- When somebody has to look for due schedules; again after a while when nobody has fired one.
function F.scheduleLookAt()
  local due = H['schedules:due']
  return due <= now and now + LIMIT.scheduleRetryMs or due
end

-- 1 when some schedule is due, else 0.
function F.schedulesDue()
  return H['schedules:due'] <= now and 1 or 0
end

-- The least moment at which something falls due that a step would act on; INF when nothing does.
-- Dependents that a step had no room to tell are due at once.
function F.nextDue()
  if H.cascade < INF then return now end
  local least = math.max(H.started, C.pause)
  if H.started == INF then least = INF end
  return math.ceil(math.min(least, H['scheduled-users'], H.throttled, H.deadlines,
    F.scheduleLookAt()))
end
