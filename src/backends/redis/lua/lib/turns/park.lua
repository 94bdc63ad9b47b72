-- Tasks that a worker came to whose name it does not know: they stand aside, by their names, until one that
-- knows them comes. They stay queued and keep their places, and their records do not change: where a task stands
-- says that it is parked. In `deadlines` they have the moment at which a sweep looks whether a live worker knows
-- their names. Written at once, since turns are dealt out by what is stored.

-- Where it stands among all that are parked: by user, level, and place.
function Park.memberOf(user, level, place, id)
  return K.pair(user, level .. string.format('%012x', place) .. id)
end

function Park.own(t, u)
  return Park.memberOf(u.name, F.fixed(t).level, F.placeOf(t), t.id)
end

-- The members of a user's level from a place on.
function Park.range(user, level, place)
  return '[' .. K.pair(user, level .. (place and string.format('%012x', place) or '')), '(' .. K.pair(user, level + 1)
end

function Park.idOf(member, user) return string.sub(member, #K.pair(user, '') + 14) end

-- How many tasks of a user are parked.
function Park.countOf(queue, user)
  return redis.call('ZLEXCOUNT', K.parked(queue.prefix), '[' .. K.pair(user, ''), '(' .. K.pair(user, ':'))
end

-- How many of a user's parked tasks of a level stand before a place; without one: how many there are.
function Park.count(u, level, place)
  if u.parked == 0 then return 0 end
  local from, till = Park.range(u.name, level)
  if place then till = '(' .. Park.memberOf(u.name, level, place, '') end
  return redis.call('ZLEXCOUNT', K.parked(u.queue.prefix), from, till)
end

-- Those of a user's level that stand behind a place: ids and places, at most so many.
function Park.after(p, user, level, place, most)
  local from, till = Park.range(user, level, place and place + 1)
  local rows, at_ = {}, #K.pair(user, level)
  for i, member in ipairs(redis.call('ZRANGEBYLEX', K.parked(p), from, till, 'LIMIT', 0, most)) do
    rows[2 * i - 1] = string.sub(member, at_ + 13)
    rows[2 * i] = string.format('%.0f', tonumber(string.sub(member, at_ + 1, at_ + 12), 16))
  end
  return rows
end

-- Puts tasks where workers that know their names look: user, level, name, id, place, stamp, and till when each is
-- to be started, if it says so. They come into the rotation of their names as they were met.
function Park.file(queue, found)
  local sets, turns, over = {}, {}, now + LIMIT.unknownTaskMs
  for _, one in ipairs(found) do
    local member = Park.memberOf(one.user, one.level, one.place, one.id)
    F.gather(sets, K.parked(queue.prefix), '0', member)
    F.gather(sets, K.parkedOfName(queue.prefix, one.name), '0', member)
    F.gather(turns, one.name, F.stamp(), one.level .. one.user)
    F.move('deadlines', one.stamp .. one.id, one.till and one.till < over and one.till or over)
  end
  for key, row in pairs(sets) do redis.call('ZADD', key, unpack(row)) end
  for name, row in pairs(turns) do
    redis.call('HSET', K.parkedNames(queue.prefix), name, '')
    redis.call('ZADD', K.parkedUsers(queue.prefix, name), 'NX', unpack(row))
  end
  queue.parked = queue.parked + #found
end

-- Whether it is parked.
function Park.has(t, u)
  return u.parked > 0 and redis.call('ZSCORE', K.parked(u.queue.prefix), Park.own(t, u)) and true or false
end

-- Whether workers find it there.
function Park.isFiled(t, u)
  local p = u.queue.prefix
  return Park.has(t, u) and redis.call('ZSCORE', K.parkedOfName(p, t.name), Park.own(t, u))
    and redis.call('ZSCORE', K.parkedUsers(p, t.name), t.level .. u.name)
    and redis.call('HEXISTS', K.parkedNames(p), t.name) == 1
    and redis.call('ZSCORE', K.index('deadlines'), F.member(t)) and true or false
end

-- It was at the head of its line; the caller has taken it out.
function Park.park(t, u)
  F.dropQueued(t, u)
  u.parked = u.parked + 1
  Park.file(u.queue, { { user = u.name, level = t.level, name = t.name, id = t.id, place = F.placeOf(t),
    stamp = string.sub(t.recordText, AT.text.stamp, END.text.stamp), till = t.optional and t.optional.leastDeadline } })
  F.reindex(u)
end

-- Users and levels of which nothing is parked under a name any more.
function Park.close(queue, name, gone)
  local users = K.parkedUsers(queue.prefix, name)
  redis.call('ZREM', users, unpack(gone))
  if redis.call('EXISTS', users) == 0 then redis.call('HDEL', K.parkedNames(queue.prefix), name) end
end

function Park.leave(t, u)
  local queue, member = u.queue, Park.own(t, u)
  local key, from, till = K.parkedOfName(queue.prefix, t.name), Park.range(u.name, t.level)
  redis.call('ZREM', K.parked(queue.prefix), member)
  redis.call('ZREM', key, member)
  F.move('deadlines', F.member(t), t.optional and t.optional.leastDeadline or false)
  u.parked, queue.parked = math.max(0, u.parked - 1), math.max(0, queue.parked - 1)
  if redis.call('ZLEXCOUNT', key, from, till) == 0 then Park.close(queue, t.name, { t.level .. u.name }) end
  F.touch(u)
end

-- Those of a worker's names that something is parked under.
function Park.namesOf(queue, names)
  local all, known = {}, {}
  for name in string.gmatch(names or '', '[^,]+') do all[#all + 1] = name end
  for from = 1, #all, LIMIT.commandValues do
    local till = math.min(#all, from + (LIMIT.commandValues - 1))
    local got = redis.call('HMGET', K.parkedNames(queue.prefix), unpack(all, from, till))
    for i = from, till do
      if got[i - from + 1] then known[#known + 1] = all[i] end
    end
  end
  return known
end

-- Wakes one that stands in this line and knows one of these names; nil: any that is parked here.
function Park.wakeIn(queue, line, names)
  for _, id in ipairs(redis.call('ZRANGE', K.idleWorkers(queue.prefix, line), 0, (LIMIT.askedWorkers - 1))) do
    local own = redis.call('HGET', K.worker(id), FIELD.worker.names) or ''
    local knows = not names and #Park.namesOf(queue, own) > 0
    for _, name in ipairs(names or NONE) do
      knows = knows or string.find(own, ',' .. name .. ',', 1, true)
    end
    if knows and Line.wakeWorker(id) then return true end
  end
  return false
end

-- What is parked here can run, but not by the worker that has just leased: one that knows it is woken.
-- `newlyParked`: tasks that this step has parked, of users on lists.
function Park.wake(queue, newlyParked)
  if not Choose.queueOpen(queue, queue.parked) then return end
  if Park.wakeIn(queue, '*') then return end
  local asked = {}
  for _, t in ipairs(newlyParked or NONE) do
    local u = t.queueName == queue.name and F.ownerOf(t)
    for _, list in ipairs(u and u.lists or NONE) do
      local key = K.pair(list, t.name)
      if not asked[key] and Park.wakeIn(queue, list, { t.name }) then return end
      asked[key] = true
    end
  end
end

function Park.wakeAll(shares, newlyParked)
  for i = 1, #shares do Park.wake(shares[i].queue, newlyParked) end
end

-- When a live worker was heard last that knows the name; nil: not within the last hour.
function Park.knownAt(name)
  local since = now - LIMIT.unknownTaskMs
  local latest = tonumber(redis.call('ZSCORE', K.names(), name) or 0)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', K.workers(), since, '+inf')) do
    local worker, names = F.workerOf(id), redis.call('HGET', K.worker(id), FIELD.worker.names)
    -- The worker that asks is written to be alive at the end of its step.
    local seen = id == ARGV[1] and now or worker and worker.seen or 0
    if names and seen > latest and string.find(names, ',' .. name .. ',', 1, true) then latest = seen end
  end
  return latest > since and latest or nil
end

-- A task has nothing to be started for whose run has ended, or gave its group up, or whose run has nothing to go on
-- for itself. Owners may be a circle.
function Park.isAbandoned(t)
  for _ = 1, LIMIT.graphDepth do
    local owner = t.optional and t.optional.ownerRun
    if not owner then return false end
    local run = F.taskOf(owner)
    if not run or F.isEnd(run.state) then return true end
    local group = string.match(t.id, '^~g%.(......................)')
    if group and redis.call('HEXISTS', K.run(owner), FIELD.run.givenUp .. group) == 1 then return true end
    t = run
  end
  return false
end

-- It is parked, and has fallen due otherwise than by its own time to start.
function Park.isOver(t)
  return t.state == 'queued' and not F.isExpired(t) and Park.has(t, F.ownerOf(t))
end

-- It has been parked for an hour: it fails, unless some worker may yet come for it.
function Park.lookAgain(t, u)
  F.fixed(t)
  if t.optional and t.optional.ownerRun and Park.isAbandoned(t) then
    return F.endTask(t, u, 'canceled', { cause = cjson.encode({ type = 'run-ended', run = t.optional.ownerRun }) })
  end
  -- Behind an outage, or a step of the clock, those that know it have not spoken yet.
  local knownAt = now < C.pause and C.pause - LIMIT.unknownTaskMs or Park.knownAt(t.name)
  if not knownAt then return F.endTask(t, u, 'failed', { cause = '{"type":"unknown-task"}' }) end
  local till, own = knownAt + LIMIT.unknownTaskMs, t.optional and t.optional.leastDeadline
  F.move('deadlines', F.member(t), own and own < till and own or till)
end
