-- Lists the users of a queue by name.
--
-- KEYS[1]  clock       hash
-- ARGV[1]  queue       the queue
-- ARGV[2]  cursor      the last name of the page before, or ''
-- ARGV[3]  limit       most users to tell
-- ARGV[4]  configured  '1': those too that have settings for all queues, and no record in this one
-- Returns  the cursor of the next page or '', then each user as JSON
-- Cost     O(limit)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { before = 0, newLane = 0, readLane = 0, laneOf = 0, Tag_scale = 0, Tag_start = 0, settingsOf = 0, newUser = 0, readUser = 0, readPlain = 0, userOf = 0, startOf = 0, exact = 0, settingsInForce = 0, originsOf = 0, userInfo = 0 }

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

-- Tells users and queues as JSON. Numbers that are not whole travel as text, since cjson keeps 14
-- digits.

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

-- Where the user's tag stands in virtual time.
function F.startOf(u) return F.Tag_start(u.s, u.w) end

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

-- Fills in whose task it is.
function F.owned(t)
  local f = t.f
  local last = 30 + string.sub(f, 28, 30)
  local stop = string.find(f, '\0', last + 1, true)
  t.user, t.queue = string.sub(f, 31, last), string.sub(f, last + 1, stop - 1)
  t.level, t.rest = string.byte(f, 26) - 48, stop + 1
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

local queue, cursor, limit, configured = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
local lane = F.laneOf(queue)
local from = cursor == '' and '-' or '(' .. cursor

local function namesIn(key)
  return redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit + 1)
end

local names = namesIn((lane.p .. 'users'))
if configured and C.configs > 0 then
  local known = {}
  for _, name in ipairs(names) do known[name] = true end
  for _, name in ipairs(namesIn((prefix .. 'configured-for-all'))) do
    if not known[name] then names[#names + 1] = name end
  end
  table.sort(names, F.before)
end
-- Of some nothing is known any more, but their name.
local reply, told = { #names > limit and names[limit] or '' }, 1
for i = 1, math.min(#names, limit) do
  local u = F.userOf(lane, names[i])
  local info = F.userInfo(u)
  if not u.plain or u.live > 0 or u.isKept or (configured and next(u.own) ~= nil) then
    told = told + 1
    reply[told] = cjson.encode(info)
  end
end
return reply
