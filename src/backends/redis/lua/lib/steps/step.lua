-- Ends a step: queues that fell idle start anew, users with nothing left are forgotten, everything
-- that changed is written, and only then is anybody woken.

-- Nobody ready, parked or running: virtual time starts at 0, and kept tags are worth nothing, also when it
-- has stood still: who entered and was never served may have a seat, or a tag that was corrected.
function Step.restIfIdle(lane)
  if lane.counts.queued > 0 or lane.counts.started > 0 then return end
  if lane.virtual == 0 and lane.joined == 0 then return end
  lane.virtual, lane.joined = 0, 0
  Step.newEpoch(lane)
end

-- Tags that were kept are worth nothing from now on.
function Step.newEpoch(lane)
  local isClean = lane.tags == 0 or Step.dropAllTags(lane)
  if isClean and lane.old == lane.epoch and lane.idleLeast == INF then lane.old = lane.epoch + 1 end
  lane.epoch = lane.epoch + 1
  lane.idleLeast = INF
end

-- Keeps the tag of a user with nothing to do until then in virtual time; false: not any more.
function Step.setIdle(u, till)
  if (u.idle or false) == (till and true) then return end
  local lane = u.lane
  u.idle = till and true
  if till then
    F.zset(K.idle(lane.prefix, lane.epoch), u.name, till)
    if till < lane.idleLeast then lane.idleLeast = till end
    return
  end
  F.zset(K.idle(lane.prefix, u.idleEpoch), u.name, false)
  if u.idleEpoch == lane.epoch then lane.idleMoved = true end
end

-- Forgets the names of users without a record whose kept tag is gone, unless more is known of them.
-- `since`: they may have come back after that tag was kept.
function Step.dropNames(lane, names, since)
  local counts, p, gone = lane.counts, lane.prefix, {}
  local isLater = counts.scheduled + counts.deferred > 0
  for _, name in ipairs(names) do
    local u = lane.users[name]
    if u then
      if not since then u.isKept = false end
      F.touch(u)
    elseif not (isLater and redis.call('HEXISTS', K.later(p), name) == 1)
      and not (C.configs > 0 and redis.call('EXISTS', K.user(p, name)) == 1)
      and not (lane.parked > 0 and Park.countOf(lane, name) > 0)
      and not (since and (redis.call('EXISTS', K.line(p, '', name), K.user(p, name)) > 0
        or redis.call('ZSCORE', K.keptTags(p), name))) then
      gone[#gone + 1] = name
    end
  end
  if #gone > 0 then redis.call('ZREM', K.users(p), unpack(gone)) end
end

-- Few go at once, many with maintenance; says whether none is left.
function Step.dropAllTags(lane)
  local key, isClean = K.keptTags(lane.prefix), lane.tags <= LIMIT.tagsAtOnce
  if rich then F.flushKey(key) end
  if isClean then
    Step.dropNames(lane, redis.call('ZRANGE', key, 0, -1))
    redis.call('DEL', key)
  else
    redis.pcall('RENAME', key, K.oldTags(lane.prefix, lane.epoch))
  end
  lane.tags = 0
  for _, u in pairs(lane.users) do u.isKept = false end
  return isClean
end

-- A user without a record: its tag is kept while it is ahead, its name while it waits or that is kept. One
-- that has nothing but running tasks is found by those.
function Step.rememberPlain(u)
  local lane, hasWeight = u.lane, u.kept or (u.ready and u.countedWeight ~= 100)
  if hasWeight and (u.fresh or u.changed) then
    redis.call('HSET', u.key, FIELD.user.settings, cmsgpack.pack({ userPart = u.own, keepsRecord = u.kept }))
    u.fresh = false
  elseif not hasWeight and not u.fresh then
    redis.call('DEL', u.key)
    u.fresh = true
  end
  local keep = not u.ready and u.tagEpoch == lane.epoch and u.countedWeight == 100 and F.startOf(u) > lane.virtual
  local isKept = u.isKept or false
  if keep ~= isKept then lane.tags, u.isKept = lane.tags + (keep and 1 or -1), keep end
  if keep or isKept then F.zset(K.keptTags(lane.prefix), u.name, keep and u.startTag) end
  local counts = lane.counts
  if u.ready or keep or u.kept or u.queued > 0 or u.parked > 0 or (counts.scheduled + counts.deferred > 0
    and redis.call('HEXISTS', K.later(lane.prefix), u.name) == 1) then
    if u.entered or u.kept then F.zset(K.users(lane.prefix), u.name, 0) end
  else
    F.zset(K.users(lane.prefix), u.name, false)
  end
end

function Step.dropRecord(u)
  if not u.fresh then redis.call('DEL', u.key) end
  u.plain, u.isKept, u.entered, u.fresh = true, false, true, true
end

function Step.forget(u)
  local lane = u.lane
  local needs = F.needsRecord(u) and true or false
  if u.ready and not u.assigned and (string.byte(u.class) == 112) == needs then F.changeFamily(u) end
  if not needs then
    if not u.plain then
      Step.setIdle(u, false)
      Step.dropRecord(u)
    end
    return Step.rememberPlain(u)
  end
  if u.isKept then
    lane.tags, u.isKept = lane.tags - 1, false
    F.zset(K.keptTags(lane.prefix), u.name, false)
  end
  u.plain = false
  if u.queued > 0 or (u.isCounted and u.live > 0) or (u.lists and #u.lists > 0) or u.kept then
    Step.setIdle(u, false)
    return F.saveUser(u)
  end
  local till = u.tagEpoch == lane.epoch and F.startOf(u)
  local keep = till and till > lane.virtual
  -- A spent rate is remembered too, or whoever drains its line would start with a fresh one.
  local spent = u.set.rate and u.tat > now
  Step.setIdle(u, keep and till)
  if spent or u.throttled then F.throttle(u, spent and u.tat or nil) end
  if keep or spent then return F.saveUser(u) end
  Step.dropRecord(u)
  Step.rememberPlain(u)
end

-- The user's key among those with due tasks: the least due time, but never before `dueFloor`.
-- @rare
function Step.saveDue(u)
  local head = redis.call('ZRANGE', K.scheduled(u.lane.prefix, u.name), 0, 0, 'WITHSCORES')
  local due = head[2] and tonumber(head[2])
  if due and u.dueFloor and due < u.dueFloor then due = u.dueFloor end
  u.dueFloor = nil
  F.move('scheduled-users', K.pair(u.lane.queue, u.name), due or false)
end

-- @rare
function Step.saveDueUsers()
  local any = false
  for _, lane in ipairs(touched) do
    for _, u in ipairs(lane.dirty or NONE) do
      if u.dueChanged then
        u.dueChanged = nil
        F.flushKey(K.scheduled(lane.prefix, u.name))
        Step.saveDue(u)
        any = true
      end
    end
  end
  if any then F.flushIndex('scheduled-users') end
end

function Step.finishLane(lane)
  if lane.idleMoved then
    local head = redis.call('ZRANGE', K.idle(lane.prefix, lane.epoch), 0, 0, 'WITHSCORES')
    lane.idleLeast = head[2] and tonumber(head[2]) or INF
  end
  if lane.idleLeast <= lane.virtual or lane.old < lane.epoch or lane.tags > 2 * lane.ready + LIMIT.tagsAtOnce then
    redis.call('SADD', K.idleLanes(), lane.queue)
    C.idle = 1
  end
  F.saveLane(lane)
  if rich and lane.config.rate then F.saveRate(lane) end
  if lane.gain > 0 and C.waiting > 0 then Line.wakeGained(lane) end
end

-- @rare
function Step.publishEnds()
  for _, told in ipairs(published) do
    local t = told.t
    F.tellEnd(F.channelsOf(told.ear), t.id, CODES[t.state], t.result or '', t.error or redis.call('HGET', K.errors(),
      t.id) or '',
      t.changing and t.changing.endCause or '')
  end
end

-- Writes the records that changed; what follows may change them again. A task may be lost and leased again
-- by the same worker in one step: the lease that is over goes before the new one is written.
function Step.saveTasks()
  local writes = {}
  F.dropLeases()
  F.flushEnded()
  for i = 1, #changed do
    local t = changed[i]
    F.saveTask(t, writes)
    t.dirty = false
  end
  changed = {}
  for key, row in pairs(writes) do
    for i = 1, #row, LIMIT.commandValues do redis.call('HSET', key, unpack(row, i, math.min(#row, i + (LIMIT.commandValues - 1)))) end
  end
end

-- What this step knows of users and tasks is written and forgotten: others deal out by what is stored.
-- @rare
function Step.rest()
  if C.dueChanged then Step.saveDueUsers() end
  for _, lane in ipairs(touched) do
    for _, u in ipairs(lane.dirty or NONE) do Step.forget(u) end
    lane.dirty = nil
  end
  for _, lane in pairs(lanes) do lane.users, lane.runs = {}, nil end
  Step.saveTasks()
  tasks = {}
  -- Whose dependents are to be told is read from the index from now on.
  if I.cascade then C.isOlder = true end
  F.flushSets()
end

-- @rare
function Step.writeAll()
  if C.dueChanged then Step.saveDueUsers() end
  for _, lane in ipairs(touched) do
    Step.restIfIdle(lane)
    for _, u in ipairs(lane.dirty or NONE) do Step.forget(u) end
  end
  Step.saveTasks()
  if next(leasedUntil) then F.saveLeases() end
  F.flushSets()
  if next(keyring) then F.saveKeys() end
  if next(outcomes) then F.saveOutcomes() end
end

-- Writes everything that this step has changed, and wakes workers for work that was gained.
function F.writeStep()
  if rich then Step.writeAll() end
  for i = 1, #touched do
    local lane = touched[i]
    if not rich then Step.restIfIdle(lane) end
    Step.finishLane(lane)
  end
  if C.freed and not C.begun then F.mayRest(ARGV[1]) end
end

function F.closeStep()
  if C.waiting > 0 and C.alarm < INF and F.nextDue() < C.alarm then Due.alarmEarlier() end
  F.saveClock()
  if rich then Step.publishEnds() end
end
