-- Gathers what explains a task's place, in one step.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- ARGV[2]  named   most dependents to tell
-- Returns  {} when it is unknown, else the facts as JSON, five texts as in lib/record.lua, then
--          four texts for each live worker
-- Cost     O(classes × log users + workers)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { before = 0, newLane = 0, readLane = 0, laneOf = 0, Tag_scale = 0, Tag_start = 0, settingsOf = 0, newUser = 0, readUser = 0, readPlain = 0, userOf = 0, sharesOf = 0, startOf = 0, isEnd = 0, newTask = 0, readFacts = 0, readEnd = 0, readLease = 0, leasing = 0, findLease = 0, taskOf = 0, owned = 0, fixed = 0, isLong = 0, dropLeases = 0, bytesLess = 0, blockedBy = 0, expiresAt = 0, addRecord = 0, lineKey = 0, exact = 0, settingsInForce = 0, originsOf = 0, userInfo = 0, runnableNow = 0, queueInfo = 0, addWorkers = 0, rankBehind = 0, dependents = 0 }

-- Functions of one subject each; the bundler makes one table of all of them.

-- Queues that this step has loaded, and changed.
local lanes, touched = {}, {}

-- Settles what the time is, and unpacks what the namespace remembers from step to step.
-- `now` never runs back by less than 5 s. H holds the least score of each index that falls due, so
-- that a step knows without asking whether maintenance has anything to do.

-- Reads the server's clock once per step, and what the namespace remembers, still packed.

local prefix = string.sub(KEYS[1], 1, -6)
local at = redis.call('TIME')
local micros = at[1] * 1000000 + at[2]
local now = math.floor(micros / 1000)
local saved = redis.call('HMGET', KEYS[1], 's', 'a')
local INF = math.huge

-- Settings of who has none; never written to.
local NONE = {}

local H = { started = INF, ['scheduled-users'] = INF, throttled = INF, deadlines = INF,
  cascade = INF, finished = INF, failed = INF, canceled = INF, ['listed-workers'] = INF,
  submissions = INF, missing = INF, ['schedules:due'] = INF, ['xcom-ends'] = INF }
local C = { seen = 0, pause = 0, waiting = 0, alarm = INF, configs = 0, idle = 0, dropping = 0,
  refresh = 0, steps = 0, stamp = 0, ears = 0,
  alarms = saved[2] or ',' }
if saved[1] then
  C.seen, C.pause, H.started, H['scheduled-users'], H.throttled, H.deadlines, H.cascade,
    H.finished, H.failed, H.canceled, H['listed-workers'], H.submissions, H.missing,
    C.waiting, C.alarm, C.configs, C.idle, C.dropping, C.refresh,
    C.steps, H['schedules:due'], H['xcom-ends'], C.stamp, C.ears = struct.unpack('<dddddddddddddddddddddddd', saved[1])
end
-- Whether earlier steps have left dependents to be told.
C.isOlder = H.cascade < INF
if C.seen - now > 5000 then
  C.pause = math.min(C.pause, now + 5000)
  C.dropping = 1
elseif C.seen > now then
  now = C.seen
end
if C.seen > 0 and now - C.seen > 8000 then C.pause = now + 5000 end
if micros < now * 1000 then micros = now * 1000 end

-- What a step works on, unless all that it does is done many at once.

local STATES = { 'scheduled', 'deferred', 'queued', 'started', 'finished', 'failed', 'canceled' }
local CODES = { scheduled = 1, deferred = 2, queued = 3, started = 4, finished = 5, failed = 6,
  canceled = 7 }

-- Sorted sets to be written: key -> member -> score, false to take it out; the same by name for
-- the indexes of the whole namespace; those of them that may have lost their head.
local Z, I, moved = {}, {}, {}
-- What this step has loaded and changed.
local tasks, changed, keyring = {}, {}, {}
-- Channels to be told, what came of attempts of workers, and whose dependents are to be told.
local published, outcomes, standing, leasedUntil = {}, {}, {}, {}
local leasesOver, endings = {}, {}
-- Everything that a step which only looks is made of.
-- Builds the name of every key; nothing else does. `keys.ts` is its twin. Each is one expression,
-- which the bundler puts where it is called.
-- Fixed parts first, at most one free string, and that last (or before a fixed suffix); two free
-- strings are joined as <length>:<first><second>. `lane` is the prefix of a queue's own keys.

-- The pair of an id that is not stored and of who would have to store it.

-- An index of the whole namespace: by state, or by its own name.

-- A place of a value: the pair of its user and of the pair of namespace and key.

-- Gathers the writes to sorted sets, so that each key gets one ZADD and one ZREM per step.
-- Z: key -> member -> score, or false to take the member out. I: the same for the indexes of the
-- whole namespace, by name; their least scores are kept in H.

-- Orders texts by their bytes, as Redis does.

-- Whether Lua orders strings so: it compares them by the server's locale.
local byBytes = 'B' < 'a' and 'Z' < '_' and '_' < 'a' and '-' < '0' and 'a-z' < 'ab'
  and 'z' < '~' and 'z' < '\195\169' and '.' < 'A' and 'a b' < 'aa' and 'A' < '_'

-- Names the shared class of a weight: floor(log2(100 / weight)), without rounding.
-- @rare

-- Loads and saves the state of queues: virtual clock, counts, and who is ready in which class; by kind
-- of class in use, what it remembers of the user that entered last (lib/tags.lua).

-- Loads and saves what a queue knows of a user, in a hash of fields of at most 64 bytes mostly:
-- u numbers, packed; v its level shares, packed, once it had a turn: v, critical turns in a row,
-- then level, last and tag of each level that has any; c its own settings and lists, packed; t the
-- mean time that its leases are held, where time is charged.
-- Counts tags in grains of their users' own turns; restates the first half of domain/fair-share.ts.

-- Loads and saves records. A task is one text that never changes; what else is known of it stands where
-- it is for, and nowhere while it is not:
--
-- tasks     creation (13 digits), stamp of its arrival (12 hex digits), level, kind, bytes of the user (3
--           digits), user, queue, then parted by NUL name, cost, options, payload. Kind is a sum: 1 the
--           payload stands in `payloads`, 2 it came with other facts, 4 it has facts now
-- hot       of its worker, while it is started: when it was leased, until when, in which epoch of its queue,
--           a sum (1 it has facts, 2 its user has a record, which counts it); queue NUL token
-- ends      how it ended (16 more: a worker said so), when, when it was leased, the stamp of its end; token, worker, result, parted by NUL
-- facts     packed: its place (1 scheduled, 2 deferred), flags, seq, failures, losses, releases, moment
--           (due; since when it is free), readers; then x, y and o as one value
--   x       rare facts: dependencies, deadlines, idempotency key
--   y       rare facts that change: st older token that settled it, sn and ss how often and since when it
--           was strange, ca why it ended, cn why it is to be canceled, cw token and name of the newest
--           checkpoint that wrote to channels, ch what was charged by expectation
--   o       token and worker of its latest lease, parted by NUL, while it is neither started nor ended
-- errors    the newest error;  ears: 'd' when somebody depends on it, then channels to tell of its end

-- A lease is so long that Redis keeps no listpack of them, which it would look through for each.
local PLACES = { scheduled = 1, deferred = 2 }

-- Whose tasks a task may depend on: the twin of domain/dependency-edge.ts.
-- @rare

-- Leases by worker: `leases` says of each worker that has any the moment before which none of them ends.

-- Tells everything that is stored about a task: five texts for each, which `decodeRecord` reads:
-- f, the long payload, result, error, and what changes as JSON.

-- The lines of a user, one for each level that has work: ids in the order of their places. A task's place
-- is the stamp of the moment that it was first put in line, which it keeps until it is put back anew.

-- Tells users and queues as JSON. Numbers that are not whole travel as text, since cjson keeps 14
-- digits.

-- Tells who waits for a task, or for an id that nobody has stored.
-- Finds places in sorted sets, so that a listing goes on where its last page ended.

local function dependentOf(t, id, part)
  F.fixed(t)
  local told = { id = t.id, name = t.name, user = t.user, state = t.state }
  if F.Suspend_waitsFor(t, id) then
    told.waits = 'suspended'
  else
    told.waits = part == 'held' and 'redrive' or 'end'
    told.onFailure, told.onCancel = t.x.g[1], t.x.g[2]
  end
  return told
end

-- The parts of the listing: those that wait for the end of a task and for its redrive; of an id that is
-- not stored, '@' and by whose task of that id they would wait.
local function partsOf(id)
  if F.taskOf(id) then return { { 'waiting', (prefix .. 'deps:waiting:' .. id) }, { 'held', (prefix .. 'deps:held:' .. id) } } end
  local start, parts = (#id .. ':' .. id .. ''), {}
  local pairs_ = redis.call('ZRANGEBYLEX', (CODES['missing'] and prefix .. 'state:' .. 'missing' or prefix .. 'missing'), '[' .. start, '(' .. start .. '\255')
  for i, pair in ipairs(pairs_) do
    parts[i] = { '@' .. string.sub(pair, #start + 1), (prefix .. 'deps:missing:' .. pair) }
  end
  return parts
end

-- Whether a part comes before another: the id may have been stored, or removed, since the last page.
local function isPassed(part, place)
  if not place or part == place[1] or part == 'held' then return false end
  return place[1] == 'held' or F.before(part, place[1])
end

local rich = true

local library = function()

function F.before(a, b)
  if byBytes then return a < b end
  local n = math.min(#a, #b)
  for i = 1, n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

function F.newLane(queue, p)
  return { queue = queue, p = p, v = 0, w = 0, epoch = 0, tat = 0, runnable = 0, ready = 0,
    idleLeast = INF, fresh = true, classes = {}, lasts = {}, counts = { scheduled = 0, deferred = 0,
      queued = 0, started = 0, finished = 0, failed = 0, canceled = 0 },
    tags = 0, enqueued = 0, finished = 0, failed = 0, canceled = 0, retried = 0, lost = 0, stolen = 0 }
end

function F.readLane(lane, packed)
  local c = lane.counts
  local rest
  lane.v, lane.w, lane.epoch, lane.tat, lane.runnable, lane.ready, lane.idleLeast,
    c.scheduled, c.deferred, c.queued, c.started, c.finished, c.failed, c.canceled,
    lane.enqueued, lane.finished, lane.failed, lane.canceled, lane.retried, lane.lost,
    lane.stolen, lane.old, lane.tags, rest = struct.unpack('<ddIdddddddddddddddddddd', packed)
  lane.classes, lane.lasts = cmsgpack.unpack(string.sub(packed, rest))
  lane.fresh = false
end

function F.laneOf(queue)
  local lane = lanes[queue]
  if lane then return lane end
  local p = (queue == 'default' and prefix or prefix .. 'lane:' .. queue .. ':')
  lane = F.newLane(queue, p)
  local got = redis.call('HMGET', (p .. 'fair'), 's', 'c', 't')
  if got[1] then F.readLane(lane, got[1]) end
  lane.old, lane.readEpoch = lane.old or 0, lane.epoch
  lane.config = got[2] and cmsgpack.unpack(got[2]) or {}
  lane.perUser = lane.config.perUser or {}
  lane.timed = lane.config.charge == 'time'
  if got[3] then lane.mean = struct.unpack('<d', got[3]) end
  lane.users, lane.gain = {}, 0
  lanes[queue] = lane
  return lane
end

-- Grains of a user of this weight in one unit of virtual time.
function F.Tag_scale(w) return w * 67108864 / 100 end

-- Where a tag stands in virtual time.
function F.Tag_start(tag, w) return tag == 0 and 0 or tag / F.Tag_scale(w) end

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
    queued = 0, live = 0, running = 0, tat = 0, own = NONE, set = false, ready = false,
    class = false, dirty = false, fresh = true }
end

function F.readUser(u, packed)
  local flags, a, b, c, d, e, f
  u.s, u.ep, flags, u.w, u.room, a, b, c, d, e, f, u.live, u.running, u.tat =
    struct.unpack('<dIBIIIIIIIIIId', packed)
  u.cnt, u.queued, u.fresh = { a, b, c, d, e, f }, a + b + c + d + e + f, false
  if flags == 0 then return end
  u.ready = flags % 2 == 1
  if flags > 1 then
    u.assigned, u.shared = flags % 4 >= 2, flags % 8 >= 4
    u.throttled, u.idle = flags % 16 >= 8, flags >= 16
    u.idleEpoch = u.ep
  end
  if u.ready then
    local weight = u.shared and 's' .. F.sharedClass(u.w) or 'w' .. u.w
    u.class = (u.assigned and 'a' or 'o') .. weight
  end
end

-- A user without a record: all that is known of it is its line, and its tag. `plain` until it needs one.
function F.readPlain(u)
  local lane, name = u.lane, u.name
  local waiting = redis.call('LLEN', (lane.p .. 'line' .. '' .. ':' .. name))
  u.plain, u.cnt, u.queued = true, { 0, 0, waiting, 0, 0, 0 }, waiting
  local tag
  if waiting > 0 then
    tag = redis.call('ZSCORE', (lane.p .. 'ready:' .. 'pw100'), name)
    if tag then u.ready, u.class, u.room = true, 'pw100', waiting end
  elseif lane.tags > 0 then
    tag = redis.call('ZSCORE', (lane.p .. 'kept-tags'), name)
    u.isKept = tag and true
  end
  if tag then u.s, u.w, u.ep = tonumber(tag), 100, lane.readEpoch end
end

function F.userOf(lane, name)
  local u = lane.users[name]
  if u then return u end
  local key = (lane.p .. 'user:' .. name)
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
  else
    if C.configs > 0 then u.own, u.kept = F.ownSettings(lane, name) end
    u.changed = next(u.own) ~= nil
    F.readPlain(u)
  end
  if u.own == NONE then
    lane.defaults = lane.defaults or F.settingsOf(lane, NONE)
    u.set = lane.defaults
  else
    u.set = F.settingsOf(lane, u.own)
  end
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

-- Where the user's tag stands in virtual time.
function F.startOf(u) return F.Tag_start(u.s, u.w) end

function F.isEnd(state)
  return state == 'finished' or state == 'failed' or state == 'canceled'
end

-- A task that is queued and never was anything else.
function F.newTask(id, f)
  return { id = id, f = f, state = 'queued', seq = 0, failures = 0, losses = 0, releases = 0, at = 0,
    leasedAt = 0, readers = 0, chargedEpoch = 0, token = '', worker = '', user = false, queue = false, dirty = false,
    extra = false, kind = f and string.byte(f, 27) - 48 or 0 }
end

function F.readFacts(t, packed)
  local place, flags, from
  place, flags, t.seq, t.failures, t.losses, t.releases, t.at, t.readers, from =
    struct.unpack('<BBdIIIdI', packed)
  if place > 0 then t.state = place == 1 and 'scheduled' or 'deferred' end
  if flags > 0 then
    t.left, t.hasAttempts = flags % 2 == 1, flags % 4 >= 2
    t.canceling, t.isSettled, t.inCascade = flags % 8 >= 4, flags % 16 >= 8, flags % 32 >= 16
  end
  if #packed >= from then
    local more = cmsgpack.unpack(string.sub(packed, from))
    t.x, t.y = more.x, more.y
    if more.o then
      local stop = string.find(more.o, '\0', 1, true)
      t.token, t.worker = string.sub(more.o, 1, stop - 1), string.sub(more.o, stop + 1)
    end
  end
  t.hasFacts = true
end

function F.readEnd(t, packed)
  local code, at_, leasedAt, from
  code, at_, leasedAt, t.endStamp, from = struct.unpack('<Bddd', packed)
  local a = string.find(packed, '\0', from, true)
  local b = string.find(packed, '\0', a + 1, true)
  t.state, t.at, t.leasedAt = STATES[code % 16], at_, leasedAt
  t.token, t.worker = string.sub(packed, from, a - 1), string.sub(packed, a + 1, b - 1)
  t.result = b < #packed and string.sub(packed, b + 1) or nil
  t.isSettled = code >= 16
end

function F.readLease(t, worker, packed)
  local flags, from
  t.leasedAt, t.leaseUntil, t.chargedEpoch, flags, from = struct.unpack('<ddIBxxxxxxxxxxxx', packed)
  local stop = string.find(packed, '\0', from, true)
  t.token, t.worker, t.state = string.sub(packed, stop + 1), worker, 'started'
  t.isCounted, t.isSettled = flags >= 2, false
end

-- Workers that have leases, or had some lately.
function F.leasing()
  if not C.leasing then C.leasing = redis.call('ZRANGE', (prefix .. 'leases'), 0, -1) end
  return C.leasing
end

-- Looks whether some worker has it; `likely` is asked first.
function F.findLease(t, likely)
  F.dropLeases()
  local packed = likely and redis.call('HGET', (prefix .. 'hot:' .. likely), t.id)
  if packed then return F.readLease(t, likely, packed) end
  for _, worker in ipairs(F.leasing()) do
    packed = redis.call('HGET', (prefix .. 'hot:' .. worker), t.id)
    if packed then return F.readLease(t, worker, packed) end
  end
end

-- The record of an id, or false. `lease`: as its worker holds it, if that is known; 'none' for one that
-- stands in line.
function F.taskOf(id, worker, lease)
  local t = tasks[id]
  if t ~= nil then return t end
  local f = redis.call('HGET', (prefix .. 'tasks'), id)
  t = false
  if f then
    t = F.newTask(id, f)
    if t.kind >= 4 then F.readFacts(t, redis.call('HGET', (prefix .. 'facts'), id)) end
    if lease then
      if lease ~= 'none' then F.readLease(t, worker, lease) end
    else
      local ended = redis.call('HGET', (prefix .. 'ends'), id)
      if ended then
        F.readEnd(t, ended)
      elseif t.state == 'queued' then
        F.findLease(t, worker)
      end
    end
    if C.ears > 0 then F.readEar(t) end
  end
  tasks[id] = t
  return t
end

-- Fills in whose task it is.
function F.owned(t)
  local f = t.f
  local last = 30 + string.sub(f, 28, 30)
  local stop = string.find(f, '\0', last + 1, true)
  t.user, t.queue = string.sub(f, 31, last), string.sub(f, last + 1, stop - 1)
  t.level, t.rest = string.byte(f, 26) - 48, stop + 1
end

-- Fills in all facts that never change.
function F.fixed(t)
  if t.created then return t end
  F.owned(t)
  local f, a = t.f, t.rest
  local b = string.find(f, '\0', a, true)
  local c = string.find(f, '\0', b + 1, true)
  local d = string.find(f, '\0', c + 1, true)
  t.created, t.stamp = tonumber(string.sub(f, 1, 13)), tonumber(string.sub(f, 14, 25), 16)
  t.name, t.cost = string.sub(f, a, b - 1), tonumber(string.sub(f, b + 1, c - 1))
  t.optionsAt, t.body = c + 1, d + 1
  return t
end

function F.isLong(t)
  return t.kind % 2 == 1
end

-- Takes leases out that are over; whoever reads those of workers, or writes new ones, calls it before.
function F.dropLeases()
  for worker, ids in pairs(leasesOver) do
    for i = 1, #ids, 500 do redis.call('HDEL', (prefix .. 'hot:' .. worker), unpack(ids, i, math.min(#ids, i + 499))) end
  end
  leasesOver = {}
end

function F.bytesLess(a, b)
  return F.before(a, b)
end

function F.blockedBy(t)
  if not (t.x and (t.x.d or t.x.s)) then return nil end
  local ids = redis.call('SMEMBERS', (prefix .. 'deps:blocked:' .. t.id))
  table.sort(ids, F.bytesLess)
  return #ids > 0 and ids or nil
end

function F.expiresAt(t)
  if not t.x or F.isEnd(t.state) then return nil end
  return t.x.ex
end

function F.addRecord(reply, t)
  F.fixed(t)
  local ended, started = F.isEnd(t.state), t.state == 'started'
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = t.f,
    F.isLong(t) and F.payloadOf(t) or '', t.result or false, redis.call('HGET', (prefix .. 'errors'), t.id)
  reply[n + 5] = cjson.encode({
    id = t.id, state = t.state, failures = t.failures, losses = t.losses, releases = t.releases,
    dependsOn = t.x and t.x.d, blockedBy = F.blockedBy(t),
    cancelRequested = started and t.canceling or false,
    dueAt = t.state == 'scheduled' and t.at or nil, expiresAt = F.expiresAt(t),
    token = started and t.token or nil, worker = started and t.worker or nil,
    leasedAt = started and t.leasedAt or nil,
    leaseUntil = started and t.leaseUntil or nil,
    endedAt = ended and t.at or nil,
    cause = t.y and t.y.ca or nil,
    idempotencyKey = t.x and t.x.k or nil,
  })
end

function F.lineKey(u, level)
  return (u.lane.p .. 'line' .. (level == 3 and '' or level) .. ':' .. u.name)
end

function F.exact(value)
  if type(value) == 'table' then
    local copy = {}
    for key, inner in pairs(value) do copy[key] = F.exact(inner) end
    return copy
  end
  if type(value) == 'number' and value % 1 ~= 0 then return string.format('%.17g', value) end
  return value
end

function F.settingsInForce(lane, own)
  local settings = {}
  for field, value in pairs(lane.perUser) do settings[field] = F.exact(value) end
  for field, value in pairs(own) do settings[field] = F.exact(value) end
  return settings
end

-- Where settings come from: said of the user in the queue, of the user, or by the queue.
function F.originsOf(u)
  local origins = {}
  for field in pairs(u.lane.perUser) do origins[field] = 'queue' end
  if next(u.own) == nil then return origins end
  local got = redis.call('HMGET', (prefix .. 'user-config:' .. u.name), '*', u.lane.queue)
  for field in pairs(got[1] and cmsgpack.unpack(got[1]) or NONE) do origins[field] = 'user' end
  for field in pairs(got[2] and cmsgpack.unpack(got[2]) or NONE) do
    origins[field] = 'user-in-queue'
  end
  return origins
end

function F.userInfo(u)
  local lane = u.lane
  if u.plain then F.lookAt(u) end
  return { user = u.name, queue = lane.queue, settings = F.settingsInForce(lane, u.own),
    origins = F.originsOf(u), queued = u.queued, levels = u.cnt, running = u.running,
    later = u.live - u.queued - u.running, ready = u.ready,
    ahead = string.format('%.17g', u.ep == lane.epoch and F.startOf(u) - lane.v or 0) }
end

-- How many more slots would start a task at once, the queue's own pause, cap and rate included.
function F.runnableNow(lane)
  local config = lane.config
  if config.paused then return 0 end
  local rate, runnable = config.rate, lane.runnable
  if rate and math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit)) > now then return 0 end
  if not config.maxRunning then return runnable end
  return math.max(0, math.min(runnable, config.maxRunning - lane.counts.started))
end

function F.queueInfo(lane)
  local followers = redis.call('HMGET', (lane.p .. 'fair'), 'fo', 'fe')
  return { queue = lane.queue, settings = F.exact(lane.config), counts = lane.counts,
    followers = tonumber(followers[1] or 0), followed = tonumber(followers[2] or 0),
    readyUsers = lane.ready, runnable = F.runnableNow(lane),
    totals = { enqueued = lane.enqueued, finished = lane.finished, failed = lane.failed,
      canceled = lane.canceled, retried = lane.retried, lost = lane.lost, stolen = lane.stolen } }
end

function F.addWorkers(reply)
  for _, id in ipairs(redis.call('ZRANGE', (prefix .. 'workers'), 0, -1)) do
    local got = redis.call('HMGET', (prefix .. 'worker:' .. id), 'j', 'b', 't', 's', 'f', 'g')
    if got[1] and math.abs(now - got[3]) <= 15000 then
      local n = #reply
      reply[n + 1], reply[n + 2], reply[n + 3] = got[1], got[2], got[3]
      reply[n + 4] = redis.call('HLEN', (prefix .. 'hot:' .. id))
      for i = 4, 6 do reply[n + 1 + i] = got[i] or '0' end
    end
  end
end

-- Rank of the first member behind (score, id), which need not be inside any more.
function F.rankBehind(key, score, id)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = redis.call('ZRANGE', key, middle, middle)[1]
    if other == id or F.before(other, id) then low = middle + 1 else high = middle end
  end
  return low
end

-- One page of them behind `place` = { part, created, id } or nil, with how many there are in all.
function F.dependents(id, place, limit)
  local parts, page, last = partsOf(id), { items = {}, count = 0, held = 0 }, nil
  for _, part in ipairs(parts) do
    local size = redis.call('ZCARD', part[2])
    page.count = page.count + size
    if part[1] == 'held' then page.held = size end
  end
  for _, part in ipairs(parts) do
    local name, key, rows = part[1], part[2], NONE
    if not isPassed(name, place) then
      local rank = 0
      if place and place[1] == name then rank = F.rankBehind(key, place[2], place[3]) end
      rows = redis.call('ZRANGE', key, rank, rank + limit, 'WITHSCORES')
    end
    for i = 1, #rows, 2 do
      if last and #page.items == limit then
        page.cursor = cjson.encode(last)
        return page
      end
      last = { name, tonumber(rows[i + 1]), rows[i] }
      local t = F.taskOf(rows[i])
      -- One that was canceled meanwhile may not have left the line yet.
      if t and not F.isEnd(t.state) then
        page.items[#page.items + 1] = dependentOf(t, id, name)
      end
    end
    -- The rows were as many as asked for, and some of them had ended: more may stand behind them.
    if #rows / 2 > limit then
      page.cursor = cjson.encode(last)
      return page
    end
  end
  return page
end

end
library()

local often

local rare = function()

function F.sharedClass(weight)
  local power, value = 0, 100 / weight
  while value >= 2 do
    value = value / 2
    power = power + 1
  end
  while value < 1 do
    value = value * 2
    power = power - 1
  end
  return power
end

-- Own settings of a user that has no record here yet: for this queue over those for all queues.
function F.ownSettings(lane, name)
  local got = redis.call('HMGET', (prefix .. 'user-config:' .. name), '*', lane.queue)
  local own = got[1] and cmsgpack.unpack(got[1]) or {}
  if got[2] then
    for field, value in pairs(cmsgpack.unpack(got[2])) do own[field] = value end
  end
  return own, got[2] and true
end

-- How many tasks a user without a record has running, and that have not ended, as it is stored.
function F.lookAt(u)
  local lane = u.lane
  lane.runs = lane.runs or F.runningOf(lane)
  u.running = lane.runs[u.name] or 0
  u.live = u.queued + u.running + (redis.call('HGET', (lane.p .. 'later'), u.name) or 0)
end

-- How many tasks of each user of a queue are started.
function F.runningOf(lane)
  local found = {}
  for _, worker in ipairs(redis.call('ZRANGE', (prefix .. 'leases'), 0, -1)) do
    local ids = redis.call('HKEYS', (prefix .. 'hot:' .. worker))
    for i = 1, #ids, 200 do
      local got = redis.call('HMGET', (prefix .. 'tasks'), unpack(ids, i, math.min(#ids, i + 199)))
      for j = 1, #got do
        local t = got[j] and { f = got[j] }
        if t then F.owned(t) end
        if t and t.queue == lane.queue then found[t.user] = (found[t.user] or 0) + 1 end
      end
    end
  end
  return found
end

function F.readEar(t)
  local ear = redis.call('HGET', (prefix .. 'ears'), t.id)
  if not ear then return end
  t.dependents = string.byte(ear) == 100
  t.w = string.find(ear, ' ', 1, true) and string.sub(ear, t.dependents and 2 or 1) or nil
  t.hasEar = true
end

function F.payloadOf(t)
  F.fixed(t)
  if F.isLong(t) then return t.long or redis.call('HGET', (prefix .. 'payloads'), t.id) or '' end
  return string.sub(t.f, t.body)
end

-- A run that was suspended for others waits for just these.
function F.Suspend_waitsFor(t, id)
  return t.x and t.x.s and F.contains(t.x.s, id) or false
end

function F.contains(list, id)
  for i = 1, #list do
    if list[i] == id then return true end
  end
  return false
end

-- Whether it may come to depend on a task of this user.
function F.Deps_mayDependOn(t, user)
  return t.x.g and t.x.g[4] or F.fixed(t).user == user
end

-- The task that one of its dependencies is; false when none is stored, or only another user's that it
-- may not depend on.
function F.Deps_upstreamOf(t, id)
  local upstream = F.taskOf(id)
  if not upstream or F.Suspend_waitsFor(t, id) then return upstream end
  return F.Deps_mayDependOn(t, F.fixed(upstream).user) and upstream
end

end

setmetatable(F, { __index = function(functions, name)
  while often or rare do
    local make = often or rare
    if often then often = nil else rare = nil end
    make()
    local found = rawget(functions, name)
    if found ~= nil then return found end
  end
end })

local id, named = ARGV[1], tonumber(ARGV[2])
local t = F.taskOf(id)
if not t then return {} end
F.fixed(t)
local lane = F.laneOf(t.queue)
local u = F.userOf(lane, t.user)
local facts = { now = now, queueRunning = lane.counts.started, ahead = 0, usersAhead = 0 }
facts.queue = F.queueInfo(lane)
local told = F.userInfo(u)
if not u.fresh or u.live > 0 or u.isKept then facts.user = told end
if u.throttled then
  local till = redis.call('ZSCORE', (CODES['throttled'] and prefix .. 'state:' .. 'throttled' or prefix .. 'throttled'), (#t.queue .. ':' .. t.queue .. t.user))
  facts.throttledUntil = till and math.ceil(till)
end
local rate = lane.config.rate
if rate then
  local till = math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit))
  if till > now then facts.queueThrottledUntil = math.ceil(till) end
end

-- How many of its own level stand before it.
local function rankInLevel()
  return redis.call('LPOS', F.lineKey(u, t.level), id) or 0
end

local function usersAhead()
  local ahead, start = 0, F.startOf(u)
  for class in pairs(lane.classes) do
    local before = start
    if string.byte(class, 2) == 119 then
      local w = tonumber(string.sub(class, 3))
      before = w == u.w and u.s or start * F.Tag_scale(w)
    end
    before = '(' .. string.format('%.17g', before)
    ahead = ahead + redis.call('ZCOUNT', (lane.p .. 'ready:' .. class), '-inf', before)
  end
  return ahead
end

if t.state == 'queued' then
  facts.ahead = rankInLevel()
  if u.ready then facts.usersAhead = usersAhead() end
end
local blocked = F.blockedBy(t)
if blocked then
  facts.blockedBy = {}
  for i, other in ipairs(blocked) do
    local upstream = F.taskOf(other)
    local state = upstream and (F.Deps_upstreamOf(t, other) and upstream.state or 'foreign')
    facts.blockedBy[i] = { id = other, state = state or 'missing' }
  end
end
-- What only joins, runs and their members have.
local function addRunFacts(x)
  if x.j then
    facts.join = true
    return
  end
  if t.state == 'deferred' and x.s and blocked then
    facts.suspension = { of = #x.s, wakeOn = x.sp or 'all', wakeAt = x.wk }
  end
  if not x.o or t.state == 'started' or F.isEnd(t.state) then return end
  local run = F.taskOf(x.o)
  if not run or F.isEnd(run.state) then
    facts.endedRun = { id = x.o, state = run and run.state or 'missing' }
  end
end

if t.x then addRunFacts(t.x) end
if t.dependents then facts.dependents = F.dependents(id, nil, named) end
local shares = F.sharesOf(u)
facts.shares = { v = F.exact(shares.v), last = F.exact(shares.last), tag = F.exact(shares.tag),
  weights = lane.config.priorityWeights or { 1, 2, 4, 8, 16 } }
local reply = { cjson.encode(facts) }
F.addRecord(reply, t)
F.addWorkers(reply)
return reply
