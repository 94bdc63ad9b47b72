-- Loads and saves what a queue knows of a user, in a hash of fields of at most 64 bytes mostly.

-- What holds for a user with these settings of its own.
function F.settingsOf(queue, own)
  local base = queue.perUser
  local set = { weight = own.weight or base.weight or USUAL.weight,
    maxRunning = own.maxRunning or base.maxRunning or INF,
    maxQueued = own.maxQueued or base.maxQueued, rate = own.rate or base.rate,
    paused = own.paused }
  if set.paused == nil then set.paused = base.paused end
  return set
end

function F.newUser(queue, name, key)
  return { queue = queue, name = name, key = key, startTag = 0, tagEpoch = 0, countedWeight = 0, headroom = 0, cnt = false,
    queued = 0, parked = queue.parked > 0 and Park.countOf(queue, name) or 0,
    live = 0, running = 0, tat = 0, own = NONE, set = false, ready = false,
    class = false, dirty = false, fresh = true }
end

-- Own settings of a user that has no record here yet: for this queue over those for all queues.
function F.ownSettings(queue, name)
  local got = redis.call('HMGET', K.userConfig(name), '*', queue.name)
  local own = got[1] and cmsgpack.unpack(got[1]) or {}
  if got[2] then
    for field, value in pairs(cmsgpack.unpack(got[2])) do own[field] = value end
  end
  return own, got[2] and true
end

function F.readUser(u, packed)
  local flags, a, b, c, d, e, f
  u.startTag, u.tagEpoch, flags, u.countedWeight, u.headroom, a, b, c, d, e, f, u.live, u.running, u.tat =
    struct.unpack(FORMAT.user, packed)
  u.cnt, u.queued, u.fresh = { a, b, c, d, e, f }, a + b + c + d + e + f, false
  u.isCounted = flags < FLAG.user.uncounted
  if flags == 0 then return end
  u.ready = flags % (2 * FLAG.user.ready) >= FLAG.user.ready
  if flags > FLAG.user.ready then
    u.assigned, u.shared = flags % (2 * FLAG.user.assigned) >= FLAG.user.assigned,
      flags % (2 * FLAG.user.shared) >= FLAG.user.shared
    u.throttled, u.idle = flags % (2 * FLAG.user.throttled) >= FLAG.user.throttled,
      flags % (2 * FLAG.user.idle) >= FLAG.user.idle
    u.idleEpoch = u.tagEpoch
  end
  if u.ready then
    local weight = u.shared and 's' .. Tag.sharedClass(u.countedWeight) or 'w' .. u.countedWeight
    u.class = (u.assigned and 'a' or 'o') .. weight
  end
end

-- A user without a record: all that is known of it is its line, and its tag. `isRecordless` until it needs one.
-- `weight`: that it stood in line with, if it does.
function F.readRecordless(u, weight)
  local queue, name, class = u.queue, u.name, 'pw' .. weight
  local waiting = redis.call('LLEN', K.line(queue.prefix, '', name))
  u.isRecordless, u.countedWeight, u.cnt, u.queued = true, weight, { 0, 0, waiting, 0, 0, 0 }, waiting
  local tag
  if waiting > 0 then
    tag = redis.call('ZSCORE', K.ready(queue.prefix, class), name)
    if tag then u.ready, u.class, u.headroom = true, class, waiting end
  elseif queue.tags > 0 then
    tag = redis.call('ZSCORE', K.keptTags(queue.prefix), name)
    u.isKept = tag and true
  end
  if tag then u.startTag, u.tagEpoch = tonumber(tag), queue.readEpoch end
end

-- Whether its settings, or those of its queue, give a user a record as soon as it has a task.
function F.isRecorded(u)
  local set, own = u.set, u.own
  local isWeighted = own.weight and next(own, next(own)) == nil
  return not isWeighted and (next(own) ~= nil or u.kept) or u.queue.timed or set.paused or set.rate
    or set.maxQueued or set.maxRunning < INF or (set.weight ~= USUAL.weight and not isWeighted)
end

-- Whether there is more to remember of a user than its line and its tag.
function F.needsRecord(u)
  local cnt = u.cnt
  return F.isRecorded(u) or u.lists or u.shared or u.assigned
    or u.queued > cnt[3] or u.throttled or u.tat > now
    -- A kept tag is in turns of the weight that it was given at.
    or (u.queued > 0 and (u.shares or u.raw) and F.hasShares(u))
    or ((u.countedWeight ~= USUAL.weight or u.set.weight ~= USUAL.weight) and u.tagEpoch == u.queue.epoch and not u.ready
      and F.startOf(u) > u.queue.virtual)
end

-- Counts the tasks of a user that are running, and those that have not ended, as they are stored. A user that is
-- given a record by its settings is counted once, and kept count of; of others nothing depends on it.
function F.lookAt(u)
  local queue = u.queue
  queue.runs = queue.runs or F.runningOf(queue)
  u.running = #(queue.runs[u.name] or NONE) / 2
  u.live = u.queued + u.parked + u.running + (redis.call('HGET', K.later(queue.prefix), u.name) or 0)
end

-- So many more or less of a user are scheduled or deferred; says how many there are.
function F.changeLater(queue, name, n)
  local key = K.later(queue.prefix)
  local count = redis.call('HINCRBY', key, name, string.format('%d', n))
  if count == 0 then redis.call('HDEL', key, name) end
  return count
end

-- The same for some users at once, each with its tasks: `sign` 1 or -1. A user that had none has its name among the users.
function F.changeLaterOf(queue, users, sign)
  local names, counts, gone, key = {}, {}, {}, K.later(queue.prefix)
  for i = 1, #users do names[i] = users[i].name end
  local before = redis.call('HMGET', key, unpack(names))
  for i, of in ipairs(users) do
    local had, k = before[i] or 0, #counts
    local n = had + sign * #of
    if n == 0 then
      gone[#gone + 1] = of.name
    else
      counts[k + 1], counts[k + 2] = of.name, string.format('%d', n)
    end
    if sign > 0 and had == 0 and not of.owner then F.zset(K.users(queue.prefix), of.name, '0') end
  end
  if #counts >= 2 * LIMIT.spreadFrom then
    counts[#counts + 1], counts[#counts + 2], gone[#gone + 1] = SPREAD, '0', SPREAD
  end
  if counts[1] then redis.call('HSET', key, unpack(counts)) end
  if gone[1] then redis.call('HDEL', key, unpack(gone)) end
end

function F.countLater(u, n)
  u.entered = true
  F.changeLater(u.queue, u.name, n)
end

-- Of each user of a queue the started tasks: ids and their workers.
function F.runningOf(queue)
  return F.runningAll()[queue.name] or {}
end

-- The same by queue.
function F.runningAll()
  local found = {}
  for _, worker in ipairs(redis.call('ZRANGE', K.leases(), 0, -1)) do
    local ids = redis.call('HKEYS', K.hot(worker))
    for i = 1, #ids, 200 do
      local got = redis.call('HMGET', K.tasks(), unpack(ids, i, math.min(#ids, i + 199)))
      for j = 1, #got do
        local t = got[j] and { recordText = got[j] }
        if t then F.owned(t) end
        if t then
          local ofQueue = found[t.queueName] or {}
          found[t.queueName] = ofQueue
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
function F.isKnown(u)
  return not u.fresh or u.live > 0 or (u.isKept and F.startOf(u) > u.queue.virtual)
end

-- The first names of a queue after one, in order: of those who have a name, and of those who have nothing but
-- running tasks. `more`: another set of names.
function F.namesAfter(queue, after, limit, more)
  local from, found, names = after == '' and '-' or '(' .. after, {}, {}
  local function add(name)
    if not found[name] then names[#names + 1] = name end
    found[name] = true
  end
  for _, key in ipairs({ K.users(queue.prefix), more }) do
    for _, name in ipairs(redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit)) do add(name) end
  end
  queue.runs = queue.runs or F.runningOf(queue)
  for name in pairs(queue.runs) do
    if F.before(after, name) then add(name) end
  end
  table.sort(names, F.before)
  return names
end

-- The user is counted from now on: the leases of its tasks say so.
function F.countLeases(u)
  local own = (u.queue.runs or F.runningOf(u.queue))[u.name] or NONE
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
function F.startCount(u)
  if not u.isRecordless or C.settles or C.refresh > 0 then F.lookAt(u) end
  u.isCounted = true
  if u.running > 0 then F.countLeases(u) end
end

function F.userOf(queue, name)
  local u = queue.users[name]
  if u then return u end
  local key = K.user(queue.prefix, name)
  u = F.newUser(queue, name, key)
  local got = redis.call('HMGET', key, FIELD.user.numbers, FIELD.user.shares, FIELD.user.settings, FIELD.user.mean)
  if got[1] then
    F.readUser(u, got[1])
    u.raw = got[2]
    if got[4] then u.mean = struct.unpack('<d', got[4]) end
    if got[3] then
      local c = cmsgpack.unpack(got[3])
      u.own, u.lists, u.kept = c.userPart or NONE, c.onLists, c.keepsRecord
    end
  elseif got[3] then
    -- Nothing but the weight that it stands in line with.
    local c = cmsgpack.unpack(got[3])
    u.own, u.kept, u.fresh = c.userPart, c.keepsRecord, false
    F.readRecordless(u, c.userPart.weight)
  else
    if C.configs > 0 then u.own, u.kept = F.ownSettings(queue, name) end
    u.changed = next(u.own) ~= nil
    F.readRecordless(u, USUAL.weight)
  end
  if u.own == NONE then
    queue.defaults = queue.defaults or F.settingsOf(queue, NONE)
    u.set = queue.defaults
  else
    u.set = F.settingsOf(queue, u.own)
  end
  if not u.isCounted and F.isRecorded(u) then F.startCount(u) end
  queue.users[name] = u
  return u
end

function F.newShares() return { crit = 0, waited = { 0, 0, 0, 0, 0 } } end

-- Fills in level shares as they are stored; nil: the user has none yet.
function F.readShares(raw, shares)
  local waited = shares.waited
  shares.crit = raw and struct.unpack(FORMAT.shares, raw) or 0
  for level = 1, 5 do waited[level] = 0 end
  for at_ = AT.shares.rest, raw and #raw or 0, SIZE.levelShare do
    local level, turns = struct.unpack(FORMAT.levelShare, raw, at_)
    waited[level] = turns
  end
  return shares
end

-- The user's level shares, to be read or changed.
function F.sharesOf(u)
  if not u.shares then u.shares = F.readShares(u.raw, F.newShares()) end
  return u.shares
end

function F.packShares(shares)
  local packed = struct.pack(FORMAT.shares, shares.crit)
  for level, turns in ipairs(shares.waited) do
    if turns > 0 then packed = packed .. struct.pack(FORMAT.levelShare, level, turns) end
  end
  return packed
end

function F.saveUser(u)
  local c, key = u.cnt, u.key
  local flags = u.ready and FLAG.user.ready or 0
  if u.assigned then flags = flags + FLAG.user.assigned end
  if u.shared then flags = flags + FLAG.user.shared end
  if u.throttled then flags = flags + FLAG.user.throttled end
  if u.idle then flags = flags + FLAG.user.idle end
  if not u.isCounted then flags, u.live, u.running = flags + FLAG.user.uncounted, 0, 0 end
  local packed = struct.pack(FORMAT.user, u.startTag, u.tagEpoch, flags, u.countedWeight, u.headroom, c[1], c[2], c[3], c[4], c[5],
    c[6], u.live, u.running, u.tat)
  if u.shares then
    redis.call('HSET', key, FIELD.user.numbers, packed, FIELD.user.shares, F.packShares(u.shares))
  else
    redis.call('HSET', key, FIELD.user.numbers, packed)
  end
  if u.learned then redis.call('HSET', key, FIELD.user.mean, struct.pack('<d', u.mean)) end
  if u.changed then
    redis.call('HSET', key, FIELD.user.settings, cmsgpack.pack({ userPart = u.own, onLists = u.lists, keepsRecord = u.kept }))
  end
  if u.fresh then F.zset(K.users(u.queue.prefix), u.name, 0) end
end

-- Where the user's tag stands in virtual time.
function F.startOf(u) return Tag.startOf(u.startTag, u.countedWeight) end

function F.touch(u)
  if u.dirty then return end
  u.dirty = true
  local queue = u.queue
  F.touchQueue(queue)
  queue.dirty = queue.dirty or {}
  queue.dirty[#queue.dirty + 1] = u
end
