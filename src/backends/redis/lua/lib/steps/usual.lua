-- What most calls of `settle` and `lease` are: tasks of one queue finish, of which nothing else is known, and as many are
-- leased, of users without a record; or the worker finds nothing, and stands in line. And of `enqueue`: tasks of one such user.
-- And of `signal`: a task without a deadline waits for it.
-- Each looks before it writes: where anything is otherwise it answers nothing, and the step goes on by the general rules
-- (lib/steps/settle-many.lua, lib/steps/dispatch.lua, lib/steps/store-many.lua).

-- Of a lone task: used again from call to call.
local ONE_LEASE, ONE_TEXT = {}, {}

-- What a queue may say of its tasks, which only goes with their leases.
local LEASE_SETTINGS = { leaseMs = true, retries = true, timeoutMs = true }

function Usual.goesAlong(config)
  for field in pairs(config) do
    if not LEASE_SETTINGS[field] then return false end
  end
  return true
end

-- Whether neither maintenance nor settings nor a request that is sent again ask for more.
function Usual.isQuiet(worker, queue, request, spec)
  if C.upkeep <= now or C.due <= now or H.started <= now or C.idle > 0 then return false end
  if worker.scope or Line.stands(worker.line) or worker.request == request then return false end
  if queue.hasSettings and not Usual.goesAlong(queue.config) then return false end
  return not F.retainDue(spec.retention)
end

-- Whether all tasks of the call are usual; then, as far as that was read, their leases as they are stored, and who waits
-- for their ends.
function Usual.leases(counts, queueName, hot)
  local n, ids = counts.n, counts.ids
  if counts.special > 0 then return false end
  local leases = ONE_LEASE
  if n == 1 then leases[1] = redis.call('HGET', hot, ARGV[ids + 1]) else leases = redis.call('HMGET', hot, unpack(ARGV, ids + 1, ids + n)) end
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

-- Ids and texts of the tasks of these turns, out of their lines; nothing where one cannot just be started.
function Usual.take(queue, turns, worker)
  local ids, n, texts = Dispatch.pop(queue, turns), turns.count, ONE_TEXT
  if n == 1 then texts[1] = redis.call('HGET', K.tasks(), ids[1]) else texts = redis.call('HMGET', K.tasks(), unpack(ids)) end
  local asked = worker.asked
  if not asked then
    asked = { names = worker.names, known = false, isLong = false, hasMore = false }
    worker.asked = asked
  end
  asked.isLong, asked.hasMore = false, false
  if Dispatch.firstSpecial(texts, n, asked) or asked.isLong then return Dispatch.unpop(queue, turns.names, turns.order, ids) end
  return ids, texts
end

-- The worker is heard, and the tasks of the call end, as ARGV has them.
function Usual.settle(counts, leases, ears, queue, worker, request)
  local i, n, ids = 0, counts.n, counts.ids
  if worker.line == LINE.woken then redis.call('DEL', K.wake(worker.id)) end
  F.seen(worker)
  for g = 1, counts.groups do
    local last = i + counts.sizes[g]
    while i < last do
      local first, packed = i + 1, leases[i + 1]
      repeat i = i + 1 until i == last or leases[i + 1] ~= packed
      Settle.addEnds(ROWS, 2 * (first - 1), packed, ARGV[2 + g], ids + first, ids + i, n)
    end
  end
  if n > 0 then
    Settle.saveEnds(worker, ROWS, ids + 1, ids + n)
    Settle.count(queue, n)
  end
  if ears then Settle.notify(ears, ids, ids + 1, ids + n, n) end
  worker.line, worker.seen, worker.last, worker.request = false, now, string.format('%d-', C.steps) .. request, request
  if C.alarms ~= ',' and string.find(C.alarms, worker.id, 1, true) then Due.dropAlarm(worker.id) end
end

-- Of `lease`: nothing is settled.
local NOTHING = { n = 0, special = 0, groups = 0, ids = 0, behind = 2 }

-- The queue and the worker that were read with the clock; nothing of one that there is not.
function Usual.queue(name)
  if not queueText then return end
  return F.readQueue(name, K.queue(name), queueText)
end

function Usual.worker()
  if not workerText then return end
  local worker = F.takeKept(K.worker(workerName), workerText) or F.unpackWorker(workerName, workerText)
  return F.readNames(worker)
end

-- The step is left to the general rules, which find what was kept where it was.
function Usual.leave(queue, worker)
  if queue then
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
  local worker, queue = Usual.worker(), not spec.queues[2] and Usual.queue(spec.queues[1])
  if worker and queue then return Usual.lease(counts, spec, worker, queue) end
end

-- The worker finds nothing, and stands in line; says for how long.
function Usual.park(spec, worker, queue, wait)
  Step.restIfIdle(queue)
  if C.freed then F.mayRest(worker.id) end
  local due = F.nextDue()
  return Lease.standInLine(worker, { { queue = queue } }, due, wait, worker.request, spec.leaseMs), due
end

-- Whether workers that stand in line are to hear of a lease of so many: of work that is left, or an alarm.
function Usual.wakes(worker, queue, n, till)
  if C.alarm < INF and (F.nextDue() < C.alarm or n > 0 and till < C.alarm) then return true end
  return C.waiting > 0 and (queue.parked > 0 or n > 0 and (queue.runnable > n or string.find(C.alarms, worker.id, 1, true)))
end

function Usual.lease(counts, spec, worker, queue)
  local from = counts.behind
  local request, limit, wait = ARGV[from], ARGV[from + 1] + 0, ARGV[from + 2]
  local isParked, n = queue.runnable == 0 and string.byte(wait) ~= BYTE.zero, math.min(limit, queue.runnable)
  local till = now + (queue.config.leaseMs or spec.leaseMs)
  if not Usual.isQuiet(worker, queue, request, spec) or (n == 0 or C.waiting > 0) and Usual.wakes(worker, queue, n, till) or n > LIMIT.dealtAtOnce
    or n == 0 and not isParked then return end
  -- What it was handed, and has not got, goes back by the general rules; parked tasks that it knows come back.
  if worker.line == LINE.handed and not HandOver.hasGot(worker, Lease.gotOf(wait)) then return end
  if queue.parked > 0 and #Park.namesOf(queue, worker.names) > 0 then return end
  local isUsual, leases, ears = true, NONE, nil
  if counts.n > 0 then isUsual, leases, ears = Usual.leases(counts, queue.name, worker.hot) end
  local turns = isUsual and n > 0 and Dispatch.turns(queue, n)
  if not isUsual or turns and (turns.count < n or turns.isOther) then return nil, leases, ears end
  local ids, texts = NONE, NONE
  if turns then ids, texts = Usual.take(queue, turns, worker) else redis.call('DEL', K.oom()) end
  if not ids then return nil, leases, ears end
  Usual.settle(counts, leases, ears, queue, worker, request)
  local due, waitMs, settings = INF, LIMIT.floorMs, ''
  if turns then
    Dispatch.startAll(queue, n, ids, worker.hot, string.format('%d-', micros) .. request, till,
      worker.asked.hasMore and 0 or FLAG.lease.bare)
    Dispatch.saveTags(queue, turns)
    -- Its own leases may be the next to end.
    due = F.nextDue()
    if queue.hasSettings then settings = Lease.settings({ { queue = queue } }) end
    if due - now < waitMs then waitMs = due - now end
    for i = 1, n do ids[n + i] = texts[i] end
  else
    waitMs, due = Usual.park(spec, worker, queue, wait)
  end
  Usual.save(queue, worker)
  if due == INF then due = -1 end
  till = now + spec.leaseMs
  if from == 2 then return { 'leased', 0, due, waitMs, now, till, 0, settings, micros, n, unpack(ids) } end
  return { 0, 'leased', 0, due, waitMs, now, till, 0, settings, micros, n, unpack(ids) }
end

-- Stores tasks of one user, who has no record; says how many, or nothing when it has done nothing. While workers stand in line it
-- hands one a lone task.
function Usual.store(counts)
  local n, user, queue = counts.n, ARGV[3], Usual.queue(ARGV[4])
  local isUsual = queue and counts.groups == 1 and counts.special == 0 and n <= LIMIT.dealtAtOnce and #ARGV == 4 + 2 * n
    and H.missing == INF and not queue.hasSettings and Store.mayEnter(queue) and not Store.isOther(queue, user)
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
  local taker = HandOver.isFree(queue, user) and HandOver.longestWaiting(queue)
  -- The alarm goes to another one that waits, by the general rules.
  local isLast = C.waiting == 1 or F.nextDue() == INF or taker and not string.find(C.alarms, taker, 1, true)
  if not taker or not isLast then return false end
  workerName, workerText = taker, redis.call('HGET', KEYS[1], FIELD.clock.worker .. taker)
  local worker, text = Usual.worker(), Store.textOf(ARGV[6])
  local request, leaseMs = HandOver.requestOf(worker, text)
  if not request or redis.call('HSETNX', K.tasks(), ARGV[5], text) == 0 then
    Usual.leave(nil, worker)
    return false
  end
  C.stamp = C.stamp + 1
  HandOver.give(queue, worker, request, leaseMs, ARGV[5], text)
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
