-- Lists the tasks of a state in the order of its index; queued ones by the place in their line.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  state   of the tasks
-- ARGV[2]  queue   or ''
-- ARGV[3]  user    or ''; needed for 'queued'
-- ARGV[4]  name    or ''
-- ARGV[5]  after   place of the last row of the page before, as JSON, or ''
-- ARGV[6]  limit   most rows to tell
-- Returns  the place to go on from or '', then five texts for each task as in lib/record.lua
-- Cost     O(rows looked at, at most 500)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { before = 0, isEnd = 0, newTask = 0, readState = 0, joined = 0, taskOf = 0, owned = 0, fixed = 0, bytesLess = 0, blockedBy = 0, expiresAt = 0, addRecord = 0, rankBehind = 0 }

-- Functions of one subject each.
local Cascade, Choose, Deal, Decide, Deps, Due, Graphs, Key = {}, {}, {}, {}, {}, {}, {}, {}
local Lease, Line, Link, Lists, Retain, Schedule, Step, Store = {}, {}, {}, {}, {}, {}, {}, {}
local Submission, Suspend, Tick, Timed, Window, XCom = {}, {}, {}, {}, {}, {}

-- Sorted sets to be written: key -> member -> score, false to take it out; the same by name for
-- the indexes of the whole namespace; those of them that may have lost their head; heads at hand.
local Z, I, moved, views = {}, {}, {}, {}

local STATES = { 'scheduled', 'deferred', 'queued', 'started', 'finished', 'failed', 'canceled' }
local CODES = { scheduled = 1, deferred = 2, queued = 3, started = 4, finished = 5, failed = 6,
  canceled = 7 }

-- What this step has loaded and changed.
local lanes, touched, tasks, changed, keyring = {}, {}, {}, {}, {}
-- Channels to be told, what changed at workers and what their attempts came to, and whose dependents
-- are to be told.
local published, runningChange, outcomes, standing = {}, {}, {}, {}

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

-- What the short path has read, by key, before it gave up.
local atHand = {}

local H = { started = INF, ['scheduled-users'] = INF, throttled = INF, deadlines = INF,
  cascade = INF, finished = INF, failed = INF, canceled = INF, ['listed-workers'] = INF,
  submissions = INF, missing = INF, ['schedules:due'] = INF, ['xcom-ends'] = INF }
local C = { seen = 0, pause = 0, waiting = 0, alarm = INF, configs = 0, idle = 0, dropping = 0,
  refresh = 0, steps = 0,
  alarms = saved[2] or ',' }
if saved[1] then
  C.seen, C.pause, H.started, H['scheduled-users'], H.throttled, H.deadlines, H.cascade,
    H.finished, H.failed, H.canceled, H['listed-workers'], H.submissions, H.missing,
    C.waiting, C.alarm, C.configs, C.idle, C.dropping, C.refresh,
    C.steps, H['schedules:due'], H['xcom-ends'] = struct.unpack('<dddddddddddddddddddddd', saved[1])
end
-- Whether earlier steps have left dependents to be told.
C.isOlder = H.cascade < INF
if C.seen - now > 5000 then
  C.pause = math.min(C.pause, now + 5000)
  C.dropping = 1
elseif C.seen > now then
  now = C.seen
end
local nowText = string.format('%.0f', now)
if C.seen > 0 and now - C.seen > 8000 then C.pause = now + 5000 end
if micros < now * 1000 then micros = now * 1000 end
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

-- Keeps the first members of a sorted set at hand while turns are dealt out. At most as many
-- members change as there are turns left, so the first turns + 1 always hold the true head.
-- A view is what was read (names, scores, from `at` on) and, beside it, members that have changed
-- since (moved; those that are still inside stand in order in late, lateScores, from `lateAt` on).
-- Ties go by bytes.
-- Whether Lua orders strings by their bytes: it compares them by the server's locale.

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

-- Grains of a user of this weight in one unit of virtual time.
local function scaleOf(w) return w * 67108864 / 100 end

-- Where a tag stands in virtual time.
local function startOf(tag, w) return tag == 0 and 0 or tag / scaleOf(w) end

-- The least tag from `from` on that has the seat of `tag`.
local function seated(tag, from) return tag + math.ceil((from - tag) / 1024) * 1024 end

local function raisedTag(tag, least) return tag < least and seated(tag, least) or tag end

-- What a turn of this cost adds to a tag.
local function turnOf(cost) return math.max(1, math.floor(cost * 67108864 / 1024 + 0.5)) * 1024 end

-- The tag that a user enters a class with, and what the class remembers of it. `kept`: the tag that
-- it has, 0 for none; `last`: what the class remembers of the one before.
local function enterTag(kept, v, w, last)
  local floor, fresh = math.ceil(v * scaleOf(w)), last + 1
  local next_ = fresh
  if next_ <= floor or next_ > floor + 1048576 then fresh = seated(next_, floor) end
  return kept > fresh and seated(next_, kept) or fresh, fresh
end

-- Until when, in virtual time, the tag of a user with nothing to do is worth keeping.
local function keptUntil(tag, w) return startOf(tag, w) - 100 / w * 0.000030517578125 end

-- Loads and saves records: a hash of few fields, each of at most 64 bytes where it can be, since
-- such a hash is one small block of memory.
--
-- f, g, h  text that never changes: creation (13 digits), level, kind, bytes of the user (3 digits),
--          user, queue, then parted by NUL name, cost, options, payload; in f alone when it is long
-- s        numbers that change, packed; absent while it is queued for the first time
-- o        latest token and worker, with queue and user, parted by NUL; absent before a lease
-- x        rare facts, packed: dependencies, deadlines, idempotency key
-- y        rare facts that change, packed: st older token that settled it, sn and ss how often and
--          since when it was strange, ft and rs why it ended, cn why it is to be canceled, cw token
--          and name of the newest checkpoint that wrote to channels
-- p, r, e  long payload, result, error; w who waits for its end; d somebody depends on it

-- Whose tasks a task may depend on: the twin of domain/dependency-edge.ts.
-- @rare

-- Tells everything that is stored about a task: five texts for each, which `decodeRecord` reads:
-- f, the long payload, result, error, and what changes as JSON.

-- Finds places in sorted sets, so that a listing goes on where its last page ended.

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

function F.isEnd(state)
  return state == 'finished' or state == 'failed' or state == 'canceled'
end

-- A task that is queued and never was anything else.
function F.newTask(id, f, key)
  return { id = id, f = f, key = key or (prefix .. 'task:' .. id), state = 'queued', seq = 0, failures = 0,
    losses = 0, releases = 0, at = 0, leasedAt = 0, n = 0, chargedEpoch = 0, readers = 0,
    token = '', worker = '', user = false, queue = false, dirty = false, extra = false }
end

function F.readState(t, packed, lease)
  local code, flags
  code, flags, t.seq, t.failures, t.losses, t.releases, t.at, t.leasedAt, t.n, t.chargedEpoch,
    t.readers = struct.unpack('<BBdIBIdddII', packed)
  t.state = STATES[code]
  if flags > 0 then
    t.inCascade, t.left = flags % 2 == 1, flags % 4 >= 2
    t.hasAttempts, t.canceling, t.isSettled = flags % 8 >= 4, flags % 16 >= 8, flags % 32 >= 16
  end
  if lease then
    local a = string.find(lease, '\0', 1, true)
    local b = string.find(lease, '\0', a + 1, true)
    local c = string.find(lease, '\0', b + 1, true)
    t.token, t.worker = string.sub(lease, 1, a - 1), string.sub(lease, a + 1, b - 1)
    t.queue, t.user = string.sub(lease, b + 1, c - 1), string.sub(lease, c + 1)
  end
end

function F.joined(f, g, h)
  if h then return f .. g .. h end
  return g and f .. g or f
end

-- The record of an id, or false.
function F.taskOf(id)
  local t = tasks[id]
  if t ~= nil then return t end
  local key = (prefix .. 'task:' .. id)
  local got = redis.call('HMGET', key, 'f', 'g', 'h', 's', 'o', 'x', 'y', 'w', 'd')
  t = false
  if got[1] then
    t = F.newTask(id, F.joined(got[1], got[2], got[3]), key)
    if got[4] then F.readState(t, got[4], got[5]) end
    if got[6] then t.x = cmsgpack.unpack(got[6]) end
    if got[7] then t.y = cmsgpack.unpack(got[7]) end
    t.w, t.dependents = got[8], got[9]
  end
  tasks[id] = t
  return t
end

-- Fills in whose task it is.
function F.owned(t)
  if not t.f then F.readText(t) end
  local f = t.f
  local last = 18 + string.sub(f, 16, 18)
  local stop = string.find(f, '\0', last + 1, true)
  t.user, t.queue = string.sub(f, 19, last), string.sub(f, last + 1, stop - 1)
  t.level, t.rest = string.byte(f, 14) - 48, stop + 1
end

-- Fills in all facts that never change.
function F.fixed(t)
  if t.created then return t end
  F.owned(t)
  local f, a = t.f, t.rest
  local b = string.find(f, '\0', a, true)
  local c = string.find(f, '\0', b + 1, true)
  local d = string.find(f, '\0', c + 1, true)
  t.created = tonumber(string.sub(f, 1, 13))
  t.name, t.cost = string.sub(f, a, b - 1), tonumber(string.sub(f, b + 1, c - 1))
  t.optionsAt, t.body = c + 1, d + 1
  return t
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
  local got = redis.call('HMGET', (prefix .. 'task:' .. t.id), 'p', 'r', 'e')
  local ended, started = F.isEnd(t.state), t.state == 'started'
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = t.f, got[1] or '', got[2], got[3]
  reply[n + 5] = cjson.encode({
    id = t.id, state = t.state, failures = t.failures, losses = t.losses, releases = t.releases,
    dependsOn = t.x and t.x.d, blockedBy = F.blockedBy(t),
    cancelRequested = started and t.canceling or false,
    dueAt = t.state == 'scheduled' and t.at or nil, expiresAt = F.expiresAt(t),
    token = started and t.token or nil, worker = started and t.worker or nil,
    leasedAt = started and t.leasedAt or nil,
    leaseUntil = started and tonumber(redis.call('ZSCORE', (prefix .. 'state:' .. 'started'), t.id)) or nil,
    endedAt = ended and t.at or nil,
    cause = t.y and t.y.ca or nil,
    idempotencyKey = t.x and t.x.k or nil,
  })
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

end
library()

local rare = function()

function F.readText(t)
  local got = redis.call('HMGET', t.key, 'f', 'g', 'h')
  t.f = F.joined(got[1] or '', got[2], got[3])
end

end

local lazy = { __index = function(functions, name)
  local make = rare
  rare = nil
  if make then make() end
  return rawget(functions, name)
end }
setmetatable(F, lazy)

local state, queue, user, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local after, limit = ARGV[5], tonumber(ARGV[6])

-- The sorted sets that hold the state, one behind the other.
local function sources()
  if state ~= 'queued' then return { (prefix .. 'state:' .. state) } end
  local queues, keys = { queue }, {}
  if queue == '' then
    queues = redis.call('SMEMBERS', (prefix .. 'queues'))
    table.sort(queues, F.before)
  end
  for _, each in ipairs(queues) do
    keys[#keys + 1] = (((each == 'default' and prefix or prefix .. 'lane:' .. each .. ':')) .. 'queue:user:' .. user .. ':critical')
    keys[#keys + 1] = (((each == 'default' and prefix or prefix .. 'lane:' .. each .. ':')) .. 'queue:user:' .. user .. ':normal')
  end
  return keys
end

local function matches(t)
  F.fixed(t)
  return (queue == '' or t.queue == queue) and (user == '' or t.user == user)
    and (name == '' or t.name == name)
end

-- A place is { key, score, id }.
local place = after ~= '' and cjson.decode(after) or nil
local reply, found, looked, last = { '' }, 0, 0, nil
local passed = place ~= nil
for _, key in ipairs(sources()) do
  local rank = 0
  if passed and key == place[1] then
    rank, passed = F.rankBehind(key, place[2], place[3]), false
  elseif passed then
    rank = -1
  end
  local rows = rank >= 0
    and redis.call('ZRANGE', key, rank, rank + 500 - looked, 'WITHSCORES') or {}
  for i = 1, #rows, 2 do
    if last and (found == limit or looked >= 500) then
      reply[1] = cjson.encode(last)
      return reply
    end
    looked = looked + 1
    last = { key, rows[i + 1], rows[i] }
    local t = F.taskOf(rows[i])
    if t and matches(t) then
      found = found + 1
      F.addRecord(reply, t)
    end
  end
end
return reply
