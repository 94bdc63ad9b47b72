-- Puts a task into an end state, and nothing else does: place, deadline, key, counts, cascade and
-- those that wait for its end. `ending` = { cause = as JSON, error =, result = }.

function F.endTask(t, u, state, ending)
  local queue = u.queue
  F.leave(t, u)
  F.setState(t, u, state)
  t.at = now
  F.enterEnded(t)
  if ending.cause then F.optionalOf(t).endCause = ending.cause end
  if state == 'failed' then
    Failures.enter(t, queue)
    -- A worker says by itself what it has decided.
    if not ending.error then Failures.list(t, u) end
  end
  if ending.error then F.setError(t, ending.error) end
  t.result = ending.result
  t.canceling = false
  local x = t.optional
  if x then
    x.startUntil, x.waitUntil, x.wakeDue = nil, nil, nil
    F.setDeadline(t)
    x.attendedLease = nil
    if x.awaitKind then Wait.leave(t) end
    if x.pausedSince or x.asideFor then Pause.leave(t, state) end
    if x.keyName then F.releaseKey(t, u) end
  end
  u.live = u.live - 1
  queue[state] = queue[state] + 1
  if t.listeners then
    published[#published + 1] = { ear = t.listeners, t = t }
    t.listeners = nil
    F.saveEar(t)
  end
  local reads = x and (x.waitsOn or x.suspendedFor) and true or false
  if reads or t.dependents or (x and x.hasAside and not x.pausedSince) then
    t.left = not reads
    Cascade.enter(t, t.endStamp)
  end
  F.reindex(u)
end
