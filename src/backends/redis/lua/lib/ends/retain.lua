-- Takes ended tasks away whose time is over, oldest first, with everything kept about them.

-- Nothing of it is kept.
function Retain.forget(t)
  local id = t.id
  redis.call('HDEL', K.tasks(), id)
  if F.isLong(t) then redis.call('HDEL', K.payloads(), id) end
  if t.hasFacts then redis.call('HDEL', K.facts(), id) end
  redis.call('HDEL', K.ends(), id)
  if t.isApart then redis.call('HDEL', K.results(), id) end
  redis.call('HDEL', K.errors(), id)
  if t.hasEar then
    t.dependents, t.listeners = false, nil
    F.saveEar(t)
  end
  redis.call('UNLINK', K.attempts(id), K.blocked(id), K.run(id), K.channel(id))
  if t.changing and t.changing.streamed then Streams.forget(id) end
  t.isGone = true
  tasks[id] = false
end

-- Removes an ended task. Those that still wait for its redrive are canceled first, in bounded
-- steps; false while some are left.
function Retain.takeAway(t)
  local u = F.ownerOf(t)
  if t.dependents then
    local key = K.awaitingRedrive(t.id)
    F.flushKey(key)
    local ids = redis.call('ZRANGE', key, 0, LIMIT.awaitingRedriveStep)
    for i = 1, math.min(#ids, LIMIT.awaitingRedriveStep) do
      F.zset(key, ids[i], false)
      local dependent = F.taskOf(ids[i])
      if dependent and not F.isEnd(dependent.state) then
        F.endTask(dependent, F.ownerOf(dependent), 'canceled',
          { cause = Cascade.causeOf(t.id, 'removed') })
      end
    end
    if #ids > LIMIT.awaitingRedriveStep then return false end
  end
  if t.optional and t.optional.hasAside and select(2, Pause.letGo(t, LIMIT.awaitingRedriveStep, true)) then return false end
  -- One that failed could have been redriven, and a join holds what it joined: they read until now.
  if t.optional and (t.state == 'failed' or t.optional.isJoin) then Cascade.leaveReaders(t) end
  local key = t.optional and t.optional.keyName and F.keyState(u.queue.name, u.name, t.optional.keyName)
  if key and key.ownerId == t.id then
    -- The key goes too, unless it holds for a time.
    if key.holdsUntil and now < key.holdsUntil then key.ownerEndedAs = t.state else key.ownerId = nil end
    key.dirty = true
  end
  F.leave(t, u)
  Graphs.drop(t)
  Retain.forget(t)
  F.cascade(LIMIT.awaitingRedriveStep)
  return true
end

-- How many of these, from the first on, ended before and are usual; and how many of those, also from the first on,
-- are bare; then whether results of them may stand in `results`.
function Retain.countBefore(state, ends, ears, over)
  local code, n, bare, hasApart = CODES[state], 0, 0, false
  for i = 1, #ends do
    local ended = ends[i]
    if not ended or (ears and ears[i]) then break end
    local said, at_ = struct.unpack('<Bd', ended)
    local isBare = said >= FLAG.ending.bare
    if isBare then said = said - FLAG.ending.bare end
    if said % FLAG.ending.settled ~= code or said >= FLAG.ending.awaited or at_ > over then break end
    n = i
    if isBare and bare == i - 1 then bare = i end
    hasApart = hasApart or said >= FLAG.ending.apart
  end
  return n, bare, hasApart
end

-- Of the first of these that have no facts that matter, what stands apart from texts and ends, and the keys of those behind
-- the bare ones, are taken away. Says how many of each queue these are, and how many in all.
function Retain.dropApart(ids, n, bare, hasApart)
  local texts, byQueue, keys, runs, channels = redis.call('HMGET', K.tasks(), unpack(ids, 1, n)), {}, {}, K.run(''), K.channel('')
  local known, queueName, hasFacts, hasLong = nil, nil, false, false
  for i = 1, n do
    local text, id = texts[i], ids[i]
    local kind, hundreds, tens, ones = string.byte(text or '', AT.text.kind, END.text.userBytes)
    if not ones or (kind >= BYTE.facts and kind < BYTE.place) then
      n = i - 1
      break
    end
    hasFacts, hasLong = hasFacts or kind >= BYTE.place, hasLong or kind % (2 * FLAG.kind.long) == 1
    local from = 100 * hundreds + 10 * tens + ones - DIGITS
    if not known or string.sub(text, from, from + #known - 1) ~= known then
      known = string.sub(text, from, string.find(text, '\0', from, true))
      queueName = string.sub(known, 1, -2)
    end
    byQueue[queueName] = (byQueue[queueName] or 0) + 1
    if i > bare then keys[#keys + 1], keys[#keys + 2] = runs .. id, channels .. id end
  end
  if n == 0 then return byQueue, n end
  -- An error comes with facts.
  if hasFacts then redis.call('HDEL', K.facts(), unpack(ids, 1, n)) end
  if hasLong then redis.call('HDEL', K.payloads(), unpack(ids, 1, n)) end
  if hasApart then redis.call('HDEL', K.results(), unpack(ids, 1, n)) end
  if keys[1] then redis.call('UNLINK', unpack(keys)) end
  return byQueue, n
end

-- Takes the first that have ended away all at once, while they are as most tasks are; says how many.
function Retain.takeMany(state, over, most)
  if most <= 0 then return 0 end
  F.flushEnded()
  Step.saveTasks()
  local key = K.ended(state)
  local ids = redis.call('LRANGE', key, 0, most - 1)
  if #ids == 0 then return 0 end
  local n, bare, hasApart = Retain.countBefore(state, redis.call('HMGET', K.ends(), unpack(ids)),
    C.ears > 0 and redis.call('HMGET', K.ears(), unpack(ids)), over)
  if n == 0 then return 0 end
  local byQueue = nil
  if bare == n and redis.call('SCARD', K.queues()) == 1 then
    byQueue = { [redis.call('SMEMBERS', K.queues())[1]] = n }
  else
    byQueue, n = Retain.dropApart(ids, n, bare, hasApart)
  end
  if n == 0 then return 0 end
  redis.call('LTRIM', key, n, -1)
  F.dropHoles(state)
  redis.call('HDEL', K.tasks(), unpack(ids, 1, n))
  redis.call('HDEL', K.ends(), unpack(ids, 1, n))
  for i = 1, n do
    if tasks[ids[i]] then tasks[ids[i]] = false end
  end
  for name, count in pairs(byQueue) do
    local queue = F.queueOf(name)
    queue.counts[state] = queue.counts[state] - count
    F.touchQueue(queue)
  end
  return n
end

function Retain.retainState(state, keepMs, keepCount, left)
  local surely = now - LIMIT.resendMs
  local over = now - math.max(keepMs, LIMIT.resendMs)
  if H[state] > over and not (keepCount and H[state] <= surely) then return false, left end
  left = left - Retain.takeMany(state, over, left)
  while true do
    local t, passed = F.firstEnded(state, LIMIT.readStep)
    if not t and passed == LIMIT.readStep then return true, left end
    H[state] = t and t.at or INF
    if not t then return false, left end
    if t.at > over and not (keepCount and t.at <= surely and F.countEnded(state) > keepCount) then
      return false, left
    end
    if t.inCascade or left <= 0 then return true, left end
    left = left - 1
    if not Retain.takeAway(t) then return true, left end
  end
end

-- `spec`: how long finished, failed and canceled tasks are kept in ms, and how many.
function Retain.retain(spec)
  local least = math.min(H.finished, H.failed, H.canceled)
  if least > now - LIMIT.resendMs then return false end
  local ages, counts = {}, {}
  for age, count in string.gmatch(spec, '(%d+):(%d*)') do
    ages[#ages + 1] = tonumber(age)
    counts[#ages] = tonumber(count) or false
  end
  local left, more, any = LIMIT.retainStep, false, false
  more, left = Retain.retainState('finished', ages[1], counts[1], left)
  any = more
  more, left = Retain.retainState('failed', ages[2], counts[2], left)
  any = any or more
  more, left = Retain.retainState('canceled', ages[3], counts[3], left)
  return any or more
end
