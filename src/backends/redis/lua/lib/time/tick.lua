-- Maintenance that is part of every lease, settle with lease, extend and tick: each part bounded.

-- How the facts of a task begin, and all of them, that is scheduled and never was anything else.
local SCHEDULED = string.char(PLACE.scheduled) .. string.rep('\0', (AT.facts.at - 2))
-- Facts of one that has come in line: before its place and behind it.
local AHEAD, BEHIND = string.rep('\0', (AT.facts.seq - 1)), string.rep('\0', (SIZE.facts - END.facts.seq))

function Tick.headIs(name, due)
  if moved[name] then F.flushIndex(name) end
  return H[name] <= due
end

-- Up to `most` members of an index that are due, least first.
function Tick.dueOf(name, due, most)
  F.flushIndex(name)
  return redis.call('ZRANGEBYSCORE', K.index(name), '-inf', due, 'LIMIT', 0, most)
end

-- Takes back a lease that has ended. One of a task that was handed over goes on when its worker has fetched the task: says till when.
function Tick.lose(t, u)
  if t.isHanded then
    local isFetched = HandOver.isFetched(t)
    if isFetched and t.leaseUntil > now then
      t.isHanded = false
      F.change(t)
      return t.leaseUntil
    end
    if not isFetched and not t.canceling then return F.comeBack(t, u, 0) end
  end
  u.queue.lost = u.queue.lost + 1
  F.countLost(t)
  t.losses = t.losses + 1
  local last = t.losses >= LIMIT.maxLost
  F.recordAttempt(t, 'lost', t.canceling and 'cancel' or last and 'dead-letter' or 'release')
  if t.canceling then
    F.endTask(t, u, 'canceled', { cause = t.changing.cancelCause })
  elseif last then
    F.endTask(t, u, 'failed', { cause = cjson.encode({ type = 'lost', leases = t.losses }) })
  else
    F.comeBack(t, u, t.losses == 1 and 0 or LIMIT.lostBackoffMs + F.tokenNumber(t.token) % 1000)
  end
end

-- Leases that have ended, by (end, id), of all workers that may have such.
function Tick.ended()
  local all, left = {}, {}
  F.saveLeases()
  for _, worker in ipairs(redis.call('ZRANGEBYSCORE', K.leases(), '-inf', now)) do
    local found, least = F.overdue(worker, LIMIT.sweepStep)
    left[worker] = { count = #found, least = least }
    for _, t in ipairs(found) do all[#all + 1] = t end
  end
  table.sort(all, function(a, b)
    local one, other = F.endOf(a), F.endOf(b)
    return one < other or (one == other and F.fixed(a).stamp < F.fixed(b).stamp)
  end)
  return all, left
end

function Tick.sweep()
  if now < C.pause or H.started > now then return false end
  local ended, left = Tick.ended()
  for i = 1, math.min(#ended, LIMIT.sweepStep) do
    local t = ended[i]
    local of = left[t.worker]
    of.count = of.count - 1
    of.least = math.min(of.least, Tick.lose(t, F.ownerOf(t)) or INF)
  end
  for worker, of in pairs(left) do
    if of.count == 0 then
      if of.least < INF then
        redis.call('ZADD', K.leases(), of.least, worker)
      else
        redis.call('ZREM', K.leases(), worker)
      end
    end
  end
  -- What is kept of the worker that asks may say later than the end of a lease that it has settled.
  if C.freed then C.freed = INF end
  F.readLeases()
  return H.started <= now
end

function Tick.splitPair(pair)
  local length, at = string.match(pair, '^(%d+):()')
  if not length then return end
  return string.sub(pair, at, at + length - 1), string.sub(pair, at + length)
end

-- Puts the first of a user's due tasks in line that have no other facts than that they are due, all at once; says
-- how many.
function Tick.promoteMany(u, key, members)
  local queue, ids, lines, facts, texts, n, t, stamp = u.queue, {}, {}, {}, {}, 0, 0, C.stamp
  for i = 1, #members do ids[i] = F.idOf(members[i]) end
  if #ids == 0 then return 0 end
  local stored, known = redis.call('HMGET', K.tasks(), unpack(ids)), redis.call('HMGET', K.facts(), unpack(ids))
  for i = 1, #ids do
    local id, text, packed = ids[i], stored[i], known[i]
    if not text or not packed or tasks[id] ~= nil or string.sub(packed, 1, END.facts.releases) ~= SCHEDULED
      or #packed > SIZE.facts then break end
    local level, kind = string.byte(text, AT.text.level, AT.text.kind)
    local some, k = lines[level], 2 * i
    if not some then
      some = {}
      lines[level] = some
    end
    some[#some + 1] = id
    facts[k - 1], facts[k] = id, AHEAD .. struct.pack('<d', stamp + i) .. BEHIND
    if kind < BYTE.place then
      -- They say no more than its place.
      texts[t + 1], texts[t + 2] = id, F.withKind(text, kind + (FLAG.kind.place - FLAG.kind.facts))
      t = t + 2
    end
    n = i
  end
  if n == 0 then return 0 end
  C.stamp = stamp + n
  redis.call('HSET', K.facts(), unpack(facts))
  if t > 0 then redis.call('HSET', K.tasks(), unpack(texts)) end
  if u.queued == 0 then F.began(u) end
  for byte, some in pairs(lines) do
    local level = byte - BYTE.zero
    redis.call('RPUSH', F.lineKey(u, level), unpack(some))
    u.cnt[level], u.queued = u.cnt[level] + #some, u.queued + #some
  end
  redis.call('ZREM', key, unpack(members, 1, n))
  redis.call('ZREM', K.index('scheduled'), unpack(members, 1, n))
  queue.counts.scheduled, queue.counts.queued = queue.counts.scheduled - n, queue.counts.queued + n
  F.countLater(u, -n)
  F.reindex(u)
  return n
end

-- Moves due tasks of a user on, up to `most`; says how many, and at least 1.
function Tick.promoteOf(pair, most)
  local queueName, name = Tick.splitPair(pair)
  if not queueName then
    F.move('scheduled-users', pair, false)
    return 1
  end
  local u = F.userOf(F.queueOf(queueName), name)
  local key = K.scheduled(u.queue.prefix, name)
  F.flushKey(key)
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, most)
  for i = 1 + Tick.promoteMany(u, key, ids), #ids do
    local t = F.taskOf(F.idOf(ids[i]))
    if t and t.state == 'scheduled' then F.becomeDue(t, u) else F.zset(key, ids[i], false) end
  end
  F.flushKey(key)
  u.dueFloor = now
  u.dueChanged = nil
  Step.saveDue(u)
  F.touch(u)
  return math.max(#ids, 1)
end

-- Moves due tasks on, a few of each user in turn, so that a user with a million delays no other.
function Tick.promote()
  local left = LIMIT.promoteStep
  while left > 0 do
    if not Tick.headIs('scheduled-users', now) then return false end
    local pair = redis.call('ZRANGE', K.index('scheduled-users'), 0, 0)[1]
    -- What the clock remembers of an index may be more than is left of it.
    if not pair then
      H['scheduled-users'] = INF
      return false
    end
    left = left - Tick.promoteOf(pair, math.min(left, LIMIT.promoteTurn))
  end
  return Tick.headIs('scheduled-users', now)
end

function Tick.unthrottle()
  -- The clock has gone back: when users may go on is looked at anew.
  if C.dropping > 0 and H.throttled < INF then
    F.flushIndex('throttled')
    redis.call('ZUNIONSTORE', K.index('throttled'), 1, K.index('throttled'), 'WEIGHTS', 0)
    H.throttled = 0
  end
  if not Tick.headIs('throttled', now) then return false end
  local pairs_ = Tick.dueOf('throttled', now, LIMIT.throttleStep)
  for _, pair in ipairs(pairs_) do
    local queueName, name = Tick.splitPair(pair)
    if queueName then
      local u = F.userOf(F.queueOf(queueName), name)
      u.throttled = true
      F.reindex(u)
    else
      F.move('throttled', pair, false)
    end
  end
  if #pairs_ == 0 then H.throttled = INF end
  return #pairs_ == LIMIT.throttleStep
end

-- The least id among those that a task waits for and that cannot end by themselves.
function Tick.waitsFor(t)
  local vain = {}
  for _, id in ipairs(redis.call('SMEMBERS', K.blocked(t.id))) do
    local upstream = Deps.upstreamOf(t, id)
    if not upstream or F.isEnd(upstream.state) then vain[#vain + 1] = id end
  end
  table.sort(vain, F.before)
  return vain[1] or ''
end

-- Looks at a task that one of its limits is over for.
function Tick.expireOne(member)
  local t = F.taskOf(F.idOf(member))
  if not t or F.isEnd(t.state) then
    F.move('deadlines', member, false)
  elseif Park.isOver(t) then
    Park.lookAgain(t, F.ownerOf(t))
  elseif not t.optional then
    F.move('deadlines', member, false)
  elseif F.isExpired(t) then
    F.expire(t, F.ownerOf(t))
  elseif t.optional.wakeDue and t.optional.wakeDue <= now then
    Suspend.isOver(t, F.ownerOf(t))
  elseif not t.optional.waitUntil then
    F.move('deadlines', member, t.optional.leastDeadline and t.optional.leastDeadline > now and t.optional.leastDeadline or false)
  else
    Deps.rewait(t)
    if t.optional.waitUntil then
      F.endTask(t, F.ownerOf(t), 'canceled',
        { cause = cjson.encode({ type = 'waited', id = Tick.waitsFor(t) }) })
    end
  end
end

-- Ends tasks that were not started in time, or have waited too long for one that failed; wakes those whose time is over.
function Tick.expire()
  if not Tick.headIs('deadlines', now) then return false end
  local members, ids = Tick.dueOf('deadlines', now, LIMIT.expireStep), {}
  for i, member in ipairs(members) do ids[i] = F.idOf(member) end
  local rows, over = Wait.rowsOf(ids), {}
  for i, member in ipairs(members) do
    local row = rows[i]
    if row and tasks[row.id] == nil and row.form.kind ~= 'event' and row.form.wakeDue and row.form.wakeDue <= now then
      row.by, row.payload, over[#over + 1] = 'time', '', row
    else
      Wait.endMany(over)
      over = {}
      Tick.expireOne(member)
    end
  end
  Wait.endMany(over)
  if #members == 0 then H.deadlines = INF end
  return #members == LIMIT.expireStep
end

-- Every part of maintenance once; true when any stopped at its bound.
function Tick.run(retention)
  local swept = Tick.sweep()
  local promoted = Tick.promote()
  local unthrottled = Tick.unthrottle()
  local expired = Tick.expire()
  local cascaded = F.cascade(LIMIT.cascadeStep)
  local retained = Retain.retain(retention)
  local over = XCom.sweep()
  local dropped = Tick.dropIdles()
  if C.dropping > 0 or H['listed-workers'] < now - LIMIT.workerSilenceMs then
    dropped = Lists.dropSilent() or dropped
  end
  if C.refresh > 0 then dropped = Tick.refresh(LIMIT.refreshStep) or dropped end
  if H.submissions <= now then dropped = Submission.tick(LIMIT.undoneStep) or dropped end
  return swept or promoted or unthrottled or expired or cascaded or retained or over
    or dropped
end
