-- Tells dependents of tasks that have finished and were as most are, of many at once: who waits for others still is
-- not read for it.
-- @rare

-- It has finished, and nothing says so but its end and this.
function Cascade.stand(id, stamp)
  Cascade.unmarked = Cascade.unmarked or {}
  Cascade.unmarked[id] = true
  F.put('cascade', id, stamp)
  pendingEnds[#pendingEnds + 1] = id
end

-- The record, which says that dependents are to be told.
function Cascade.marked(id)
  local t, unmarked = F.taskOf(id), Cascade.unmarked
  if t and unmarked and unmarked[id] then
    unmarked[id], t.left, t.inCascade = nil, true, true
    F.change(t)
  end
  return t
end

-- Others have to tell those that are left.
function Cascade.markRest()
  for id in pairs(Cascade.unmarked or NONE) do Cascade.marked(id) end
  return true
end

-- The next in line, as many as go together, and who waits for each; no more than so many in all.
function Cascade.waitersOfMany(budget)
  local unmarked, line, ids, waiters, n, notified = Cascade.unmarked, Cascade.line, {}, {}, 0, 0
  for at_ = line.at, #line do
    local id = line[at_]
    if not unmarked[id] or tasks[id] then break end
    F.flushKey(K.waiting(id))
    local got = redis.call('ZRANGE', K.waiting(id), 0, budget - notified)
    if #got > budget - notified then break end
    n, notified = n + 1, notified + #got
    ids[n], waiters[n] = id, got
  end
  return ids, waiters
end

-- What a waiter hears of an end: 'on' when it may go on, 'over' when it has ended itself, 'odd' when it has to be
-- looked at.
function Cascade.effectOf(t, packed)
  if t then return F.isEnd(t.state) and 'over' or t.optional and t.optional.suspendedFor and 'odd' or 'on' end
  if t == false or not packed then return 'odd' end
  local place, flags = struct.unpack('<BB', packed)
  return place > PLACE.line and flags < FLAG.facts.suspended and 'on' or 'odd'
end

-- How many of them, from the first on, have no waiter that is to be looked at; and what their waiters hear.
function Cascade.countBeforeOdd(waiters)
  local asked, effects = {}, {}
  for i = 1, #waiters do
    for _, id in ipairs(waiters[i]) do
      if not effects[id] then
        asked[#asked + 1] = id
        effects[id] = true
      end
    end
  end
  local facts = asked[1] and redis.call('HMGET', K.facts(), unpack(asked))
  for i, id in ipairs(asked) do effects[id] = Cascade.effectOf(tasks[id], facts[i]) end
  for i = 1, #waiters do
    for _, id in ipairs(waiters[i]) do
      if effects[id] == 'odd' then return i - 1, effects end
    end
  end
  return #waiters, effects
end

-- Each is read by those that it has told; says by whose end each of these may go on, and whose is the last.
function Cascade.addReaders(ids, waiters, n, effects)
  local keys, facts, texts, upstreams, last = {}, {}, {}, {}, {}
  local stored = redis.call('HMGET', K.tasks(), unpack(ids, 1, n))
  for i = 1, n do
    local readers = 0
    for _, id in ipairs(waiters[i]) do
      if effects[id] == 'on' then
        readers, last[id] = readers + 1, i
        upstreams[id] = upstreams[id] or {}
        table.insert(upstreams[id], ids[i])
      end
    end
    keys[i] = K.waiting(ids[i])
    local text = stored[i]
    if readers > 0 and text then
      local k = #facts
      facts[k + 1], facts[k + 2] = ids[i], struct.pack(FORMAT.facts, 0, 0, 0, 0, 0, 0, 0, readers)
      texts[k + 1] = ids[i]
      -- Its facts may have been its place alone.
      texts[k + 2] = string.sub(text, 1, AT.text.level)
        .. string.char(BYTE.facts + string.byte(text, AT.text.kind) % FLAG.kind.facts)
          .. string.sub(text, AT.text.userBytes)
    end
  end
  redis.call('DEL', unpack(keys))
  if facts[1] then
    redis.call('HSET', K.facts(), unpack(facts))
    redis.call('HSET', K.tasks(), unpack(texts))
  end
  return upstreams, last
end

-- Tells those that wait for the next in line, of as many as go together; says how many were told. Nil when the
-- next one is to be looked at.
function Cascade.notifyMany(budget)
  if C.isOlder or not Cascade.unmarked then return end
  local ids, waiters = Cascade.waitersOfMany(budget)
  local n, effects = Cascade.countBeforeOdd(waiters)
  if n == 0 then return end
  local notified, upstreams, last = 0, Cascade.addReaders(ids, waiters, n, effects)
  for i = 1, n do
    Cascade.unmarked[ids[i]] = nil
    Cascade.leave(ids[i])
  end
  for i = 1, n do
    for _, id in ipairs(waiters[i]) do
      notified = notified + 1
      local key = K.blocked(id)
      if last[id] == i and redis.call('SREM', key, unpack(upstreams[id])) > 0 and redis.call('EXISTS', key) == 0 then
        Cascade.free({ at = now }, F.taskOf(id))
      end
    end
  end
  return notified
end
