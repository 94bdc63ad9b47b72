-- Takes workers in and out of the lines in which they wait for a wake-up.
-- @rare

-- Whether the worker stands in lines: it has been neither woken nor handed a task since it asked.
function Line.stands(packed)
  return packed and #packed > 1
end

-- Takes a worker out of every line that it stands in; `left`: but for this one.
function Line.leave(worker, packed, left)
  if not Line.stands(packed) then return end
  local lines = cmsgpack.unpack(packed)
  for i = 1, #lines, 2 do
    local key = K.idleWorkers(K.queue(lines[i]), lines[i + 1])
    if key ~= left then redis.call('ZREM', key, worker) end
  end
  C.waiting = C.waiting - 1
end

-- As `leave`, for a worker that is woken (`token`) or has left by itself.
function Line.leaveLines(worker, packed, token, left)
  Line.leave(worker, packed, left)
  if token then
    redis.call('RPUSH', K.wake(worker), '1')
    redis.call('HSET', K.worker(worker), FIELD.worker.line, '')
  else
    redis.call('HDEL', K.worker(worker), FIELD.worker.line)
  end
end

-- Wakes the worker if it waits. `left`: a line that it was taken out of.
function Line.wakeWorker(worker, left)
  local packed = redis.call('HGET', K.worker(worker), FIELD.worker.line)
  if not Line.stands(packed) then return false end
  Line.leaveLines(worker, packed, true, left)
  return true
end

-- Wakes up to `most` of one line, those that wait longest first; says how many are left to wake.
function Line.wakeLine(queue, line, most)
  local key = K.idleWorkers(queue.prefix, line)
  while most > 0 do
    local head = redis.call('ZPOPMIN', key)
    local worker = head[1]
    if not worker then return most end
    local stale = now - head[2] > LIMIT.staleWaitMs
    if stale then
      local packed = redis.call('HGET', K.worker(worker), FIELD.worker.line)
      if packed then Line.leaveLines(worker, packed, false, key) end
    elseif Line.wakeWorker(worker, key) then
      most = most - 1
    end
  end
  return 0
end

-- Hands tokens for work that this queue can give: to unrestricted workers, then to those whose
-- lists the users that gained it are on.
function Line.wakeFor(queue, most, lists)
  if C.waiting <= 0 or queue.runnable == 0 then return end
  local left = Line.wakeLine(queue, '*', math.min(most, queue.runnable, LIMIT.wakeTokens))
  for i = 1, lists and #lists or 0 do
    if left > 0 then left = Line.wakeLine(queue, lists[i], left) end
  end
end

function Line.wakeGained(queue)
  local lists, known = {}, {}
  for _, u in pairs(queue.gainers or {}) do
    for i = 1, u.lists and #u.lists or 0 do
      local list = u.lists[i]
      if not known[list] then
        known[list] = true
        lists[#lists + 1] = list
      end
    end
  end
  Line.wakeFor(queue, queue.gain, lists)
end
