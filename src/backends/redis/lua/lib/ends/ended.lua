-- Tasks that have ended: lists of ids by state, in the order in which they ended. One that is taken out of
-- the middle leaves a hole: a byte that no id has and the stamp of its end. Those that retention has come to
-- while others read them stand apart, in `kept`, until none does.

function F.enterEnded(t)
  t.endStamp = F.stamp()
  local row = endings[t.state]
  if not row then
    row = {}
    endings[t.state] = row
  end
  row[#row + 1] = t.id
  if now < H[t.state] then H[t.state] = now end
end

-- Writes who has ended in this step; called before the lists are read.
function F.flushEnded()
  for state, ids in pairs(endings) do
    for i = 1, #ids, LIMIT.commandValues do
      redis.call('RPUSH', K.ended(state), unpack(ids, i, math.min(#ids, i + (LIMIT.commandValues - 1))))
    end
  end
  endings = {}
end

function F.isHole(text)
  return string.byte(text) == 255
end

-- When an entry of a list ended, also one that is gone; nil when it is not known.
function F.endStampOf(entry)
  if F.isHole(entry) then return tonumber(string.sub(entry, 2), 16) end
  local t = F.taskOf(entry)
  return t and t.endStamp
end

-- The same where nothing else of it is asked for.
function F.endStampAlone(entry)
  if tasks[entry] ~= nil or F.isHole(entry) then return F.endStampOf(entry) end
  local ended = redis.call('HGET', K.ends(), entry)
  if not ended then return nil end
  local _, _, _, stamp = struct.unpack(FORMAT.ending, ended)
  return stamp
end

-- Where it was looked for last: who takes many out mostly goes on close behind.
local ranks = {}

-- How many of those that have ended so did before a stamp.
function F.rankOfEnd(key, stamp)
  F.flushEnded()
  local low, high = 0, redis.call('LLEN', key)
  local middle, step = ranks[key], 1
  if not middle then middle, step = math.floor(high / 2), nil end
  while low < high do
    middle = math.min(middle, high - 1)
    local at_, ended = middle, nil
    -- An entry that was changed by hand says nothing; the one behind it does.
    while at_ < high and not ended do
      ended = F.endStampAlone(redis.call('LINDEX', key, at_))
      if not ended then at_ = at_ + 1 end
    end
    if ended and ended < stamp then low = at_ + 1 else high, step = middle, nil end
    if step then
      middle, step = low + step - 1, 2 * step
    else
      middle = math.floor((low + high) / 2)
    end
  end
  ranks[key] = low
  return low
end

-- Its rank in its list; nil when it is not there.
function F.findEnded(t)
  local key = K.ended(t.state)
  F.flushEnded()
  -- Who takes many out begins with the oldest.
  if redis.call('LINDEX', key, 0) == t.id then return 0 end
  local rank = F.rankOfEnd(key, t.endStamp or 0)
  if redis.call('LINDEX', key, rank) == t.id then return rank end
end

function F.leaveEnded(t)
  if redis.call('ZREM', K.kept(t.state), t.id) == 1 then return end
  local key, rank = K.ended(t.state), F.findEnded(t)
  if not rank then return end
  if rank == 0 then
    redis.call('LPOP', key)
    return F.dropHoles(t.state)
  end
  redis.call('LSET', key, rank, '\255' .. string.format('%012x', t.endStamp))
  redis.call('HINCRBY', K.holes(), t.state, 1)
end

-- No list begins with a hole.
function F.dropHoles(state)
  local key, most, dropped, found = K.ended(state), 1, 0, 0
  repeat
    local entries = redis.call('LRANGE', key, 0, most - 1)
    found = 0
    while entries[found + 1] and F.isHole(entries[found + 1]) do found = found + 1 end
    if found > 0 then redis.call('LTRIM', key, found, -1) end
    dropped = dropped + found
    local all = found == most
    -- Mostly there is none, and then often many.
    most = LIMIT.commandValues
  until not all
  if dropped == 0 then return end
  if redis.call('HINCRBY', K.holes(), state, -dropped) == 0 then redis.call('HDEL', K.holes(), state) end
end

-- No task reads it any more: it stands again where it ended.
function F.backAmongEnded(t)
  local key = K.ended(t.state)
  if redis.call('ZREM', K.kept(t.state), t.id) == 0 then return end
  local next_ = redis.call('LINDEX', key, F.rankOfEnd(key, t.endStamp))
  if not next_ then
    redis.call('RPUSH', key, t.id)
  elseif redis.call('LINDEX', key, 0) == next_ then
    redis.call('LPUSH', key, t.id)
  else
    redis.call('LINSERT', key, 'BEFORE', next_, t.id)
  end
  if t.at < H[t.state] then H[t.state] = t.at end
end

-- The first of a state that has ended and that is not read, nil when there is none; and how many that are read
-- were put apart, at most so many: then it is nil, too. Retention has written who has ended in this step.
function F.firstEnded(state, most)
  local key = K.ended(state)
  for passed = 0, most do
    local id = redis.call('LINDEX', key, 0)
    if not id then return nil, passed end
    local t = F.taskOf(id)
    if t and t.state == state and t.readers == 0 then return t, passed end
    if passed == most then return nil, most end
    redis.call('LPOP', key)
    F.dropHoles(state)
    if t and t.state == state then redis.call('ZADD', K.kept(state), t.endStamp, id) end
  end
end

function F.countEnded(state)
  F.flushEnded()
  return redis.call('LLEN', K.ended(state)) - (redis.call('HGET', K.holes(), state) or 0)
    + redis.call('ZCARD', K.kept(state))
end
