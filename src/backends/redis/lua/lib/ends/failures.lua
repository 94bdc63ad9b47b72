-- Failed tasks by their names and by what they failed with, and counts of those that only followed another: those
-- that are kept, and ever. Dead letters are the others.

local deadListed, deadBeyond = {}, 0

function Failures.nameOf(t)
  return (string.gsub(F.fixed(t).name, '@.*$', ''))
end

function Failures.causeOf(t)
  return t.changing and t.changing.endCause and cjson.decode(t.changing.endCause)
end

-- What a task is kept with that has failed so: see `errorGroupOf`; nil of one that followed another.
function Failures.groupOf(t, cause)
  if not cause or cause.type == 'upstream' or cause.task then return nil end
  return cause.fingerprint or (cause.failure or cause.type) .. ':' .. Failures.nameOf(t)
end

function Failures.forget(group)
  for _, kind in ipairs({ 'failed', 'retried' }) do redis.call('ZREM', K.errorGroups(kind), group) end
  redis.call('DEL', K.errorGroup(group))
end

-- The oldest of those of which no failed task is kept, a few for each new one.
function Failures.forgetSome()
  local key = K.errorGroups('retried')
  local over = redis.call('ZCARD', key) - LIMIT.errorGroups
  local rows = redis.call('ZREVRANGE', key, 0, LIMIT.errorGroupsStep - 1, 'WITHSCORES')
  for i = 1, #rows, 2 do
    if -rows[i + 1] < now - LIMIT.errorGroupMs or i < 2 * over then Failures.forget(rows[i]) end
  end
end

-- So many attempts more have failed so, the newest one of this task.
function Failures.count(group, id, n)
  local key, kept = K.errorGroup(group), redis.call('EXISTS', K.failedOf(group)) == 1
  local isNew = redis.call('HINCRBY', key, FIELD.errorGroup.attempts, n) == n
  redis.call('HSET', key, FIELD.errorGroup.newest, id)
  local listing = K.errorGroups(kept and 'failed' or 'retried')
  redis.call('ZADD', listing, -now, group)
  if kept then
    redis.call('PERSIST', key)
    redis.call('ZREM', K.errorGroups('retried'), group)
  else
    redis.call('PEXPIRE', key, LIMIT.errorGroupMs)
    redis.call('PEXPIRE', listing, LIMIT.errorGroupMs)
  end
  if not isNew then return end
  redis.call('HSET', key, FIELD.errorGroup.first, now)
  Failures.forgetSome()
end

-- An attempt has failed, and there will be another.
function Failures.retried(t, cause)
  local group = Failures.groupOf(t, cjson.decode(cause))
  if group then Failures.count(group, t.id, 1) end
end

function Failures.countFollower(t, queue, cause, change)
  if not cause or not (cause.type == 'upstream' or cause.task) then return end
  local key = K.fair(queue.prefix)
  redis.call('HINCRBY', key, FIELD.fair.followers, change)
  if change > 0 then redis.call('HINCRBY', key, FIELD.fair.followed, change) end
end

-- It has failed, and its end has a stamp.
function Failures.enter(t, queue)
  local cause = Failures.causeOf(t)
  Failures.countFollower(t, queue, cause, 1)
  redis.call('ZADD', K.failedNamed(Failures.nameOf(t)), t.endStamp, t.id)
  local group = Failures.groupOf(t, cause)
  if not group then return end
  redis.call('ZADD', K.failedOf(group), t.endStamp, t.id)
  Failures.count(group, t.id, 1)
end

-- It is not failed any more.
function Failures.leave(t, queue)
  local cause = Failures.causeOf(t)
  Failures.countFollower(t, queue, cause, -1)
  redis.call('ZREM', K.failedNamed(Failures.nameOf(t)), t.id)
  local group = Failures.groupOf(t, cause)
  if not group then return end
  redis.call('ZREM', K.failedOf(group), t.id)
  if redis.call('EXISTS', K.failedOf(group)) == 0 then Failures.forget(group) end
end

-- Dead letters that no worker has decided on go with the answer of their step: the first of them, and how many more.
function Failures.list(t, u)
  local cause = Failures.causeOf(t)
  if not Failures.groupOf(t, cause) then return end
  C.hasDead = true
  if #deadListed >= LIMIT.deadListed then
    deadBeyond = deadBeyond + 1
    return
  end
  deadListed[#deadListed + 1] = { id = t.id, name = F.fixed(t).name, queue = u.queue.name, user = u.name,
    attempt = t.failures + math.min(1, t.losses), run = t.optional and t.optional.ownerRun or nil, cause = cause }
end

-- Behind a lease, and 4 more at its flags.
function Failures.addTo(reply, at)
  reply[at], reply[#reply + 1] = reply[at] + 4, Failures.listed()
end

-- As JSON.
function Failures.listed()
  return cjson.encode({ listed = deadListed, more = deadBeyond })
end
