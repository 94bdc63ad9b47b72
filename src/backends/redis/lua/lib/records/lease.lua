-- Takes one task: of a user with a record, by a worker with lists, or a special one.

-- Charges the turn: the user's tag, virtual time, both rates, the clock of the list.
function Dispatch.charge(t, u, v, list)
  local queue = u.queue
  local cost = t.cost
  if queue.timed then
    cost = Timed.charge(t, u)
  elseif t.changing and t.changing.chargedAhead then
    F.optionalOf(t).chargedAhead = nil
  end
  if v then queue.virtual = v end
  u.startTag = u.startTag + Tag.turn(cost)
  if list then
    u.startTag = Tag.raisedTag(u.startTag, list.clock * Tag.scaleOf(u.countedWeight))
    list.clock = F.startOf(u)
    list.dirty = true
  end
  -- The sum of weights may have been lost with the queue's state.
  local weights = queue.weightSum >= u.countedWeight and queue.weightSum or u.countedWeight
  Fluid.advance(queue, cost, weights)
  local rate = u.set.rate
  if rate then u.tat = Rate.afterStart(rate, u.tat, now) end
  rate = queue.config.rate
  if rate then queue.tat = Rate.afterStart(rate, queue.tat, now) end
end

function Dispatch.start(t, u, level, request)
  local queue = u.queue
  F.served(u, level)
  F.dropQueued(t, u)
  queue.counts.queued = queue.counts.queued - 1
  if t.isSettled then F.optionalOf(t).settledToken, t.isSettled = t.token, false end
  local n = t.token ~= '' and F.tokenNumber(t.token) + 1 or 0
  t.token = n <= micros and request.token or string.format('%.0f-', n) .. request.id
  t.worker, t.leasedAt, t.chargedEpoch, t.step = request.worker, now, queue.epoch, C.steps
  t.isCounted = u.isCounted
  if t.optional and (t.optional.startUntil or t.optional.startWithin) then
    t.optional.startUntil, t.optional.startWithin = nil, nil
    F.setDeadline(t)
  end
  F.setState(t, u, 'started')
  t.leaseUntil = now + (queue.config.leaseMs or request.leaseMs)
  F.leasedUntil(request.worker, t.leaseUntil)
  u.running = u.running + 1
  local stays = u.ready
  F.reindex(u)
  if u.ready and stays then F.indexUser(u, true) end
end

-- The level's set holds less than was counted (changed from outside): the count is repaired.
function Dispatch.repairLevel(u, level)
  local lost = u.cnt[level]
  u.cnt[level], u.queued = 0, u.queued - lost
  u.queue.counts.queued = u.queue.counts.queued - lost
  F.emptied(u, level)
  F.reindex(u)
end

-- A user that has nothing to start stands among those that are ready (changed from outside). Whether it was
-- counted is not known.
function Dispatch.dropStray(u)
  local queue = u.queue
  F.reindex(u)
  if u.ready then return Dispatch.repairCounts(u) end
  for i = 1, u.lists and #u.lists or 0 do
    F.zset(K.listReady(queue.prefix, u.lists[i]), u.name, false)
    F.zset(K.unassigned(queue.prefix, u.lists[i]), u.name, false)
  end
  local w, isShared = 0, false
  queue.ready = 0
  for class in pairs(queue.classes) do
    local key = K.ready(queue.prefix, class)
    F.flushKey(key)
    redis.call('ZREM', key, u.name)
    local size = redis.call('ZCOUNT', key, '-inf', '(inf')
    queue.classes[class], queue.ready = size > 0 and size or nil, queue.ready + size
    if string.byte(class, 2) == 115 then isShared = true else w = w + size * string.sub(class, 3) end
  end
  if not isShared then queue.weightSum = w end
end

-- It has room for nothing that it has: its counts of queued tasks do not fit each other.
function Dispatch.repairCounts(u)
  u.queued = 0
  for level = 1, 6 do u.queued = u.queued + u.cnt[level] end
  F.reindex(u)
end

-- Starts the chosen task, unless its name is not known here or it must run with nothing beside it.
function Dispatch.take(u, v, list, request, batch)
  local level = F.nextLevel(u)
  if level == 0 then return Dispatch.dropStray(u) end
  local id = F.headOf(u, level)
  if not id then return Dispatch.repairLevel(u, level) end
  local t = F.taskOf(id, nil, 'none')
  if not t then
    -- The record is gone (an operator's hand, an eviction): the place is cleaned, no turn is used.
    u.cnt[level], u.queued = u.cnt[level] - 1, u.queued - 1
    u.queue.counts.queued = u.queue.counts.queued - 1
    F.takeHead(u, level)
    return F.reindex(u)
  end
  F.fixed(t)
  -- Maintenance ends a bounded number of those whose time to start is over, and may have left this one.
  local isLate = F.isExpired(t)
  local isOver = not isLate and t.optional and t.optional.ownerRun and Park.isAbandoned(t)
  local run = not isLate and not isOver and Pause.runOf(t)
  t.isPaused = run and Pause.mayDecide(t)
  run = not t.isPaused and run
  if isLate or isOver or run then
    F.takeHead(u, level, t)
    if isLate then
      F.expire(t, u)
    elseif run then
      Pause.setAside(t, u, run)
    else
      F.endTask(t, u, 'canceled', { cause = cjson.encode({ type = 'run-ended', run = t.optional.ownerRun }) })
    end
    batch.unknownNames = batch.unknownNames + 1
    batch.stopped = batch.unknownNames >= LIMIT.unknownNamesPerLease
    return
  end
  if request.names and not string.find(request.names, ',' .. t.name .. ',', 1, true) then
    F.takeHead(u, level, t)
    Park.park(t, u)
    batch.newlyParked = batch.newlyParked or {}
    batch.newlyParked[#batch.newlyParked + 1] = t
    batch.unknownNames = batch.unknownNames + 1
    batch.stopped = batch.unknownNames >= LIMIT.unknownNamesPerLease
    return
  end
  local alone = t.losses >= LIMIT.maxLost - 1
  if alone and batch.n > 0 then
    batch.stopped = true
    return
  end
  if not Dispatch.fits(batch, id, t.recordText, t) then return end
  F.takeHead(u, level, t)
  Dispatch.charge(t, u, v, list)
  Dispatch.start(t, u, level, request)
  Lease.add(batch, t)
  batch.alone, batch.stopped = alone, alone
  return true
end

-- One turn by all rules, if any user has one.
function Dispatch.one(share, request, batch)
  local u, v, list, stolen = Choose.choose(share.queue, share.scope)
  if not u then return false end
  local taken = Dispatch.take(u, v, list, request, batch)
  -- Where something is damaged, a turn may come to nothing, and to nothing again.
  batch.vain = taken and 0 or batch.vain + 1
  if batch.vain > LIMIT.unknownNamesPerLease then batch.stopped = true end
  if taken and stolen then share.queue.stolen = share.queue.stolen + 1 end
  return true
end

function Dispatch.saveListClocks(shares)
  for _, share in ipairs(shares) do
    for id, list in pairs(share.queue.lists or {}) do
      if list.dirty then
        redis.call('HSET', K.list(share.queue.prefix, id), FIELD.list.clock, string.format('%.17g', list.clock),
          FIELD.list.epoch, share.queue.epoch)
      end
    end
  end
end
