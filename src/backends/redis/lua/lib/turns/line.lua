-- Takes workers in and out of the lines in which they wait for a wake-up.

-- What stands in place of its lines once a worker was woken, or handed a task.
local LINE = { woken = '-', handed = '+' }

-- Whether a worker stands in lines: it has been neither woken nor handed a task since it asked.
function Line.stands(line)
  return line and #line > 1
end

-- What a worker has said that stands in lines: these, as queue and line in turns, and the request for which it may be handed a task, with
-- how long it leases for.
function Line.placesOf(worker)
  local places = worker.places
  if not places then
    local lines, request, leaseMs = cmsgpack.unpack(worker.line)
    places = { lines = lines, request = request, leaseMs = leaseMs }
    worker.places = places
  end
  return places
end

-- Puts a worker in a line of a queue.
function Line.enter(places, queue, line, worker)
  local lines = places.lines
  local n = #lines
  lines[n + 1], lines[n + 2] = queue.name, line
  redis.call('ZADD', K.idleWorkers(queue.prefix, line), string.format('%d', now), worker)
end

-- Takes a worker out of every line that it stands in; `left`: but for this one.
function Line.leave(worker, left)
  if not Line.stands(worker.line) then return end
  local lines = Line.placesOf(worker).lines
  worker.places = false
  for i = 1, #lines, 2 do
    local key = K.idleWorkers(K.queue(lines[i]), lines[i + 1])
    if key ~= left then redis.call('ZREM', key, worker.id) end
  end
  C.waiting = C.waiting - 1
end

-- As `leave`; the worker has left by itself.
function Line.leaveLines(worker, left)
  Line.leave(worker, left)
  worker.line = false
  F.touchWorker(worker)
end

-- Wakes the worker if it waits. `left`: a line that it was taken out of.
function Line.wakeWorker(id, left)
  local worker = F.workerOf(id)
  if not worker or not Line.stands(worker.line) then return false end
  Line.leave(worker, left)
  redis.call('RPUSH', K.wake(id), '1')
  worker.line = LINE.woken
  F.touchWorker(worker)
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
      local silent = F.workerOf(worker)
      if silent and silent.line then Line.leaveLines(silent, key) end
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
