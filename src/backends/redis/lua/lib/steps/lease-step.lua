-- One lease, for `lease` and `settle`. ARGV from `from`: request id, slots, whether the worker stands in line
-- when it gets nothing ('1', or '2': and may be handed a task there; behind it spread in [0, 1), and the request for which it got what it
-- was handed last; '0': no), the spec (`Lease.specOf`),
-- and of several queues the pass of each.
-- Answers {'leased' or 'repeated', more (+ 2 when some schedule is due, + 4 when dead letters follow at the end,
-- see lib/ends/failures.lua), next due or -1, wait ms, now, lease end, alone,
-- what queues say of their tasks as JSON or '', moment of the token, how many}, then all ids, all texts, and a row for
-- what more there is to tell: the places of those that it is told of, parted by commas (below zero: its run is paused), long payload, moment of the token, failures, losses, releases, upstreams,
-- lease end, lease moment; or {'unregistered'}.

-- Values of a row.
local ROW = 9

-- `t`: of tasks of which the same is told, one for all.
function Lease.addRow(batch, place, long, t)
  local rows, known = batch.rows or { placesOf = {} }, nil
  batch.rows = rows
  if t and not long then known = rows.placesOf[t] end
  if known then
    known[#known + 1] = place
    return
  end
  local n, places = #rows, { t and t.isPaused and -place or place }
  rows[n + 1], rows[n + 2] = places, long or ''
  if t then rows.placesOf[t] = places end
  rows[n + 3] = t and F.tokenNumber(t.token) or ''
  rows[n + 4], rows[n + 5], rows[n + 6] = t and t.failures or 0, t and t.losses or 0, t and t.releases or 0
  rows[n + 7] = t and (t.upstreamFacts or t.optional and t.optional.waitsOn and F.upstreamsOf(t)) or ''
  rows[n + 8], rows[n + 9] = t and t.leaseUntil or '', t and t.leasedAt or ''
end

function Lease.add(batch, t)
  local n = batch.n + 1
  batch.n, batch.ids[n], batch.texts[n] = n, t.id, t.recordText
  Lease.addRow(batch, n, F.isLong(t) and F.payloadOf(t), t)
end

-- A resent request: what it was given the first time, as far as it still holds.
function Lease.again(given, batch)
  for _, t in ipairs(given) do
    F.fixed(t)
    t.isPaused = t.optional and Pause.mayDecide(t) and Pause.runOf(t)
    Lease.add(batch, t)
    if t.losses >= LIMIT.maxLost - 1 then batch.alone = true end
  end
end

function Lease.dueOfShares(shares)
  local due = F.nextDue()
  for i = 1, #shares do
    local queue = shares[i].queue
    if queue.config.rate then due = math.min(due, math.ceil(F.rateOpensAt(queue))) end
  end
  return due
end

-- How `wait` begins for a worker that may be handed a task: '2'.
local WAITS_FOR_HAND = 50

-- The worker stands in the lines of these queues from now on; says how long it may sleep. `request`: what it is handed, it gets as an
-- answer to that.
function Lease.standInLine(worker, shares, due, wait, request, leaseMs)
  local id, scope, places = worker.id, worker.scope, { lines = {}, request = nil, leaseMs = nil }
  for i = 1, #shares do
    local queue = shares[i].queue
    if not scope or scope.steal == 'any' then Line.enter(places, queue, '*', id) end
    if scope and scope.assigned then Line.enter(places, queue, scope.assigned, id) end
    if scope and scope.steal and scope.steal ~= 'any' then Line.enter(places, queue, scope.steal, id) end
  end
  if string.byte(wait) == WAITS_FOR_HAND then
    places.request, places.leaseMs = request, leaseMs
    worker.line = cmsgpack.pack(places.lines, request, leaseMs)
  else
    worker.line = cmsgpack.pack(places.lines)
  end
  worker.places, C.waiting = places, C.waiting + 1
  return Due.sleepOf(id, due, string.sub(wait, 2, 6) + 0)
end

-- Work was left behind, or the alarm has lost its holder: another worker is woken.
function Lease.passOn(worker, shares, hadAlarm)
  if C.waiting <= 0 then return end
  local lists = {}
  if worker.scope then
    lists[1] = worker.scope.assigned
    if worker.scope.steal ~= 'any' then lists[#lists + 1] = worker.scope.steal end
  end
  for _, share in ipairs(shares) do Line.wakeFor(share.queue, 1, lists) end
  if hadAlarm then Due.handAlarm(shares[1].queue) end
end

-- What ended in this lease may have set work free for the other workers that stand in line.
function Lease.wakeForFreed(worker, shares)
  for _, share in ipairs(shares) do
    if share.queue.runnable > 0 then return Lease.passOn(worker, shares, false) end
  end
end

-- What the queues say of their tasks goes with leases of them; a lease that ends at another time than
-- the others does so by its queue's own length.
function Lease.settings(shares)
  local settings
  for i = 1, #shares do
    local config = shares[i].queue.config
    if config.leaseMs or config.retries or config.timeoutMs then
      settings = settings or {}
      settings[shares[i].queue.name] = { leaseMs = config.leaseMs, retries = config.retries,
        timeoutMs = config.timeoutMs }
    end
  end
  return settings and cjson.encode(settings) or ''
end

-- What a worker asks for each time: lease ms, retention, then each queue with its weight, parted by NUL.
function Lease.specOf(text)
  local parts, queues, steps = {}, {}, {}
  for part in string.gmatch(text, '[^%z]+') do parts[#parts + 1] = part end
  for i = 3, #parts, 2 do queues[#queues + 1], steps[#steps + 1] = parts[i], 1 / parts[i + 1] end
  return { leaseMs = parts[1] + 0, retention = parts[2], queues = queues, steps = steps }
end

-- The queues of the request, with the worker's stride and what its lists let it reach.
function Lease.shares(from, spec, worker)
  local shares, queues = {}, spec.queues
  for i = 1, #queues do
    shares[i] = { queue = F.queueOf(queues[i]), step = spec.steps[i], pass = (ARGV[from + 3 + i] or 0) + 0,
      scope = worker.scope, isDone = false }
  end
  return shares
end

function Lease.gotOf(wait) return string.sub(wait, 7) end

-- Appends ids, texts and rows of what was leased.
function Lease.append(reply, from, batch)
  local n, ids, texts = batch.n, batch.ids, batch.texts
  for i = 1, n do reply[from + i], reply[from + n + i] = ids[i], texts[i] end
  local rows = batch.rows
  if not rows then return end
  for i = 1, #rows do reply[from + 2 * n + i] = rows[i] end
  for i = 1, #rows, ROW do reply[from + 2 * n + i] = table.concat(rows[i], ',') end
end

-- Maintenance that is due, and rates as a clock that went back has left them behind.
function Lease.begin(shares, retention)
  local ticked = F.tickSteps(retention)
  for _, share in ipairs(shares) do
    local queue = share.queue
    local rate = queue.config.rate
    local tat = rate and Rate.boundedTat(rate, queue.tat, now)
    if rate and tat < queue.tat then
      queue.tat = tat
      F.touchQueue(queue)
      F.saveRate(queue)
    end
  end
  return ticked
end

-- Appends the answer to the reply.
function F.leaseStep(from, spec, worker, shares, reply)
  local id, limit, wait, leaseMs, retention = ARGV[from], ARGV[from + 1] + 0, ARGV[from + 2], spec.leaseMs, spec.retention
  local isAgain = worker.request == id
  if Line.stands(worker.line) then
    Line.leaveLines(worker)
  elseif worker.line then
    -- It was woken or handed a task, and that has taken it out of its lines.
    if worker.line == LINE.woken or isAgain then
      redis.call('DEL', K.wake(worker.id))
    elseif not HandOver.hasGot(worker, Lease.gotOf(wait)) then
      HandOver.takeBack(worker)
    end
    worker.line = false
  end
  local hadAlarm = string.find(C.alarms, worker.id, 1, true) and Due.dropAlarm(worker.id)
  local request = { id = id, worker = worker.id, names = worker.names, limit = limit,
    leaseMs = leaseMs, token = string.format('%d-', micros) .. id, known = false, isLong = false, hasMore = false }
  local batch, word, ticked
  if isAgain then
    word, ticked = 'repeated', false
    batch = { n = 0, ids = {}, texts = {}, rows = false, unknownNames = 0, stopped = false, alone = false }
    Lease.again(F.latestLeases(worker.id, worker.last), batch)
  else
    word, ticked = 'leased', Lease.begin(shares, retention)
    -- A step of this request may have been broken off.
    local given = guard and F.latestLeases(worker.id, worker.last, id)
    if given then request.limit = limit - #given end
    batch = Dispatch.fill(shares, request, worker)
    if given then Lease.again(given, batch) end
    -- A task that was not started may have ended: its dependents hear of it in this step.
    if batch.unknownNames > 0 then ticked = F.cascade(LIMIT.cascadeStep) or ticked end
    if worker.scope then
      Dispatch.saveListClocks(shares)
    end
  end
  F.saveLiving(worker, not isAgain and id)
  F.writeStep()
  local due, waitMs = Lease.dueOfShares(shares), 0
  if batch.n == 0 and word == 'leased' and string.byte(wait) ~= BYTE.zero and not batch.stopped and not ticked then
    waitMs = Lease.standInLine(worker, shares, due, wait, id, leaseMs)
    if batch.unknownNames > 0 then Lease.wakeForFreed(worker, shares) end
  else
    waitMs = due - now
    if waitMs < 0 then waitMs = 0 elseif waitMs > LIMIT.floorMs then waitMs = LIMIT.floorMs end
    if C.waiting > 0 then Lease.passOn(worker, shares, hadAlarm) end
  end
  if C.waiting > 0 then Park.wakeAll(shares, batch.newlyParked) end
  local n = #reply
  reply[n + 1] = word
  reply[n + 2] = ((batch.stopped or ticked) and 1 or 0) + 2 * F.schedulesDue()
  reply[n + 3], reply[n + 4], reply[n + 5] = due < INF and due or -1, waitMs, now
  reply[n + 6], reply[n + 7] = now + leaseMs, batch.alone and 1 or 0
  local settings = ''
  if batch.n > 0 then settings = Lease.settings(shares) end
  reply[n + 8] = settings
  reply[n + 9], reply[n + 10] = micros, batch.n
  Lease.append(reply, n + 10, batch)
  if C.hasDead then Failures.addTo(reply, n + 2) end
  F.closeStep()
  return reply
end
