-- Finds the next moment at which waiting work falls due.

function F.rateOpensAt(lane)
  local rate = lane.config.rate
  if not rate or lane.runnable == 0 then return INF end
  local allowed = math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit))
  return allowed > now and allowed or INF
end

-- The least moment at which something falls due that a step would act on; INF when nothing does.
function F.nextDue()
  local least = math.max(H.started, C.pause)
  if H.started == INF then least = INF end
  return math.ceil(math.min(least, H['scheduled-users'], H.throttled, H.deadlines))
end
