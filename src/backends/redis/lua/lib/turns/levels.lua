-- The lines of a user, one for each level that has work: ids in the order of their places. A task's place
-- is the stamp of the moment that it was first put in line, which it keeps until it is put back anew.

function F.lineKey(u, level)
  return K.line(u.queue.prefix, K.levelPart(level), u.name)
end

-- The place of a task in a line, without asking who may have leased it; nil when its record is gone.
-- @rare
function F.placeInLine(id)
  local t = tasks[id]
  if not t then
    local f = redis.call('HGET', K.tasks(), id)
    if not f then return nil end
    t = F.newTask(id, f)
    if t.kind >= FLAG.kind.facts then F.readFacts(t, redis.call('HGET', K.facts(), id)) end
  end
  return F.placeOf(t)
end

-- How many of a line stand before a place. What comes back stood in line before most others: the head is looked at first.
-- @rare
function F.rankInLine(key, place)
  local low, high = 0, redis.call('LLEN', key)
  local middle = 0
  while low < high do
    local other = F.placeInLine(redis.call('LINDEX', key, middle))
    if other and other < place then low = middle + 1 else high = middle end
    middle = math.floor((low + high) / 2)
  end
  return low
end

-- To the end of its line; where it stood before, when it has been in line already.
function F.joinLine(t, u, again)
  t.isTaken = false
  local key = F.lineKey(u, t.level)
  if not again then return redis.call('RPUSH', key, t.id) end
  local rank = F.rankInLine(key, F.placeOf(t))
  if rank == 0 then return redis.call('LPUSH', key, t.id) end
  local next_ = redis.call('LINDEX', key, rank)
  if next_ then
    redis.call('LINSERT', key, 'BEFORE', next_, t.id)
  else
    redis.call('RPUSH', key, t.id)
  end
end

function F.leaveLine(t, u)
  if t.isTaken then return end
  redis.call('LREM', F.lineKey(u, t.level), 1, t.id)
end
