-- Fires slots of a schedule, one after the other.

function Schedule.isActive(id)
  local t = F.taskOf(id)
  return t and not F.isEnd(t.state)
end

function Schedule.stillActive(ids)
  local found = {}
  for _, id in ipairs(ids) do
    if Schedule.isActive(id) then found[#found + 1] = id end
  end
  return found
end

-- Those of one user: one of the user that the schedule was for before is not waited for, nor read.
function Schedule.ofUser(ids, user)
  local found = {}
  for _, id in ipairs(ids) do
    if F.fixed(F.taskOf(id)).user == user then found[#found + 1] = id end
  end
  return found
end

-- Asks the tasks of earlier slots to end.
function Schedule.overtake(ids, cause)
  for _, id in ipairs(ids) do
    local t = F.taskOf(id)
    if t.state ~= 'started' then
      F.endTask(t, F.ownerOf(t), 'canceled', { cause = cause })
    elseif not t.canceling then
      t.canceling = true
      F.optionalOf(t).cancelCause = cause
    end
  end
end

-- Puts the task behind others, however these end.
function Schedule.waitFor(item, ids)
  item.spec = item.spec or {}
  item.spec.waitsOn, item.spec.policies = ids, { 'run', 'run', 'satisfied', false }
end

function Schedule.outcomeOf(s, item, canceled)
  local reply = Store.storeEach({ item })[1]
  if reply == 'c' then return { kind = 'created', canceled = #canceled > 0 and canceled or nil } end
  reply = cjson.decode(reply)
  if reply.kind == 'existing' then return { kind = 'existing', id = reply.id } end
  -- Its id is taken by a task of the same slot with another input: it has been fired.
  if reply.refusal.type == 'task-conflict' then return { kind = 'existing', id = item.id } end
  s.missed = s.missed + 1
  return { kind = 'refused', refusal = reply.refusal }
end

-- 'queue' is that of slots that were missed: each waits for the one before.
function Schedule.fireOne(s, item, slot, overlap)
  if s.limit and s.fired >= s.limit then return { kind = 'over' } end
  local active = Schedule.stillActive(s.active)
  if #active > 0 and (overlap == 'skip' or (overlap == 'queue-one' and #active > 1)) then
    s.overlapped = s.overlapped + 1
    return { kind = 'overlap', id = active[1] }
  end
  local canceled, left = {}, {}
  if overlap == 'cancel-previous' then
    canceled = active
    Schedule.overtake(active,
      cjson.encode({ type = 'schedule', schedule = s.id, slot = tonumber(slot) }))
  end
  if overlap ~= 'allow' then left = Schedule.stillActive(active) end
  local behind = Schedule.ofUser(left, item.user)
  if overlap == 'queue' then behind = { behind[#behind] } end
  if #behind > 0 then Schedule.waitFor(item, behind) end
  local outcome = Schedule.outcomeOf(s, item, canceled)
  if outcome.kind ~= 'created' then return outcome end
  s.fired = s.fired + 1
  s.active, s.lastSlot, s.lastId = { unpack(left) }, slot, item.id
  s.active[#left + 1] = item.id
  return outcome
end
