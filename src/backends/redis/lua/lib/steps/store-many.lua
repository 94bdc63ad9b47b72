-- Stores tasks as most are, all of a call at once.

-- Whether the user has a record in the queue, or settings that ask for one.
function Store.isOther(lane, user)
  if C.configs > 0 then
    return redis.call('EXISTS', K.user(lane.prefix, user), K.userConfig(user)) > 0
  end
  return redis.call('EXISTS', K.user(lane.prefix, user)) > 0
end

-- A queue's users need no records, and one more may join the class of those with the weight 100.
function Store.isRoomy(lane)
  if lane.config.perUser or lane.timed then return false end
  if lane.lasts.w100 then return true end
  local n = 0
  for _ in pairs(lane.classes) do n = n + 1 end
  return n < LIMIT.weightClasses
end

-- One more user joins the class of the weight 100; `kept`: the tag that it has, if any. Answers the one it gets.
function Store.enter(lane, kept)
  kept = kept and kept + 0 or 0
  kept = Tag.keptTag(kept, 100, lane.virtual)
  local tag, last = Tag.enterTag(kept, lane.virtual, 100, lane.lasts.w100 or -1)
  lane.lasts.w100 = last
  local classes = lane.classes
  classes.pw100 = (classes.pw100 or 0) + 1
  if classes.pw100 == LIMIT.spreadFrom then F.spread(K.ready(lane.prefix, 'pw100')) end
  lane.weightSum, lane.ready, lane.joined = lane.weightSum + 100, lane.ready + 1, 1
  return tag
end

-- Nothing of the user waited: it gets its tag.
function Store.join(lane, user)
  local kept = lane.tags > 0 and redis.call('ZSCORE', K.keptTags(lane.prefix), user)
  if kept then
    redis.call('ZREM', K.keptTags(lane.prefix), user)
    lane.tags = lane.tags - 1
  end
  local tag = Store.enter(lane, kept)
  redis.call('ZADD', K.ready(lane.prefix, 'pw100'), string.format('%d', tag), user)
  redis.call('ZADD', K.users(lane.prefix), '0', user)
end

-- The texts of all tasks, and long payloads. Gives back the text of a lone one.
function Store.texts(n, blobs)
  local first, created = blobs - n, string.format('%013.0f', now)
  local stamp = C.stamp
  C.stamp = stamp + n
  local text
  if n == 1 then
    text = created .. string.format('%012x', stamp + 1) .. ARGV[blobs + 1]
    redis.call('HSET', K.tasks(), ARGV[first + 1], text)
  else
    local rows, k = {}, 0
    for i = 1, n do
      rows[k + 1] = ARGV[first + i]
      rows[k + 2] = created .. string.format('%012x', stamp + i) .. ARGV[blobs + i]
      k = k + 2
    end
    redis.call('HSET', K.tasks(), unpack(rows))
  end
  local long = blobs + n
  for i = long + 1, #ARGV do
    local at_ = ARGV[i]
    -- Place and payload of each that is long.
    if (i - long) % 2 == 1 then redis.call('HSET', K.payloads(), ARGV[first + at_], ARGV[i + 1]) end
  end
  return text
end

-- Whether a worker that waits has been handed the lone task of the call.
-- @rare
function Store.isHanded(lane, user, id, text)
  if not Hand.isFree(lane) or not Hand.over(lane, user, id, text) then return false end
  lane.enqueued = lane.enqueued + 1
  F.touchLane(lane)
  return true
end

-- ARGV from 2: how many tasks, how many of them are not as most are, how many groups follow that have one
-- user and queue each; then size, user and queue of each group, all ids, all blobs, and place and payload
-- of each whose payload is long; then, of each that has other facts, place and these as JSON. Stores all, and says
-- how many; nothing when some must be looked at one by one.
function Store.many()
  local n, odd, groups = ARGV[2] + 0, ARGV[3] + 0, ARGV[4] + 0
  if odd > 0 or #ARGV[1] > 1 or H.missing < INF then return end
  local first = 4 + 3 * groups
  local stored = redis.call('HMGET', K.tasks(), unpack(ARGV, first + 1, first + n))
  for i = 1, n do
    if stored[i] then return end
  end
  local lane
  for at_ = 5, first, 3 do
    lane = F.laneOf(ARGV[at_ + 2])
    if not Store.isRoomy(lane) then return end
    if Store.isOther(lane, ARGV[at_ + 1]) then return end
  end
  local text = Store.texts(n, first + n)
  if text and C.waiting > 0 and Store.isHanded(lane, ARGV[6], ARGV[8], text) then return n end
  local from = first + 1
  for at_ = 5, first, 3 do
    local lane = F.laneOf(ARGV[at_ + 2])
    local size, user = ARGV[at_] + 0, ARGV[at_ + 1]
    local length = redis.call('RPUSH', K.line(lane.prefix, '', user), unpack(ARGV, from, from + size - 1))
    if length == size then Store.join(lane, user) end
    lane.runnable, lane.gain, lane.enqueued = lane.runnable + size, lane.gain + size, lane.enqueued + size
    lane.counts.queued = lane.counts.queued + size
    F.touchLane(lane)
    from = from + size
  end
  return n
end
