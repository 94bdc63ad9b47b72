-- Tells dependents of ended tasks, in bounded steps, by the recorded end state; restates the
-- chapter "Dependencies" of docs/mechanics.md.

function F.isBlocked(t)
  if t.optional and t.optional.batchId then return true end
  if not (t.optional and (t.optional.waitsOn or t.optional.suspendedFor)) then return false end
  return redis.call('EXISTS', K.blocked(t.id)) == 1
end

-- Ended tasks with readers stand out of retention's way.
function F.addReader(t, change_)
  t.readers = t.readers + change_
  F.change(t)
  if t.readers == 0 and F.isEnd(t.state) then F.backAmongEnded(t) end
end

function Cascade.policyFor(upstream, dependent)
  if upstream.state == 'failed' then return dependent.optional.policies[1] end
  if upstream.state == 'canceled' then return dependent.optional.policies[2] end
  return 'run'
end

-- The upstream no longer blocks the dependent, which now reads it.
function Cascade.satisfy(upstream, t)
  F.addReader(upstream, 1)
  local key = K.blocked(t.id)
  if redis.call('SREM', key, upstream.id) == 0 or redis.call('EXISTS', key) == 1 then return end
  Cascade.free(upstream, t)
end

-- The upstream was the last that it waited for.
function Cascade.free(upstream, t)
  t.optional.waitUntil, t.optional.wakeDue = nil, nil
  F.setDeadline(t)
  -- `at` is free in line: below zero it tells its first lease how long after that end it was queued.
  if t.state == 'deferred' and t.token == '' and not t.optional.batchId then t.at = upstream.at - now - 1 end
  F.unblock(t, F.ownerOf(t))
end

-- Nothing blocks the task any more: a join has ended with that, others go on.
function F.unblock(t, u)
  if not May.joined(t.state) or t.optional.batchId then return end
  if t.optional.isJoin and F.isExpired(t) then return F.expire(t, u) end
  if t.optional.isJoin then return F.endTask(t, u, 'finished', { result = 'null' }) end
  F.released(t)
  F.leave(t, u)
  F.enterQueue(t, u)
end

-- The time to start begins now, for a task that was stored so.
function F.released(t)
  if not (t.optional and t.optional.startWithin) then return end
  t.optional.startUntil = now + t.optional.startWithin
  F.setDeadline(t)
end

-- Another task waits for this one, or for its redrive: its end and its removal must look.
function F.markDependents(t)
  if t.dependents then return end
  t.dependents = true
  F.saveEar(t)
end

-- It can wait no longer than this for one that cannot end by itself.
function Cascade.waitFor(t)
  if not t.optional.waitUntil then
    t.optional.waitUntil = now + LIMIT.waitMaxMs
    F.change(t)
  end
  F.setDeadline(t)
end

function Cascade.hold(upstream, t)
  F.zset(K.awaitingRedrive(upstream.id), t.id, F.fixed(t).stamp)
  F.markDependents(upstream)
  Cascade.waitFor(t)
end

-- Why a task ends that an upstream ends, as JSON.
function Cascade.causeOf(id, state)
  return cjson.encode({ type = 'upstream', id = id, state = state })
end

function Cascade.notify(upstream, t)
  if F.isEnd(t.state) then return end
  local u = F.ownerOf(t)
  if Suspend.waitsFor(t, upstream.id) then return Suspend.notify(upstream, t, u) end
  local policy = Cascade.policyFor(upstream, t)
  if policy == 'run' then
    Cascade.satisfy(upstream, t)
  elseif policy == 'wait' then
    Cascade.hold(upstream, t)
  else
    F.endTask(t, u, policy == 'cancel' and 'canceled' or 'failed',
      { cause = Cascade.causeOf(upstream.id, upstream.state) })
  end
end

function Cascade.satisfiedMissing(t, id)
  for _, other in ipairs(t.optional.assumed or {}) do
    if other == id then return true end
  end
  return false
end

function Cascade.leaveMissing(t, id)
  local pair = Deps.missingOf(t, id)
  local key = K.missing(pair)
  F.zset(key, t.id, false)
  F.flushKey(key)
  if redis.call('EXISTS', key) == 0 then F.move('missing', pair, false) end
end

-- It waits for none of its dependencies any more.
function Cascade.leaveWaits(t)
  local key = K.blocked(t.id)
  if redis.call('EXISTS', key) == 0 then return end
  for _, id in ipairs(t.optional.waitsOn or NONE) do
    if redis.call('SISMEMBER', key, id) == 1 then
      local upstream = Deps.upstreamOf(t, id)
      if upstream then
        F.zset(K.waiting(id), t.id, false)
        F.zset(K.awaitingRedrive(id), t.id, false)
      end
      -- Who waits for one that is being undone may stand in either place.
      if not upstream or (upstream.optional and upstream.optional.batchId) then Cascade.leaveMissing(t, id) end
    end
  end
end

-- First part of a cascade: the ended task stops waiting for its own, and reading them; one that
-- failed may be redriven, and a join holds what it joined, so these read on until they are removed.
function Cascade.leaveUpstreams(t)
  local key = K.blocked(t.id)
  t.left = true
  F.change(t)
  local x = t.optional
  -- A join that has finished waits for no task, and reads on.
  if x.isJoin and t.state == 'finished' then return 0 end
  local count, reads = #(x.waitsOn or NONE) + #(x.suspendedFor or NONE), t.state == 'failed' or x.isJoin
  if x.suspendedFor then Suspend.unlink(t) end
  Cascade.leaveWaits(t)
  if not reads then Cascade.leaveReaders(t) end
  if t.state == 'failed' then return count end
  local unread = reads and redis.call('SMEMBERS', key) or NONE
  if #unread > 0 then
    -- A join that was canceled never read these.
    x.assumed = x.assumed or {}
    F.change(t)
    for _, id in ipairs(unread) do table.insert(x.assumed, id) end
  end
  redis.call('DEL', key)
  return count
end

-- It reads none of its upstreams any more.
function Cascade.leaveReaders(t)
  local key = K.blocked(t.id)
  local waits = redis.call('EXISTS', key) == 1
  for _, id in ipairs(t.optional.waitsOn or NONE) do
    local upstream = F.taskOf(id)
    if upstream and not (waits and redis.call('SISMEMBER', key, id) == 1)
      and not Cascade.satisfiedMissing(t, id) then
      F.addReader(upstream, -1)
    end
  end
  for _, id in ipairs(t.optional.suspendedFor or NONE) do
    local upstream = F.taskOf(id)
    if upstream then F.addReader(upstream, -1) end
  end
end

-- Tells up to `most` of those that wait for the task; says how many, and whether some are left.
function Cascade.notifyWaiting(t, most)
  local key = K.waiting(t.id)
  F.flushKey(key)
  local ids = redis.call('ZRANGE', key, 0, most)
  local count = math.min(#ids, most)
  for i = 1, count do
    F.zset(key, ids[i], false)
    local dependent = F.taskOf(ids[i])
    if dependent then Cascade.notify(t, dependent) end
  end
  return count, #ids > most
end

-- Takes what has ended since into the line: those that ended first are told first.
function Cascade.standIn()
  local line, ends = Cascade.line, pendingEnds
  pendingEnds = {}
  if line and line[line.at] then
    for i = 1, #ends do line[#line + 1] = ends[i] end
    return line
  end
  ends.at, Cascade.line = 1, ends
  return ends
end

-- The id that is told next, by the order of their ends; nil when all are. While none is left over from earlier
-- steps, those of this one need not stand in the index.
function Cascade.next()
  if not C.isOlder then
    local line, unmarked = pendingEnds[1] and Cascade.standIn() or Cascade.line or NONE, Cascade.unmarked or NONE
    while line[line.at or 1] do
      local id = line[line.at]
      if unmarked[id] or I.cascade and I.cascade[id] then return id end
      line.at = line.at + 1
    end
    return nil
  end
  if I.cascade then F.flushIndex('cascade') end
  if H.cascade == INF then return nil end
  local id = redis.call('ZRANGE', K.index('cascade'), 0, 0)[1]
  if not id then H.cascade = INF end
  return id
end

-- Others are to hear of it.
function Cascade.enter(t, stamp)
  t.inCascade = true
  F.put('cascade', t.id, stamp)
  pendingEnds[#pendingEnds + 1] = t.id
end

-- All that wait for it have been told.
function Cascade.leave(id)
  if C.isOlder then return F.move('cascade', id, false) end
  if not I.cascade then return end
  I.cascade[id] = nil
  if next(I.cascade) == nil then
    I.cascade = nil
    H.cascade = INF
  end
end

-- Runs the steps of ended tasks, oldest first; true when some are left beyond the budget.
function F.cascade(budget)
  local left = budget
  while true do
    local id = Cascade.next()
    if not id then return false end
    if left <= 0 then return Cascade.markRest() end
    local many = Cascade.notifyMany(left)
    left = left - (many or 0)
    local t = not many and Cascade.marked(id)
    if t then
      local notified, more = 0, false
      if F.isEnd(t.state) then
        if not t.left then left = left - Cascade.leaveUpstreams(t) end
        notified, more = Cascade.notifyWaiting(t, math.max(left, 0))
        left = left - notified
        if more then return Cascade.markRest() end
      end
      if t.optional and t.optional.hasAside and not t.optional.pausedSince then
        notified, more = Pause.letGo(t, math.max(left, 0), F.isEnd(t.state) and t.state ~= 'failed')
        left = left - notified
        if more then return Cascade.markRest() end
      end
      t.inCascade = false
      F.change(t)
    end
    if not many then Cascade.leave(id) end
  end
end
