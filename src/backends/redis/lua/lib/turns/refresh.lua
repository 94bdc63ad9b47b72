-- Tells users of new settings, some at a time: all of a queue of its new defaults, or one in all queues. How
-- far that has come stands in `refreshing`; the call that set them goes on with it, and so does every tick.

-- No queue has such a name: behind it stands a user.
local MARK = '@'

function Tick.notifyQueue(queueName, from, most)
  local queue = F.queueOf(queueName)
  F.flushKey(K.users(queue.prefix))
  local names = redis.call('ZRANGEBYLEX', K.users(queue.prefix), from, '+', 'LIMIT', 0, most)
  for _, name in ipairs(names) do F.reindex(F.userOf(queue, name)) end
  return #names, #names == most and '(' .. names[#names]
end

-- A user has new settings in a queue.
function Tick.notifyUser(queue, user)
  local u = F.userOf(queue, user)
  u.own, u.kept = F.ownSettings(queue, user)
  u.changed = true
  u.set = F.settingsOf(queue, u.own)
  if not u.isCounted and F.isRecorded(u) then F.startCount(u) end
  F.reindex(u)
end

-- Of some queues, those in which the user is known.
function Tick.notifyEverywhere(user, cursor, most)
  local runs, notified = F.runningAll(), nil
  cursor, notified = unpack(redis.call('SSCAN', K.queues(), cursor, 'COUNT', most))
  for _, queueName in ipairs(notified) do
    local isRunning = runs[queueName] and runs[queueName][user]
    if isRunning or redis.call('ZSCORE', K.users(K.queue(queueName)), user) then
      local queue = F.queueOf(queueName)
      queue.runs = runs[queueName] or NONE
      Tick.notifyUser(queue, user)
    end
  end
  return #notified, cursor ~= '0' and cursor
end

-- How `refreshing` names those who are to be notified: a queue, or a user.
function Tick.refreshName(name, isUser)
  return (isUser and MARK or '') .. name
end

-- Tells some of them; answers how many, and true when others are left.
function Tick.refreshOne(who, most)
  local from, notified = redis.call('HGET', K.refreshing(), who), 0
  if not from then return 0, false end
  if string.sub(who, 1, 1) == MARK then
    notified, from = Tick.notifyEverywhere(string.sub(who, 2), from, most)
  else
    notified, from = Tick.notifyQueue(who, from, most)
  end
  if from then
    redis.call('HSET', K.refreshing(), who, from)
  else
    redis.call('HDEL', K.refreshing(), who)
    C.refresh = redis.call('EXISTS', K.refreshing())
  end
  return notified, from and true or false
end

-- From now on there are workers to be told, from there on; the first of them are.
function Tick.refreshFrom(who, from)
  redis.call('HSET', K.refreshing(), who, from)
  C.refresh = 1
end

-- Of those that are to hear; true when others are left.
function Tick.refresh(most)
  local left = most
  for _, who in ipairs(redis.call('HKEYS', K.refreshing())) do
    if left <= 0 then return true end
    local notified, more = Tick.refreshOne(who, left)
    if more then return true end
    left = left - notified
  end
  return false
end
