-- Hands a lone task to a worker that waits, in the step that stores it: no other user is ready, so the turn is its
-- user's, and it needs no line. The worker fetches it from its wake list, so that list says whether it has come: a sweep looks
-- there after `handMs`.

-- Whether the turn is free, and any worker may have it: no user is ready in the queue, and it asks nothing of a lease.
function HandOver.isFree(queue, user)
  return queue.ready == 0 and queue.parked == 0 and not next(queue.config)
    and (queue.tags == 0 or not redis.call('ZSCORE', K.keptTags(queue.prefix), user))
end

-- The worker that waits longest, unless it has not shown life lately.
function HandOver.longestWaiting(queue)
  local head = redis.call('ZRANGE', K.idleWorkers(queue.prefix, '*'), 0, 0, 'WITHSCORES')
  return head[1] and now - head[2] <= LIMIT.staleWaitMs and head[1] or nil
end

-- What the worker asked for when it stood in line, and how long it leases for; nothing when it may not have the task.
function HandOver.requestOf(worker, text)
  if not worker or not Line.stands(worker.line) or worker.scope then return end
  local places, asked = Line.placesOf(worker), { names = worker.names, known = false, isLong = false }
  if not places.request or Dispatch.firstSpecial({ text }, 1, asked) or asked.isLong then return end
  return places.request, places.leaseMs
end

-- The turn of a user of whom nothing is known, and who is alone: it begins where the user would enter.
function HandOver.charge(queue)
  local tag = Tag.enterTag(0, queue.virtual, USUAL.weight, -1)
  queue.virtual = math.max(queue.virtual, Tag.startOf(tag, USUAL.weight))
  Fluid.advance(queue, 1, USUAL.weight)
end

-- Leases the task, whose text has been stored, to the worker; says whether this had the alarm.
function HandOver.give(queue, worker, request, leaseMs, id, text)
  HandOver.charge(queue)
  local flags = FLAG.lease.handed + (string.byte(text, AT.text.kind) == BYTE.zero and FLAG.lease.bare or 0)
  local token, look = string.format('%d-', micros) .. request, now + math.min(leaseMs, LIMIT.handMs)
  redis.call('HSET', worker.hot, id,
    struct.pack(FORMAT.lease, now, now + leaseMs, queue.epoch, flags, C.steps) .. queue.name .. '\0' .. token)
  if look < H.started then H.started = look end
  redis.call('ZADD', K.leases(), 'LT', string.format('%d', look), worker.id)
  queue.counts.started = queue.counts.started + 1
  Line.leave(worker)
  redis.call('RPUSH', K.wake(worker.id), token .. string.format('\0%d\0%d\0', now, leaseMs) .. id .. '\0' .. text)
  worker.line, worker.last, worker.request = LINE.handed, string.format('%d-', C.steps) .. request, request
  return string.find(C.alarms, worker.id, 1, true) and Due.dropAlarm(worker.id)
end

-- Whether the worker has got what it was handed last: `got` is the request for which it got a task.
function HandOver.hasGot(worker, got) return worker.request == got end

-- What the worker was handed last, and has not got, goes back to its place: it lies in its list, or it is on its way, and is
-- dropped when it arrives.
function HandOver.takeBack(worker)
  redis.call('DEL', K.wake(worker.id))
  for _, t in ipairs(F.latestLeases(worker.id, worker.last)) do F.comeBack(t, F.ownerOf(t), 0) end
end

-- Whether the worker has fetched the task that it was handed; what it has not fetched is taken out of its list.
function HandOver.isFetched(t)
  local key, head = K.wake(t.worker), t.token .. '\0'
  if string.sub(redis.call('LINDEX', key, 0) or '', 1, #head) ~= head then return true end
  redis.call('LPOP', key)
  return false
end
