-- Drops the lists of restricted workers when the last worker of a list is gone.

-- The user moves to or from a list: its places in all of them are written anew.
function Lists.changeLists(u, lists)
  if u.ready then F.indexUser(u, false) end
  u.lists = #lists > 0 and lists or nil
  u.changed = true
  F.touch(u)
  if u.ready then F.indexUser(u, true) end
  F.reindex(u)
end

function Lists.withoutList(u, list)
  local rest = {}
  for _, other in ipairs(u.lists or {}) do
    if other ~= list then rest[#rest + 1] = other end
  end
  return rest
end

-- Whether a list is one of the worker's, in each queue that it serves.
function Lists.has(worker, list)
  local lists = redis.call('HGET', K.worker(worker), FIELD.worker.lists)
  if not lists then return false end
  local own = cmsgpack.unpack(lists)
  return own.assignedList == list or own.stealList == list
end

-- The worker leaves its lists, but for those in `kept` (by queue and list); those that no worker has
-- any more are dropped in steps.
function Lists.leaveLists(worker, kept)
  local got = redis.call('HMGET', K.worker(worker), FIELD.worker.queues, FIELD.worker.lists)
  if not got[1] or not got[2] then return end
  local lists = cmsgpack.unpack(got[2])
  for queueName in string.gmatch(got[1], '[^,]+') do
    local p = K.queue(queueName)
    for kind, list in pairs(lists) do
      local stays = list == 'any' or (kept and kept[K.pair(queueName, list)])
      if not stays and redis.call('SREM', K.listWorkers(p, list), worker) == 1
        and redis.call('EXISTS', K.listWorkers(p, list)) == 0 then
        redis.call('SADD', K.dropping(), K.pair(queueName, list))
        C.dropping = 1
      end
    end
  end
end

-- Takes up to `most` names off a list that goes; says how many.
function Lists.dropNames(pair, most)
  local length, at_ = string.match(pair, '^(%d+):()')
  local queueName, list = string.sub(pair, at_, at_ + length - 1), string.sub(pair, at_ + length)
  local queue = F.queueOf(queueName)
  local names = redis.call('SPOP', K.listNames(queue.prefix, list), most)
  for _, name in ipairs(names) do
    local u = F.userOf(queue, name)
    Lists.changeLists(u, Lists.withoutList(u, list))
  end
  if redis.call('EXISTS', K.listNames(queue.prefix, list)) == 0 then
    F.flushKey(K.listReady(queue.prefix, list))
    F.flushKey(K.unassigned(queue.prefix, list))
    redis.call('DEL', K.list(queue.prefix, list), K.listReady(queue.prefix, list), K.unassigned(queue.prefix, list))
    redis.call('SREM', K.dropping(), pair)
  end
  return #names
end

-- It hears of that, and announces its lists anew.
function F.unlist(id)
  local worker = F.workerOf(id)
  if not worker or worker.flags >= FLAG.worker.unlisted then return end
  worker.flags = worker.flags + FLAG.worker.unlisted
  F.touchWorker(worker)
end

function Lists.silence(from, till)
  local key = K.index('listed-workers')
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, from, till, 'LIMIT', 0, LIMIT.listNamesStep)) do
    Lists.leaveLists(id)
    F.unlist(id)
    F.move('listed-workers', id, false)
  end
end

-- A worker that was silent too long leaves its lists: maintenance alone finds that out.
function Lists.dropSilent()
  local past = '(' .. string.format('%.0f', now - LIMIT.workerSilenceMs)
  local future = '(' .. string.format('%.0f', now + LIMIT.workerSilenceMs)
  F.flushIndex('listed-workers')
  Lists.silence('-inf', past)
  -- One seen far in the future was last seen before the clock went back.
  Lists.silence(future, '+inf')
  C.dropping = Lists.dropLists(LIMIT.listNamesStep) and 1 or 0
  return C.dropping == 1
end

-- Takes up to `most` names off lists that no worker has any more; true when some are left.
function Lists.dropLists(most)
  local left = most
  for _, pair in ipairs(redis.call('SMEMBERS', K.dropping())) do
    if left > 0 then left = left - Lists.dropNames(pair, left) end
  end
  return redis.call('EXISTS', K.dropping()) == 1
end
