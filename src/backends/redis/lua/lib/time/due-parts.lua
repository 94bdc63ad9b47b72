-- Looks whether maintenance has anything to do, without asking Redis: H never says later than it is.

-- Whether an ended task may go: by age, or (asked of Redis only when counts are kept) by number.
function F.retainDue(spec)
  local least = math.min(H.finished, H.failed, H.canceled)
  if least > now - LIMIT.resendMs then return false end
  local finished, failed, canceled = string.match(spec, '^(%d+):,(%d+):,(%d+):$')
  if not finished then return true end
  return H.finished <= now - finished or H.failed <= now - failed or H.canceled <= now - canceled
end

-- Whether any part of maintenance has something to do.
function F.isTickDue(retention)
  if H.started <= now and now >= C.pause or H['scheduled-users'] <= now or H.throttled <= now
    or H.deadlines <= now or H.cascade < INF or H.submissions <= now or H['xcom-ends'] <= now or C.dropping > 0
    or C.refresh > 0 or H['listed-workers'] < now - LIMIT.workerSilenceMs then
    return true
  end
  return F.retainDue(retention)
end

function F.tickSteps(retention)
  if F.isTickDue(retention) then
    return Tick.run(retention)
  end
  return C.idle > 0 and Tick.dropIdles()
end
