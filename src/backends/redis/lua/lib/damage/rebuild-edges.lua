-- Makes anew what a task's own record says of its dependencies, deadline, key and graph.

-- It waits for one that has not ended; unless that had ended, and was put back when this one had gone on.
function Rebuild.edgeLive(t, upstream, isBlocking, lost, repair)
  local isKnown = redis.call('ZSCORE', K.waiting(upstream.id), t.id)
  if isBlocking and upstream.dependents and isKnown then return end
  if not (isBlocking or isKnown or lost) then return end
  if repair then Deps.blockBy(t, upstream) end
  return 'waits for ' .. upstream.id .. ', which does not know'
end

-- It waits for one that is not stored.
function Rebuild.edgeMissing(t, id, repair)
  local pair = Deps.missingOf(t, id)
  if redis.call('ZSCORE', K.missing(pair), t.id)
    and (redis.call('ZSCORE', K.index('missing'), pair) or H.submissions < INF) then return end
  if repair then Deps.blockByMissing(t, id) end
  return 'waits for ' .. id .. ', which is not stored'
end

-- It waited for one that has ended; of one that is put back, regardless of its policy.
function Rebuild.edgeOver(t, u, upstream, repair)
  if upstream.inCascade then
    if redis.call('ZSCORE', K.waiting(upstream.id), t.id) then return end
  elseif redis.call('ZSCORE', K.awaitingRedrive(upstream.id), t.id) then
    return
  end
  if repair then
    redis.call('SADD', K.blocked(t.id), upstream.id)
    Cascade.notify(upstream, t)
  end
  return 'was not told of the end of ' .. upstream.id
end

function Rebuild.edgeOne(t, u, id, lost, repair)
  local upstream = Deps.upstreamOf(t, id)
  local isBlocking = redis.call('SISMEMBER', K.blocked(t.id), id) == 1
  if Cascade.satisfiedMissing(t, id) then return end
  if upstream and not F.isEnd(upstream.state) then return Rebuild.edgeLive(t, upstream, isBlocking, lost, repair) end
  if not isBlocking and not lost then return end
  if upstream then return Rebuild.edgeOver(t, u, upstream, repair) end
  return Rebuild.edgeMissing(t, id, repair)
end

-- A batch whose own record is gone was whole, or no caller was told that it was accepted.
function Rebuild.edgeSubmission(t, repair)
  local id = t.optional and t.optional.batchId
  if not id or F.isEnd(t.state) then return end
  if redis.call('EXISTS', K.submit(id)) == 1 then
    if redis.call('LPOS', K.submitted(id), t.id) then return end
    if repair then redis.call('RPUSH', K.submitted(id), t.id) end
    return 'is not listed in its batch'
  end
  if repair then
    t.optional.batchId = nil
    F.change(t)
  end
  return 'waits for the seal of a batch that is gone'
end

-- It waits for no task that its record does not name.
function Rebuild.edgeStrays(t, ids, repair)
  local named, drift = {}, nil
  for _, id in ipairs(ids) do named[id] = true end
  for _, id in ipairs(redis.call('SMEMBERS', K.blocked(t.id))) do
    if not named[id] then
      drift = 'waits for one that it does not name'
      if repair then redis.call('SREM', K.blocked(t.id), id) end
    end
  end
  return drift
end

-- A look for those that wait finds it, and so does the end of what it waits for. What has come meanwhile,
-- and is kept, wakes it.
function Rebuild.edgeWait(t, u, repair)
  local x = t.optional
  if x.awaitKind == 'ask' and not Wait.ask(t.id, x.awaitName) then
    -- Its handler puts the question anew.
    if repair then Suspend.wake(t, u) end
    return 'asks what cannot be read'
  end
  local waits, keys, member, score = K.waits(x.awaitKind), Wait.places(t)
  local since, isFound = tonumber(redis.call('ZSCORE', waits, t.id) or nil), true
  for _, key in ipairs(keys) do
    if not redis.call('ZSCORE', key, member) then
      isFound = false
      if repair then F.zset(key, member, score) end
    end
  end
  if since and isFound then return end
  if repair then
    if not since then F.zset(waits, t.id, now) end
    local kept = not isFound and Wait.takeAny(x)
    if kept then
      Wait.answer(t, u, 'signal', kept)
      F.reindex(u)
    elseif x.awaitKind == 'event' and not isFound then
      Rebuild.missedEvents(t, since or now, score)
    end
  end
  return 'waits, but is in no index'
end

-- It is told of those that were published since it began to wait, and are kept.
function Rebuild.missedEvents(t, since, newest)
  local place = Wait.eventPlace(t)
  while newest > 0 do
    local event = redis.call('HGET', K.events(place), FIELD.events.event .. string.format('%.0f', newest))
    local published = tonumber(string.match(event or '', '^(%d+) ') or nil)
    if not published or published <= since then break end
    newest = newest - 1
  end
  F.zset(K.eventWaiters(place), t.id, newest)
  Wait.passOn(place, Wait.newestEvent(place))
end

-- A run lets it go, now or once its pause is over.
function Rebuild.edgeAside(t, u, repair)
  local run = F.taskOf(t.optional.asideFor)
  local x = run and run.optional
  if x and x.hasAside and redis.call('ZSCORE', K.aside(run.id), t.id) then return end
  if repair and x and x.pausedSince then
    x.hasAside = true
    F.change(run)
    F.zset(K.aside(run.id), t.id, F.fixed(t).stamp)
  elseif repair then
    t.optional.asideFor = nil
    F.leave(t, u)
    F.enterQueue(t, u)
  end
  return 'is held, but is in no index'
end

-- What it waits for, of a task that may wait.
function Rebuild.edgeAll(t, u, repair)
  if t.state ~= 'deferred' and t.state ~= 'scheduled' then return end
  local drift = Rebuild.edgeSubmission(t, repair)
  local x = t.optional or NONE
  if x.waitsOn or x.suspendedFor then
    local lost = t.state == 'deferred' and not x.batchId and not x.asideFor and not x.awaitKind
      and redis.call('EXISTS', K.blocked(t.id)) == 0
    local ids = {}
    for _, id in ipairs(x.waitsOn or NONE) do ids[#ids + 1] = id end
    for _, id in ipairs(x.suspendedFor or NONE) do ids[#ids + 1] = id end
    drift = Rebuild.edgeStrays(t, ids, repair) or drift
    for _, id in ipairs(ids) do
      if t.state == 'deferred' or t.state == 'scheduled' then
        drift = Rebuild.edgeOne(t, u, id, lost, repair) or drift
      end
    end
  end
  if t.state == 'deferred' and x.asideFor then return Rebuild.edgeAside(t, u, repair) or drift end
  if t.state == 'deferred' and x.awaitKind then return Rebuild.edgeWait(t, u, repair) or drift end
  if t.state ~= 'deferred' or x.batchId or redis.call('EXISTS', K.blocked(t.id)) == 1 then return drift end
  if repair then F.unblock(t, u) end
  return drift or 'waits for nothing'
end

-- An ended task whose dependents were not told.
function Rebuild.edgeEnded(t, repair)
  local listed = redis.call('ZSCORE', K.index('cascade'), t.id)
  local isDue = t.inCascade or redis.call('EXISTS', K.waiting(t.id)) == 1
  if listed or not isDue then return end
  if repair then
    if not t.inCascade then t.inCascade, t.left = true, true end
    F.put('cascade', t.id, t.endStamp)
    F.change(t)
  end
  return 'has dependents that are not told'
end

-- The key is its own, or has no owner any more.
function Rebuild.edgeKey(t, u, repair)
  local x = t.optional
  if not (x and x.keyName) or x.keyPassed then return end
  -- One that holds for a time does so beyond the end.
  if F.isEnd(t.state) and not (x.keyHoldsUntil and now < x.keyHoldsUntil) then return end
  local key = F.keyState(u.queue.name, u.name, x.keyName)
  if key.ownerId then return end
  if repair then
    key.ownerId, key.digestFirst, key.dirty = t.id, F.firstDigest(t), true
    key.holdsUntil, key.windowFrom = x.keyHoldsUntil, x.keyWindowFrom
    key.ownerEndedAt = F.isEnd(t.state) and t.at or nil
  end
  return 'has a key that does not know it'
end

-- Everything that stands elsewhere about a task, and whose truth is its record.
function F.recordDrift(t, u, repair)
  local drift
  if t.optional and t.optional.leastDeadline and not F.isEnd(t.state) and not redis.call('ZSCORE', K.index('deadlines'),
    F.member(t)) then
    drift = 'has a deadline that is in no index'
    if repair then F.move('deadlines', F.member(t), t.optional.leastDeadline) end
  end
  if t.optional and t.optional.graphHash and redis.call('SISMEMBER', K.graphRefs(t.optional.graphHash), t.id) == 0 then
    drift = 'needs a graph that does not know it'
    if repair then Graphs.hold(t.optional.graphHash, t.id) end
  end
  drift = Rebuild.edgeKey(t, u, repair) or drift
  if t.inCascade and not F.isEnd(t.state) and not redis.call('ZSCORE', K.index('cascade'), t.id) then
    drift = 'holds tasks that are not let go'
    if repair then Cascade.enter(t, t.stamp) end
  end
  if F.isEnd(t.state) then return Rebuild.edgeEnded(t, repair) or drift end
  return Rebuild.edgeAll(t, u, repair) or drift
end
