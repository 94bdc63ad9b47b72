-- Tells dependents of usual tasks that have finished, of many at once: who waits for others still is
-- not read for it.

-- Who has finished so in this step, and in which order they are told; nil for none.
Cascade.unmarked, Cascade.line = nil, nil

-- Those of these that have an ear have finished, and nothing says so but their ends and this: the stamps of these, by id.
-- `from`: where the ear of the first one stands, less 1; `stamp`: of the end before the first.
function Cascade.stand(ids, ears, from, stamp)
  local unmarked, n = Cascade.unmarked or {}, #pendingEnds
  Cascade.unmarked = unmarked
  for i = 1, #ids do
    if ears[from + i] then
      local id = ids[i]
      n = n + 1
      unmarked[id], pendingEnds[n] = stamp + i, id
      if C.isOlder then F.put('cascade', id, stamp + i) end
    end
  end
end

-- The record, which says that dependents are to be told.
function Cascade.marked(id)
  local t, unmarked = F.taskOf(id), Cascade.unmarked
  local stamp = unmarked and unmarked[id]
  if not stamp then return t end
  unmarked[id] = nil
  if not t then return end
  t.left, t.inCascade = true, true
  F.change(t)
  if not C.isOlder then F.put('cascade', id, stamp) end
  return t
end

-- Others have to tell those that are left.
function Cascade.markRest()
  for id in pairs(Cascade.unmarked or NONE) do Cascade.marked(id) end
  return true
end

-- Most tasks have fewer that wait for them than these, which are read without asking how many there are.
local FEW, LAST_OF_FEW = 4, '3'

-- All that wait for a task, the first ones when they are more than so many.
function Cascade.waitersOf(key, most)
  if Z[key] then F.flushKey(key) end
  local got = redis.call('ZRANGE', key, '0', LAST_OF_FEW)
  if #got < FEW then return got end
  return redis.call('ZRANGE', key, 0, most)
end

-- The next in line, as many as go together, and who waits for each; no more than so many in all.
function Cascade.waitersOfMany(budget)
  local unmarked, line, ids, waiters, keys, n = Cascade.unmarked, Cascade.line, {}, {}, {}, 0
  for at_ = line.at, #line do
    local id = line[at_]
    if not unmarked[id] or tasks[id] then break end
    local key = K.waiting(id)
    local got = Cascade.waitersOf(key, budget)
    budget = budget - #got
    if budget < 0 then break end
    n = n + 1
    ids[n], waiters[n], keys[n] = id, got, key
  end
  return ids, waiters, keys, n
end

-- Whether it hears of the end of one that has finished: a task that stands here waits, unless this step has ended it.
function Cascade.mayGoOn(id)
  local t = tasks[id]
  if t == nil then return true end
  return t and not F.isEnd(t.state)
end

-- Each is read by those that it has told; says who of these may go on, by whose end each, and whose is the last.
function Cascade.addReaders(ids, waiters, n)
  local facts, upstreams, last, k, packed, before = {}, {}, {}, 0, nil, nil
  for i = 1, n do
    local own, readers, upstream = waiters[i], 0, ids[i]
    for j = 1, #own do
      local id = own[j]
      local some = upstreams[id]
      if some or Cascade.mayGoOn(id) then
        readers, last[id] = readers + 1, i
        if some then some[#some + 1] = upstream else upstreams[id] = { upstream } end
      end
    end
    if readers > 0 then
      if readers ~= before then
        packed, before = struct.pack(FORMAT.facts, 0, 0, 0, 0, 0, 0, 0, readers), readers
      end
      -- Its end says that it may have facts.
      facts[k + 1], facts[k + 2] = upstream, packed
      k = k + 2
    end
  end
  if k > 0 then redis.call('HSET', K.facts(), unpack(facts)) end
  return upstreams, last
end

-- Those that have waited for nothing else go on, in the order of the ends that they waited for; says how many were told.
function Cascade.freeEach(waiters, n, upstreams, last)
  local notified, freed, keys, k = 0, {}, {}, 0
  for i = 1, n do
    local own = waiters[i]
    notified = notified + #own
    for j = 1, #own do
      local id = own[j]
      if last[id] == i then
        local key = K.blocked(id)
        if redis.call('SREM', key, unpack(upstreams[id])) > 0 then
          k = k + 1
          freed[k], keys[k] = id, key
        end
      end
    end
  end
  if k == 0 or redis.call('EXISTS', unpack(keys)) == k then return notified end
  for j = 1, k do
    local t = redis.call('EXISTS', keys[j]) == 0 and F.taskOf(freed[j])
    if t then Cascade.free({ at = now }, t) end
  end
  return notified
end

-- Tells those that wait for the next in line, of as many as go together; says how many were told. Nil when the
-- next one is to be looked at.
function Cascade.notifyMany(budget)
  if C.isOlder or not Cascade.unmarked then return end
  local ids, waiters, keys, n = Cascade.waitersOfMany(budget)
  if n == 0 then return end
  local upstreams, last = Cascade.addReaders(ids, waiters, n)
  redis.call('DEL', unpack(keys))
  for i = 1, n do Cascade.unmarked[ids[i]] = nil end
  Cascade.line.at = Cascade.line.at + n
  return Cascade.freeEach(waiters, n, upstreams, last)
end
