-- Makes indexes anew from what they index: of keys, users, ends, and the clock.

-- Of a task whose record of its end is lost. `stamp`: of the one that ended before it.
function F.restoreEnd(t, state, stamp)
  F.change(t)
  t.state, t.at, t.leasedAt, t.endStamp = state, now, 0, stamp
  if state == 'failed' then F.optionalOf(t).endCause = '{"type":"lost","leases":0}' end
  if state == 'canceled' then F.optionalOf(t).endCause = '{"type":"request"}' end
  if now < H[state] then H[state] = now end
  F.touch(F.ownerOf(t))
end

-- What indexes of a user lack, beside its line.
function F.userDrift(u, repair)
  local pair = K.pair(u.queue.name, u.name)
  local head = redis.call('ZRANGE', K.scheduled(u.queue.prefix, u.name), 0, 0, 'WITHSCORES')
  local due, listed = tonumber(head[2]), tonumber(redis.call('ZSCORE', K.index('scheduled-users'), pair) or nil)
  local drift
  if (due == nil) ~= (listed == nil) or (due and listed > math.max(due, now)) then
    drift = 'not due when its tasks are'
    if repair then F.dueChanged(u) end
  end
  if u.throttled and not redis.call('ZSCORE', K.index('throttled'), pair) then
    drift = 'waits for its rate, but is in no index'
    if repair then
      u.throttled = false
      F.reindex(u)
    end
  end
  if u.idle and not redis.call('ZSCORE', K.idle(u.queue.prefix, u.idleEpoch), u.name) then
    drift = 'has nothing to do, but is not listed to be forgotten'
    if repair then
      F.zset(K.idle(u.queue.prefix, u.idleEpoch), u.name, 0)
      F.touch(u)
    end
  end
  return drift
end

-- Whether it stands where its turn comes, if anything of it may start, and in the listing of users, if it has any
-- task that waits.
function F.isIndexed(u)
  local p, later = u.queue.prefix, redis.call('HEXISTS', K.later(u.queue.prefix), u.name) == 1
  if (u.queued + u.parked > 0 or later) and not redis.call('ZSCORE', K.users(p), u.name) then return false end
  if u.ready then return redis.call('ZSCORE', K.ready(p, u.class), u.name) and true or false end
  return u.queued == 0 or u.set.paused or u.throttled or u.running >= u.set.maxRunning
end

-- A name that is listed, and of which nothing is known.
function F.isStray(u)
  local queue = u.queue
  return u.isRecordless and not (u.queued + u.parked > 0 or u.isKept or u.kept) and queue.old >= queue.epoch
    and redis.call('HEXISTS', K.later(queue.prefix), u.name) == 0
end

-- A name as hex, since one that another program has written need not be text.
function F.hexOf(name)
  return (string.gsub(name, '.', function(one) return string.format('%02x', string.byte(one)) end))
end

function F.ofHex(hex)
  return (string.gsub(hex, '..', function(two) return string.char(tonumber(two, 16)) end))
end

-- Puts it where its counts say that it stands.
function F.indexAnew(u)
  u.queued, u.entered = 0, true
  for level = 1, 6 do u.queued = u.queued + u.cnt[level] end
  F.reindex(u)
  if u.ready then F.indexUser(u, true) end
end

-- Adds what is missing in a sorted set; says whether it was.
function Rebuild.missesIn(key, member, score, repair)
  if redis.call('ZSCORE', key, member) then return false end
  if repair then redis.call('ZADD', key, score, member) end
  return true
end

function Rebuild.missesInSet(key, member, repair)
  if redis.call('SISMEMBER', key, member) == 1 then return false end
  if repair then redis.call('SADD', key, member) end
  return true
end

-- What a key says that no index says, by family of keys. Each is given queue, what the name ends in, and whether
-- to mend it.

-- When its leases end is looked at afterwards, some at a time.
function Rebuild.hot(_, worker, repair)
  if Rebuild.missesIn(K.leases(), worker, 0, repair) then
    C.leasing, H.started = nil, 0
    return 'has leases that are in no index'
  end
end

-- Also where no keys can be listed.
function Rebuild.workers(_, _, repair)
  for _, id in ipairs(redis.call('ZRANGE', K.workers(), 0, -1)) do
    if redis.call('EXISTS', K.hot(id)) == 1 then Rebuild.hot(_, id, repair) end
  end
end

function Rebuild.worker(_, id, repair)
  local got, worker = redis.call('HMGET', K.worker(id), FIELD.worker.queues, FIELD.worker.lists), F.workerOf(id)
  if not worker then return end
  local drift = Rebuild.missesIn(K.workers(), id, worker.seen, repair) and 'is in no listing' or nil
  if not got[2] or worker.flags >= FLAG.worker.unlisted then return drift end
  local lists = cmsgpack.unpack(got[2])
  for queueName in string.gmatch(got[1] or '', '[^,]+') do
    local p = K.queue(queueName)
    for _, list in pairs(lists) do
      local stands = list == 'any' or (redis.call('HEXISTS', K.list(p, list), FIELD.list.whole) == 1
        and redis.call('SISMEMBER', K.listWorkers(p, list), id) == 1
        and (redis.call('EXISTS', K.listNames(p, list)) == 1
          -- One that names no user.
          or redis.call('EXISTS', K.listReady(p, list), K.unassigned(p, list)) == 0))
      if not stands then
        drift = 'has a list that is not whole'
        if repair then
          redis.call('HDEL', K.list(p, list), FIELD.list.whole)
          F.unlist(id)
        end
      end
    end
  end
  return drift
end

function Rebuild.listNames(queueName, list, repair)
  local queue, drift = F.queueOf(queueName), nil
  for _, name in ipairs(redis.call('SMEMBERS', K.listNames(queue.prefix, list))) do
    local u = F.userOf(queue, name)
    if not F.contains(u.lists or NONE, list) then
      drift = 'has a user that does not know of it'
      if repair then
        local more = { unpack(u.lists or NONE) }
        more[#more + 1] = list
        Lists.changeLists(u, more)
      end
    elseif u.ready and repair then
      F.indexUser(u, true)
    end
  end
  return drift
end

-- Of all queues: what each of them is stands with the clock.
function Rebuild.clock(_, _, repair)
  local drift
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local name = string.match(field, '^' .. FIELD.clock.queue .. '(.+)$')
    if name and Rebuild.missesInSet(K.queues(), name, repair) then drift = 'of queue ' .. name .. ' is in no listing' end
  end
  return drift
end

function Rebuild.fair(queueName, _, repair)
  local queue = F.queueOf(queueName)
  if queue.hasSettings or redis.call('HEXISTS', K.fair(queue.prefix), FIELD.fair.settings) == 0 then return end
  if repair then
    F.readSettings(queue)
    F.touchQueue(queue)
  end
  return 'has settings that its queue does not know of'
end

function Rebuild.user(queueName, name, repair)
  return Rebuild.missesIn(K.users(K.queue(queueName)), name, 0, repair) and 'is in no listing' or nil
end

-- The heads decide; strays behind them are dropped when they come to the head.
function Rebuild.ready(queueName, class, repair)
  local queue, drift = F.queueOf(queueName), nil
  local key = K.ready(queue.prefix, class)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', '(inf', 'LIMIT', 0, LIMIT.repairPage)) do
    local u = F.userOf(queue, name)
    if not u.ready or u.class ~= class then
      drift = 'has a user that is not ready'
      if repair then redis.call('ZREM', key, name) end
    end
  end
  local size = redis.call('ZCOUNT', key, '-inf', '(inf')
  if size > 0 and not queue.classes[class] then
    drift = 'is not known to its queue'
    if repair then
      queue.classes[class] = size
      F.touchQueue(queue)
    end
  end
  return drift
end

-- What is not parked stands in line, or will.
function Rebuild.parkedOfName(queueName, name, repair)
  local queue, drift = F.queueOf(queueName), nil
  local key = K.parkedOfName(queue.prefix, name)
  for _, member in ipairs(redis.call('ZRANGE', key, 0, 199)) do
    local user, rest = Tick.splitPair(member)
    local t = rest and F.taskOf(string.sub(rest, 14))
    if not (t and t.state == 'queued' and Park.isFiled(t, F.userOf(queue, user)) and t.name == name) then
      drift = 'holds one that is not parked'
      if repair then redis.call('ZREM', key, member) end
    end
  end
  return drift
end

function Rebuild.idle(queueName, _, repair)
  if not repair then return end
  redis.call('SADD', K.idleQueues(), queueName)
  C.idle = 1
end

function Rebuild.schedule(_, id, repair)
  if redis.call('HEXISTS', K.schedule(id), FIELD.schedule.revision) == 0 then return end
  local s = Schedule.read(id)
  local list = Schedule.listKey(s)
  local misses = list and Rebuild.missesInSet(list, id, repair)
  misses = Rebuild.missesIn(K.schedules(), id, 0, repair) or misses
  return misses and 'is in no listing' or nil
end

function Rebuild.eventSchedules(_, place, repair)
  local key, drift = prefix .. FAMILY.eventSchedules .. ':' .. place, nil
  for _, id in ipairs(redis.call('SMEMBERS', key)) do
    if Schedule.listKey(Schedule.read(id)) ~= key then
      drift = 'has a schedule that does not fire at these events'
      if repair then redis.call('SREM', key, id) end
    end
  end
  return drift
end

function Rebuild.submit(_, id, repair)
  if redis.call('HEXISTS', K.submit(id), FIELD.submit.done) == 1 or redis.call('ZSCORE', K.index('submissions'),
    id) then return end
  if repair then F.move('submissions', id, now + LIMIT.submissionMs) end
  return 'is neither sealed nor undone'
end

function Rebuild.xcom(_, place, repair)
  local user, rest = Tick.splitPair(place)
  local namespace, key = Tick.splitPair(rest or '')
  if not namespace then return end
  local drift = Rebuild.missesIn(K.xcomKeys(K.pair(user, namespace)), key, 0, repair)
  drift = Rebuild.missesIn(K.xcomNamespaces(user), namespace, 0, repair) or drift
  if not redis.call('ZSCORE', K.index('xcom-ends'), place) then
    drift = true
    if repair then F.move('xcom-ends', place, now) end
  end
  return drift and 'is in no listing' or nil
end

-- Who stands where those are found that wait, and does not wait there. A member ends in the id of its task.
function Rebuild.waits(key, repair)
  local drift
  for _, member in ipairs(redis.call('ZRANGE', key, 0, LIMIT.repairPage - 1)) do
    local t = F.taskOf(member) or F.taskOf(string.match(member, '^%d+ %w+%.(.+)$') or '')
    local kind, keys, own = t and t.optional and t.optional.awaitKind, NONE, nil
    if kind then
      keys, own = Wait.places(t)
      keys[#keys + 1] = K.waits(kind)
    end
    if not F.contains(keys, key) or (member ~= own and member ~= t.id) then
      drift = 'has one that does not wait'
      if repair then redis.call('ZREM', key, member) end
    end
  end
  return drift
end

-- What channels and signals of a run come to, and where the lines of its signals begin and end.
function Rebuild.channel(_, id, repair)
  local key, lines, drift = K.channel(id), {}, nil
  if redis.call('HEXISTS', K.tasks(), id) == 0 then
    if repair then redis.call('UNLINK', key) end
    return 'is of a task that is not stored'
  end
  local values, bytes, kept, keptBytes, sent = 0, 0, 0, 0, 0
  local rows = redis.call('HGETALL', key)
  for i = 1, #rows, 2 do
    local field, text = rows[i], rows[i + 1]
    local begins, rest = string.match(field, '^(%l+:)(.*)$')
    if begins == FIELD.channel.value then values, bytes = values + 1, bytes + F.channelBytes(rest, text) end
    if begins == FIELD.channel.once then bytes = bytes + #rest end
    if begins == FIELD.channel.signalId then sent = math.max(sent, tonumber(text) or 0) end
    local number, name = string.match(rest or '', '^(%d+):(.*)$')
    if begins == FIELD.channel.signal and number then
      local line = lines[name] or { INF, 0 }
      lines[name], kept, keptBytes = { math.min(line[1], number), math.max(line[2], number + 1) }, kept + 1, keptBytes + #text
    end
  end
  local counts = string.format('%.0f %.0f', values, bytes)
  if counts ~= (redis.call('HGET', key, FIELD.channel.counts) or '0 0') then
    drift = 'has a wrong count of values'
    if repair then redis.call('HSET', key, FIELD.channel.counts, counts) end
  end
  local signals = Wait.countsOf(key)
  for name, line in pairs(lines) do
    local first, after = Wait.lineOf(key, name)
    if first > line[1] or after < line[2] then
      drift = 'has signals that are in no line'
      if repair then redis.call('HSET', key, FIELD.channel.signalLine .. name, line[1] .. ' ' .. line[2]) end
    end
  end
  if signals.kept ~= kept or signals.bytes ~= keptBytes or signals.sent < sent then
    drift = 'has a wrong count of signals'
    signals.kept, signals.bytes, signals.sent = kept, keptBytes, math.max(sent, signals.sent)
    if repair then Wait.saveCounts(key, signals) end
  end
  return drift
end

-- Streams of a task whose record was set aside: nothing else knows of them.
function Rebuild.streams(_, id, repair)
  if redis.call('HEXISTS', K.tasks(), id) == 1 then return end
  if repair then Streams.forget(id) end
  return 'are of a task that is not stored'
end

-- As `streams`.
function Rebuild.aside(_, id, repair)
  if redis.call('HEXISTS', K.tasks(), id) == 1 then return end
  if repair then redis.call('UNLINK', K.aside(id)) end
  return 'is of a run that is not stored'
end

function Rebuild.stream(_, place, repair)
  local id, name = Tick.splitPair(place)
  if not name or redis.call('HEXISTS', K.tasks(), id) == 1 then return end
  if repair then redis.call('UNLINK', K.stream(id, name)) end
  return 'is of a task that is not stored'
end

function Rebuild.userConfig(_, user, repair)
  local drift = Rebuild.missesInSet(K.configured(), user, repair)
  if redis.call('HEXISTS', K.userConfig(user), '*') == 1 then
    drift = Rebuild.missesIn(K.configuredForAll(), user, 0, repair) or drift
  end
  for _, queueName in ipairs(redis.call('SMEMBERS', K.queues())) do
    if redis.call('EXISTS', K.user(K.queue(queueName), user)) == 1 then
      local u = F.userOf(F.queueOf(queueName), user)
      if next(u.own) == nil and not u.kept then
        local own, kept = F.ownSettings(u.queue, user)
        if next(own) ~= nil then
          drift = true
          if repair then
            u.own, u.kept, u.changed = own, kept, true
            u.set = F.settingsOf(u.queue, own)
            F.reindex(u)
          end
        end
      end
    end
  end
  return drift and 'has settings that are not in force' or nil
end

-- What is wrong with a key, given without its prefix.
function F.keyDrift(name, repair)
  local queueName, rest = string.match(name, '^queue:([^:]+):(.*)$')
  rest = rest or name
  local family, last = string.match(rest, '^([^:]+):?(.*)$')
  if not guard.checkKey(prefix .. name) or rest == 'scheduler:lock' then return end
  local isWaits = family == FAMILY.waits or family == FAMILY.waiters or family == FAMILY.asks or family == FAMILY.eventWaiters
  local look = isWaits and function() return Rebuild.waits(prefix .. name, repair) end or ({
    channel = Rebuild.channel, hot = Rebuild.hot, workers = Rebuild.workers, worker = Rebuild.worker, ['list-names'] = Rebuild.listNames,
    fair = Rebuild.fair, clock = Rebuild.clock, user = Rebuild.user, ready = Rebuild.ready, ['parked-of-name'] = Rebuild.parkedOfName, idle = Rebuild.idle,
    [FAMILY.failedNamed] = Rebuild.failedNamed, [FAMILY.failedOf] = Rebuild.failedOf,
    [FAMILY.errorGroup] = Rebuild.errorGroup, [FAMILY.errorGroups] = Rebuild.errorGroups,
    schedule = Rebuild.schedule, [FAMILY.eventSchedules] = Rebuild.eventSchedules, streams = Rebuild.streams, aside = Rebuild.aside, stream = Rebuild.stream, submit = Rebuild.submit, xcom = Rebuild.xcom, ['user-config'] = Rebuild.userConfig,
  })[family]
  local drift = look and look(queueName or 'default', last, repair)
  return drift and family .. ' ' .. last .. ' ' .. drift or nil
end

-- Heads of indexes and counts, from guard.lua; the order of arrival goes on.
function F.rebuildClock()
  local before = C
  local clock, upkeep = guard.newClock()
  F.readClock(clock)
  F.readUpkeep(upkeep)
  -- It is not what is stored.
  upkeepBefore = nil
  for name in pairs({ seen = 0, pause = 0, alarm = 0, alarms = 0, steps = 0, stamp = 0, isOlder = 0 }) do C[name] = before[name] end
  for name, value in pairs(before) do
    if C[name] == nil then C[name] = value end
  end
end
