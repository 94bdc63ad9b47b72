-- Ends a step: queues that fell idle start anew, users with nothing left are forgotten, everything
-- that changed is written, and only then are workers woken.

-- No user is ready, parked or running: virtual time starts at 0, and kept tags are worth nothing, also when it
-- has stood still: who entered and was never served may have a seat, or a tag that was corrected.
function Step.restIfIdle(queue)
  if queue.counts.queued > 0 or queue.counts.started > 0 then return end
  if queue.virtual == 0 and queue.joined == 0 then return end
  queue.virtual, queue.joined = 0, 0
  Step.newEpoch(queue)
end

-- Tags that were kept are worth nothing from now on.
function Step.newEpoch(queue)
  local isClean = queue.tags == 0 or Step.dropAllTags(queue)
  if isClean and queue.old == queue.epoch and queue.idleLeast == INF then queue.old = queue.epoch + 1 end
  queue.epoch = queue.epoch + 1
  queue.idleLeast = INF
  if queue.leaving > 0 then Fluid.forget(queue) end
end

-- Keeps the tag of a user with nothing to do until then in virtual time; false: not any more.
function Step.setIdle(u, till)
  if (u.idle or false) == (till and true) then return end
  local queue = u.queue
  u.idle = till and true
  if till then
    F.zset(K.idle(queue.prefix, queue.epoch), u.name, till)
    if till < queue.idleLeast then queue.idleLeast = till end
    return
  end
  F.zset(K.idle(queue.prefix, u.idleEpoch), u.name, false)
  if u.idleEpoch == queue.epoch then queue.idleMoved = true end
end

-- Forgets the names of users without a record whose kept tag is gone, unless more is known of them.
-- `since`: they may have come back after that tag was kept.
function Step.dropNames(queue, names, since)
  local counts, p, gone = queue.counts, queue.prefix, {}
  local isLater = counts.scheduled + counts.deferred > 0
  for _, name in ipairs(names) do
    local u = queue.users[name]
    if u then
      if not since then u.isKept = false end
      F.touch(u)
    elseif not (isLater and redis.call('HEXISTS', K.later(p), name) == 1)
      and not (C.configs > 0 and redis.call('EXISTS', K.user(p, name)) == 1)
      and not (queue.parked > 0 and Park.countOf(queue, name) > 0)
      and not (since and (redis.call('EXISTS', K.line(p, '', name), K.user(p, name)) > 0
        or redis.call('ZSCORE', K.keptTags(p), name))) then
      gone[#gone + 1] = name
    end
  end
  if #gone > 0 then redis.call('ZREM', K.users(p), unpack(gone)) end
end

-- Few go at once, many with maintenance; says whether none is left.
function Step.dropAllTags(queue)
  local key, isClean = K.keptTags(queue.prefix), queue.tags <= LIMIT.tagsAtOnce
  if whole then F.flushKey(key) end
  if isClean then
    Step.dropNames(queue, redis.call('ZRANGE', key, 0, -1))
    redis.call('DEL', key)
  else
    redis.pcall('RENAME', key, K.oldTags(queue.prefix, queue.epoch))
  end
  queue.tags = 0
  for _, u in pairs(queue.users) do u.isKept = false end
  return isClean
end

-- A user without a record: its tag is kept while it is ahead, its name while it waits or that is kept. One
-- that has nothing but running tasks is found by those.
function Step.rememberRecordless(u)
  local queue, hasWeight = u.queue, u.kept or (u.ready and u.countedWeight ~= USUAL.weight)
  if hasWeight and (u.fresh or u.changed) then
    redis.call('HSET', u.key, FIELD.user.settings, cmsgpack.pack({ userPart = u.own, keepsRecord = u.kept }))
    u.fresh = false
  elseif not hasWeight and not u.fresh then
    redis.call('DEL', u.key)
    u.fresh = true
  end
  local keep = not u.ready and u.tagEpoch == queue.epoch and u.countedWeight == USUAL.weight and F.startOf(u) > queue.virtual
  local isKept = u.isKept or false
  if keep ~= isKept then queue.tags, u.isKept = queue.tags + (keep and 1 or -1), keep end
  if keep or isKept then F.zset(K.keptTags(queue.prefix), u.name, keep and u.startTag) end
  local counts = queue.counts
  if u.ready or keep or u.kept or u.queued > 0 or u.parked > 0 or (counts.scheduled + counts.deferred > 0
    and redis.call('HEXISTS', K.later(queue.prefix), u.name) == 1) then
    if u.entered or u.kept then F.zset(K.users(queue.prefix), u.name, 0) end
  else
    F.zset(K.users(queue.prefix), u.name, false)
  end
end

function Step.dropRecord(u)
  if not u.fresh then redis.call('DEL', u.key) end
  u.isRecordless, u.entered, u.fresh = true, true, true
end

function Step.forget(u)
  local queue = u.queue
  local needs = F.needsRecord(u) and true or false
  if u.ready and not u.assigned and (string.byte(u.class) == 112) == needs then F.changeFamily(u) end
  if not needs then
    if not u.isRecordless then
      Step.setIdle(u, false)
      Step.dropRecord(u)
    end
    if not u.isKept then Fluid.drop(u) end
    return Step.rememberRecordless(u)
  end
  if u.isKept then
    queue.tags, u.isKept = queue.tags - 1, false
    F.zset(K.keptTags(queue.prefix), u.name, false)
    Fluid.leave(u)
  end
  u.isRecordless = false
  if u.queued > 0 or (u.isCounted and u.live > 0) or (u.lists and #u.lists > 0) or u.kept then
    Step.setIdle(u, false)
    return F.saveUser(u)
  end
  local till = u.tagEpoch == queue.epoch and F.startOf(u)
  local keep = till and till > queue.virtual
  -- A spent rate is remembered too, or a user that drains its line would start with a fresh one.
  local spent = u.set.rate and u.tat > now
  Step.setIdle(u, keep and till)
  if spent or u.throttled then F.throttle(u, spent and u.tat or nil) end
  if keep or spent then return F.saveUser(u) end
  Step.dropRecord(u)
  Step.rememberRecordless(u)
end

-- The user's key among those with due tasks: the least due time, but never before `dueFloor`.
function Step.saveDue(u)
  local head = redis.call('ZRANGE', K.scheduled(u.queue.prefix, u.name), 0, 0, 'WITHSCORES')
  local due = head[2] and tonumber(head[2])
  if due and u.dueFloor and due < u.dueFloor then due = u.dueFloor end
  u.dueFloor = nil
  F.move('scheduled-users', K.pair(u.queue.name, u.name), due or false)
end

function Step.saveDueUsers()
  local any = false
  for _, queue in ipairs(touched) do
    for _, u in ipairs(queue.dirty or NONE) do
      if u.dueChanged then
        u.dueChanged = nil
        F.flushKey(K.scheduled(queue.prefix, u.name))
        Step.saveDue(u)
        any = true
      end
    end
  end
  if any then F.flushIndex('scheduled-users') end
end

-- Maintenance looks at a queue whose kept tags virtual time has passed, or that has many of them.
function Step.noteIdle(queue)
  if queue.idleLeast <= queue.virtual or queue.old < queue.epoch or queue.tags > 2 * queue.ready + LIMIT.tagsAtOnce then
    redis.call('SADD', K.idleQueues(), queue.name)
    C.idle = 1
  end
end

function Step.finishQueue(queue)
  if queue.idleMoved then
    local head = redis.call('ZRANGE', K.idle(queue.prefix, queue.epoch), 0, 0, 'WITHSCORES')
    queue.idleLeast = head[2] and tonumber(head[2]) or INF
  end
  Step.noteIdle(queue)
  F.saveQueue(queue)
  if whole and queue.config.rate then F.saveRate(queue) end
  if queue.gain > 0 and C.waiting > 0 then Line.wakeGained(queue) end
end

function Step.publishEnds()
  for _, notice in ipairs(published) do
    local t = notice.t
    F.notifyEnd(F.channelsOf(notice.ear), t.id, CODES[t.state], t.result or '', t.error or redis.call('HGET', K.errors(),
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
function Step.rest()
  if C.dueChanged then Step.saveDueUsers() end
  for _, queue in ipairs(touched) do
    for _, u in ipairs(queue.dirty or NONE) do Step.forget(u) end
    queue.dirty = nil
  end
  for _, queue in pairs(knownQueues) do queue.users, queue.runs = {}, nil end
  Step.saveTasks()
  tasks = {}
  -- Whose dependents are to be told is read from the index from now on.
  if I.cascade then C.isOlder = true end
  F.flushSets()
end

function Step.writeAll()
  if C.dueChanged then Step.saveDueUsers() end
  for _, queue in ipairs(touched) do
    Step.restIfIdle(queue)
    for _, u in ipairs(queue.dirty or NONE) do Step.forget(u) end
  end
  Step.saveTasks()
  if next(leasedUntil) then F.saveLeases() end
  F.flushSets()
  if next(keyring) then F.saveKeys() end
  if next(outcomes) then F.saveOutcomes() end
end

-- Writes everything that this step has changed, and wakes workers for work that was gained.
function F.writeStep()
  if whole then Step.writeAll() end
  for i = 1, #touched do
    local queue = touched[i]
    if not whole then Step.restIfIdle(queue) end
    Step.finishQueue(queue)
  end
  if C.freed and not C.begun then F.mayRest(ARGV[1]) end
end

function F.closeStep()
  if C.waiting > 0 and C.alarm < INF and F.nextDue() < C.alarm then Due.alarmEarlier() end
  F.saveClock()
  if whole then Step.publishEnds() end
end
