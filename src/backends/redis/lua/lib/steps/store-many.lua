-- Stores usual tasks, all of a call at once.

-- Whether the user has a record in the queue, or settings that ask for one.
function Store.isOther(queue, user)
  if C.configs > 0 then
    return redis.call('EXISTS', K.user(queue.prefix, user), K.userConfig(user)) > 0
  end
  return redis.call('EXISTS', K.user(queue.prefix, user)) > 0
end

-- A queue's users need no records, and one more may join the class of those with the weight 100.
function Store.mayEnter(queue)
  if queue.config.perUser or queue.timed then return false end
  if queue.lasts[USUAL.kind] then return true end
  local n = 0
  for _ in pairs(queue.classes) do n = n + 1 end
  return n < LIMIT.weightClasses
end

-- One more user joins the class of the weight 100; `kept`: the tag that it has, if any. Answers the one it gets.
function Store.enter(queue, kept)
  kept = kept and kept + 0 or 0
  kept = Tag.keptTag(kept, USUAL.weight, queue.virtual)
  local tag, last = Tag.enterTag(kept, queue.virtual, USUAL.weight, queue.lasts[USUAL.kind] or -1)
  queue.lasts[USUAL.kind] = last
  local classes = queue.classes
  classes[USUAL.class] = (classes[USUAL.class] or 0) + 1
  if classes[USUAL.class] == LIMIT.spreadFrom then F.spread(K.ready(queue.prefix, USUAL.class)) end
  queue.weightSum, queue.ready, queue.joined = queue.weightSum + USUAL.weight, queue.ready + 1, 1
  return tag
end

-- Nothing of the user waited: it gets its tag.
function Store.join(queue, user)
  local kept = queue.tags > 0 and redis.call('ZSCORE', K.keptTags(queue.prefix), user)
  if kept then
    redis.call('ZREM', K.keptTags(queue.prefix), user)
    queue.tags = queue.tags - 1
  end
  local tag = Store.enter(queue, kept)
  redis.call('ZADD', K.ready(queue.prefix, USUAL.class), string.format('%d', tag), user)
  redis.call('ZADD', K.users(queue.prefix), '0', user)
end

-- The text of the next task to be stored.
function Store.textOf(blob) return string.format('%013.0f', now) .. string.format('%012x', C.stamp + 1) .. blob end

-- The texts of all tasks, and long payloads. Gives back the text of a lone one.
function Store.texts(n, blobs)
  local first, stamp, text = blobs - n, C.stamp, nil
  if n == 1 then
    text = Store.textOf(ARGV[blobs + 1])
    redis.call('HSET', K.tasks(), ARGV[first + 1], text)
  else
    local created, rows, k = string.format('%013.0f', now), {}, 0
    for i = 1, n do
      rows[k + 1] = ARGV[first + i]
      rows[k + 2] = created .. string.format('%012x', stamp + i) .. ARGV[blobs + i]
      k = k + 2
    end
    redis.call('HSET', K.tasks(), unpack(rows))
  end
  C.stamp = stamp + n
  local long = blobs + n
  for i = long + 1, #ARGV do
    local at_ = ARGV[i]
    -- Place and payload of each that is long.
    if (i - long) % 2 == 1 then redis.call('HSET', K.payloads(), ARGV[first + at_], ARGV[i + 1]) end
  end
  return text
end

-- Whether a worker that waits has been handed the lone task of the call.
function Store.isHanded(queue, user, id, text)
  local taker = HandOver.isFree(queue, user) and HandOver.longestWaiting(queue)
  local worker = taker and F.readWorker(taker)
  local request, leaseMs = HandOver.requestOf(worker, text)
  if not request then return false end
  local hadAlarm = HandOver.give(queue, worker, request, leaseMs, id, text)
  F.touchWorker(worker)
  if hadAlarm then Due.handAlarm(queue) end
  queue.enqueued = queue.enqueued + 1
  F.touchQueue(queue)
  return true
end

-- ARGV from 2: the counts (`F.countsOf`), user and queue of each group, all ids, all blobs, and place and payload
-- of each whose payload is long; then, of each that has other facts, place and these as JSON. Stores all, and says
-- how many; nothing when some must be looked at one by one. A call on behalf of a lease does not come here.
function Store.many(counts)
  local n, groups, sizes = counts.n, counts.groups, counts.sizes
  if counts.special > 0 or H.missing < INF then return end
  local first = 2 + 2 * groups
  local stored = redis.call('HMGET', K.tasks(), unpack(ARGV, first + 1, first + n))
  for i = 1, n do
    if stored[i] then return end
  end
  local queue
  for g = 1, groups do
    queue = F.queueOf(ARGV[2 + 2 * g])
    if not Store.mayEnter(queue) then return end
    if Store.isOther(queue, ARGV[1 + 2 * g]) then return end
  end
  local text = Store.texts(n, first + n)
  if text and C.waiting > 0 and Store.isHanded(queue, ARGV[3], ARGV[5], text) then return n end
  local from = first + 1
  for g = 1, groups do
    local size, user = sizes[g], ARGV[1 + 2 * g]
    queue = F.queueOf(ARGV[2 + 2 * g])
    local length = redis.call('RPUSH', K.line(queue.prefix, '', user), unpack(ARGV, from, from + size - 1))
    if length == size then Store.join(queue, user) end
    queue.runnable, queue.gain, queue.enqueued = queue.runnable + size, queue.gain + size, queue.enqueued + size
    queue.counts.queued = queue.counts.queued + size
    F.touchQueue(queue)
    from = from + size
  end
  return n
end
