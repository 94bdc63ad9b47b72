-- What most calls of `settle` and `lease` are: tasks of one queue finish, of which nothing else is known, and as many are
-- leased, of users without a record; or the worker finds nothing, and stands in line. And of `enqueue`: tasks of one such user.
-- And of `signal`: a task without a deadline waits for it.
-- Each looks before it writes: where anything is otherwise it answers nothing, and the step goes on by the general rules
-- (lib/steps/settle-many.lua, lib/steps/dispatch.lua, lib/steps/store-many.lua).

-- Whether maintenance or a request that is sent again asks for more.
function Usual.isQuiet(worker, queue, request, spec)
  if C.upkeep <= now or C.due <= now or H.started <= now or C.idle > 0 then return false end
  if worker.scope or Line.stands(worker.line) or worker.request == request then return false end
  if queue.hasSettings or queue.parked > 0 or queue.leaving > 0 then return false end
  return not F.retainDue(spec.retention)
end

-- Whether all tasks of the call are as most are; then, as far as that was read, their leases as they are stored, and who waits
-- for their ends.
function Usual.leases(counts, queueName, hot)
  local n, ids = counts.n, counts.ids
  if counts.odd > 0 then return false end
  local leases = n == 1 and { redis.call('HGET', hot, ARGV[ids + 1]) } or redis.call('HMGET', hot, unpack(ARGV, ids + 1, ids + n))
  local i = 0
  for g = 1, counts.groups do
    local tail, before = '\0' .. ARGV[2 + g], nil
    for _ = 1, counts.sizes[g] do
      i = i + 1
      local packed = leases[i]
      if packed ~= before then
        if not packed or string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.counted) ~= 0
          or string.sub(packed, AT.lease.rest) ~= queueName .. tail then return false end
        before = packed
      end
    end
  end
  if C.ears == 0 then return true, leases end
  local ears = redis.call('HMGET', K.ears(), unpack(ARGV, ids + 1, ids + n))
  for at_ = 1, n do
    if Settle.isReadBy(ears, at_) then return false, leases, ears end
  end
  return true, leases, ears
end

-- The next turns, one of each user: `names`, `tags` after them, and what is left. Nothing where one user has two of them.
function Usual.turns(queue, most)
  if queue.hasRest then return Usual.turnsOfClasses(queue, most) end
  local got = redis.call('ZRANGE', queue.usualReady, '0', most == 1 and '0' or string.format('%d', most - 1),
    'WITHSCORES')
  if #got < 2 * most then return end
  local lines, scale, v, w = queue.usualLine, Tag.scaleOf(USUAL.weight), queue.virtual, queue.weightSum
  local fluid = queue.tags > 0 and Fluid.open(queue)
  local names, tags, left, first, isDrained = {}, {}, {}, INF, false
  for i = 1, most do
    local name, tag = got[2 * i - 1], got[2 * i] + 0
    local have = (tag <= first and tag < INF) and redis.call('LLEN', lines .. name) or 0
    if have == 0 then return end
    local start = tag / scale
    if start < v then start = v end
    tag = tag + GRAINS.turn
    names[i], tags[i], left[i] = name, tag, have - 1
    if fluid then v = Fluid.after(fluid, start, 1, w) else v = Turn.afterTurn(start, 1, w) end
    if have == 1 then
      isDrained, w = true, w - USUAL.weight
      if i < most then
        if w <= 0 then return end
        if tag / scale > v then
          fluid = fluid or Fluid.new()
          Fluid.add(fluid, tag / scale, USUAL.weight)
        end
      end
    elseif first == INF then
      first = tag
    end
  end
  return { count = most, who = most, virtual = v, weightSum = w, names = names, tags = tags, left = left, fluid = fluid,
    isDrained = isDrained }
end

-- The same where users without a record have several weights.
function Usual.turnsOfClasses(queue, most)
  local turns = Dispatch.turns(queue, most)
  if turns.count == most and not (turns.isOther or turns.order) then return turns end
end

-- Ids and texts of the tasks of these turns, out of their lines; nothing where one cannot just be started.
function Usual.take(queue, turns, worker)
  local lines, names, n, ids, texts = queue.usualLine, turns.names, turns.count, {}, nil
  for i = 1, n do ids[i] = redis.call('LPOP', lines .. names[i]) end
  if n == 1 then texts = { redis.call('HGET', K.tasks(), ids[1]) } else texts = redis.call('HMGET', K.tasks(), unpack(ids)) end
  local asked = worker.asked
  if not asked then
    asked = { names = worker.names, known = false, isLong = false, hasMore = false }
    worker.asked = asked
  end
  asked.isLong, asked.hasMore = false, false
  if Dispatch.firstOdd(texts, n, asked) or asked.isLong then return Dispatch.unpop(queue, names, nil, ids) end
  return ids, texts
end

-- Writes the tags of those that had turns.
function Usual.saveTags(queue, turns)
  local key = queue.usualReady
  if turns.isDrained then
    turns.fronts = { { class = USUAL.class, key = key, countedWeight = USUAL.weight, n = queue.classes[USUAL.class] } }
  end
  if turns.fronts then return Dispatch.saveTags(queue, turns) end
  queue.virtual, queue.weightSum = turns.virtual, turns.weightSum
  local names, tags = turns.names, turns.tags
  if turns.count == 1 then return redis.call('ZADD', key, string.format('%d', tags[1]), names[1]) end
  local row = {}
  for i = 1, turns.count do row[2 * i - 1], row[2 * i] = string.format('%d', tags[i]), names[i] end
  redis.call('ZADD', key, unpack(row))
end

-- Tasks end, as ARGV has them.
function Usual.finish(counts, leases, ears, queue, worker)
  local i, n, ids, hot, stamp, freed = 0, counts.n, counts.ids, worker.hot, C.stamp, INF
  local rows = {}
  for g = 1, counts.groups do
    local behind, packed, before = ARGV[2 + g] .. '\0' .. ARGV[1] .. '\0', nil, nil
    for _ = 1, counts.sizes[g] do
      i, stamp = i + 1, stamp + 1
      if leases[i] ~= packed then
        packed = leases[i]
        before = struct.pack('<Bd', Settle.endingOf(packed), now) .. string.sub(packed, 1, END.lease.leasedAt)
        local till = struct.unpack('<d', packed, AT.lease.ends)
        if till < freed then freed = till end
      end
      rows[2 * i - 1], rows[2 * i] = ARGV[ids + i], before .. struct.pack('<d', stamp) .. behind .. ARGV[ids + n + i]
    end
  end
  if n == 1 then
    redis.call('HSET', K.ends(), rows[1], rows[2])
    redis.call('HDEL', hot, rows[1])
    redis.call('RPUSH', K.ended('finished'), rows[1])
  else
    redis.call('HSET', K.ends(), unpack(rows))
    redis.call('HDEL', hot, unpack(ARGV, ids + 1, ids + n))
    redis.call('RPUSH', K.ended('finished'), unpack(ARGV, ids + 1, ids + n))
  end
  C.stamp, C.freed = stamp, freed
  local c = queue.counts
  c.started, c.finished, queue.finished = c.started - n, c.finished + n, queue.finished + n
  if now < H.finished then H.finished = now end
  worker.succeeded = worker.succeeded + n
  if ears then Settle.notify(ears, ids, ids + 1, ids + n, n) end
end

-- Leases of these tasks begin, with these flags; says when they end.
function Usual.start(queue, turns, ids, hot, token, leaseMs, flags)
  local n, till, c = turns.count, now + leaseMs, queue.counts
  local value = struct.pack(FORMAT.lease, now, till, queue.epoch, flags, C.steps) .. queue.name .. '\0' .. token
  if n == 1 then
    redis.call('HSET', hot, ids[1], value)
  else
    local rows = {}
    for i = 1, n do rows[2 * i - 1], rows[2 * i] = ids[i], value end
    redis.call('HSET', hot, unpack(rows))
  end
  F.begun(ARGV[1], till)
  queue.runnable, c.queued, c.started = queue.runnable - n, c.queued - n, c.started + n
  return till
end

-- Of `lease`: nothing is settled.
local NOTHING = { n = 0, odd = 0, groups = 0, ids = 0, behind = 2 }

-- The queue and the worker that were read with the clock; nothing of one that there is not.
function Usual.queue(name)
  if not queueText then return end
  local queuePrefix = K.queue(name)
  return F.takeKept(queuePrefix, queueText) or F.unpackQueue(name, queuePrefix, queueText)
end

function Usual.worker()
  if not workerText then return end
  local worker = F.takeKept(K.worker(workerName), workerText) or F.unpackWorker(workerName, workerText)
  return F.readNames(worker)
end

-- The step is left to the general rules, which find what was kept where it was.
function Usual.leave(queue, worker)
  if queue and not queue.hasSettings then
    queue.packed = queueText
    F.keep(queue.prefix, queue)
  end
  if worker then
    worker.packed = workerText
    F.keep(worker.key, worker)
  end
end

-- Saves clock, queue and worker, and keeps them.
function Usual.save(queue, worker)
  Step.noteIdle(queue)
  local clock, numbers = F.packClock(), F.packQueue(queue)
  C.seen, C.steps, C.freed, C.begun, C.packed, queue.packed, queue.readEpoch = now, C.steps + 1, false, false, clock, numbers,
    queue.epoch
  if worker then
    worker.packed = F.packWorker(worker)
    redis.call('HSET', KEYS[1], FIELD.clock.numbers, clock, queue.field, numbers, worker.field, worker.packed)
    F.keep(worker.key, worker)
  else
    redis.call('HSET', KEYS[1], FIELD.clock.numbers, clock, queue.field, numbers)
  end
  F.keep(KEYS[1], C)
  F.keep(queue.prefix, queue)
end

-- The answer; or nothing, and what was read in vain, as `Usual.leases` says it.
function Usual.step(counts, spec)
  local from, worker, queue = counts.behind, Usual.worker(), not spec.queues[2] and Usual.queue(spec.queues[1])
  if not (worker and queue) then return Usual.leave(queue, worker) end
  local reply, leases, ears = Usual.lease(counts, spec, worker, queue, ARGV[from], ARGV[from + 1] + 0)
  if reply then return reply end
  Usual.leave(queue, worker)
  return nil, leases, ears
end

-- The worker settles, finds nothing, and stands in line.
function Usual.park(counts, spec, worker, queue, request)
  local isUsual, leases, ears = true, NONE, nil
  -- The holder of the alarm would sleep too long.
  if C.alarm < INF and F.nextDue() < C.alarm then return end
  local wait = ARGV[counts.behind + 2]
  -- What it was handed, and has not got, goes back by the general rules.
  if worker.line == LINE.handed and not Hand.hasGot(worker, Lease.gotOf(wait)) then return end
  if counts.n > 0 then isUsual, leases, ears = Usual.leases(counts, queue.name, worker.hot) end
  if not isUsual then return nil, leases, ears end
  redis.call('DEL', worker.line == LINE.woken and K.wake(worker.id) or K.oom())
  F.seen(worker)
  if counts.n > 0 then Usual.finish(counts, leases, ears, queue, worker) end
  worker.line, worker.seen, worker.last, worker.request = false, now, string.format('%d-', C.steps) .. request, request
  if string.find(C.alarms, worker.id, 1, true) then Due.dropAlarm(worker.id) end
  Step.restIfIdle(queue)
  if C.freed then F.mayRest(worker.id) end
  local due = F.nextDue()
  local waitMs = Lease.standInLine(worker, { { queue = queue } }, due, wait, request, spec.leaseMs)
  Usual.save(queue, worker)
  if counts.behind == 2 then return { 'leased', 0, due < INF and due or -1, waitMs, now, now + spec.leaseMs, 0, '', micros, 0 } end
  return { 0, 'leased', 0, due < INF and due or -1, waitMs, now, now + spec.leaseMs, 0, '', micros, 0 }
end

function Usual.lease(counts, spec, worker, queue, request, limit)
  if not Usual.isQuiet(worker, queue, request, spec) then return end
  if queue.runnable == 0 and string.byte(ARGV[counts.behind + 2]) ~= BYTE.zero then
    return Usual.park(counts, spec, worker, queue, request)
  end
  -- What it leaves behind, or an alarm that it holds, is for a worker in line.
  if C.waiting > 0 or worker.line or C.alarms ~= ',' and string.find(C.alarms, worker.id, 1, true) then return end
  if queue.runnable < limit or limit == 0 or limit > LIMIT.dealtAtOnce then return end
  local isUsual, leases, ears = true, NONE, nil
  if counts.n > 0 then isUsual, leases, ears = Usual.leases(counts, queue.name, worker.hot) end
  local turns = isUsual and Usual.turns(queue, limit)
  if not turns then return nil, leases, ears end
  local ids, texts = Usual.take(queue, turns, worker)
  if not ids then return nil, leases, ears end
  F.seen(worker)
  if counts.n > 0 then Usual.finish(counts, leases, ears, queue, worker) end
  local till = Usual.start(queue, turns, ids, worker.hot, string.format('%d-', micros) .. request, spec.leaseMs,
    worker.asked.hasMore and 0 or FLAG.lease.bare)
  Usual.saveTags(queue, turns)
  worker.seen, worker.last, worker.request = now, string.format('%d-', C.steps) .. request, request
  Usual.save(queue, worker)
  local due, waitMs = F.nextDue(), LIMIT.floorMs
  if due - now < waitMs then waitMs = due - now end
  for i = 1, limit do ids[limit + i] = texts[i] end
  if counts.behind == 2 then
    return { 'leased', 0, due < INF and due or -1, waitMs, now, till, 0, '', micros, limit, unpack(ids) }
  end
  return { 0, 'leased', 0, due < INF and due or -1, waitMs, now, till, 0, '', micros, limit, unpack(ids) }
end

-- Stores tasks of one user, who has no record; says how many, or nothing when it has done nothing. While workers stand in line it
-- hands one a lone task.
function Usual.store(counts)
  local n, user, queue = counts.n, ARGV[3], Usual.queue(ARGV[4])
  local isUsual = queue and counts.groups == 1 and counts.odd == 0 and n <= LIMIT.dealtAtOnce and #ARGV == 4 + 2 * n
    and H.missing == INF and not queue.hasSettings and not queue.hasRest and not Store.isOther(queue, user)
  if isUsual and C.waiting > 0 then
    if n == 1 and Usual.hand(queue, user) then return 1 end
    return Usual.leave(queue)
  end
  if not isUsual or not Usual.writeTexts(n) then return Usual.leave(queue) end
  if redis.call('RPUSH', K.line(queue.prefix, '', user), unpack(ARGV, 5, 4 + n)) == n then Store.join(queue, user) end
  queue.runnable, queue.enqueued, queue.counts.queued = queue.runnable + n, queue.enqueued + n, queue.counts.queued + n
  Usual.save(queue)
  return n
end

-- Writes the texts of tasks, unless one of them is known.
function Usual.writeTexts(n)
  local stamp = C.stamp
  if n == 1 then
    if redis.call('HSETNX', K.tasks(), ARGV[5], Store.textOf(ARGV[6])) == 0 then return false end
  else
    local created, stored, rows = string.format('%013.0f', now), redis.call('HMGET', K.tasks(), unpack(ARGV, 5, 4 + n)), {}
    for i = 1, n do
      if stored[i] then return false end
      rows[2 * i - 1], rows[2 * i] = ARGV[4 + i], created .. string.format('%012x', stamp + i) .. ARGV[4 + n + i]
    end
    redis.call('HSET', K.tasks(), unpack(rows))
  end
  C.stamp = stamp + n
  return true
end

-- Stores a task, and hands it to the worker that waits longest; says whether it has.
function Usual.hand(queue, user)
  local taker = Hand.isFree(queue, user) and Hand.longestWaiting(queue)
  -- The alarm goes to another one that waits, by the general rules.
  local isLast = C.waiting == 1 or F.nextDue() == INF or taker and not string.find(C.alarms, taker, 1, true)
  if not taker or not isLast then return false end
  workerName, workerText = taker, redis.call('HGET', KEYS[1], FIELD.clock.worker .. taker)
  local worker, text = Usual.worker(), Store.textOf(ARGV[6])
  local request, leaseMs = Hand.requestOf(worker, text)
  if not request or redis.call('HSETNX', K.tasks(), ARGV[5], text) == 0 then
    Usual.leave(nil, worker)
    return false
  end
  C.stamp = C.stamp + 1
  Hand.over(queue, worker, request, leaseMs, ARGV[5], text)
  queue.enqueued = queue.enqueued + 1
  Usual.save(queue, worker)
  return true
end

-- Ends the wait of who waits longest for a signal without an id, of whom there is no more to know than a line and a tag; says
-- whether it did.
function Usual.signal(id, name, payload, signalId)
  if whole or signalId ~= '' or C.upkeep <= now or C.due <= now then return end
  F.beginStep()
  F.beginAll()
  local waiter = F.endStateOf(id) == false and redis.call('ZRANGE', K.waiters(id, name), '0', '0')[1]
  local row = waiter and Wait.rowOf(waiter)
  if not row or row.form.kind ~= 'signal' or row.form.isDue then return end
  local queue = F.queueOf(row.queueName)
  if queue.hasSettings or not Store.mayEnter(queue) or Wait.isOther(queue, row) then return end
  redis.call('DEL', K.oom())
  Wait.takeSignal(row, payload, true)
  F.writeStep()
  F.closeStep()
  return true
end
