-- Decides whether a user is ready, and puts it where that says: the only code that writes the
-- ready indexes, W, `runnable` and the gain that wake-ups are handed out for.

function F.exactClasses(queue)
  local n, weights = 0, {}
  for class in pairs(queue.classes) do
    local kind = string.sub(class, 2)
    if string.byte(kind) == 119 and not weights[kind] then
      weights[kind] = true
      n = n + 1
    end
  end
  return n
end

-- A member that is too long for a listpack, and stands behind all users; no name is written so.
function F.spread(key)
  redis.call('ZADD', key, '+inf', string.rep('\255', LIMIT.spreadBytes))
end

function F.isKindUsed(classes, kind)
  return classes['p' .. kind] or classes['o' .. kind] or classes['a' .. kind]
end

-- Joins the class of the user's weight: its own while it is among the first 31 in use, else the
-- shared one of its power of two. Answers the kind, which classes of three families have: of users
-- without a record (p), of others that no worker is assigned to (o), and of those that one is (a).
function F.joinClass(u)
  local queue, kind = u.queue, 'w' .. u.countedWeight
  local classes = queue.classes
  u.shared, u.ready = false, true
  if not F.isKindUsed(classes, kind) and next(classes) and F.exactClasses(queue) >= LIMIT.weightClasses then
    u.shared = true
    kind = 's' .. Tag.sharedClass(u.countedWeight)
  end
  u.class = (u.assigned and 'a' or F.needsRecord(u) and 'o' or 'p') .. kind
  classes[u.class] = (classes[u.class] or 0) + 1
  if classes[u.class] == LIMIT.spreadFrom then F.spread(K.ready(queue.prefix, u.class)) end
  queue.weightSum = queue.weightSum + u.countedWeight
  queue.ready = queue.ready + 1
  return kind
end

-- F of a turn of cost 1.
function F.finishOf(u) return Tag.finishOf(u.startTag, u.countedWeight) end

-- Writes the user's score, or its absence, to every index that is ordered by its tag. Tags of several
-- weights, which share a class, are compared in virtual time.
function F.indexUser(u, ready)
  local queue = u.queue
  F.zset(K.ready(queue.prefix, u.class), u.name, ready and (u.shared and F.startOf(u) or u.startTag))
  local lists = u.lists
  if not lists then return end
  local finish = ready and F.finishOf(u)
  for i = 1, #lists do
    F.zset(K.listReady(queue.prefix, lists[i]), u.name, finish)
    if string.byte(lists[i]) == 115 then
      F.zset(K.unassigned(queue.prefix, lists[i]), u.name, not u.assigned and finish)
    end
  end
end

function F.onAssigned(u)
  for i = 1, u.lists and #u.lists or 0 do
    if string.byte(u.lists[i]) == 97 then return true end
  end
  return false
end

function F.unindex(u)
  local queue = u.queue
  F.indexUser(u, false)
  queue.weightSum = queue.weightSum - u.countedWeight
  queue.ready = queue.ready - 1
  local classes, left = queue.classes, (queue.classes[u.class] or 1) - 1
  classes[u.class] = left > 0 and left or nil
  if left <= 0 then
    Z[K.ready(queue.prefix, u.class)] = nil
    redis.call('DEL', K.ready(queue.prefix, u.class))
    local kind = string.sub(u.class, 2)
    if not F.isKindUsed(classes, kind) then queue.lasts[kind] = nil end
  end
  u.class, u.ready = false, false
end

-- It keeps its tag.
function F.changeFamily(u)
  local lasts, kind = u.queue.lasts, string.sub(u.class, 2)
  local last = lasts[kind]
  F.unindex(u)
  if F.joinClass(u) == kind then lasts[kind] = last end
  F.indexUser(u, true)
end

function F.listOf(queue, id)
  queue.lists = queue.lists or {}
  local list = queue.lists[id]
  if list then return list end
  local got = redis.call('HMGET', K.list(queue.prefix, id), FIELD.list.clock, FIELD.list.epoch)
  list = { id = id, clock = tonumber(got[1] or 0) }
  if tonumber(got[2] or 0) ~= queue.epoch then list.clock = 0 end
  queue.lists[id] = list
  return list
end

-- Where a user stands that joins now: at the queue's virtual time, or where a slower list of its
-- own has got to, so that it waits for no user that its workers do not serve.
function F.joinTag(u)
  local queue, v = u.queue, u.queue.virtual
  for i = 1, u.lists and #u.lists or 0 do
    local key = K.listReady(queue.prefix, u.lists[i])
    F.flushKey(key)
    local head = redis.call('ZRANGE', key, 0, 0)[1]
    if head then
      v = math.min(v, math.max(F.listOf(queue, u.lists[i]).clock, F.startOf(F.userOf(queue, head))))
    end
  end
  return v
end

function F.place(u)
  local queue, assigned = u.queue, u.lists and F.onAssigned(u) or false
  local weight = u.set.weight
  if u.ready and u.tagEpoch ~= queue.epoch then Timed.recount(u) end
  if u.ready and u.countedWeight == weight then
    if (u.assigned or false) ~= assigned then
      u.assigned = assigned
      F.changeFamily(u)
    end
    return
  end
  local v, kept = u.lists and F.joinTag(u) or queue.virtual, 0
  -- A tag that the virtual time has passed is worth nothing, so it makes no difference whether it was kept.
  if u.tagEpoch == queue.epoch and (u.ready or F.startOf(u) > queue.virtual) then kept = u.startTag end
  -- Also of one that was not ready meanwhile: its tag is in turns of the weight it had.
  if u.countedWeight ~= weight then
    kept = Tag.rescaledTag(kept, v, u.countedWeight, weight)
  end
  if u.ready then F.unindex(u) else Fluid.drop(u) end
  u.tagEpoch, u.countedWeight, u.assigned, u.entered = queue.epoch, weight, assigned, true
  queue.joined = 1
  local kind, lasts = F.joinClass(u), queue.lasts
  local last = lasts[kind] or -1
  u.startTag, lasts[kind] = Tag.enterTag(kept, v, weight, last)
  -- Tags of different weights have no order: those who share a class are counted.
  if u.shared then lasts[kind] = last + 1 end
  F.indexUser(u, true)
end

function F.throttle(u, till)
  if till then
    F.move('throttled', K.pair(u.queue.name, u.name), till)
  elseif u.throttled then
    F.move('throttled', K.pair(u.queue.name, u.name), false)
  end
  u.throttled = till and true or false
  u.throttledTill = till
end

-- When the rate of a user allows its next start; nil: now.
function F.rateTill(u)
  local rate = u.set.rate
  -- What a clock that went back has left behind is taken back.
  u.tat = Rate.boundedTat(rate, u.tat, now)
  local allowed = Rate.allowedAt(rate, u.tat)
  return allowed > now and allowed or nil
end

function F.reindex(u)
  local queue, set, headroom, queued = u.queue, u.set, 0, u.queued
  F.touch(u)
  if queued > 0 and not set.paused then
    headroom = set.maxRunning - u.running
    if headroom > queued then headroom = queued end
    if headroom < 0 then headroom = 0 end
  end
  local till = headroom > 0 and set.rate and F.rateTill(u) or nil
  if till or u.throttled then F.throttle(u, till) end
  if till then headroom = 0 end
  if headroom > 0 then
    F.place(u)
  elseif u.ready then
    F.unindex(u)
    Fluid.leave(u)
  end
  local gained = headroom - u.headroom
  if gained == 0 then return end
  u.headroom = headroom
  queue.runnable = queue.runnable + gained
  if gained > 0 then
    queue.gain = queue.gain + gained
    if u.lists then
      queue.gainers = queue.gainers or {}
      queue.gainers[u.name] = u
    end
  end
end
