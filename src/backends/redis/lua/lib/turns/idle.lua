-- Forgets users whose kept tag the virtual time has passed.

-- Drops kept tags of users without a record that are of an epoch before; says how many.
function Tick.dropOldTags(queue, epoch, most)
  local key = K.oldTags(queue.prefix, epoch)
  local names = redis.call('ZRANGE', key, 0, most - 1)
  if #names == 0 then return 0 end
  redis.call('ZREM', key, unpack(names))
  Step.dropNames(queue, names, true)
  return #names
end

-- Drops users of one queue whose kept tag the virtual time has passed; says how many.
function Tick.dropIdle(queue, most)
  local epoch, dropped = queue.old, 0
  local rated = C.configs > 0 or queue.perUser.rate
  while true do
    if epoch < queue.epoch then
      dropped = dropped + Tick.dropOldTags(queue, epoch, most - dropped)
      if dropped >= most then return most end
    end
    local key = K.idle(queue.prefix, epoch)
    F.flushKey(key)
    local limit = epoch < queue.epoch and '+inf' or queue.virtual
    local names = redis.call('ZRANGEBYSCORE', key, '-inf', limit, 'LIMIT', 0, most - dropped)
    local gone = {}
    for _, name in ipairs(names) do
      F.zset(key, name, false)
      local u = queue.users[name]
      if rated then u = F.userOf(queue, name) end
      if u then
        u.idle = false
        F.touch(u)
      else
        redis.call('DEL', K.user(queue.prefix, name))
        gone[#gone + 1] = name
      end
    end
    Step.dropNames(queue, gone)
    dropped = dropped + math.max(#names, 1)
    if epoch >= queue.epoch then break end
    if dropped >= most then return most end
    epoch = epoch + 1
    queue.old = epoch
  end
  queue.idleMoved = true
  return dropped
end

-- Drops kept tags of users without a record that the virtual time has passed; says how many.
function Tick.dropTags(queue, most)
  if queue.tags == 0 then return 0 end
  local key, passed, names = K.keptTags(queue.prefix), math.floor(queue.virtual * Tag.scaleOf(USUAL.weight)) + 1, {}
  F.flushKey(key)
  local got = redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', passed), 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #got, 2 do
    if Tag.startOf(tonumber(got[i + 1]), USUAL.weight) <= queue.virtual then names[#names + 1] = got[i] end
  end
  if #names > 0 then
    queue.tags = queue.tags - redis.call('ZREM', key, unpack(names))
    Step.dropNames(queue, names)
  end
  return #names
end

function Tick.dropIdles()
  if C.idle == 0 then return false end
  local left = LIMIT.idleStep
  for _, queueName in ipairs(redis.call('SMEMBERS', K.idleQueues())) do
    local queue = F.queueOf(queueName)
    left = left - Tick.dropTags(queue, left)
    if left > 0 then left = left - Tick.dropIdle(queue, left) end
    F.touchQueue(queue)
    if left <= 0 then return true end
    redis.call('SREM', K.idleQueues(), queueName)
  end
  C.idle = 0
  return false
end
