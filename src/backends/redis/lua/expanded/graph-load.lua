-- Gives a snapshot of a graph, and moves its end on; or tells why it is not there.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  hash     of its content
-- Returns  {'found', its bytes}, {'unknown'}, {'expired'} or {'evicted'}
-- Cost     O(1)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = {}

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
-- Everything that a step which changes tasks is made of.
-- Builds the name of every key; nothing else does. `keys.ts` is its twin. Each is one expression,
-- which the bundler puts where it is called.
-- Fixed parts first, at most one free string, and that last (or before a fixed suffix); two free
-- strings are joined as <length>:<first><second>. `lane` is the prefix of a queue's own keys.

-- The pair of an id that is not stored and of who would have to store it.

-- An index of the whole namespace: by state, or by its own name.

-- A place of a value: the pair of its user and of the pair of namespace and key.

-- Saves what the namespace remembers from step to step.

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

-- Decides whether a user is ready, and puts it where that says: the only code that writes the
-- ready indexes, W, `runnable` and the gain that wake-ups are handed out for. Restates
-- domain/fair-share.ts and domain/rate-limit.ts.

-- From so many users on a class is worth more than a listpack, which Redis looks through for each change.

-- Says what workers live, and counts what became of their attempts.

-- Takes workers in and out of the lines in which they wait for a wake-up.
-- @rare

-- Shares a user's turns between its levels, as domain/priority-shares.ts does.

-- Turns of the levels 1 to 5 while all have work.
local WEIGHTS = { 1, 2, 4, 8, 16 }

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

-- Leases by worker: `leases` says of each worker that has any the moment before which none of them ends.

-- The lines of a user, one for each level that has work: ids in the order of their places. A task's place
-- is the stamp of the moment that it was first put in line, which it keeps until it is put back anew.

-- Counts failed tasks that only followed another: those that are kept, and ever. Dead letters are the
-- others.
-- @rare

-- Moves a task from one place to another: each function fills one place or leaves one. All of
-- them keep the counts; whoever calls `leave` reindexes the user afterwards.

-- Keeps idempotency keys, and frees a key when the task that owns it has ended.
-- One packed field: o owner, f follower, p digest of the first payload, u holds until, n when the
-- window of a key began that gathers calls, e when its
-- owner ended, g how, once the owner's record is removed, a the ids of the calls that it answered.
-- @rare

-- Tasks that have ended: lists of ids by state, in the order in which they ended. One that is taken out of
-- the middle leaves a hole, an empty text. Those that retention has come to while somebody reads them
-- stand apart, in `kept`, until nobody does.

-- Puts a task into an end state, and nothing else does: place, deadline, key, counts, cascade and
-- those that wait for its end. `ending` = { cause = as JSON, error =, result = }.

-- Keeps snapshots of graphs while a stored task needs them, and for a while after that.
-- @rare

-- Whose tasks a task may depend on: the twin of domain/dependency-edge.ts.
-- @rare

-- Registers that a task waits for another, or for an id that nobody has stored.
-- @rare

-- Suspends a run until others have ended. x.s: whom it waits for; x.sp: 'failure' when the first that
-- does not finish wakes it; x.wk: when it is woken whatever happens.
-- @rare

-- Charges turns by time, in queues that ask for it; restates the end of domain/fair-share.ts.
-- @rare

-- Tells dependents of ended tasks, in bounded steps, by the recorded end state; restates the
-- chapter "Dependencies" of docs/mechanics.md.
-- @rare

-- Finds the next moment at which waiting work falls due.

-- Keeps the two holders of the alarm: idle workers that wake when something falls due.
-- @rare

-- Ends a step: queues that fell idle start anew, users with nothing left are forgotten, everything
-- that changed is written, and only then is anybody woken.

-- How long after they may be forgotten users are looked through for that.

local rich = true

local library = function()

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

-- Whether it is there; one whose time is over by the clock of the namespace is dropped.
function F.Graphs_isAlive(hash)
  local till = tonumber(redis.call('HGET', (prefix .. 'graphmeta:' .. hash), 'till'))
  if till and till > 0 and till <= now then redis.call('DEL', (prefix .. 'graph:' .. hash)) end
  return redis.call('EXISTS', (prefix .. 'graph:' .. hash)) == 1
end

-- Its end is moved on, unless a task needs it. What is known of it is remembered for longer.
function F.Graphs_touch(hash)
  if redis.call('EXISTS', (prefix .. 'graph-refs:' .. hash)) == 1 then return end
  redis.call('HSET', (prefix .. 'graphmeta:' .. hash), 'till', now + 86400000)
  redis.call('PEXPIRE', (prefix .. 'graph:' .. hash), 86400000)
  redis.call('PEXPIRE', (prefix .. 'graphmeta:' .. hash), 8 * 86400000)
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

local hash = ARGV[1]
if F.Graphs_isAlive(hash) then
  F.Graphs_touch(hash)
  return F.unchanged({ 'found', redis.call('GET', (prefix .. 'graph:' .. hash)) })
end
local till = tonumber(redis.call('HGET', (prefix .. 'graphmeta:' .. hash), 'till'))
if not till then return F.unchanged({ 'unknown' }) end
return F.unchanged({ till > 0 and till <= now and 'expired' or 'evicted' })
