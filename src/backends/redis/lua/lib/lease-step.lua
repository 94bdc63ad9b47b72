-- One lease, for `lease` and `settle`. ARGV from `from`: request id, slots, lease ms, wait, spread
-- in [0, 1), retention, number of queues, then queue, weight and pass of each.
-- Answers {'leased' or 'repeated', more (+ 2 when some schedule is due), next due or -1, wait ms, now, lease end, alone, then for
-- each lease id, user, token number, failures, losses, releases, f, long payload, upstreams;
-- repeated ones have their lease end and lease moment behind that; behind all of them, when a queue
-- of the request says something of its tasks, that by queue as JSON}, or {'unregistered'}.

local FIELDS = 9

function Lease.addLease(reply, n, t)
  reply[n + 1], reply[n + 2], reply[n + 3] = t.id, t.user, F.tokenNumber(t.token)
  reply[n + 4], reply[n + 5], reply[n + 6] = t.failures, t.losses, t.releases
  reply[n + 7] = t.f
  reply[n + 8] = F.isLong(t) and F.payloadOf(t) or ''
  reply[n + FIELDS] = t.x and t.x.d and F.upstreamsOf(t) or ''
end

-- A resent request: what it was given the first time, as far as it still holds.
-- @rare
function Lease.repeatLease(worker, reply)
  for _, t in ipairs(F.latestLeases(worker.id, worker.last)) do
    F.fixed(t)
    Lease.addLease(reply, #reply, t)
    reply[#reply + 1] = t.leaseUntil
    reply[#reply + 1] = t.leasedAt
    if t.losses >= LIMIT.maxLost - 1 then reply[7] = 1 end
  end
end

-- @rare
function Lease.linesOf(shares, reach)
  local lines = {}
  for _, share in ipairs(shares) do
    local function stand(line)
      lines[#lines + 1] = share.lane.queue
      lines[#lines + 1] = line
      redis.call('ZADD', K.idleWorkers(share.lane.p, line), now, share.worker)
    end
    if not reach or reach.steal == 'any' then stand('*') end
    if reach and reach.assigned then stand(reach.assigned) end
    if reach and reach.steal and reach.steal ~= 'any' then stand(reach.steal) end
  end
  return cmsgpack.pack(lines)
end

function Lease.dueOfShares(shares)
  local due = F.nextDue()
  for _, share in ipairs(shares) do due = math.min(due, math.ceil(F.rateOpensAt(share.lane))) end
  return due
end

-- @rare
function Lease.standInLine(worker, shares, due, spread)
  for _, share in ipairs(shares) do share.worker = worker.id end
  redis.call('HSET', K.worker(worker.id), 'i', Lease.linesOf(shares, worker.reach))
  C.waiting = C.waiting + 1
  return Due.sleepOf(worker.id, due, spread)
end

-- Work was left behind, or the alarm has lost its holder: somebody else is woken.
function Lease.passOn(worker, shares, heldAlarm)
  if C.waiting <= 0 then return end
  local lists = {}
  if worker.reach then
    lists[1] = worker.reach.assigned
    if worker.reach.steal ~= 'any' then lists[#lists + 1] = worker.reach.steal end
  end
  for _, share in ipairs(shares) do Line.wakeFor(share.lane, 1, lists) end
  if heldAlarm then Due.handAlarm(shares[1].lane) end
end

-- What ended in this lease may have set work free, when nobody stood in line yet but others.
-- @rare
function Lease.wakeForFreed(worker, shares)
  for _, share in ipairs(shares) do
    if share.lane.runnable > 0 then return Lease.passOn(worker, shares, false) end
  end
end

-- What the queues say of their tasks goes with leases of them; a lease that ends at another time than
-- the others does so by its queue's own length.
function Lease.addTerms(shares, reply)
  local terms
  for i = 1, #shares do
    local own = queueTerms(shares[i].lane.config)
    if own then
      terms = terms or {}
      terms[shares[i].lane.queue] = own
    end
  end
  if terms then reply[#reply + 1] = cjson.encode(terms) end
end

function Lease.saveWorker(worker, request, batch)
  local last = { request.id }
  for i = 1, #batch do last[i + 1] = batch[i].id end
  F.saveLiving(worker, table.concat(last, '\0'))
end

function F.leaseStep(from, worker)
  local id, limit, leaseMs = ARGV[from], tonumber(ARGV[from + 1]), ARGV[from + 2]
  local wait, spread, retention = ARGV[from + 3] == '1', ARGV[from + 4] + 0, ARGV[from + 5]
  if worker.line then
    if worker.line == '' then redis.call('DEL', K.wake(worker.id)) end
    Line.leaveLines(worker.id, worker.line, false)
  end
  local heldAlarm = C.alarms ~= ',' and Due.dropAlarm(worker.id)
  local shares = Deal.readShares(from + 6, worker)
  local request = { id = id, worker = worker.id, names = worker.names, limit = limit,
    leaseMs = tonumber(leaseMs), till = now + leaseMs, token = string.format('%.0f-', micros) .. id }
  local reply = { 'leased', 0, -1, 0, now, request.till, 0 }
  local batch, ticked = { stopped = false }, false
  if worker.last and string.sub(worker.last .. '\0', 1, #id + 1) == id .. '\0' then
    reply[1] = 'repeated'
    Lease.repeatLease(worker, reply)
    F.saveLiving(worker)
  else
    ticked = F.tickSteps(retention)
    batch = Deal.fill(shares, request)
    -- A task whose name nobody knows may have ended: its dependents hear of it in this step.
    if batch.strangers > 0 then ticked = F.cascade(100) or ticked end
    for i = 1, #batch do Lease.addLease(reply, 7 + (i - 1) * FIELDS, batch[i]) end
    if batch.alone then reply[7] = 1 end
    Deal.saveListClocks(shares)
    Lease.saveWorker(worker, request, batch)
  end
  F.writeStep()
  local due = Lease.dueOfShares(shares)
  if #reply == 7 and wait and not batch.stopped and not ticked then
    reply[4] = Lease.standInLine(worker, shares, due, spread)
    if batch.strangers and batch.strangers > 0 then Lease.wakeForFreed(worker, shares) end
    if batch.strange and Line.wakeKnowing(batch.strange, worker.id) then
      -- Whoever knows the task looks after its due time; this worker would only set it aside again.
      Due.dropAlarm(worker.id)
      reply[4] = Due.floor(spread)
    end
  else
    reply[4] = math.max(0, math.min(LIMIT.floorMs, due - now))
    Lease.passOn(worker, shares, heldAlarm)
  end
  reply[2] = ((batch.stopped or ticked) and 1 or 0) + 2 * F.schedulesDue()
  if due < INF then reply[3] = due end
  if #reply > 7 then Lease.addTerms(shares, reply) end
  F.closeStep()
  return reply
end
