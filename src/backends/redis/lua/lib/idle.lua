-- Forgets users whose kept tag the virtual time has passed.

local DROP = 50

-- Drops users of one queue whose kept tag the virtual time has passed; says how many.
function Tick.dropIdle(lane, most)
  local epoch, dropped = lane.old, 0
  local rated = C.configs > 0 or lane.perUser.rate
  while true do
    local key = K.idle(lane.p, epoch)
    F.flushKey(key)
    local limit = epoch < lane.epoch and '+inf' or lane.v
    local names = redis.call('ZRANGEBYSCORE', key, '-inf', limit, 'LIMIT', 0, most - dropped)
    for _, name in ipairs(names) do
      F.zset(key, name, false)
      local u = lane.users[name]
      if rated then u = F.userOf(lane, name) end
      if u then
        u.idle = false
        F.touch(u)
      else
        redis.call('DEL', K.user(lane.p, name))
        F.zset(K.users(lane.p), name, false)
      end
    end
    dropped = dropped + math.max(#names, 1)
    if epoch >= lane.epoch then break end
    if dropped >= most then return most end
    epoch = epoch + 1
    lane.old = epoch
  end
  lane.idleMoved = true
  return dropped
end

-- Drops kept tags of users without a record that the virtual time has passed, and names of whom nothing
-- is known any more; says how many it looked at, and whether any may be left.
function Tick.dropNames(lane, most)
  local tags, users = K.keptTags(lane.p), K.users(lane.p)
  F.flushKey(tags)
  local passed = math.floor((lane.v + SLACK) * Tag.scale(100))
  local names = redis.call('ZRANGEBYSCORE', tags, '-inf', string.format('%.0f', passed), 'LIMIT', 0, most)
  local gone = 0
  for _, name in ipairs(names) do
    local tag = tonumber(redis.call('ZSCORE', tags, name))
    if Tag.keptUntil(tag, 100) <= lane.v then
      redis.call('ZREM', tags, name)
      gone = gone + 1
      if lane.users[name] then lane.users[name].isKept = false end
    end
  end
  lane.tags = lane.tags - gone
  -- Who has a task running is known by nothing but that: all of these are looked through a minute apart.
  if lane.counts.started > 0 then
    if now < (tonumber(redis.call('HGET', K.sweeping(), lane.queue .. ':at')) or 0) then return #names end
    redis.call('HSET', K.sweeping(), lane.queue .. ':at', now + 60000)
    most = 20 * most
  end
  F.flushKey(users)
  local from = redis.call('HGET', K.sweeping(), lane.queue) or '-'
  local some = redis.call('ZRANGEBYLEX', users, from, '+', 'LIMIT', 0, most)
  local runs
  for _, name in ipairs(some) do
    local u = lane.users[name]
    local known = u and (not u.plain or u.ready or u.isKept)
    if not known and redis.call('LLEN', K.line(lane.p, '', name)) == 0
      and redis.call('EXISTS', K.user(lane.p, name)) == 0
      and not redis.call('ZSCORE', tags, name) and redis.call('HEXISTS', K.later(lane.p), name) == 0 then
      if not runs then
        F.dropLeases()
        runs = lane.counts.started > 0 and F.runningOf(lane) or NONE
      end
      if not runs[name] then redis.call('ZREM', users, name) end
    end
  end
  if #some == most then
    redis.call('HSET', K.sweeping(), lane.queue, '(' .. some[#some])
    return most
  end
  redis.call('HDEL', K.sweeping(), lane.queue)
  if lane.counts.started == 0 then redis.call('HDEL', K.sweeping(), lane.queue .. ':at') end
  return #names
end

function Tick.dropIdles()
  if C.idle == 0 then return false end
  local left = DROP
  for _, queue in ipairs(redis.call('SMEMBERS', K.idleLanes())) do
    local lane = F.laneOf(queue)
    left = left - Tick.dropIdle(lane, left)
    if left > 0 then left = left - Tick.dropNames(lane, left) end
    F.touchLane(lane)
    if left <= 0 then
      C.idle = now
      return true
    end
    redis.call('SREM', K.idleLanes(), queue)
  end
  C.idle = 0
  return false
end
