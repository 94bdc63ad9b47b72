-- Gives the schedules that are due to one scheduler at a time.
--
-- KEYS[1]  clock  hash
-- ARGV[1]  owner  who asks
-- ARGV[2]  limit  most schedules to tell
-- Returns  {'held', until, now}, or {'granted', fence, when the next one is due or -1, now, then 17
--          fields of each, see lib/schedule.lua}
-- Cost     O(limit + log schedules)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { Schedule_fields = 0, Schedule_add = 0 }

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

-- Saves what the namespace remembers from step to step.

-- Loads schedules, and moves them on. The record is a hash: j spec, r revision, p paused, o overlap,
-- m limit, h graph, s and d the slot that comes next and when it is due, c created, u updated,
-- f fired, x missed, v overlapped, t the latest slot that was decided, ls and li the latest that
-- made a task and that task, a its tasks that may not have ended, parted by NUL.

local rich = true

local library = function()

function F.Schedule_fields(id)
  return redis.call('HMGET', (prefix .. 'schedule:' .. id), 'j', 'r', 'p', 'o', 'm', 'h', 's', 'd', 'c', 'u', 'f',
    'x', 'v', 't', 'ls', 'li', 'a')
end

-- Appends one schedule to a reply: id and 16 fields.
function F.Schedule_add(reply, id)
  local got, n = F.Schedule_fields(id), #reply
  if not got[2] then return end
  reply[n + 1] = id
  for i = 1, 16 do reply[n + 1 + i] = got[i] or '' end
end

end
library()

local often

local rare = function()

function F.saveClock()
  local call = C.quiet and redis.pcall or redis.call
  local packed = struct.pack('<dddddddddddddddddddddddd', now, C.pause, H.started, H['scheduled-users'], H.throttled,
    H.deadlines, H.cascade, H.finished, H.failed, H.canceled, H['listed-workers'], H.submissions,
    H.missing, C.waiting, C.alarm, C.configs, C.idle, C.dropping, C.refresh,
    C.steps + 1, H['schedules:due'], H['xcom-ends'], C.stamp, C.ears)
  if C.alarms == (saved[2] or ',') then
    call('HSET', KEYS[1], 's', packed)
  else
    call('HSET', KEYS[1], 's', packed, 'a', C.alarms)
  end
end

-- Ends a step that has changed nothing: it is remembered that there was one. Out of memory is no
-- reason not to answer.
function F.unchanged(reply)
  C.quiet = true
  F.saveClock()
  return reply
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

local owner, limit = ARGV[1], tonumber(ARGV[2])
local lock = redis.call('HMGET', (prefix .. 'scheduler:lock'), 'owner', 'until', 'fence')
local isOwn, till = lock[1] == owner, tonumber(lock[2] or 0)
local head = H['schedules:due']
if not isOwn and till > now and head > now - 2000 then
  return F.unchanged({ 'held', till, now })
end
-- Where nothing will ever fire, nobody is kept away from it.
if head == INF then return F.unchanged({ 'granted', tonumber(lock[3] or 0), -1, now }) end
redis.call('DEL', (prefix .. 'oom'))
local fence = tonumber(lock[3] or 0) + (isOwn and 0 or 1)
redis.call('HSET', (prefix .. 'scheduler:lock'), 'owner', owner, 'until',
  string.format('%.0f', now + 5000), 'fence', fence)
local reply = { 'granted', fence, -1, now }
local due = redis.call('ZRANGEBYSCORE', (CODES['schedules:due'] and prefix .. 'state:' .. 'schedules:due' or prefix .. 'schedules:due'), '-inf', '+inf', 'WITHSCORES',
  'LIMIT', 0, limit + 1)
local bytes = 0
for i = 1, #due, 2 do
  local at_ = tonumber(due[i + 1])
  if at_ > now or i > 2 * limit or bytes > 4194304 then
    reply[3] = math.ceil(at_)
    break
  end
  F.Schedule_add(reply, due[i])
  bytes = bytes + #(reply[#reply - 15] or '')
end
return F.unchanged(reply)
