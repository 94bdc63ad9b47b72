-- Gathers what explains a task's place, in one step.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- ARGV[2]  named   most dependents to tell
-- Returns  {} when it is unknown, else the facts as JSON, five texts as in lib/records/record.lua, then
--          four texts for each live worker
-- Cost     O(classes × log users + workers)

F.readAll()
local id, named = ARGV[1], tonumber(ARGV[2])
local t = F.taskOf(id)
if not t then return {} end
F.fixed(t)
local queue = F.queueOf(t.queueName)
local u = F.userOf(queue, t.user)
local facts = { now = now, queueRunning = queue.counts.started, ahead = 0, usersAhead = 0 }
facts.queue = F.queueInfo(queue)
local info = F.userInfo(u)
if F.isKnown(u) then facts.user = info end
if u.throttled then
  local till = redis.call('ZSCORE', K.index('throttled'), K.pair(t.queueName, t.user))
  facts.throttledUntil = till and math.ceil(till)
end
local rate = queue.config.rate
if rate then
  local till = Rate.allowedAt(rate, Rate.boundedTat(rate, queue.tat, now))
  if till > now then facts.queueThrottledUntil = math.ceil(till) end
end

-- How many of its own level stand before it, in line or parked.
local function rankInLevel()
  local key = F.lineKey(u, t.level)
  if u.parked == 0 then return redis.call('LPOS', key, id) or 0 end
  return F.rankInLine(key, F.placeOf(t)) + Park.count(u, t.level, F.placeOf(t))
end

local function usersAhead()
  local ahead, start = 0, F.startOf(u)
  for class in pairs(queue.classes) do
    local before = start
    if string.byte(class, 2) == 119 then
      local w = tonumber(string.sub(class, 3))
      before = w == u.countedWeight and u.startTag or start * Tag.scaleOf(w)
    end
    before = '(' .. string.format('%.17g', before)
    ahead = ahead + redis.call('ZCOUNT', K.ready(queue.prefix, class), '-inf', before)
  end
  return ahead
end

if t.state == 'queued' then
  facts.ahead = rankInLevel()
  if Park.has(t, u) then facts.parked = true end
  if u.ready then facts.usersAhead = usersAhead() end
end
local blocked = F.blockedBy(t)
if blocked then
  facts.blockedBy = {}
  for i, other in ipairs(blocked) do
    local upstream = F.taskOf(other)
    local state = upstream and (Deps.upstreamOf(t, other) and upstream.state or 'foreign')
    facts.blockedBy[i] = { id = other, state = state or 'missing' }
  end
end
-- What only joins, runs and their members have.
local function addRunFacts(x)
  local by = not F.isEnd(t.state) and Pause.runOf(t)
  if by then facts.paused = { run = by.id, since = by.optional.pausedSince, reason = by.optional.pauseReason } end
  if x.isJoin then
    facts.join = true
    return
  end
  if t.state == 'deferred' and x.suspendedFor and blocked then
    facts.suspension = { of = #x.suspendedFor, wakeOn = x.wakeWord or 'all', wakeAt = x.wakeDue }
  end
  if x.awaitKind then
    local ask = x.awaitKind == 'ask' and Wait.ask(id, x.awaitName)
    facts.wait = { ['for'] = { kind = x.awaitKind, name = x.awaitName, targets = x.awaitTargets,
      ask = ask and ask.json or nil }, since = tonumber(redis.call('ZSCORE', K.waits(x.awaitKind), id) or 0), wakeAt = x.wakeDue }
  end
  if x.attendedLease then facts.timeLeft = string.match(x.attendedLease, '^%d+ %S+ (.+)$') end
  if not x.ownerRun or t.state == 'started' or F.isEnd(t.state) then return end
  local run = F.taskOf(x.ownerRun)
  if not run or F.isEnd(run.state) then
    facts.endedRun = { id = x.ownerRun, state = run and run.state or 'missing' }
  end
end

if t.optional then addRunFacts(t.optional) end
if t.dependents then facts.dependents = F.dependents(id, nil, named) end
facts.shares = { waited = F.exact(F.sharesOf(u).waited), weights = queue.config.priorityWeights or LIMIT.priorityWeights }
local reply = { cjson.encode(facts) }
F.addRecord(reply, t, true)
F.addWorkers(reply)
return reply
