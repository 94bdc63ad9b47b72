-- Reads what the namespace remembers from step to step, in two parts: the clock, which every step needs and saves, and
-- `upkeep`, which maintenance and what is seldom used need. A usual step reads the first alone.
-- `now` never runs back by less than 5 s. H holds the least score of each index that falls due, so
-- that a step knows without asking whether maintenance has anything to do.

-- `whole`: both parts are read. `upkeepBefore`: the second as it is stored.
local H, C, upkeepBefore, whole = nil, nil, nil, false
-- What was read with the clock: a queue and a worker, by their names.
local queueName_, queueText, workerName, workerText, hasBegun = nil, nil, nil, nil, false

function F.readClock(packed)
  if not packed then
    -- What it would say is in force, and nothing here says it: the call is made again behind guard.lua.
    if redis.call('EXISTS', K.tasks(), K.queues(), K.workers()) > 0 then error('the clock is lost') end
    H = { started = INF, finished = INF, failed = INF, canceled = INF, missing = INF }
    C = { seen = 0, due = INF, upkeep = INF, stamp = 0, steps = 0, waiting = 0, ears = 0, configs = 0, idle = 0, alarm = INF,
      alarms = ',' }
    return
  end
  local kept = F.takeKept(KEYS[1], packed)
  if kept then
    C, H = kept, kept.heads
    return
  end
  local seen, started, finished, failed, canceled, due, upkeep, stamp, steps, waiting, ears, flags, rest
    = struct.unpack(FORMAT.clock, packed)
  H = { started = started, finished = finished, failed = failed, canceled = canceled,
    missing = flags >= FLAG.clock.missing and 0 or INF }
  C = { seen = seen, due = due, upkeep = upkeep, stamp = stamp, steps = steps, waiting = waiting, ears = ears,
    configs = flags % (2 * FLAG.clock.configs), idle = flags % (2 * FLAG.clock.idle) >= FLAG.clock.idle and 1 or 0, alarm = INF,
    alarms = ',', freed = false, begun = false, packed = false, heads = H }
  if #packed >= rest then
    C.alarm = struct.unpack('<d', packed, rest)
    C.alarms = string.sub(packed, rest + 8)
  end
end

-- `packed`: false in a namespace that is new.
function F.readUpkeep(packed)
  upkeepBefore = packed
  if not packed then
    C.pause, C.configs, C.dropping, C.refresh = 0, 0, 0, 0
    H['scheduled-users'], H.throttled, H.deadlines, H.cascade, H['listed-workers'] = INF, INF, INF, INF, INF
    H.submissions, H.missing, H['schedules:due'], H['xcom-ends'] = INF, INF, INF, INF
  else
    C.pause, H['scheduled-users'], H.throttled, H.deadlines, H.cascade, H['listed-workers'], H.submissions, H.missing,
      C.configs, C.dropping, C.refresh, H['schedules:due'], H['xcom-ends'] = struct.unpack(FORMAT.upkeep, packed)
  end
  -- Whether earlier steps have left dependents to be told.
  C.isOlder = H.cascade < INF
end

-- Whether the server's clock was set back, or there was an outage.
function F.hasJumped()
  return C.seen - now > LIMIT.clockStepMs or C.seen > 0 and now - C.seen > LIMIT.outageMs
end

function F.settleTime()
  if C.seen - now > LIMIT.clockStepMs then
    C.pause = math.min(C.pause, now + LIMIT.outagePauseMs)
    C.dropping = 1
  elseif C.seen > now then
    now = C.seen
  elseif C.seen > 0 and now - C.seen > LIMIT.outageMs and C.pause <= C.seen then
    -- Not again before a step has come after the pause: calls may be as rare as this.
    C.pause = now + LIMIT.outagePauseMs
  end
  if micros < now * 1000 then micros = now * 1000 end
end

-- Begins a step with what most need. `queueName`, `worker`: that it needs most likely, if any.
function F.beginUsual(queueName, worker)
  if guard then return F.readAll() end
  F.readTime()
  local saved
  if worker then
    saved = redis.call('HMGET', KEYS[1], FIELD.clock.numbers, FIELD.clock.queue .. queueName, FIELD.clock.worker .. worker)
    workerName, workerText = worker, saved[3]
  else
    saved = redis.call('HMGET', KEYS[1], FIELD.clock.numbers, FIELD.clock.queue .. queueName)
  end
  queueName_, queueText = queueName, saved[2]
  F.readClock(saved[1])
  if C.steps == 0 or F.hasJumped() then return F.readAll() end
  F.settleTime()
end

-- Begins a step with all that is known, or lets one that has begun go on with that.
function F.readAll()
  if whole then return end
  whole = true
  if not C then
    F.readTime()
    local saved = redis.call('HMGET', KEYS[1], FIELD.clock.numbers, FIELD.clock.upkeep)
    F.readClock(saved[1])
    F.readUpkeep(F.mustBeKnown(saved[2]))
    F.settleTime()
  else
    F.readUpkeep(F.mustBeKnown(redis.call('HGET', KEYS[1], FIELD.clock.upkeep)))
    if F.hasJumped() then F.settleTime() end
  end
  F.beginStep()
  F.beginAll()
  for _, queue in pairs(knownQueues) do F.wholeQueue(queue) end
end

-- A clock stands beside it, unless the namespace is new.
function F.mustBeKnown(upkeep)
  if not upkeep and C.steps > 0 then error('the clock is lost') end
  return upkeep
end

-- A number that no other has, greater than all before: places in line, and the order of arrival.
function F.stamp()
  C.stamp = C.stamp + 1
  return C.stamp
end
