-- Loads and saves what a queue knows of a user, in a hash of fields of at most 64 bytes mostly:
-- u numbers, packed; v its level shares, packed, once it had a turn: v, critical turns in a row,
-- then level, last and tag of each level that has any; c its own settings and lists, packed; t the
-- mean time that its leases are held, where time is charged.
-- @include lib/tags.lua
-- @include lib/shares.lua

local USER = '<dIBIIIIIIIIIId'
local READY, ASSIGNED, SHARED, THROTTLED, IDLE, UNCOUNTED = 1, 2, 4, 8, 16, 32

-- What holds for a user with these settings of its own.
function F.settingsOf(lane, own)
  local base = lane.perUser
  local set = { weight = own.weight or base.weight or 100,
    maxRunning = own.maxRunning or base.maxRunning or INF,
    maxQueued = own.maxQueued or base.maxQueued, rate = own.rate or base.rate,
    paused = own.paused }
  if set.paused == nil then set.paused = base.paused end
  return set
end

function F.newUser(lane, name, key)
  return { lane = lane, name = name, key = key, s = 0, ep = 0, w = 0, room = 0, cnt = false,
    queued = 0, parked = lane.parked > 0 and Park.countOf(lane, name) or 0,
    live = 0, running = 0, tat = 0, own = NONE, set = false, ready = false,
    class = false, dirty = false, fresh = true }
end

-- Own settings of a user that has no record here yet: for this queue over those for all queues.
-- @rare
function F.ownSettings(lane, name)
  local got = redis.call('HMGET', K.userConfig(name), '*', lane.queue)
  local own = got[1] and cmsgpack.unpack(got[1]) or {}
  if got[2] then
    for field, value in pairs(cmsgpack.unpack(got[2])) do own[field] = value end
  end
  return own, got[2] and true
end

function F.readUser(u, packed)
  local flags, a, b, c, d, e, f
  u.s, u.ep, flags, u.w, u.room, a, b, c, d, e, f, u.live, u.running, u.tat =
    struct.unpack(USER, packed)
  u.cnt, u.queued, u.fresh = { a, b, c, d, e, f }, a + b + c + d + e + f, false
  u.isCounted = flags < UNCOUNTED
  if flags == 0 then return end
  u.ready = flags % 2 == 1
  if flags > 1 then
    u.assigned, u.shared = flags % 4 >= 2, flags % 8 >= 4
    u.throttled, u.idle = flags % 16 >= 8, flags % 32 >= 16
    u.idleEpoch = u.ep
  end
  if u.ready then
    local weight = u.shared and 's' .. F.sharedClass(u.w) or 'w' .. u.w
    u.class = (u.assigned and 'a' or 'o') .. weight
  end
end

-- A user without a record: all that is known of it is its line, and its tag. `plain` until it needs one.
-- `weight`: that it stood in line with, if it does.
function F.readPlain(u, weight)
  local lane, name, class = u.lane, u.name, 'pw' .. weight
  local waiting = redis.call('LLEN', K.line(lane.p, '', name))
  u.plain, u.w, u.cnt, u.queued = true, weight, { 0, 0, waiting, 0, 0, 0 }, waiting
  local tag
  if waiting > 0 then
    tag = redis.call('ZSCORE', K.ready(lane.p, class), name)
    if tag then u.ready, u.class, u.room = true, class, waiting end
  elseif lane.tags > 0 then
    tag = redis.call('ZSCORE', K.keptTags(lane.p), name)
    u.isKept = tag and true
  end
  if tag then u.s, u.ep = tonumber(tag), lane.readEpoch end
end

-- Whether its settings, or those of its queue, give a user a record as soon as it has a task.
function F.isRecorded(u)
  local set, own = u.set, u.own
  local isWeighted = own.weight and next(own, next(own)) == nil
  return not isWeighted and (next(own) ~= nil or u.kept) or u.lane.timed or set.paused or set.rate
    or set.maxQueued or set.maxRunning < INF or (set.weight ~= 100 and not isWeighted)
end

-- Whether there is more to remember of a user than its line and its tag.
function F.needsRecord(u)
  local cnt = u.cnt
  return F.isRecorded(u) or u.lists or u.shared or u.assigned
    or u.queued > cnt[3] or u.throttled or u.tat > now
    -- A kept tag is in turns of the weight that it was given at.
    or (u.queued > 0 and (u.shares or u.raw) and F.hasShares(u))
    or ((u.w ~= 100 or u.set.weight ~= 100) and u.ep == u.lane.epoch and not u.ready
      and F.startOf(u) > u.lane.v)
end

-- Counts the tasks of a user that are running, and those that have not ended, as they are stored. Whoever is
-- given a record by its settings is counted once, and kept count of; of others nothing depends on it.
-- @rare
function F.lookAt(u)
  local lane = u.lane
  lane.runs = lane.runs or F.runningOf(lane)
  u.running = #(lane.runs[u.name] or NONE) / 2
  u.live = u.queued + u.parked + u.running + (redis.call('HGET', K.later(lane.p), u.name) or 0)
end

-- One more or less that is scheduled or deferred.
-- @rare
function F.countLater(u, change_)
  local key = K.later(u.lane.p)
  u.entered = true
  if redis.call('HINCRBY', key, u.name, change_) == 0 then redis.call('HDEL', key, u.name) end
end

-- Of each user of a queue the started tasks: ids and their workers.
-- @rare
function F.runningOf(lane)
  return F.runningAll()[lane.queue] or {}
end

-- The same by queue.
-- @rare
function F.runningAll()
  local found = {}
  for _, worker in ipairs(redis.call('ZRANGE', K.leases(), 0, -1)) do
    local ids = redis.call('HKEYS', K.hot(worker))
    for i = 1, #ids, 200 do
      local got = redis.call('HMGET', K.tasks(), unpack(ids, i, math.min(#ids, i + 199)))
      for j = 1, #got do
        local t = got[j] and { f = got[j] }
        if t then F.owned(t) end
        if t then
          local ofQueue = found[t.queue] or {}
          found[t.queue] = ofQueue
          local own = ofQueue[t.user] or {}
          ofQueue[t.user] = own
          own[#own + 1], own[#own + 2] = ids[i + j - 1], worker
        end
      end
    end
  end
  return found
end

-- Whether anything is known of a user whose tasks have been counted, but for settings for all queues.
-- @rare
function F.isKnown(u)
  return not u.fresh or u.live > 0 or (u.isKept and F.startOf(u) > u.lane.v)
end

-- The first names of a queue after one, in order: of those who have a name, and of those who have nothing but
-- running tasks. `more`: another set of names.
-- @rare
function F.namesAfter(lane, after, limit, more)
  local from, found, names = after == '' and '-' or '(' .. after, {}, {}
  local function add(name)
    if not found[name] then names[#names + 1] = name end
    found[name] = true
  end
  for _, key in ipairs({ K.users(lane.p), more }) do
    for _, name in ipairs(redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit)) do add(name) end
  end
  lane.runs = lane.runs or F.runningOf(lane)
  for name in pairs(lane.runs) do
    if F.before(after, name) then add(name) end
  end
  table.sort(names, F.before)
  return names
end

-- The user is counted from now on: the leases of its tasks say so.
-- @rare
function F.countLeases(u)
  local own = (u.lane.runs or F.runningOf(u.lane))[u.name] or NONE
  for i = 1, #own, 2 do
    local t = F.taskOf(own[i], own[i + 1])
    if t and t.state == 'started' and not t.isCounted then
      t.isCounted = true
      F.change(t)
    end
  end
end

-- Before the step changes anything of a user: later some of its tasks may stand nowhere yet. Who comes without
-- a record after its settings have been told has no tasks.
-- @rare
function F.startCount(u)
  if not u.plain or C.settles or C.refresh > 0 then F.lookAt(u) end
  u.isCounted = true
  if u.running > 0 then F.countLeases(u) end
end

function F.userOf(lane, name)
  local u = lane.users[name]
  if u then return u end
  local key = K.user(lane.p, name)
  u = F.newUser(lane, name, key)
  local got = redis.call('HMGET', key, 'u', 'v', 'c', 't')
  if got[1] then
    F.readUser(u, got[1])
    u.raw = got[2]
    if got[4] then u.mean = struct.unpack('<d', got[4]) end
    if got[3] then
      local c = cmsgpack.unpack(got[3])
      u.own, u.lists, u.kept = c.o or NONE, c.l, c.k
    end
  elseif got[3] then
    -- Nothing but the weight that it stands in line with.
    local c = cmsgpack.unpack(got[3])
    u.own, u.kept, u.fresh = c.o, c.k, false
    F.readPlain(u, c.o.weight)
  else
    if C.configs > 0 then u.own, u.kept = F.ownSettings(lane, name) end
    u.changed = next(u.own) ~= nil
    F.readPlain(u, 100)
  end
  if u.own == NONE then
    lane.defaults = lane.defaults or F.settingsOf(lane, NONE)
    u.set = lane.defaults
  else
    u.set = F.settingsOf(lane, u.own)
  end
  if not u.isCounted and F.isRecorded(u) then F.startCount(u) end
  lane.users[name] = u
  return u
end

-- The user's level shares, to be read or changed.
function F.sharesOf(u)
  local shares = u.shares
  if shares then return shares end
  shares = { v = 0, crit = 0, last = { 0, 0, 0, 0, 0 }, tag = { 0, 0, 0, 0, 0 } }
  u.shares = shares
  local raw = u.raw
  if not raw then return shares end
  local at
  shares.v, shares.crit, at = struct.unpack('<dI', raw)
  while at <= #raw do
    local level, last, tag
    level, last, tag, at = struct.unpack('<Bdd', raw, at)
    shares.last[level], shares.tag[level] = last, tag
  end
  return shares
end

function F.packShares(shares)
  local packed = struct.pack('<dI', shares.v, shares.crit)
  for level = 1, 5 do
    local last, tag = shares.last[level], shares.tag[level]
    if last ~= 0 or tag ~= 0 then packed = packed .. struct.pack('<Bdd', level, last, tag) end
  end
  return packed
end

function F.saveUser(u)
  local c, key = u.cnt, u.key
  local flags = u.ready and READY or 0
  if u.assigned then flags = flags + ASSIGNED end
  if u.shared then flags = flags + SHARED end
  if u.throttled then flags = flags + THROTTLED end
  if u.idle then flags = flags + IDLE end
  if not u.isCounted then flags, u.live, u.running = flags + UNCOUNTED, 0, 0 end
  local packed = struct.pack(USER, u.s, u.ep, flags, u.w, u.room, c[1], c[2], c[3], c[4], c[5],
    c[6], u.live, u.running, u.tat)
  if u.shares then
    redis.call('HSET', key, 'u', packed, 'v', F.packShares(u.shares))
  else
    redis.call('HSET', key, 'u', packed)
  end
  if u.learned then redis.call('HSET', key, 't', struct.pack('<d', u.mean)) end
  if u.changed then
    redis.call('HSET', key, 'c', cmsgpack.pack({ o = u.own, l = u.lists, k = u.kept }))
  end
  if u.fresh then F.zset(K.users(u.lane.p), u.name, 0) end
end

-- Where the user's tag stands in virtual time.
function F.startOf(u) return Tag.start(u.s, u.w) end

function F.touch(u)
  if u.dirty then return end
  u.dirty = true
  local lane = u.lane
  F.touchLane(lane)
  lane.dirty = lane.dirty or {}
  lane.dirty[#lane.dirty + 1] = u
end
