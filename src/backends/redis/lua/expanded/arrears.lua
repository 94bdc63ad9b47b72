-- Tells what should have happened: how long the schedule that is due longest has been due, in ms, and
-- how many ids tasks wait for that nobody has stored.
--
-- KEYS[1]  clock  hash
-- Returns  {ms, ids}
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

local rich = true

local library = function()

end
library()

local missing = H.missing < INF and redis.call('ZCARD', (CODES['missing'] and prefix .. 'state:' .. 'missing' or prefix .. 'missing')) or 0
return { math.max(0, now - H['schedules:due']), missing }
