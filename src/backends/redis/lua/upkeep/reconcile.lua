-- Checks records, indexes and counts against each other, one bounded part at a time.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  part    'keys', 'records', 'index', 'holes', 'line', 'sums', 'queue', 'users', 'schedules',
--                  'deps', 'pieces', 'clock', 'repair-user' or 'repair-queue'
-- ARGV[2]  repair  '1': what is wrong is repaired at once
-- ARGV[3..]  what  of the part: see there
-- Returns  what the part tells, problems as text; then the damage that guard.lua met on the way
-- Cost     O(500 × log tasks)

F.readAll()
local part, repair = ARGV[1], ARGV[2] == '1'
if repair then redis.call('DEL', K.oom()) end
local reply = {}

local function report(text)
  reply[#reply + 1] = text
end

-- Puts a task where its record says that it stands.
local function putBack(t, u)
  if t.state == 'queued' then
    t.seq = F.placeOf(t)
    F.change(t)
    local isCounted = not Park.has(t, u) and not u.isRecordless
    if Park.has(t, u) then Park.leave(t, u) end
    F.joinLine(t, u, true)
    -- A user without a record is counted by its line.
    if not isCounted then u.cnt[t.level], u.queued = u.cnt[t.level] + 1, u.queued + 1 end
    return F.reindex(u)
  end
  if t.state == 'started' then return F.leasedUntil(t.worker, F.endOf(t)) end
  local score = t.at
  if t.state == 'deferred' then score = t.stamp end
  if F.isEnd(t.state) then
    redis.call('ZADD', K.kept(t.state), t.endStamp, t.id)
    return F.backAmongEnded(t)
  end
  F.move(t.state, t.state == 'scheduled' and F.member(t) or t.id, score)
  if t.state == 'scheduled' then
    F.zset(K.scheduled(u.queue.prefix, u.name), F.member(t), score)
    F.dueChanged(u)
  end
end

local function isPlaced(t, u)
  if t.state == 'started' then return redis.call('ZSCORE', K.leases(), t.worker) end
  if F.isEnd(t.state) then
    return redis.call('ZSCORE', K.kept(t.state), t.id) or F.findEnded(t)
      or redis.call('LPOS', K.ended(t.state), t.id)
  end
  if t.state == 'queued' then return Park.isFiled(t, u) or redis.call('LPOS', F.lineKey(u, t.level), t.id) end
  if t.state == 'deferred' then return redis.call('ZSCORE', K.index('deferred'), t.id) end
  local member = F.member(t)
  return redis.call('ZSCORE', K.scheduled(u.queue.prefix, u.name), member)
    and redis.call('ZSCORE', K.index('scheduled'), member)
end

-- ARGV[3..]: ids. Tells for each record queue, user, state, level (0: parked) and the problem or ''.
local function records()
  for i = 3, #ARGV do
    local t = F.taskOf(ARGV[i])
    if t then
      F.fixed(t)
      local u, problem = F.ownerOf(t), ''
      if not isPlaced(t, u) then
        local where = t.state == 'queued' and 'in line' or 'in its index'
        problem = t.id .. ': ' .. t.state .. ', but not ' .. where
        if repair then putBack(t, u) end
      end
      local failure = t.state == 'failed' and Failures.drift(t, repair)
      if failure then problem = (problem == '' and '' or problem .. '; ') .. t.id .. ': ' .. failure end
      local drift = F.recordDrift(t, u, repair)
      if drift then problem = (problem == '' and '' or problem .. '; ') .. t.id .. ': ' .. drift end
      report(t.queueName)
      report(t.user)
      report(t.state)
      report(t.state == 'queued' and Park.isFiled(t, u) and 0 or t.level)
      report(problem)
    end
  end
end

-- Of a task whose end is lost its list still says how it ended.
local function endedIndex(name, rank)
  local key, stamp = K.ended(name), 0
  local ids = redis.call('LRANGE', key, rank, rank + LIMIT.repairPage - 1)
  report(#ids == LIMIT.repairPage and rank + LIMIT.repairPage or -1)
  for _, id in ipairs(ids) do
    local t = not F.isHole(id) and F.taskOf(id)
    if t and t.state == 'queued' and not isPlaced(F.fixed(t), F.ownerOf(t)) then
      report(id .. ': in ' .. name .. ', but its end is lost')
      if repair then F.restoreEnd(t, name, stamp) end
    elseif not F.isHole(id) and not (t and t.state == name) then
      report(id .. ': in ' .. name .. ', but ' .. (t and t.state or 'not stored'))
      if repair then redis.call('LREM', key, 1, id) end
    end
    if t and t.endStamp then stamp = t.endStamp end
  end
end

-- ARGV[3], [4], [5]: state, rank and steps. Tells the next rank or -1, and how many of a page are holes; from
-- [6] on, when all have been counted and nothing has changed meanwhile, whether that many are known.
local function holes()
  local name, rank, counted = ARGV[3], tonumber(ARGV[4]), ARGV[6]
  if counted then
    local known = redis.call('HGET', K.holes(), name) or '0'
    if C.steps ~= tonumber(ARGV[5]) or known == counted then return end
    report(name .. ': ' .. known .. ' holes are known, ' .. counted .. ' are there')
    if not repair then return end
    redis.call('HDEL', K.holes(), name)
    if counted ~= '0' then redis.call('HSET', K.holes(), name, counted) end
    return
  end
  local ids, found = redis.call('LRANGE', K.ended(name), rank, rank + LIMIT.repairPage - 1), 0
  for _, id in ipairs(ids) do found = found + (F.isHole(id) and 1 or 0) end
  report(#ids == LIMIT.repairPage and rank + LIMIT.repairPage or -1)
  report(found)
end

-- ARGV[3], [4]: index and rank. Tells the next rank or -1, then problems.
local function index()
  local name, rank = ARGV[3], tonumber(ARGV[4])
  if F.isEnd(name) then return endedIndex(name, rank) end
  local ids = redis.call('ZRANGE', K.index(name), rank, rank + LIMIT.repairPage - 1)
  report(#ids == LIMIT.repairPage and rank + LIMIT.repairPage or -1)
  for _, member in ipairs(ids) do
    local id = (name == 'scheduled' or name == 'deadlines') and F.idOf(member) or member
    local t = F.taskOf(id)
    local right = t and t.state == name
    if name == 'deadlines' then
      right = t and ((t.optional and t.optional.leastDeadline) or (t.state == 'queued' and Park.isFiled(t, F.ownerOf(t))))
    end
    if name == 'cascade' then right = t and t.inCascade end
    if not right then
      report(id .. ': in ' .. name .. ', but ' .. (t and t.state or 'not stored'))
      if repair then F.move(name, member, false) end
    end
  end
end

-- ARGV[3], [4], [5]: queue, user and rank. Tells the next rank or -1, then problems of its line; at last, how many
-- it counts, and where that puts it.
local function line()
  local u, rank = F.userOf(F.queueOf(ARGV[3]), ARGV[4]), tonumber(ARGV[5])
  local more, counted = false, true
  for level = 6, 1, -1 do
    local key = F.lineKey(u, level)
    local ids = redis.call('LRANGE', key, rank, rank + LIMIT.repairPage - 1)
    more = more or #ids == LIMIT.repairPage
    local seen = {}
    for _, id in ipairs(ids) do
      local t = not seen[id] and F.taskOf(id)
      seen[id] = true
      local isParked = t and t.state == 'queued' and Park.isFiled(t, u)
      if not t or t.state ~= 'queued' or isParked then
        reply[#reply + 1] = id .. ': in line, but ' .. (isParked and 'parked' or t and t.state or 'not stored')
        if repair then redis.call('LREM', key, 1, id) end
      end
    end
    local length = redis.call('LLEN', key)
    counted = counted and length == u.cnt[level]
    if repair then u.cnt[level] = length end
  end
  local aside = redis.call('ZRANGEBYLEX', K.parked(u.queue.prefix), '[' .. K.pair(u.name, ''), '(' .. K.pair(u.name, ':'),
    'LIMIT', rank, LIMIT.repairPage)
  more = more or #aside == LIMIT.repairPage
  for _, member in ipairs(aside) do
    local id = Park.idOf(member, u.name)
    local t = F.taskOf(id)
    if not (t and t.state == 'queued' and Park.isFiled(t, u)) then
      reply[#reply + 1] = id .. ': parked, but ' .. (t and t.state or 'not stored')
      if repair then redis.call('ZREM', K.parked(u.queue.prefix), member) end
    end
  end
  table.insert(reply, 1, more and rank + LIMIT.repairPage or -1)
  if more then return end
  local drift = F.userDrift(u, repair) or not counted and 'its counts are not those of its tasks'
    or not F.isIndexed(u) and 'ready, but in no index'
  if drift then report('queue ' .. u.queue.name .. ', user ' .. u.name .. ': ' .. drift) end
  if drift and repair then F.indexAnew(u) end
end

-- A schedule that is listed, or due (`at_`), against its record.
local function checkSchedule(id, at_)
  local s = Schedule.read(id)
  local due = s and redis.call('HGET', K.schedule(id), FIELD.schedule.due)
  if s and (due or false) == (at_ or false) then return end
  report('schedule ' .. id .. ': ' .. (s and 'its due time is not that of its record' or 'not stored'))
  if not repair then return end
  F.move('schedules:due', id, due and tonumber(due) or false)
  if not s then redis.call('ZREM', K.schedules(), id) end
end

-- ARGV[3]: rank. Looks at all that are listed, and all that are due. Tells the next rank or -1, then
-- problems.
local function schedules()
  local rank = tonumber(ARGV[3])
  local names = redis.call('ZRANGE', K.schedules(), rank, rank + LIMIT.repairPage - 1)
  local due = redis.call('ZRANGE', K.index('schedules:due'), rank, rank + LIMIT.repairPage - 1)
  report((#names == LIMIT.repairPage or #due == LIMIT.repairPage) and rank + LIMIT.repairPage or -1)
  for _, id in ipairs(names) do
    local score = redis.call('ZSCORE', K.index('schedules:due'), id)
    checkSchedule(id, score and string.format('%.0f', tonumber(score)))
  end
  for _, id in ipairs(due) do
    if not redis.call('ZSCORE', K.schedules(), id) then checkSchedule(id, 'due') end
  end
end

-- Who waits for a task that is gone waits on as for one that was never stored.
local function letGo(id)
  local key = K.waiting(id)
  for _, waiter in ipairs(redis.call('ZRANGE', key, 0, (LIMIT.goneStep - 1))) do
    local t = F.taskOf(waiter)
    F.zset(key, waiter, false)
    if t and redis.call('SISMEMBER', K.blocked(waiter), id) == 1 then Deps.awaitMissing(t, id) end
  end
end

local function repairDeps(kind, id)
  if kind == 'waiting' then return letGo(id) end
  if kind == 'missing' then return F.put('missing', id, 1) end
  redis.call('DEL', kind == 'blocked' and K.blocked(id) or K.awaitingRedrive(id))
end

-- ARGV[3..]: sets of dependencies, as 'waiting:' and an id. Tells those whose task is not stored,
-- unless a batch is being stored in parts, whose tasks wait for each other already.
local function deps()
  for i = 3, #ARGV do
    local kind, id = string.match(ARGV[i], '^(%l+):(.*)$')
    local isKnown = H.submissions < INF
    if kind == 'missing' then
      isKnown = isKnown or redis.call('ZSCORE', K.index('missing'), id)
    else
      isKnown = isKnown or F.taskOf(id)
    end
    if not isKnown then
      report('dependencies of ' .. id .. ': ' .. kind .. ', but not stored')
      if repair then repairDeps(kind, id) end
    end
  end
end

-- ARGV[3]: queue. Tells how many steps there were, and the counts as JSON.
local function queueOf()
  local queue = F.queueOf(ARGV[3])
  report(C.steps)
  report(cjson.encode({ counts = queue.counts, w = queue.weightSum, runnable = queue.runnable, ready = queue.ready,
    parked = queue.parked, classes = queue.classes, tags = queue.tags, kept = redis.call('ZCARD', K.keptTags(queue.prefix)),
    leaving = queue.leaving, left = Fluid.sum(queue) }))
end

-- ARGV[3], [4]: queue and where the page before has ended; [5]: '1' when strays are dropped; [6]: one name only,
-- listed or not. Tells where this page ends, or '', then each user as JSON.
local function users()
  local queue = F.queueOf(ARGV[3])
  local names = ARGV[6] and { ARGV[6] } or F.namesAfter(queue, F.ofHex(ARGV[4]), LIMIT.repairPage)
  local n = math.min(#names, LIMIT.repairPage)
  report(#names >= LIMIT.repairPage and F.hexOf(names[n]) or '')
  for i = 1, n do
    local name = names[i]
    local u = F.userOf(queue, name)
    local later = tonumber(redis.call('HGET', K.later(queue.prefix), name) or 0)
    if not u.isCounted then
      F.lookAt(u)
    elseif later ~= u.live - u.queued - u.parked - u.running then
      u.live = -1
    end
    if ARGV[6] or u.running > 0 or not F.isStray(u) then
      report(cjson.encode({ user = name, levels = u.cnt, parked = u.parked, running = u.running, live = u.live,
        ready = u.ready, w = u.countedWeight, headroom = u.headroom, class = u.class or '', indexed = F.isIndexed(u) }))
    elseif ARGV[5] == '1' then
      redis.call('ZREM', K.users(queue.prefix), name)
    end
  end
end

-- ARGV[3], [4], [5], [6]: queue, user, steps, counts as JSON. Tells 'ok', or 'moved'.
local function repairUser()
  if C.steps ~= tonumber(ARGV[5]) then return report('moved') end
  local u, counts = F.userOf(F.queueOf(ARGV[3]), ARGV[4]), cjson.decode(ARGV[6])
  u.cnt, u.queued = counts.levels, 0
  for level = 1, 6 do u.queued = u.queued + u.cnt[level] end
  u.parked, u.running, u.live, u.isCounted = counts.parked, counts.running, counts.live, true
  local key, later = K.later(u.queue.prefix), u.live - u.queued - u.parked - u.running
  if later > 0 then redis.call('HSET', key, u.name, later) else redis.call('HDEL', key, u.name) end
  F.indexAnew(u)
  report('ok')
end

-- ARGV[3]: queue. What its ready users come to, while they are few enough to be counted at once.
local function sums()
  local queue, sum, classes = F.queueOf(ARGV[3]), { weightSum = 0, runnable = 0, ready = 0 }, {}
  for class in pairs(queue.classes) do
    local key = K.ready(queue.prefix, class)
    local size = redis.call('ZCOUNT', key, '-inf', '(inf')
    sum.ready = sum.ready + size
    if sum.ready > LIMIT.countedAtOnce then return end
    for _, name in ipairs(redis.call('ZRANGE', key, 0, size - 1)) do
      local u = F.userOf(queue, name)
      sum.weightSum, sum.runnable = sum.weightSum + u.countedWeight, sum.runnable + u.headroom
    end
    classes[class] = size > 0 and size or nil
  end
  local isRight = true
  for class, size in pairs(queue.classes) do isRight = isRight and size == classes[class] end
  for field, value in pairs(sum) do
    isRight = isRight and queue[field] == value
    if repair then queue[field] = value end
  end
  if isRight then return end
  report('queue ' .. queue.name .. ': wrong count of those who are ready')
  if not repair then return end
  queue.classes = classes
  F.touchQueue(queue)
end

-- ARGV[3], [4], [5]: queue, steps, counts as JSON. Tells 'ok', or 'moved'.
local function repairQueue()
  if C.steps ~= tonumber(ARGV[4]) then return report('moved') end
  local queue, counts = F.queueOf(ARGV[3]), cjson.decode(ARGV[5])
  for state in pairs(queue.counts) do queue.counts[state] = counts.counts[state] end
  queue.weightSum, queue.runnable, queue.ready, queue.parked = counts.w, counts.runnable, counts.ready, counts.parked
  queue.classes = {}
  for class, count in pairs(counts.classes) do
    queue.classes[class] = count
    if count >= LIMIT.spreadFrom then F.spread(K.ready(queue.prefix, class)) end
  end
  queue.tags = redis.call('ZCARD', K.keptTags(queue.prefix))
  queue.leaving = Fluid.sum(queue)
  for kind in pairs(queue.lasts) do
    if not F.isKindUsed(queue.classes, kind) then queue.lasts[kind] = nil end
  end
  F.touchQueue(queue)
  report('ok')
end

-- ARGV[3..]: names of keys without the prefix. Tells what they say that no index says.
local function keys()
  for i = 3, #ARGV do
    local problem = F.keyDrift(ARGV[i], repair)
    if problem then report(problem) end
  end
end

-- ARGV[3], [4]: a hash of pieces of tasks, and a cursor. Tells the next cursor, then problems.
local function pieces()
  local key, worker, least = prefix .. ARGV[3], string.match(ARGV[3], '^hot:(.*)$'), INF
  local got = redis.call('HSCAN', key, ARGV[4], 'COUNT', LIMIT.repairPage)
  report(got[1])
  for i = 1, #got[2], 2 do
    if redis.call('HEXISTS', K.tasks(), got[2][i]) == 0 then
      report(got[2][i] .. ': in ' .. ARGV[3] .. ', but not stored')
      if repair then redis.call('HDEL', key, got[2][i]) end
    elseif worker then
      least = math.min(least, F.storedEnd(got[2][i + 1]))
    end
  end
  local listed = least < INF and tonumber(redis.call('ZSCORE', K.leases(), worker) or nil)
  if least == INF or (listed and listed <= least) then return end
  report(worker .. ': has leases that are in no index')
  if repair then F.leasedUntil(worker, least) end
end

-- What the namespace remembers from step to step is told anew.
local function clock()
  local was = { waiting = C.waiting, ears = C.ears, configs = C.configs }
  F.rebuildClock()
  for name, value in pairs(was) do
    if value ~= C[name] then report('clock: wrong count of ' .. name) end
  end
  F.closeStep()
end

local PARTS = { keys = keys, pieces = pieces, clock = clock, records = records, index = index, holes = holes,
  line = line, sums = sums, queue = queueOf, users = users, schedules = schedules, deps = deps, ['repair-user'] = repairUser,
    ['repair-queue'] = repairQueue }
PARTS[part]()
local changedKey = false
for _, key in pairs(keyring) do changedKey = changedKey or key.dirty end
if repair and (next(Z) or next(I) or next(leasedUntil) or #touched > 0 or #touchedWorkers > 0 or #changed > 0 or changedKey) then
  F.writeStep()
  F.closeStep()
end
return { reply, guard.damage }
