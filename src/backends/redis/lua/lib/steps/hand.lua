-- Hands a lone task to a worker that waits, in the step that stores it: nobody else is ready, so the turn is its
-- user's, and it needs no line.

-- Whether the turn is free, and any worker may have it: nobody is ready in the queue, and it asks nothing of a lease.
function Hand.isFree(queue)
  return queue.ready == 0 and queue.parked == 0 and not next(queue.config)
end

-- The worker that waits longest, its request and how long it leases for; nil when it has not shown
-- life lately, takes nothing that it has not asked for, or does not know the task.
function Hand.taker(queue, text)
  local head = redis.call('ZRANGE', K.idleWorkers(queue.prefix, '*'), 0, 0, 'WITHSCORES')
  if not head[1] or now - head[2] > LIMIT.staleWaitMs then return end
  local worker = F.readWorker(head[1])
  if not worker or not Line.stands(worker.line) or worker.scope then return end
  local _, request, leaseMs = cmsgpack.unpack(worker.line)
  local asked = { names = worker.names, known = false, isLong = false }
  if not request or Dispatch.firstOdd({ text }, 1, asked) or asked.isLong then return end
  return worker, request, leaseMs
end

-- The turn of a user of whom nothing is known, and who is alone: it begins where the user would enter.
function Hand.charge(queue)
  local tag = Tag.enterTag(0, queue.virtual, USUAL.weight, -1)
  queue.virtual = math.max(queue.virtual, Tag.startOf(tag, USUAL.weight))
  Fluid.advance(queue, 1, USUAL.weight)
end

-- Leases the task, whose text has been stored, to a worker that waits; false when there is none for it. The lease
-- is short until the worker says that it has got it: one that has died costs no more than a token that it was given.
function Hand.over(queue, user, id, text)
  if queue.tags > 0 and redis.call('ZSCORE', K.keptTags(queue.prefix), user) then return false end
  local taker, request, leaseMs = Hand.taker(queue, text)
  if not taker then return false end
  local worker = taker.id
  Hand.charge(queue)
  local till = now + math.min(leaseMs, LIMIT.handMs)
  local token = string.format('%d-', micros) .. request
  redis.call('HSET', K.hot(worker), id,
    struct.pack(FORMAT.lease, now, till, queue.epoch, FLAG.lease.handed, C.steps) .. queue.name .. '\0' .. token)
  if till < H.started then H.started = till end
  redis.call('ZADD', K.leases(), 'LT', string.format('%d', till), worker)
  queue.counts.started = queue.counts.started + 1
  Line.leave(taker)
  redis.call('RPUSH', K.wake(worker), token .. string.format('\0%d\0%d\0', now, leaseMs) .. id .. '\0' .. text)
  -- Nobody is to find it once the lease may have ended.
  redis.call('PEXPIRE', K.wake(worker), LIMIT.handMs / 2)
  taker.line, taker.last, taker.request = LINE.handed, string.format('%d-', C.steps) .. request, request
  F.touchWorker(taker)
  local hadAlarm = string.find(C.alarms, worker, 1, true) and Due.dropAlarm(worker)
  if hadAlarm then Due.handAlarm(queue) end
  return true
end

-- What the worker was handed and has not fetched goes back to its place.
function Hand.takeBack(worker)
  local given = redis.call('LPOP', K.wake(worker))
  local token, id = string.match(given or '', '^([^%z]*)%z%d+%z%d+%z([^%z]*)%z')
  local t = id and F.taskOf(id, worker)
  if t and t.state == 'started' and t.isHanded and t.token == token then F.comeBack(t, F.ownerOf(t), 0) end
end
