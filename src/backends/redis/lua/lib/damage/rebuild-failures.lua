-- Makes indexes of failed tasks anew, and what is known of error groups.

-- What indexes of failures lack of one that has failed.
function Failures.drift(t, repair)
  local misses = Rebuild.missesIn(K.failedNamed(Failures.nameOf(t)), t.id, t.endStamp, repair)
  local group = Failures.groupOf(t, Failures.causeOf(t))
  if group and Rebuild.missesIn(K.failedOf(group), t.id, t.endStamp, repair) then
    misses = true
    if repair then Failures.count(group, t.id, 1) end
  end
  return misses and 'failed, but in no index of failures' or nil
end

-- Members of an index of failures that do not belong there, as `belongs` says.
function Rebuild.failures(key, belongs, repair)
  local drift
  for _, id in ipairs(redis.call('ZRANGE', key, 0, LIMIT.repairPage - 1)) do
    local t = F.taskOf(id)
    if not (t and t.state == 'failed' and belongs(t)) then
      drift = 'holds one that did not fail so'
      if repair then redis.call('ZREM', key, id) end
    end
  end
  return drift
end

function Rebuild.failedNamed(_, name, repair)
  return Rebuild.failures(K.failedNamed(name), function(t) return Failures.nameOf(t) == name end, repair)
end

-- A group with failed tasks is known, and stands among those that have some.
function Rebuild.failedOf(_, group, repair)
  local key = K.failedOf(group)
  local drift = Rebuild.failures(key, function(t) return Failures.groupOf(t, Failures.causeOf(t)) == group end, repair)
  if redis.call('EXISTS', key) == 0 then
    Failures.forget(group)
  elseif redis.call('EXISTS', K.errorGroup(group)) == 0 or not redis.call('ZSCORE', K.errorGroups('failed'), group)
    or redis.call('ZSCORE', K.errorGroups('retried'), group) then
    drift = drift or 'is in no listing'
    if repair then Failures.count(group, redis.call('ZRANGE', key, -1, -1)[1], redis.call('ZCARD', key)) end
  end
  return drift
end

function Rebuild.errorGroup(_, group, repair)
  if redis.call('EXISTS', K.failedOf(group)) == 1 then return Rebuild.failedOf(_, group, repair) end
  -- It went with the last of its tasks, behind the listing of keys.
  if redis.call('EXISTS', K.errorGroup(group)) == 0 then return end
  return Rebuild.missesIn(K.errorGroups('retried'), group, -now, repair) and 'is in no listing' or nil
end

function Rebuild.errorGroups(_, kind, repair)
  local drift
  for _, group in ipairs(redis.call('ZRANGE', K.errorGroups(kind), 0, LIMIT.repairPage - 1)) do
    local kept = redis.call('EXISTS', K.failedOf(group)) == 1
    if kept ~= (kind == 'failed') or redis.call('EXISTS', K.errorGroup(group)) == 0 then
      drift = 'has one of which nothing is known'
      if repair then redis.call('ZREM', K.errorGroups(kind), group) end
    end
  end
  return drift
end
