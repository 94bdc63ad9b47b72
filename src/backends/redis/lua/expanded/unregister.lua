-- Forgets a worker; its lists go when no live worker has them.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  worker  its id
-- Returns  {'ok'}
-- Cost     O(names of its lists, at most 500 at once)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { saveClock = 0, move = 0, newLane = 0, readLane = 0, laneOf = 0, saveLane = 0, mayRest = 0, scheduleLookAt = 0, nextDue = 0, Step_restIfIdle = 0, Step_newEpoch = 0, Step_finishLane = 0, writeStep = 0, closeStep = 0 }

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

-- Drops the lists of restricted workers when the last worker of a list is gone.
-- @rare

local rich = true

local library = function()

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

-- A member that may stand in the index already: its old score may have been the least.
function F.move(name, member, score)
  local members = I[name]
  if not members then
    members = {}
    I[name] = members
  end
  members[member] = score
  moved[name] = true
  if score and H[name] and score < H[name] then H[name] = score end
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

function F.saveLane(lane)
  local c = lane.counts
  local packed = struct.pack('<ddIdddddddddddddddddddd', lane.v, lane.w, lane.epoch, lane.tat, lane.runnable,
    lane.ready, lane.idleLeast, c.scheduled, c.deferred, c.queued, c.started, c.finished,
    c.failed, c.canceled, lane.enqueued, lane.finished, lane.failed, lane.canceled,
    lane.retried, lane.lost, lane.stolen, lane.old, lane.tags) .. cmsgpack.pack(lane.classes, lane.lasts)
  redis.call('HSET', (lane.p .. 'fair'), 's', packed)
  if lane.learned then redis.call('HSET', (lane.p .. 'fair'), 't', struct.pack('<d', lane.mean)) end
  if lane.fresh then redis.call('SADD', (prefix .. 'queues'), lane.queue) end
end

-- It may have none left.
function F.mayRest(worker)
  if redis.call('EXISTS', (prefix .. 'hot:' .. worker)) == 0 then F.restWorker(worker) end
end

-- When somebody has to look for due schedules; again after a while when nobody has fired one.
function F.scheduleLookAt()
  local due = H['schedules:due']
  return due <= now and now + 1000 or due
end

-- The least moment at which something falls due that a step would act on; INF when nothing does.
-- Dependents that a step had no room to tell are due at once.
function F.nextDue()
  if H.cascade < INF then return now end
  local least = math.max(H.started, C.pause)
  if H.started == INF then least = INF end
  return math.ceil(math.min(least, H['scheduled-users'], H.throttled, H.deadlines,
    F.scheduleLookAt()))
end

-- Nobody ready, parked or running: virtual time starts at 0, and kept tags are worth nothing. Where
-- time is charged, a tag may have been corrected upwards while virtual time stood still.
function F.Step_restIfIdle(lane)
  if lane.counts.queued > 0 or lane.counts.started > 0 then return end
  if lane.v == 0 and not lane.timed then return end
  lane.v = 0
  F.Step_newEpoch(lane)
end

-- Tags that were kept are worth nothing from now on.
function F.Step_newEpoch(lane)
  if lane.old == lane.epoch and lane.idleLeast == INF then lane.old = lane.epoch + 1 end
  lane.epoch = lane.epoch + 1
  lane.idleLeast = INF
  if rich then F.Step_loseTags(lane) end
  if lane.tags == 0 then return end
  redis.call('DEL', (lane.p .. 'kept-tags'))
  lane.tags, lane.stale = 0, true
end

function F.Step_finishLane(lane)
  if lane.idleMoved then
    local head = redis.call('ZRANGE', (lane.p .. 'idle:' .. lane.epoch), 0, 0, 'WITHSCORES')
    lane.idleLeast = head[2] and tonumber(head[2]) or INF
  end
  if lane.idleLeast <= lane.v or lane.old < lane.epoch or lane.tags > 0 or lane.stale then
    redis.call('SADD', (prefix .. 'idle-lanes'), lane.queue)
    if C.idle == 0 then C.idle = now + 1000 end
  end
  F.saveLane(lane)
  if lane.gain > 0 and C.waiting > 0 then F.Line_wakeGained(lane) end
end

-- Writes everything that this step has changed, and wakes workers for work that was gained.
function F.writeStep()
  if rich then F.Step_writeAll() end
  for i = 1, #touched do
    local lane = touched[i]
    F.Step_restIfIdle(lane)
    F.Step_finishLane(lane)
  end
  if C.freed and not C.begun then F.mayRest(ARGV[1]) end
end

function F.closeStep()
  if C.waiting > 0 and C.alarm < INF and F.nextDue() < C.alarm then F.Due_alarmEarlier() end
  F.saveClock()
  if rich then F.Step_publishEnds() end
end

end
library()

local often

local rare = function()

-- Ends a step that has changed nothing: it is remembered that there was one. Out of memory is no
-- reason not to answer.
function F.unchanged(reply)
  C.quiet = true
  F.saveClock()
  return reply
end

function F.zset(key, member, score)
  local members = Z[key]
  if not members then
    members = {}
    Z[key] = members
  end
  members[member] = score
end

function F.addAll(key, members)
  local args, n, removals = nil, 0, false
  for member, score in pairs(members) do
    if score then
      if not args then args = {} end
      args[n + 1] = score
      args[n + 2] = member
      n = n + 2
      if n == 500 then
        redis.call('ZADD', key, unpack(args))
        args, n = nil, 0
      end
    else
      removals = true
    end
  end
  if n == 2 then
    redis.call('ZADD', key, args[1], args[2])
  elseif n > 0 then
    redis.call('ZADD', key, unpack(args))
  end
  return removals
end

function F.removeAll(key, members)
  local args, n = {}, 0
  for member, score in pairs(members) do
    if not score then
      n = n + 1
      args[n] = member
      if n == 500 then
        redis.call('ZREM', key, unpack(args))
        args, n = {}, 0
      end
    end
  end
  if n > 0 then redis.call('ZREM', key, unpack(args)) end
end

function F.flushKey(key)
  local members = Z[key]
  if not members then return end
  Z[key] = nil
  if F.addAll(key, members) then F.removeAll(key, members) end
end

function F.flushIndex(name)
  local members = I[name]
  if not members then return end
  I[name] = nil
  local key = (CODES[name] and prefix .. 'state:' .. name or prefix .. name)
  if F.addAll(key, members) then F.removeAll(key, members) end
  if moved[name] then
    moved[name] = nil
    if H[name] then
      local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
      H[name] = head[2] and tonumber(head[2]) or INF
    end
  end
end

-- New places before old ones: whatever is cut short, a task stands in one place at least.
function F.flushSets()
  local left = {}
  for key, members in pairs(Z) do
    if F.addAll(key, members) then left[key] = members end
  end
  for key, members in pairs(left) do F.removeAll(key, members) end
  Z = {}
  for name in pairs(I) do F.flushIndex(name) end
end

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

function F.touchLane(lane)
  if lane.isTouched then return end
  lane.isTouched = true
  touched[#touched + 1] = lane
end

-- Grains of a user of this weight in one unit of virtual time.
function F.Tag_scale(w) return w * 67108864 / 100 end

-- Where a tag stands in virtual time.
function F.Tag_start(tag, w) return tag == 0 and 0 or tag / F.Tag_scale(w) end

-- The least tag from `from` on that has the seat of `tag`.
function F.Tag_seated(tag, from) return tag + math.ceil((from - tag) / 1024) * 1024 end

-- The tag that a user enters a class with, and what the class remembers of it. `kept`: the tag that
-- it has, 0 for none; `last`: what the class remembers of the one before.
function F.Tag_enter(kept, v, w, last)
  local floor, fresh = math.ceil(v * F.Tag_scale(w)), last + 1
  local next_ = fresh
  if next_ <= floor or next_ > floor + 1048576 then fresh = F.Tag_seated(next_, floor) end
  return kept > fresh and F.Tag_seated(next_, kept) or fresh, fresh
end

-- Until when, in virtual time, the tag of a user with nothing to do is worth keeping.
function F.Tag_keptUntil(tag, w) return F.Tag_start(tag, w) - 100 / w * 0.000030517578125 end

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

-- Own settings of a user that has no record here yet: for this queue over those for all queues.
function F.ownSettings(lane, name)
  local got = redis.call('HMGET', (prefix .. 'user-config:' .. name), '*', lane.queue)
  local own = got[1] and cmsgpack.unpack(got[1]) or {}
  if got[2] then
    for field, value in pairs(cmsgpack.unpack(got[2])) do own[field] = value end
  end
  return own, got[2] and true
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

-- Whether there is more to remember of a user than its line and its tag.
function F.needsRecord(u)
  local set, cnt = u.set, u.cnt
  return u.own ~= NONE and next(u.own) ~= nil or u.kept or u.lists or u.lane.timed or set.paused or set.rate
    or set.maxQueued or set.maxRunning < INF or set.weight ~= 100 or u.shared or u.assigned
    or u.queued > cnt[3] or u.throttled or u.tat > now
end

-- How many tasks a user without a record has running, and that have not ended, as it is stored.
function F.lookAt(u)
  local lane = u.lane
  lane.runs = lane.runs or F.runningOf(lane)
  u.running = lane.runs[u.name] or 0
  u.live = u.queued + u.running + (redis.call('HGET', (lane.p .. 'later'), u.name) or 0)
end

-- The same, when this step may have changed it.
function F.countTasks(u)
  if u.isCounted then return end
  u.isCounted = true
  if #changed > 0 or next(leasesOver) or next(leasedUntil) then
    F.Step_saveTasks()
    F.saveLeases()
    u.lane.runs = nil
  end
  F.lookAt(u)
end

-- The user gets a record, which counts what it has running: its leases say so.
function F.countLeases(u)
  for _, worker in ipairs(redis.call('ZRANGE', (prefix .. 'leases'), 0, -1)) do
    local key = (prefix .. 'hot:' .. worker)
    for _, id in ipairs(redis.call('HKEYS', key)) do
      local t = F.taskOf(id, worker)
      if t and t.state == 'started' and F.ownerOf(t) == u and not t.isCounted then
        t.isCounted = true
        F.change(t)
      end
    end
  end
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
  local flags = u.ready and 1 or 0
  if u.assigned then flags = flags + 2 end
  if u.shared then flags = flags + 4 end
  if u.throttled then flags = flags + 8 end
  if u.idle then flags = flags + 16 end
  local packed = struct.pack('<dIBIIIIIIIIIId', u.s, u.ep, flags, u.w, u.room, c[1], c[2], c[3], c[4], c[5],
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
  if u.fresh then F.zset((u.lane.p .. 'users'), u.name, 0) end
end

-- Where the user's tag stands in virtual time.
function F.startOf(u) return F.Tag_start(u.s, u.w) end

function F.touch(u)
  if u.dirty then return end
  u.dirty = true
  local lane = u.lane
  F.touchLane(lane)
  lane.dirty = lane.dirty or {}
  lane.dirty[#lane.dirty + 1] = u
end

function F.exactClasses(lane)
  local n, weights = 0, {}
  for class in pairs(lane.classes) do
    local kind = string.sub(class, 2)
    if string.byte(kind) == 119 and not weights[kind] then
      weights[kind] = true
      n = n + 1
    end
  end
  return n
end

-- A member that is too long for a listpack, and stands behind all users; no name is written so.
function F.spread(key)
  redis.call('ZADD', key, '+inf', string.rep('\255', 65))
end

function F.isKindUsed(classes, kind)
  return classes['p' .. kind] or classes['o' .. kind] or classes['a' .. kind]
end

-- Joins the class of the user's weight: its own while it is among the first 31 in use, else the
-- shared one of its power of two. Answers the kind, which classes of three families have: of users
-- without a record (p), of others that nobody is assigned to (o), and of those that somebody is (a).
function F.joinClass(u)
  local lane, kind = u.lane, 'w' .. u.w
  local classes = lane.classes
  u.shared = false
  if not F.isKindUsed(classes, kind) and next(classes) and F.exactClasses(lane) >= 31 then
    u.shared = true
    kind = 's' .. F.sharedClass(u.w)
  end
  u.class = (u.assigned and 'a' or F.needsRecord(u) and 'o' or 'p') .. kind
  classes[u.class] = (classes[u.class] or 0) + 1
  if classes[u.class] == 21 then F.spread((lane.p .. 'ready:' .. u.class)) end
  u.ready = true
  lane.w = lane.w + u.w
  lane.ready = lane.ready + 1
  return kind
end

-- F of a turn of cost 1.
function F.finishOf(u) return F.Tag_start(u.s, u.w) + 100 / u.w end

-- Writes the user's score, or its absence, to every index that is ordered by its tag. Tags of several
-- weights, which share a class, are compared in virtual time.
function F.indexUser(u, ready)
  local lane = u.lane
  F.zset((lane.p .. 'ready:' .. u.class), u.name, ready and (u.shared and F.startOf(u) or u.s))
  local lists = u.lists
  if not lists then return end
  local finish = ready and F.finishOf(u)
  for i = 1, #lists do
    F.zset((lane.p .. 'list-ready:' .. (lists[i])), u.name, finish)
    if string.byte(lists[i]) == 115 then
      F.zset((lane.p .. 'orphans:' .. (lists[i])), u.name, not u.assigned and finish)
    end
  end
end

function F.onAssigned(u)
  for i = 1, u.lists and #u.lists or 0 do
    if string.byte(u.lists[i]) == 97 then return true end
  end
  return false
end

function F.displace(u)
  local lane = u.lane
  F.indexUser(u, false)
  lane.w = lane.w - u.w
  lane.ready = lane.ready - 1
  local classes, left = lane.classes, lane.classes[u.class] - 1
  classes[u.class] = left > 0 and left or nil
  if left == 0 then
    Z[(lane.p .. 'ready:' .. u.class)] = nil
    redis.call('DEL', (lane.p .. 'ready:' .. u.class))
    local kind = string.sub(u.class, 2)
    if not F.isKindUsed(classes, kind) then lane.lasts[kind] = nil end
  end
  u.class, u.ready = false, false
end

-- It keeps its tag.
function F.changeFamily(u)
  local lasts, kind = u.lane.lasts, string.sub(u.class, 2)
  local last = lasts[kind]
  F.displace(u)
  if F.joinClass(u) == kind then lasts[kind] = last end
  F.indexUser(u, true)
end

function F.listOf(lane, id)
  lane.lists = lane.lists or {}
  local list = lane.lists[id]
  if list then return list end
  local got = redis.call('HMGET', (lane.p .. 'list:' .. id), 'c', 'e')
  list = { id = id, clock = tonumber(got[1] or 0) }
  if tonumber(got[2] or 0) ~= lane.epoch then list.clock = 0 end
  lane.lists[id] = list
  return list
end

-- Where a user stands that joins now: at the lane's virtual time, or where a slower list of its
-- own has got to, so that it waits for nobody that its workers do not serve.
function F.joinTag(u)
  local lane, v = u.lane, u.lane.v
  for i = 1, u.lists and #u.lists or 0 do
    local key = (lane.p .. 'list-ready:' .. (u.lists[i]))
    F.flushKey(key)
    local head = redis.call('ZRANGE', key, 0, 0)[1]
    if head then
      v = math.min(v, math.max(F.listOf(lane, u.lists[i]).clock, F.startOf(F.userOf(lane, head))))
    end
  end
  return v
end

function F.place(u)
  local lane, assigned = u.lane, u.lists and F.onAssigned(u) or false
  local weight = u.set.weight
  if u.ready and u.ep ~= lane.epoch then F.Timed_recount(u) end
  if u.ready and u.w == weight then
    if (u.assigned or false) ~= assigned then
      u.assigned = assigned
      F.changeFamily(u)
    end
    return
  end
  local v, kept = u.lists and F.joinTag(u) or lane.v, u.ep == lane.epoch and u.s or 0
  -- Also of one that was not ready meanwhile: its tag is in turns of the weight it had.
  if u.w ~= weight then
    kept = math.ceil(v * F.Tag_scale(weight)) + math.max(0, math.ceil(kept - v * F.Tag_scale(u.w)))
  end
  if u.ready then F.displace(u) end
  u.ep, u.w, u.assigned, u.entered = lane.epoch, weight, assigned, true
  local kind, lasts = F.joinClass(u), lane.lasts
  local last = lasts[kind] or -1
  u.s, lasts[kind] = F.Tag_enter(kept, v, weight, last)
  -- Tags of different weights have no order: those who share a class are counted.
  if u.shared then lasts[kind] = last + 1 end
  F.indexUser(u, true)
end

function F.throttle(u, till)
  if till then
    F.move('throttled', (#u.lane.queue .. ':' .. u.lane.queue .. u.name), till)
  elseif u.throttled then
    F.move('throttled', (#u.lane.queue .. ':' .. u.lane.queue .. u.name), false)
  end
  u.throttled = till and true or false
  u.throttledTill = till
end

-- When the rate of a user allows its next start; nil: now.
function F.rateTill(u)
  local rate = u.set.rate
  local allowed = math.floor(u.tat - (rate.burst - 1) * (rate.perMs / rate.limit))
  return allowed > now and allowed or nil
end

function F.reindex(u)
  local lane, set, room, queued = u.lane, u.set, 0, u.queued
  F.touch(u)
  if u.plain and set.maxRunning < INF then F.countTasks(u) end
  if queued > 0 and not set.paused then
    room = set.maxRunning - u.running
    if room > queued then room = queued end
    if room < 0 then room = 0 end
  end
  local till = room > 0 and set.rate and F.rateTill(u) or nil
  if till or u.throttled then F.throttle(u, till) end
  if till then room = 0 end
  if room > 0 then
    F.place(u)
  elseif u.ready then
    F.displace(u)
  end
  local gained = room - u.room
  if gained == 0 then return end
  u.room = room
  lane.runnable = lane.runnable + gained
  if gained > 0 then
    lane.gain = lane.gain + gained
    if u.lists then
      lane.gainers = lane.gainers or {}
      lane.gainers[u.name] = u
    end
  end
end

function F.saveOutcomes()
  for worker, came in pairs(outcomes) do
    local key = (prefix .. 'worker:' .. worker)
    if redis.call('HEXISTS', key, 't') == 1 then
      for field, more in pairs(came) do redis.call('HINCRBY', key, field, more) end
    end
  end
end

function F.forgetWorker(id)
  redis.call('DEL', (prefix .. 'worker:' .. id))
  redis.call('ZREM', (prefix .. 'workers'), id)
end

-- A woken worker leaves every line that it stands in. `token` false: it left by itself.
function F.Line_leaveLines(worker, packed, token)
  if packed ~= '' then
    local lines = cmsgpack.unpack(packed)
    for i = 1, #lines, 2 do
      redis.call('ZREM', ((((lines[i]) == 'default' and prefix or prefix .. 'lane:' .. (lines[i]) .. ':')) .. 'idle-workers:' .. (lines[i + 1])), worker)
    end
    C.waiting = C.waiting - 1
  end
  if token then
    redis.call('RPUSH', (prefix .. 'wake:' .. worker), '1')
    redis.call('PEXPIRE', (prefix .. 'wake:' .. worker), 2 * 5000)
    redis.call('HSET', (prefix .. 'worker:' .. worker), 'i', '')
  else
    redis.call('HDEL', (prefix .. 'worker:' .. worker), 'i')
  end
end

-- Wakes the worker if it waits; a line that it does not know of is cleaned of it.
function F.Line_wakeWorker(worker)
  local packed = redis.call('HGET', (prefix .. 'worker:' .. worker), 'i')
  if not packed or packed == '' then return false end
  F.Line_leaveLines(worker, packed, true)
  return true
end

-- Wakes up to `most` of one line, those that wait longest first; says how many are left to wake.
function F.Line_wakeLine(lane, line, most)
  local key = (lane.p .. 'idle-workers:' .. line)
  while most > 0 do
    local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    local worker = head[1]
    if not worker then return most end
    local stale = now - head[2] > 1.2 * 5000 + 1000
    if stale then
      local packed = redis.call('HGET', (prefix .. 'worker:' .. worker), 'i')
      if packed then F.Line_leaveLines(worker, packed, false) end
    elseif F.Line_wakeWorker(worker) then
      most = most - 1
    end
    redis.call('ZREM', key, worker)
  end
  return 0
end

-- Hands tokens for work that this lane can give: to unrestricted workers, then to those whose
-- lists the users that gained it are on.
function F.Line_wakeFor(lane, most, lists)
  if C.waiting <= 0 or lane.runnable == 0 then return end
  local left = F.Line_wakeLine(lane, '*', math.min(most, lane.runnable, 16))
  for i = 1, lists and #lists or 0 do
    if left > 0 then left = F.Line_wakeLine(lane, lists[i], left) end
  end
end

function F.Line_wakeGained(lane)
  local lists, known = {}, {}
  for _, u in pairs(lane.gainers or {}) do
    for i = 1, u.lists and #u.lists or 0 do
      local list = u.lists[i]
      if not known[list] then
        known[list] = true
        lists[#lists + 1] = list
      end
    end
  end
  F.Line_wakeFor(lane, lane.gain, lists)
end

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

function F.readEar(t)
  local ear = redis.call('HGET', (prefix .. 'ears'), t.id)
  if not ear then return end
  t.dependents = string.byte(ear) == 100
  t.w = string.find(ear, ' ', 1, true) and string.sub(ear, t.dependents and 2 or 1) or nil
  t.hasEar = true
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

function F.ownerOf(t)
  if not t.user then F.owned(t) end
  return F.userOf(F.laneOf(t.queue), t.user)
end

function F.change(t)
  if t.dirty then return end
  t.dirty = true
  changed[#changed + 1] = t
end

-- Everything about it that is neither its text nor its lease nor its end; nil when there is nothing.
function F.packFacts(t)
  local flags = (t.left and 1 or 0) + (t.hasAttempts and 2 or 0)
    + (t.canceling and 4 or 0) + (t.inCascade and 16 or 0)
  local resting = t.state ~= 'started' and not F.isEnd(t.state)
  local o = resting and t.token ~= '' and t.token .. '\0' .. t.worker or nil
  if o and t.isSettled then flags = flags + 8 end
  local y = t.y and next(t.y) and t.y or nil
  local place = PLACES[t.state] or 0
  if place == 0 and flags == 0 and t.seq == 0 and t.failures == 0 and t.losses == 0 and t.releases == 0
    and t.readers == 0 and not t.x and not y and not o and (F.isEnd(t.state) or t.at == 0) then
    return nil
  end
  local packed = struct.pack('<BBdIIIdI', place, flags, t.seq, t.failures, t.losses, t.releases,
    F.isEnd(t.state) and 0 or t.at, t.readers)
  if not (t.x or y or o) then return packed end
  return packed .. cmsgpack.pack({ x = t.x, y = y, o = o })
end

function F.setKind(t, bit, on)
  local has = t.kind % (2 * bit) >= bit
  if has == on then return end
  t.kind = t.kind + (on and bit or -bit)
  t.f = string.sub(t.f, 1, 26) .. t.kind .. string.sub(t.f, 28)
  t.textChanged = true
end

-- Writes of a step, gathered by key: field, value, field, value, …
function F.gather(writes, key, field, value)
  local row = writes[key]
  if not row then
    row = {}
    writes[key] = row
  end
  local n = #row
  row[n + 1], row[n + 2] = field, value
end

function F.saveTask(t, writes)
  if t.isGone then return end
  local packed = F.packFacts(t)
  if packed then
    F.gather(writes, (prefix .. 'facts'), t.id, packed)
  elseif t.hasFacts then
    redis.call('HDEL', (prefix .. 'facts'), t.id)
  end
  t.hasFacts = packed and true or false
  F.setKind(t, 4, t.hasFacts)
  if t.textChanged then F.gather(writes, (prefix .. 'tasks'), t.id, t.f) end
  t.textChanged = false
  if t.state == 'started' then
    if not t.queue then F.owned(t) end
    F.gather(writes, (prefix .. 'hot:' .. t.worker), t.id,
      struct.pack('<ddIBxxxxxxxxxxxx', t.leasedAt, t.leaseUntil, t.chargedEpoch,
        (t.hasFacts and 1 or 0) + (t.isCounted and 2 or 0)) .. t.queue .. '\0' .. t.token)
  elseif F.isEnd(t.state) then
    F.gather(writes, (prefix .. 'ends'), t.id, struct.pack('<Bddd', CODES[t.state] + (t.isSettled and 16 or 0), t.at,
      t.leasedAt, t.endStamp) .. t.token .. '\0' .. t.worker .. '\0' .. (t.result or ''))
  end
end

-- Takes leases out that are over; whoever reads those of workers, or writes new ones, calls it before.
function F.dropLeases()
  for worker, ids in pairs(leasesOver) do
    for i = 1, #ids, 500 do redis.call('HDEL', (prefix .. 'hot:' .. worker), unpack(ids, i, math.min(#ids, i + 499))) end
  end
  leasesOver = {}
end

function F.restWorker(worker)
  redis.call('ZREM', (prefix .. 'leases'), worker)
  local head = redis.call('ZRANGE', (prefix .. 'leases'), 0, 0, 'WITHSCORES')
  H.started = head[2] and tonumber(head[2]) or INF
end

-- Workers with new leases join those that have any; one that has none left leaves.
function F.saveLeases()
  local left = false
  F.dropLeases()
  for worker, till in pairs(leasedUntil) do
    if till then
      redis.call('ZADD', (prefix .. 'leases'), 'LT', till, worker)
    elseif redis.call('EXISTS', (prefix .. 'hot:' .. worker)) == 0 then
      redis.call('ZREM', (prefix .. 'leases'), worker)
      left = true
    end
  end
  leasedUntil = {}
  if not left then return end
  local head = redis.call('ZRANGE', (prefix .. 'leases'), 0, 0, 'WITHSCORES')
  H.started = head[2] and tonumber(head[2]) or INF
end

function F.saveKeys()
  for name, key in pairs(keyring) do
    if key.dirty then
      if not key.o then
        redis.call('DEL', name)
      else
        redis.call('HSET', name, 'k', cmsgpack.pack({ o = key.o, f = key.f, p = key.p,
          u = key.u, n = key.n, e = key.e, g = key.g, a = key.a }))
        if key.e then
          local till = math.max(key.e + 60000, key.u or 0)
          redis.call('PEXPIRE', name, math.max(till - now, 0) + 60000)
        else
          redis.call('PERSIST', name)
        end
      end
    end
  end
end

-- Writes who has ended in this step; whoever looks at the lists calls it before.
function F.flushEnded()
  for state, ids in pairs(endings) do
    for i = 1, #ids, 500 do
      redis.call('RPUSH', (prefix .. 'ended:' .. state), unpack(ids, i, math.min(#ids, i + 499)))
    end
  end
  endings = {}
end

-- The queue begins to charge by something else: tags of before are worth a turn at most.
function F.Timed_recount(u)
  local lane = u.lane
  F.indexUser(u, false)
  local most = lane.v * F.Tag_scale(u.w) + 67108864
  if u.s > most then u.s = u.s - math.ceil((u.s - most) / 1024) * 1024 end
  u.ep = lane.epoch
  F.indexUser(u, true)
end

function F.Due_holders()
  local comma = string.find(C.alarms, ',', 1, true)
  return string.sub(C.alarms, 1, comma - 1), string.sub(C.alarms, comma + 1)
end

-- A worker that leases is awake, so it holds no alarm; true when it was the first holder.
function F.Due_dropAlarm(worker)
  local one, two = F.Due_holders()
  if one == worker then
    C.alarms = ',' .. two
    C.alarm = INF
    return true
  end
  if two == worker then C.alarms = one .. ',' end
  return false
end

-- Something falls due before the first holder wakes: it is woken, and sets the alarm anew.
function F.Due_alarmEarlier()
  local one, two = F.Due_holders()
  if F.Line_wakeWorker(one) then
    C.alarms = ',' .. two
    C.alarm = INF
  end
end

function F.Step_loseTags(lane)
  Z[(lane.p .. 'kept-tags')] = nil
  for _, u in pairs(lane.users) do u.isKept = false end
end

-- Keeps the tag of a user with nothing to do until then in virtual time; false: not any more.
function F.Step_setIdle(u, till)
  if (u.idle or false) == (till and true) then return end
  local lane = u.lane
  u.idle = till and true
  if till then
    F.zset((lane.p .. 'idle:' .. lane.epoch), u.name, till)
    if till < lane.idleLeast then lane.idleLeast = till end
    return
  end
  F.zset((lane.p .. 'idle:' .. u.idleEpoch), u.name, false)
  if u.idleEpoch == lane.epoch then lane.idleMoved = true end
end

-- A user without a record: its tag is kept while it is ahead, its name while anything is known of it.
function F.Step_rememberPlain(u)
  local lane = u.lane
  local keep = not u.ready and u.ep == lane.epoch and u.w == 100 and F.Tag_keptUntil(u.s, u.w) > lane.v
  if keep ~= (u.isKept or false) then
    lane.tags, u.isKept = lane.tags + (keep and 1 or -1), keep
    F.zset((lane.p .. 'kept-tags'), u.name, keep and u.s)
  elseif keep then
    F.zset((lane.p .. 'kept-tags'), u.name, u.s)
  end
  if u.entered then F.zset((lane.p .. 'users'), u.name, 0) end
  if not (u.ready or keep) then lane.stale = true end
end

function F.Step_forget(u)
  local lane = u.lane
  local needs = F.needsRecord(u) and true or false
  if u.ready and not u.assigned and (string.byte(u.class) == 112) == needs then F.changeFamily(u) end
  if not needs then
    if not u.plain then
      F.Step_setIdle(u, false)
      if not u.fresh then redis.call('DEL', u.key) end
      u.plain, u.isKept, u.entered, u.fresh = true, false, true, true
    end
    return F.Step_rememberPlain(u)
  end
  if u.plain then
    F.countTasks(u)
    if u.running > 0 then F.countLeases(u) end
    if u.isKept then
      lane.tags, u.isKept = lane.tags - 1, false
      F.zset((lane.p .. 'kept-tags'), u.name, false)
    end
    u.plain = false
  end
  if u.live > 0 or (u.lists and #u.lists > 0) or u.kept then
    F.Step_setIdle(u, false)
    return F.saveUser(u)
  end
  local till = u.ep == lane.epoch and F.Tag_keptUntil(u.s, u.w)
  local keep = till and till > lane.v
  -- A spent rate is remembered too, or whoever drains its line would start with a fresh one.
  local spent = u.set.rate and u.tat > now
  F.Step_setIdle(u, keep and till)
  if spent or u.throttled then F.throttle(u, spent and u.tat or nil) end
  if keep or spent then return F.saveUser(u) end
  if not u.fresh then redis.call('DEL', u.key) end
  F.zset((lane.p .. 'users'), u.name, false)
end

-- The user's key among those with due tasks: the least due time, but never before `dueFloor`.
function F.Step_saveDue(u)
  local head = redis.call('ZRANGE', (u.lane.p .. 'scheduled:' .. u.name), 0, 0, 'WITHSCORES')
  local due = head[2] and tonumber(head[2])
  if due and u.dueFloor and due < u.dueFloor then due = u.dueFloor end
  u.dueFloor = nil
  F.move('scheduled-users', (#u.lane.queue .. ':' .. u.lane.queue .. u.name), due or false)
end

function F.Step_saveDueUsers()
  local any = false
  for _, lane in ipairs(touched) do
    for _, u in ipairs(lane.dirty or NONE) do
      if u.dueChanged then
        u.dueChanged = nil
        F.flushKey((lane.p .. 'scheduled:' .. u.name))
        F.Step_saveDue(u)
        any = true
      end
    end
  end
  if any then F.flushIndex('scheduled-users') end
end

function F.Step_publishEnds()
  for _, t in ipairs(published) do
    for channel in string.gmatch(t.w, '[^ ]+') do redis.call('PUBLISH', channel, t.id) end
  end
end

-- Writes the records that changed; what follows may change them again.
function F.Step_saveTasks()
  local writes = {}
  for i = 1, #changed do
    local t = changed[i]
    F.saveTask(t, writes)
    t.dirty = false
  end
  changed = {}
  for key, row in pairs(writes) do
    for i = 1, #row, 500 do redis.call('HSET', key, unpack(row, i, math.min(#row, i + 499))) end
  end
end

function F.Step_writeAll()
  if C.dueChanged then F.Step_saveDueUsers() end
  for _, lane in ipairs(touched) do
    F.Step_restIfIdle(lane)
    for _, u in ipairs(lane.dirty or NONE) do F.Step_forget(u) end
  end
  F.dropLeases()
  F.flushEnded()
  F.Step_saveTasks()
  if next(leasedUntil) then F.saveLeases() end
  F.flushSets()
  if next(keyring) then F.saveKeys() end
  if next(outcomes) then F.saveOutcomes() end
end

-- The user moves to or from a list: its places in all of them are written anew.
function F.Lists_changeLists(u, lists)
  if u.ready then F.indexUser(u, false) end
  u.lists = #lists > 0 and lists or nil
  u.changed = true
  F.touch(u)
  if u.ready then F.indexUser(u, true) end
  F.reindex(u)
end

function F.Lists_withoutList(u, list)
  local rest = {}
  for _, other in ipairs(u.lists or {}) do
    if other ~= list then rest[#rest + 1] = other end
  end
  return rest
end

-- The worker leaves its lists, but for those in `kept` (by queue and list); those that nobody has
-- any more are dropped in steps.
function F.Lists_leaveLists(worker, kept)
  local got = redis.call('HMGET', (prefix .. 'worker:' .. worker), 'q', 'l')
  if not got[1] or not got[2] then return end
  local lists = cmsgpack.unpack(got[2])
  for queue in string.gmatch(got[1], '[^,]+') do
    local p = (queue == 'default' and prefix or prefix .. 'lane:' .. queue .. ':')
    for kind, list in pairs(lists) do
      local stays = list == 'any' or (kept and kept[(#queue .. ':' .. queue .. list)])
      if not stays and redis.call('SREM', (p .. 'list-workers:' .. list), worker) == 1
        and redis.call('EXISTS', (p .. 'list-workers:' .. list)) == 0 then
        redis.call('SADD', (prefix .. 'dropping'), (#queue .. ':' .. queue .. list))
        C.dropping = 1
      end
    end
  end
end

-- Takes up to `most` names off a list that goes; says how many.
function F.Lists_dropNames(pair, most)
  local length, at_ = string.match(pair, '^(%d+):()')
  local queue, list = string.sub(pair, at_, at_ + length - 1), string.sub(pair, at_ + length)
  local lane = F.laneOf(queue)
  local names = redis.call('SPOP', (lane.p .. 'list-names:' .. list), most)
  for _, name in ipairs(names) do
    local u = F.userOf(lane, name)
    F.Lists_changeLists(u, F.Lists_withoutList(u, list))
  end
  if redis.call('EXISTS', (lane.p .. 'list-names:' .. list)) == 0 then
    F.flushKey((lane.p .. 'list-ready:' .. list))
    F.flushKey((lane.p .. 'orphans:' .. list))
    redis.call('DEL', (lane.p .. 'list:' .. list), (lane.p .. 'list-ready:' .. list), (lane.p .. 'orphans:' .. list))
    redis.call('SREM', (prefix .. 'dropping'), pair)
  end
  return #names
end

-- Takes up to `most` names off lists that nobody has any more; true when some are left.
function F.Lists_dropLists(most)
  local left = most
  for _, pair in ipairs(redis.call('SMEMBERS', (prefix .. 'dropping'))) do
    if left > 0 then left = left - F.Lists_dropNames(pair, left) end
  end
  return redis.call('EXISTS', (prefix .. 'dropping')) == 1
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

local worker = ARGV[1]
local got = redis.call('HMGET', (prefix .. 'worker:' .. worker), 'n', 'i', 'q', 't')
if not got[4] then return F.unchanged({ 'ok' }) end
redis.call('DEL', (prefix .. 'oom'))
F.Lists_leaveLists(worker)
if got[2] then F.Line_leaveLines(worker, got[2], false) end
F.Due_dropAlarm(worker)
redis.call('DEL', (prefix .. 'wake:' .. worker))
F.forgetWorker(worker)
F.move('listed-workers', worker, false)
for name in string.gmatch(got[1], '[^,]+') do redis.call('ZADD', (prefix .. 'names'), now, name) end
redis.call('ZREMRANGEBYSCORE', (prefix .. 'names'), '-inf', now - 3600000)
if C.dropping > 0 then F.Lists_dropLists(500) end
F.writeStep()
if got[2] == '' then
  for queue in string.gmatch(got[3], '[^,]+') do F.Line_wakeFor(F.laneOf(queue), 1) end
end
F.closeStep()
return { 'ok' }
