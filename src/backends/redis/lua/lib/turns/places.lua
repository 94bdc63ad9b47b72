-- Moves a task from one place to another: each function fills one place or leaves one. All of
-- them keep the counts; the caller of `leave` reindexes the user afterwards.

function F.setState(t, u, state)
  t.state = state
  u.queue.counts[state] = u.queue.counts[state] + 1
  F.change(t)
end

-- `atOnce`: it is new, and its place is that of its arrival.
function F.enterQueue(t, u, atOnce)
  F.fixed(t)
  local again = t.seq > 0
  if not again and not atOnce then t.seq = F.stamp() end
  F.setState(t, u, 'queued')
  F.joinLine(t, u, again)
  if u.queued == 0 then F.began(u) end
  u.cnt[t.level] = u.cnt[t.level] + 1
  u.queued = u.queued + 1
  F.reindex(u)
end

-- The user's key among those with due tasks is looked up at the end of the step.
function F.dueChanged(u)
  u.dueChanged, C.dueChanged = true, true
  F.touch(u)
end

function F.enterScheduled(t, u, due)
  t.at = due
  F.setState(t, u, 'scheduled')
  F.put('scheduled', F.member(t), due)
  F.zset(K.scheduled(u.queue.prefix, u.name), F.member(t), due)
  F.countLater(u, 1)
  F.dueChanged(u)
end

function F.enterDeferred(t, u)
  t.at = 0
  F.setState(t, u, 'deferred')
  F.put('deferred', t.id, F.fixed(t).stamp)
  F.countLater(u, 1)
  F.touch(u)
end

-- It stands in line no more; the caller has taken it out.
function F.dropQueued(t, u)
  local level = F.fixed(t).level
  u.cnt[level] = u.cnt[level] - 1
  u.queued = u.queued - 1
  if u.cnt[level] == 0 then F.emptied(u, level) end
end

function F.leave(t, u)
  local state = t.state
  if state == 'queued' then
    F.fixed(t)
    if Park.has(t, u) then
      Park.leave(t, u)
    else
      F.leaveLine(t, u)
      F.dropQueued(t, u)
    end
  else
    if state == 'started' then
      F.leaveLease(t.worker, t.id)
    elseif F.isEnd(state) then
      F.leaveEnded(t)
    else
      F.move(state, state == 'scheduled' and F.member(t) or t.id, false)
    end
    if state == 'scheduled' or state == 'deferred' then F.countLater(u, -1) end
    if state == 'scheduled' then
      F.zset(K.scheduled(u.queue.prefix, u.name), F.member(t), false)
      F.dueChanged(u)
    elseif state == 'started' then
      u.running = u.running - 1
      if u.queue.timed then Timed.settle(t, u) end
    elseif state == 'failed' then
      Failures.leave(t, u.queue)
    end
  end
  u.queue.counts[state] = u.queue.counts[state] - 1
  F.touch(u)
end

-- The key in the deadline index: the least of the limits of the start, of the wait, of a suspension.
function F.setDeadline(t)
  local x = t.optional
  if not x then return end
  local least = x.startUntil
  if x.waitUntil and (not least or x.waitUntil < least) then least = x.waitUntil end
  if x.wakeDue and (not least or x.wakeDue < least) then least = x.wakeDue end
  if least == x.leastDeadline then return end
  F.move('deadlines', F.member(t), least or false)
  x.leastDeadline = least
  F.change(t)
end

-- Whether its time to start is over by the clock of this step, though it never started.
function F.isExpired(t)
  local till = t.optional and t.optional.startUntil
  return till and till <= now or false
end

function F.expire(t, u)
  F.endTask(t, u, 'failed', { cause = '{"type":"expired"}' })
end

-- From `started` back to the line, or away until the delay is over.
function F.comeBack(t, u, delay, anew)
  t.seq = anew and 0 or F.placeOf(t)
  t.at, t.isHanded = 0, false
  F.leave(t, u)
  if delay > 0 then
    F.enterScheduled(t, u, now + delay)
  else
    F.enterQueue(t, u)
  end
  F.reindex(u)
end

function F.becomeDue(t, u)
  F.leave(t, u)
  if t.optional and F.isBlocked(t) then F.enterDeferred(t, u) else F.enterLine(t, u) end
end

-- Nothing blocks a task that stands nowhere: it goes on, a join to its end.
function F.enterLine(t, u)
  if not (t.optional and t.optional.isJoin) then return F.enterQueue(t, u) end
  F.enterDeferred(t, u)
  if F.isExpired(t) then return F.expire(t, u) end
  F.endTask(t, u, 'finished', { result = 'null' })
end

-- Gives back the charge and the rates of a lease that was released.
function F.giveBack(t, u)
  local queue = u.queue
  -- Where time is charged the time that it was held stays.
  if t.chargedEpoch == queue.epoch and u.tagEpoch == queue.epoch and not queue.timed then
    -- Measured from now: what was released long ago is no claim to turns in a row.
    Fluid.retag(u, Tag.raisedTag(u.startTag, F.joinTag(u) * Tag.scaleOf(u.countedWeight)) - Tag.turn(F.fixed(t).cost))
  end
  if u.set.rate then u.tat = Rate.afterGiveBack(u.set.rate, u.tat) end
  local rate = queue.config.rate
  if rate then queue.tat = Rate.afterGiveBack(rate, queue.tat) end
  F.touch(u)
end
