-- Checks records, indexes and counts against each other, one bounded part at a time.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  part    'records', 'index', 'line', 'lane', 'users', 'schedules', 'deps',
--                  'mend-user' or 'mend-lane'
-- ARGV[2]  repair  '1': what is wrong is mended at once
-- ARGV[3..]  what  of the part: see there
-- Returns  see the part; problems are told as text
-- Cost     O(500 × log tasks)
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/deps.lua
-- @include lib/schedule.lua

local part, repair = ARGV[1], ARGV[2] == '1'
local PAGE = 200
-- Waiters of a task that is gone that one step looks at.
local LET_GO = 2000
local reply = {}

local function tell(text)
  reply[#reply + 1] = text
end

-- Puts a task where its record says that it stands.
local function putBack(t, u)
  if t.state == 'queued' then
    t.seq = F.placeOf(t)
    F.change(t)
    local isCounted = not Park.has(t, u) and not u.plain
    if Park.has(t, u) then Park.leave(t, u) end
    F.joinLine(t, u, true)
    -- Whoever has no record is counted by its line.
    if not isCounted then u.cnt[t.level], u.queued = u.cnt[t.level] + 1, u.queued + 1 end
    return F.reindex(u)
  end
  local score = t.at
  if t.state == 'deferred' then score = t.stamp end
  if F.isEnd(t.state) then
    redis.call('ZADD', K.kept(t.state), t.endStamp, t.id)
    return F.backAmongEnded(t)
  end
  F.move(t.state, t.state == 'scheduled' and F.member(t) or t.id, score)
  if t.state == 'scheduled' then
    F.zset(K.scheduled(u.lane.p, u.name), F.member(t), score)
    F.dueChanged(u)
  end
end

local function isPlaced(t, u)
  if t.state == 'started' then return redis.call('ZSCORE', K.leases(), t.worker) end
  if F.isEnd(t.state) then
    return F.findEnded(t) or redis.call('ZSCORE', K.kept(t.state), t.id)
  end
  if t.state == 'queued' then
    return Park.isFiled(t, u) or redis.call('LPOS', F.lineKey(u, t.level), t.id)
  end
  if t.state == 'deferred' then return redis.call('ZSCORE', K.index('deferred'), t.id) end
  local member = F.member(t)
  return redis.call('ZSCORE', K.scheduled(u.lane.p, u.name), member)
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
      tell(t.queue)
      tell(t.user)
      tell(t.state)
      tell(t.state == 'queued' and Park.isFiled(t, u) and 0 or t.level)
      tell(problem)
    end
  end
end

-- ARGV[3], [4]: index and rank. Tells the next rank or -1, then problems.
local function index()
  local name, rank = ARGV[3], tonumber(ARGV[4])
  if F.isEnd(name) then
    local ids = redis.call('LRANGE', K.ended(name), rank, rank + PAGE - 1)
    tell(#ids == PAGE and rank + PAGE or -1)
    for _, id in ipairs(ids) do
      local t = not F.isHole(id) and F.taskOf(id)
      if not F.isHole(id) and not (t and t.state == name) then
        tell(id .. ': in ' .. name .. ', but ' .. (t and t.state or 'not stored'))
        if repair then
          redis.call('LREM', K.ended(name), 1, id)
        end
      end
    end
    return
  end
  local ids = redis.call('ZRANGE', K.index(name), rank, rank + PAGE - 1)
  tell(#ids == PAGE and rank + PAGE or -1)
  for _, member in ipairs(ids) do
    local id = (name == 'scheduled' or name == 'deadlines') and F.idOf(member) or member
    local t = F.taskOf(id)
    local right = t and t.state == name
    if name == 'deadlines' then
      right = t and ((t.x and t.x.dl) or (t.state == 'queued' and Park.isFiled(t, F.ownerOf(t))))
    end
    if name == 'cascade' then right = t and t.inCascade end
    if not right then
      tell(id .. ': in ' .. name .. ', but ' .. (t and t.state or 'not stored'))
      if repair then F.move(name, member, false) end
    end
  end
end

-- ARGV[3], [4], [5]: queue, user and rank. Tells the next rank or -1, then problems of its line.
local function line()
  local u, rank = F.userOf(F.laneOf(ARGV[3]), ARGV[4]), tonumber(ARGV[5])
  local more = false
  for level = 6, 1, -1 do
    local key = F.lineKey(u, level)
    local ids = redis.call('LRANGE', key, rank, rank + PAGE - 1)
    more = more or #ids == PAGE
    for _, id in ipairs(ids) do
      local t = F.taskOf(id)
      local isParked = t and t.state == 'queued' and Park.isFiled(t, u)
      if not t or t.state ~= 'queued' or isParked then
        reply[#reply + 1] = id .. ': in line, but ' .. (isParked and 'parked' or t and t.state or 'not stored')
        if repair then redis.call('LREM', key, 1, id) end
      end
    end
  end
  local aside = redis.call('ZRANGEBYLEX', K.parked(u.lane.p), '[' .. K.pair(u.name, ''), '(' .. K.pair(u.name, ':'),
    'LIMIT', rank, PAGE)
  more = more or #aside == PAGE
  for _, member in ipairs(aside) do
    local id = Park.idOf(member, u.name)
    local t = F.taskOf(id)
    if not (t and t.state == 'queued' and Park.isFiled(t, u)) then
      reply[#reply + 1] = id .. ': parked, but ' .. (t and t.state or 'not stored')
      if repair then redis.call('ZREM', K.parked(u.lane.p), member) end
    end
  end
  if repair then F.touch(u) end
  table.insert(reply, 1, more and rank + PAGE or -1)
end

-- A schedule that is listed, or due (`at_`), against its record.
local function checkSchedule(id, at_)
  local s = Schedule.read(id)
  local due = s and redis.call('HGET', K.schedule(id), 'd')
  if s and (due or false) == (at_ or false) then return end
  tell('schedule ' .. id .. ': ' .. (s and 'its due time is not that of its record' or 'not stored'))
  if not repair then return end
  F.move('schedules:due', id, due and tonumber(due) or false)
  if not s then redis.call('ZREM', K.schedules(), id) end
end

-- ARGV[3]: rank. Looks at all that are listed, and all that are due. Tells the next rank or -1, then
-- problems.
local function schedules()
  local rank = tonumber(ARGV[3])
  local names = redis.call('ZRANGE', K.schedules(), rank, rank + PAGE - 1)
  local due = redis.call('ZRANGE', K.index('schedules:due'), rank, rank + PAGE - 1)
  tell((#names == PAGE or #due == PAGE) and rank + PAGE or -1)
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
  for _, waiter in ipairs(redis.call('ZRANGE', key, 0, LET_GO - 1)) do
    local t = F.taskOf(waiter)
    F.zset(key, waiter, false)
    if t and redis.call('SISMEMBER', K.blocked(waiter), id) == 1 then Deps.awaitMissing(t, id) end
  end
end

local function mendDeps(kind, id)
  if kind == 'waiting' then return letGo(id) end
  if kind == 'missing' then return F.put('missing', id, 1) end
  redis.call('DEL', kind == 'blocked' and K.blocked(id) or K.held(id))
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
      tell('dependencies of ' .. id .. ': ' .. kind .. ', but not stored')
      if repair then mendDeps(kind, id) end
    end
  end
end

-- ARGV[3]: queue. Tells how many steps there were, and the counts as JSON.
local function laneOf()
  local lane = F.laneOf(ARGV[3])
  tell(C.steps)
  tell(cjson.encode({ counts = lane.counts, w = lane.w, runnable = lane.runnable,
    ready = lane.ready, parked = lane.parked, classes = lane.classes }))
end

-- ARGV[3], [4]: queue and the last name of the page before. Tells each user as JSON.
local function users()
  local lane = F.laneOf(ARGV[3])
  local names = F.namesAfter(lane, ARGV[4], PAGE)
  for i = 1, math.min(#names, PAGE) do
    local name = names[i]
    local u = F.userOf(lane, name)
    local later = tonumber(redis.call('HGET', K.later(lane.p), name) or 0)
    if not u.isCounted then
      F.lookAt(u)
    elseif later ~= u.live - u.queued - u.parked - u.running then
      u.live = -1
    end
    tell(cjson.encode({ user = name, levels = u.cnt, parked = u.parked, running = u.running, live = u.live,
      ready = u.ready, w = u.w, room = u.room, class = u.class or '' }))
  end
end

-- ARGV[3], [4], [5], [6]: queue, user, steps, counts as JSON. Tells 'ok', or 'moved'.
local function mendUser()
  if C.steps ~= tonumber(ARGV[5]) then return tell('moved') end
  local u, counts = F.userOf(F.laneOf(ARGV[3]), ARGV[4]), cjson.decode(ARGV[6])
  u.cnt, u.queued = counts.levels, 0
  for _, count in ipairs(u.cnt) do u.queued = u.queued + count end
  u.parked, u.running, u.live, u.isCounted = counts.parked, counts.running, counts.live, true
  local key, later = K.later(u.lane.p), u.live - u.queued - u.parked - u.running
  if later > 0 then redis.call('HSET', key, u.name, later) else redis.call('HDEL', key, u.name) end
  u.entered = true
  F.reindex(u)
  tell('ok')
end

-- ARGV[3], [4], [5]: queue, steps, counts as JSON. Tells 'ok', or 'moved'.
local function mendLane()
  if C.steps ~= tonumber(ARGV[4]) then return tell('moved') end
  local lane, counts = F.laneOf(ARGV[3]), cjson.decode(ARGV[5])
  for state in pairs(lane.counts) do lane.counts[state] = counts.counts[state] end
  lane.w, lane.runnable, lane.ready, lane.parked = counts.w, counts.runnable, counts.ready, counts.parked
  lane.classes = {}
  for class, count in pairs(counts.classes) do lane.classes[class] = count end
  for kind in pairs(lane.lasts) do
    if not F.isKindUsed(lane.classes, kind) then lane.lasts[kind] = nil end
  end
  F.touchLane(lane)
  tell('ok')
end

local PARTS = { records = records, index = index, line = line, lane = laneOf, users = users,
  schedules = schedules, deps = deps, ['mend-user'] = mendUser, ['mend-lane'] = mendLane }
PARTS[part]()
if repair and (next(Z) or next(I) or #touched > 0) then
  F.writeStep()
  F.closeStep()
end
return reply
