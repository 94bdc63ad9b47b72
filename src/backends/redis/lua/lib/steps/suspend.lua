-- Suspends a task until others have ended, or what it waits for has come.

-- It reads those no more that it waited for the last time.
function Suspend.leave(t)
  for _, id in ipairs(t.optional.suspendedFor or NONE) do
    local upstream = F.taskOf(id)
    if upstream then F.addReader(upstream, -1) end
  end
  t.optional.suspendedFor, t.optional.wakeWord = nil, nil
end

-- Waits for whom has not ended and reads the others; true when one of these has not finished.
function Suspend.link(t, ids)
  local stored, anyFailed = {}, false
  -- Earlier in this step it may have waited for others.
  t.isBlocked = false
  for _, id in ipairs(ids) do
    local upstream = F.taskOf(id)
    if upstream then
      stored[#stored + 1] = id
      if F.isEnd(upstream.state) then
        F.addReader(upstream, 1)
        anyFailed = anyFailed or upstream.state ~= 'finished'
      else
        Deps.blockBy(t, upstream)
      end
    end
  end
  t.optional.suspendedFor = #stored > 0 and stored or nil
  return anyFailed
end

-- Takes it out of all that it still waits for; it reads only those that have ended.
function Suspend.unlink(t)
  local key, read = K.blocked(t.id), {}
  for _, id in ipairs(t.optional.suspendedFor or NONE) do
    if redis.call('SREM', key, id) == 1 then
      F.zset(K.waiting(id), t.id, false)
    else
      read[#read + 1] = id
    end
  end
  t.optional.suspendedFor = #read > 0 and read or nil
  F.change(t)
end

-- It waits for nothing any more, and still stands where it did.
function Suspend.drop(t)
  Suspend.unlink(t)
  Wait.leave(t)
  t.optional.wakeDue = nil
  F.change(t)
  F.setDeadline(t)
end

-- Wakes it before all have ended.
function Suspend.wake(t, u)
  Suspend.drop(t)
  F.unblock(t, u)
end

-- Whether its handler, which waits under this token, may say this: a suspension that was sent again says nothing new.
function Suspend.mayEnd(t, token, decision, what, after)
  if t.state == 'started' or not F.isAttendedBy(t, token) then return false end
  return decision ~= 'suspend' or (t.state == 'deferred' and what == '[]' and after == '')
end

-- It waits no more, and its handler has said all that it has to say.
function Suspend.callBack(t)
  t.leasedAt = tonumber(string.match(t.optional.attendedLease, '^%d+'))
  Suspend.drop(t)
  t.optional.attendedLease = nil
end

-- One of those that it waits for has ended.
function Suspend.notify(upstream, t, u)
  if upstream.state ~= 'finished' and t.optional.wakeWord == 'failure' then
    redis.call('SREM', K.blocked(t.id), upstream.id)
    F.addReader(upstream, 1)
    return Suspend.wake(t, u)
  end
  Cascade.satisfy(upstream, t, u)
end

-- Its time is over.
function Suspend.isOver(t, u)
  if t.optional.awaitKind == 'event' and Wait.takeEvent(t, u) then return end
  if t.optional.awaitKind then return Wait.answer(t, u, 'time', '') end
  Suspend.wake(t, u)
end

-- The decision: what it waits for as JSON, ids or `kind`, `name`, `targets` and `entry` of a wait; when it is woken,
-- with ` attended` when its handler may speak by its token, and behind that what it has left of its time, or ` decides`; and after how many
-- ms at the latest.
function Decide.suspend(t, u, what, how, wakeAfter)
  local wakeOn, attended, left = string.match(how, '^(%a+)( ?%a*)(.*)$')
  t.optional = t.optional or {}
  F.change(t)
  Suspend.leave(t)
  local wait = cjson.decode(what)
  local woken = not wait.kind and Suspend.link(t, wait) and wakeOn == 'failure'
  t.optional.decidesAfter = attended == ' decides' and t.token or nil
  t.optional.attendedLease = attended == ' attended' and string.format('%.0f ', t.leasedAt) .. t.token .. left or nil
  t.optional.wakeWord = wakeOn == 'failure' and wakeOn or nil
  t.losses, t.seq = 0, F.placeOf(t)
  F.leave(t, u)
  F.enterDeferred(t, u)
  if wakeAfter ~= '' then t.optional.wakeDue = now + wakeAfter end
  local kept = wait.kind and Wait.begin(t, wait)
  if kept then
    Wait.answer(t, u, wait.kind, kept)
  elseif woken or not (t.isBlocked or wait.kind) then
    Suspend.wake(t, u)
  else
    F.setDeadline(t)
  end
  F.reindex(u)
end
