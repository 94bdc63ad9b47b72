-- Leases by worker: `leases` says of each worker that has any the moment before which none of them ends.

-- Many are the same.
function F.tokenNumber(token)
  if token ~= F.numbered then F.numbered, F.number = token, tonumber(string.match(token, '^%d+') or 0) end
  return F.number
end

-- When a lease ends unless the task is settled before; of one that was handed over: when a sweep looks whether it was fetched.
function F.leaseEnd(leasedAt, till, isHanded)
  return isHanded and math.min(till, leasedAt + LIMIT.handMs) or till
end

-- The same of one as it is stored.
function F.storedEnd(packed)
  local leasedAt, till, _, flags = struct.unpack(FORMAT.lease, packed)
  return F.leaseEnd(leasedAt, till, flags % FLAG.lease.bare >= FLAG.lease.handed)
end

function F.endOf(t) return F.leaseEnd(t.leasedAt, t.leaseUntil, t.isHanded) end

-- A lease of the worker ends then.
function F.leasedUntil(worker, till)
  local least = leasedUntil[worker]
  if not least or till < least then leasedUntil[worker] = till end
  if till < H.started then H.started = till end
end

-- A lease of the worker is over.
function F.leaveLease(worker, id)
  local over = leasesOver[worker]
  if not over then
    over = {}
    leasesOver[worker] = over
  end
  over[#over + 1] = id
  leasedUntil[worker] = leasedUntil[worker] or false
end

-- Takes leases out that are over; called before leases of workers are read, or new ones written.
function F.dropLeases()
  for worker, ids in pairs(leasesOver) do
    for i = 1, #ids, LIMIT.commandValues do redis.call('HDEL', K.hot(worker), unpack(ids, i, math.min(#ids, i + (LIMIT.commandValues - 1)))) end
  end
  leasesOver = {}
end

-- A worker has got leases of the step's own, which end then. What is kept of it says no later moment than the
-- ends of those that it has had in this step: `C.freed`, of one that is settled, `C.begun`, of one that began.
function F.begun(worker, till)
  if till < H.started then H.started = till end
  local known = C.begun or C.freed
  C.begun = known and known < till and known or till
  if known and till >= known then return end
  redis.call('ZADD', K.leases(), 'LT', string.format('%d', till), worker)
end

-- It may have none left.
function F.mayRest(worker)
  if redis.call('EXISTS', K.hot(worker)) == 0 then F.restWorker(worker) end
end

function F.restWorker(worker)
  redis.call('ZREM', K.leases(), worker)
  F.readLeases()
end

-- When the first lease of all may end.
function F.readLeases()
  local head = redis.call('ZRANGE', K.leases(), 0, 0, 'WITHSCORES')
  H.started = head[2] and tonumber(head[2]) or INF
end

-- Workers with new leases join those that have any; one that has none left leaves.
function F.saveLeases()
  local left = false
  F.dropLeases()
  for worker, till in pairs(leasedUntil) do
    if till then
      redis.call('ZADD', K.leases(), 'LT', till, worker)
    elseif redis.call('EXISTS', K.hot(worker)) == 0 then
      redis.call('ZREM', K.leases(), worker)
      left = true
    end
  end
  leasedUntil = {}
  if left then F.readLeases() end
end

-- Tasks that the worker was given in a step, whose number and request `last` is, and still has, by arrival.
-- `broken`: a request, of which a later step was broken off.
function F.latestLeases(worker, last, broken)
  local found, step = {}, tonumber(string.match(last or '', '^%d+') or -1)
  local tail = broken and '-' .. broken
  local rows = redis.call('HGETALL', K.hot(worker))
  for i = 1, #rows, 2 do
    local t = F.taskOf(rows[i], worker, rows[i + 1])
    local fits = t and t.state == 'started' and t.step == step
    if tail then fits = t and t.state == 'started' and t.step > step and string.sub(t.token, -#tail) == tail end
    if fits then found[#found + 1] = F.fixed(t) end
  end
  table.sort(found, function(a, b) return a.stamp < b.stamp end)
  return found
end

-- Leases of the worker that have ended, and the moment before which none of the others ends. Of very many
-- only some are looked at: then that moment is now.
function F.overdue(worker, most)
  local key, ids, least, cursor = K.hot(worker), {}, INF, '0'
  F.dropLeases()
  repeat
    local rows
    cursor, rows = unpack(redis.call('HSCAN', key, cursor, 'COUNT', 10 * most))
    for i = 1, #rows, 2 do
      local till = F.storedEnd(rows[i + 1])
      -- This step may have made it end sooner.
      local t = tasks[rows[i]]
      if t and t.state == 'started' and t.worker == worker then till = F.endOf(t) end
      if till <= now then ids[#ids + 1] = rows[i] else least = math.min(least, till) end
    end
  until cursor == '0' or #ids > 2 * most
  local found = {}
  for i = 1, #ids do
    local t = i <= most or #ids <= 2 * most
    if not t then return found, now end
    t = F.taskOf(ids[i], worker)
    if not t then
      redis.call('HDEL', key, ids[i])
    elseif t.state == 'started' and t.worker == worker then
      -- This step may have extended it.
      local till = F.endOf(t)
      if till > now then least = math.min(least, till) else found[#found + 1] = t end
    end
  end
  return found, cursor == '0' and least or now
end
