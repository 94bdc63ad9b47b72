-- Forgets users whose kept tag the virtual time has passed.

-- Drops kept tags of users without a record that are of an epoch before; says how many.
function Tick.dropOldTags(lane, epoch, most)
  local key = K.oldTags(lane.prefix, epoch)
  local names = redis.call('ZRANGE', key, 0, most - 1)
  if #names == 0 then return 0 end
  redis.call('ZREM', key, unpack(names))
  Step.dropNames(lane, names, true)
  return #names
end

-- Drops users of one queue whose kept tag the virtual time has passed; says how many.
function Tick.dropIdle(lane, most)
  local epoch, dropped = lane.old, 0
  local rated = C.configs > 0 or lane.perUser.rate
  while true do
    if epoch < lane.epoch then
      dropped = dropped + Tick.dropOldTags(lane, epoch, most - dropped)
      if dropped >= most then return most end
    end
    local key = K.idle(lane.prefix, epoch)
    F.flushKey(key)
    local limit = epoch < lane.epoch and '+inf' or lane.virtual
    local names = redis.call('ZRANGEBYSCORE', key, '-inf', limit, 'LIMIT', 0, most - dropped)
    local gone = {}
    for _, name in ipairs(names) do
      F.zset(key, name, false)
      local u = lane.users[name]
      if rated then u = F.userOf(lane, name) end
      if u then
        u.idle = false
        F.touch(u)
      else
        redis.call('DEL', K.user(lane.prefix, name))
        gone[#gone + 1] = name
      end
    end
    Step.dropNames(lane, gone)
    dropped = dropped + math.max(#names, 1)
    if epoch >= lane.epoch then break end
    if dropped >= most then return most end
    epoch = epoch + 1
    lane.old = epoch
  end
  lane.idleMoved = true
  return dropped
end

-- Drops kept tags of users without a record that the virtual time has passed; says how many.
function Tick.dropTags(lane, most)
  if lane.tags == 0 then return 0 end
  local key, passed, names = K.keptTags(lane.prefix), math.floor(lane.virtual * Tag.scaleOf(100)) + 1, {}
  F.flushKey(key)
  local got = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', passed), 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #got, 2 do
    if Tag.startOf(tonumber(got[i + 1]), 100) <= lane.virtual then names[#names + 1] = got[i] end
  end
  if #names > 0 then
    lane.tags = lane.tags - redis.call('ZREM', key, unpack(names))
    Step.dropNames(lane, names)
  end
  return #names
end

function Tick.dropIdles()
  if C.idle == 0 then return false end
  local left = LIMIT.idleStep
  for _, queue in ipairs(redis.call('SMEMBERS', K.idleLanes())) do
    local lane = F.laneOf(queue)
    left = left - Tick.dropTags(lane, left)
    if left > 0 then left = left - Tick.dropIdle(lane, left) end
    F.touchLane(lane)
    if left <= 0 then return true end
    redis.call('SREM', K.idleLanes(), queue)
  end
  C.idle = 0
  return false
end
