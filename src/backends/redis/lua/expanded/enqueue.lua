-- Stores tasks: all or none, or each on its own.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  atomic   '1': a refusal of one leaves nothing; '0' and, behind it, the token and the id of
--                   a lease that must be in force, parted by NUL
-- ARGV[2..]  items  as in lib/store-many.lua
-- Returns  'created' and how many, when all were; else for each item 'c' when it was, else the reply as JSON
-- Cost     O(items × log tasks)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { saveClock = 0, newLane = 0, readLane = 0, laneOf = 0, touchLane = 0, saveLane = 0, Tag_scale = 0, Tag_seated = 0, Tag_enter = 0, Step_restIfIdle = 0, Step_finishLane = 0, writeStep = 0, closeStep = 0, Store_isOther = 0, Store_isRoomy = 0, Store_join = 0, Store_texts = 0, Store_many = 0 }

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

local rich = false

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

function F.touchLane(lane)
  if lane.isTouched then return end
  lane.isTouched = true
  touched[#touched + 1] = lane
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

-- Grains of a user of this weight in one unit of virtual time.
function F.Tag_scale(w) return w * 67108864 / 100 end

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

-- Nobody ready, parked or running: virtual time starts at 0, and kept tags are worth nothing. Where
-- time is charged, a tag may have been corrected upwards while virtual time stood still.
function F.Step_restIfIdle(lane)
  if lane.counts.queued > 0 or lane.counts.started > 0 then return end
  if lane.v == 0 and not lane.timed then return end
  lane.v = 0
  F.Step_newEpoch(lane)
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

-- Whether the user has a record in the queue, or settings that ask for one.
function F.Store_isOther(lane, user)
  if C.configs > 0 then
    return redis.call('EXISTS', (lane.p .. 'user:' .. user), (prefix .. 'user-config:' .. user)) > 0
  end
  return redis.call('EXISTS', (lane.p .. 'user:' .. user)) > 0
end

-- A queue's users need no records, and one more may join the class of those with the weight 100.
function F.Store_isRoomy(lane)
  if lane.config.perUser or lane.timed then return false end
  if lane.lasts.w100 then return true end
  local n = 0
  for _ in pairs(lane.classes) do n = n + 1 end
  return n < 31
end

-- Nothing of the user waited: it gets its tag.
function F.Store_join(lane, user)
  local kept = lane.tags > 0 and redis.call('ZSCORE', (lane.p .. 'kept-tags'), user)
  if kept then
    redis.call('ZREM', (lane.p .. 'kept-tags'), user)
    lane.tags = lane.tags - 1
  end
  local tag, last = F.Tag_enter(kept and kept + 0 or 0, lane.v, 100, lane.lasts.w100 or -1)
  lane.lasts.w100 = last
  local classes = lane.classes
  classes.pw100 = (classes.pw100 or 0) + 1
  if classes.pw100 == 21 then F.spread((lane.p .. 'ready:' .. 'pw100')) end
  lane.w, lane.ready = lane.w + 100, lane.ready + 1
  redis.call('ZADD', (lane.p .. 'ready:' .. 'pw100'), string.format('%d', tag), user)
  redis.call('ZADD', (lane.p .. 'users'), '0', user)
end

-- The texts of all tasks, and long payloads.
function F.Store_texts(n, blobs)
  local first, created = blobs - n, string.format('%013.0f', now)
  local stamp = C.stamp
  C.stamp = stamp + n
  if n == 1 then
    redis.call('HSET', (prefix .. 'tasks'), ARGV[first + 1], created .. string.format('%012x', stamp + 1) .. ARGV[blobs + 1])
  else
    local rows, k = {}, 0
    for i = 1, n do
      rows[k + 1] = ARGV[first + i]
      rows[k + 2] = created .. string.format('%012x', stamp + i) .. ARGV[blobs + i]
      k = k + 2
    end
    redis.call('HSET', (prefix .. 'tasks'), unpack(rows))
  end
  local long = blobs + n
  for i = long + 1, #ARGV do
    local at_ = ARGV[i]
    -- Place and payload of each that is long.
    if (i - long) % 2 == 1 then redis.call('HSET', (prefix .. 'payloads'), ARGV[first + at_], ARGV[i + 1]) end
  end
end

-- ARGV from 2: how many tasks, how many of them are not as most are, how many groups follow that have one
-- user and queue each; then size, user and queue of each group, all ids, all blobs, and place and payload
-- of each whose payload is long; then, of each that has other facts, place and these as JSON. Stores all, and says
-- how many; nothing when some must be looked at one by one.
function F.Store_many()
  local n, odd, groups = ARGV[2] + 0, ARGV[3] + 0, ARGV[4] + 0
  if odd > 0 or #ARGV[1] > 1 or H.missing < INF then return end
  local first = 4 + 3 * groups
  local stored = redis.call('HMGET', (prefix .. 'tasks'), unpack(ARGV, first + 1, first + n))
  for i = 1, n do
    if stored[i] then return end
  end
  for at_ = 5, first, 3 do
    local lane = F.laneOf(ARGV[at_ + 2])
    if not F.Store_isRoomy(lane) or F.Store_isOther(lane, ARGV[at_ + 1]) then return end
  end
  F.Store_texts(n, first + n)
  local from = first + 1
  for at_ = 5, first, 3 do
    local size, user, lane = ARGV[at_] + 0, ARGV[at_ + 1], F.laneOf(ARGV[at_ + 2])
    local length = redis.call('RPUSH', (lane.p .. 'line' .. '' .. ':' .. user), unpack(ARGV, from, from + size - 1))
    if length == size then F.Store_join(lane, user) end
    lane.runnable, lane.gain, lane.enqueued = lane.runnable + size, lane.gain + size, lane.enqueued + size
    lane.counts.queued = lane.counts.queued + size
    F.touchLane(lane)
    from = from + size
  end
  return n
end

end
library()

local often = function()

-- A member that is too long for a listpack, and stands behind all users; no name is written so.
function F.spread(key)
  redis.call('ZADD', key, '+inf', string.rep('\255', 65))
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

function F.Due_holders()
  local comma = string.find(C.alarms, ',', 1, true)
  return string.sub(C.alarms, 1, comma - 1), string.sub(C.alarms, comma + 1)
end

-- Something falls due before the first holder wakes: it is woken, and sets the alarm anew.
function F.Due_alarmEarlier()
  local one, two = F.Due_holders()
  if F.Line_wakeWorker(one) then
    C.alarms = ',' .. two
    C.alarm = INF
  end
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

end

local rare = function()

rich = true
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
-- Writes the text of a task that never changes (lib/task.lua).

-- `owned`: packed facts of a task that belongs to a run, if it does.
local function storeText(id, f, long, owned)
  if long then redis.call('HSET', (prefix .. 'payloads'), id, long) end
  if owned then
    redis.call('HSET', (prefix .. 'facts'), id, owned)
    f = string.sub(f, 1, 26) .. string.byte(f, 27) - 44 .. string.sub(f, 28)
  end
  redis.call('HSET', (prefix .. 'tasks'), id, f)
end

-- Packed facts of a task that has no others than the run that it belongs to; nil for others.
local function packedOwner(spec)
  local owner = string.match(spec, '^{"o":"([^"\\]+)"}$')
  return owner and struct.pack('<BBdIIIdI', 0, 0, 0, 0, 0, 0, 0, 0) .. cmsgpack.pack({ x = { o = owner } }),
    owner
end
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

-- Decides what an idempotency key answers to a new task, and remembers which calls it answered.
-- Keys that gather calls: what a call under `debounce` or `throttle` comes to (domain/window.ts).
-- A key of this kind has n, when its window began, and u, when a throttle's ends.
-- @rare

-- @rare

-- How the owners of keys ended whose records are removed, by id.
F.Key_gone = {}

-- Whether a task that others wait for closes a cycle: the twin of domain/cycle-search.ts, as far as one
-- script goes. `self` is the task that is to get edges: its id, user and deps, and the batch that it is
-- of, as of `F.Store_newBatch`.
-- @rare

-- Checks the dependencies of new tasks and registers them.
-- @rare

-- Checks new tasks and stores them. All checks of an atomic batch come before its first write.

-- What this call has written; names: whether any id was known before, ids that it made, those of
-- them that belong to a submission, and the moment of creation as text.
F.Store_wrote, F.Store_anyKnown, F.Store_made, F.Store_kept = false, true, {}, {}
F.Store_submission, F.Store_users, F.Store_named, F.Store_fenced = false, false, false, false

-- Stores batches: all or none, in one script or as a part of a larger one.

-- Stores tasks as most are, all of a call at once.

-- A number that no other has, greater than all before: places in line, and the order of arrival.
function F.stamp()
  C.stamp = C.stamp + 1
  return C.stamp
end

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

-- A member that is new to the index. `text`: the score as it is sent, when the caller has it.
function F.put(name, member, score, text)
  local members = I[name]
  if not members then
    members = {}
    I[name] = members
  end
  members[member] = text or score
  if H[name] and score < H[name] then H[name] = score end
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

function F.before(a, b)
  if byBytes then return a < b end
  local n = math.min(#a, #b)
  for i = 1, n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
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

-- Where a tag stands in virtual time.
function F.Tag_start(tag, w) return tag == 0 and 0 or tag / F.Tag_scale(w) end

function F.Tag_raise(tag, least) return tag < least and F.Tag_seated(tag, least) or tag end

-- What a turn of this cost adds to a tag.
function F.Tag_turn(cost) return math.max(1, math.floor(cost * 67108864 / 1024 + 0.5)) * 1024 end

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

-- One more or less that is scheduled or deferred.
function F.countLater(u, change_)
  local key = (u.lane.p .. 'later')
  u.entered = true
  if redis.call('HINCRBY', key, u.name, change_) == 0 then redis.call('HDEL', key, u.name) end
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

-- A level that runs empty, whatever emptied it, loses its tag, and nothing else.
function F.emptied(u, level)
  if level == 6 or not (u.shares or u.raw) then return end
  F.sharesOf(u).tag[level] = 0
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

-- When it was first put in line: its place among its user's tasks of its level.
function F.placeOf(t)
  return t.seq > 0 and t.seq or F.fixed(t).stamp
end

-- Its member in an index that is ordered by moments: ties go by arrival.
function F.member(t)
  return string.sub(t.f, 14, 25) .. t.id
end

function F.isLong(t)
  return t.kind % 2 == 1
end

function F.payloadOf(t)
  F.fixed(t)
  if F.isLong(t) then return t.long or redis.call('HGET', (prefix .. 'payloads'), t.id) or '' end
  return string.sub(t.f, t.body)
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

-- The rare facts that change, to be changed.
function F.rareOf(t)
  t.y = t.y or {}
  F.change(t)
  return t.y
end

function F.setError(t, text)
  t.error = text
  redis.call('HSET', (prefix .. 'errors'), t.id, text)
end

-- Who waits for it, or for its end: see `ears`.
function F.saveEar(t)
  local ear = (t.dependents and 'd' or '') .. (t.w or '')
  local had = t.hasEar
  t.hasEar = ear ~= ''
  if t.hasEar then redis.call('HSET', (prefix .. 'ears'), t.id, ear) elseif had then redis.call('HDEL', (prefix .. 'ears'), t.id) end
  C.ears = C.ears + (t.hasEar and 1 or 0) - (had and 1 or 0)
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

-- A lease of the worker is over.
function F.leaveLease(worker, id)
  local over = leasesOver[worker]
  if not over then
    over = {}
    leasesOver[worker] = over
  end
  over[#over + 1] = id
  leasedUntil[worker] = leasedUntil[worker] or false
end

-- Takes leases out that are over; whoever reads those of workers, or writes new ones, calls it before.
function F.dropLeases()
  for worker, ids in pairs(leasesOver) do
    for i = 1, #ids, 500 do redis.call('HDEL', (prefix .. 'hot:' .. worker), unpack(ids, i, math.min(#ids, i + 499))) end
  end
  leasesOver = {}
end

-- It may have none left.
function F.mayRest(worker)
  if redis.call('EXISTS', (prefix .. 'hot:' .. worker)) == 0 then F.restWorker(worker) end
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

function F.lineKey(u, level)
  return (u.lane.p .. 'line' .. (level == 3 and '' or level) .. ':' .. u.name)
end

-- How many of a line stand before a place.
function F.rankInLine(key, place)
  local low, high = 0, redis.call('LLEN', key)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local t = F.taskOf(redis.call('LINDEX', key, middle))
    if t and F.placeOf(t) < place then low = middle + 1 else high = middle end
  end
  return low
end

-- To the end of its line; where it stood before, when it has been in line already.
function F.joinLine(t, u, again)
  t.isTaken = false
  local key = F.lineKey(u, t.level)
  if not again then return redis.call('RPUSH', key, t.id) end
  local rank = F.rankInLine(key, F.placeOf(t))
  local next_ = redis.call('LINDEX', key, rank)
  if not next_ then
    redis.call('RPUSH', key, t.id)
  elseif rank == 0 then
    redis.call('LPUSH', key, t.id)
  else
    redis.call('LINSERT', key, 'BEFORE', next_, t.id)
  end
end

function F.leaveLine(t, u)
  if t.isTaken then return end
  redis.call('LREM', F.lineKey(u, t.level), 1, t.id)
end

function F.countFollower(t, lane, change)
  local cause = t.y and t.y.ca and cjson.decode(t.y.ca)
  if not cause or not (cause.type == 'upstream' or cause.task) then return end
  local key = (lane.p .. 'fair')
  redis.call('HINCRBY', key, 'fo', change)
  if change > 0 then redis.call('HINCRBY', key, 'fe', change) end
end

function F.setState(t, u, state)
  t.state = state
  u.lane.counts[state] = u.lane.counts[state] + 1
  F.change(t)
end

-- `atOnce`: it is new, and its place is that of its arrival.
function F.enterQueue(t, u, atOnce)
  F.fixed(t)
  local again = t.seq > 0
  if not again and not atOnce then t.seq = F.stamp() end
  F.setState(t, u, 'queued')
  F.joinLine(t, u, again)
  u.cnt[t.level] = u.cnt[t.level] + 1
  u.queued = u.queued + 1
  F.reindex(u)
end

-- The user's key among those with due tasks is looked up at the end of the step.
function F.dueChanged(u)
  u.dueChanged, C.dueChanged = true, true
  F.touch(u)
end

function F.enterScheduled(t, u, due)
  t.at = due
  F.setState(t, u, 'scheduled')
  F.put('scheduled', F.member(t), due)
  F.zset((u.lane.p .. 'scheduled:' .. u.name), F.member(t), due)
  F.countLater(u, 1)
  F.dueChanged(u)
end

function F.enterDeferred(t, u)
  t.at = 0
  F.setState(t, u, 'deferred')
  F.put('deferred', t.id, F.fixed(t).stamp)
  F.countLater(u, 1)
  F.touch(u)
end

-- It stands in line no more; whoever calls this has taken it out.
function F.dropQueued(t, u)
  local level = F.fixed(t).level
  u.cnt[level] = u.cnt[level] - 1
  u.queued = u.queued - 1
  if u.cnt[level] == 0 then F.emptied(u, level) end
end

function F.leave(t, u)
  local state = t.state
  if state == 'queued' then
    F.fixed(t)
    F.leaveLine(t, u)
    F.dropQueued(t, u)
  else
    if state == 'started' then
      F.leaveLease(t.worker, t.id)
    elseif F.isEnd(state) then
      F.leaveEnded(t)
    else
      F.move(state, state == 'scheduled' and F.member(t) or t.id, false)
    end
    if state == 'scheduled' or state == 'deferred' then F.countLater(u, -1) end
    if state == 'scheduled' then
      F.zset((u.lane.p .. 'scheduled:' .. u.name), F.member(t), false)
      F.dueChanged(u)
    elseif state == 'started' then
      u.running = u.running - 1
      if u.lane.timed then F.Timed_settle(t, u) end
    elseif state == 'failed' then
      F.countFollower(t, u.lane, -1)
    end
  end
  u.lane.counts[state] = u.lane.counts[state] - 1
  F.touch(u)
end

-- The key in the deadline index: the least of the limits of the start, of the wait, of a suspension.
function F.setDeadline(t)
  local x = t.x
  if not x then return end
  local least = x.ex
  if x.wu and (not least or x.wu < least) then least = x.wu end
  if x.wk and (not least or x.wk < least) then least = x.wk end
  if least == x.dl then return end
  F.move('deadlines', F.member(t), least or false)
  x.dl = least
  F.change(t)
end

function F.becomeDue(t, u)
  F.leave(t, u)
  if t.x and F.isBlocked(t) then F.enterDeferred(t, u) else F.goOn(t, u) end
end

-- Nothing blocks a task that stands nowhere: it goes on, a join to its end.
function F.goOn(t, u)
  if not (t.x and t.x.j) then return F.enterQueue(t, u) end
  F.enterDeferred(t, u)
  F.endTask(t, u, 'finished', { result = 'null' })
end

function F.keyState(queue, user, key)
  local name = (prefix .. 'key:' .. queue .. ':' .. (#user .. ':' .. user .. key))
  local known = keyring[name]
  if known then return known end
  local packed = redis.call('HGET', name, 'k')
  local entry = packed and cmsgpack.unpack(packed) or {}
  known = { name = name, key = key, o = entry.o, f = entry.f, p = entry.p, u = entry.u,
    n = entry.n, e = entry.e, g = entry.g, a = entry.a or {} }
  keyring[name] = known
  return known
end

function F.firstDigest(t)
  return t.x and t.x.fp or redis.sha1hex(F.payloadOf(t))
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

-- The owner has ended: its follower inherits the key, or the key is free.
function F.releaseKey(t, u)
  local key = F.keyState(u.lane.queue, u.name, t.x.k)
  if key.f == t.id then
    key.f = nil
    key.dirty = true
  elseif key.o == t.id then
    if key.f then
      key.o, key.f = key.f, nil
      key.p = F.firstDigest(F.taskOf(key.o))
    else
      key.e = now
    end
    key.dirty = true
  end
end

function F.enterEnded(t)
  t.endStamp = F.stamp()
  local row = endings[t.state]
  if not row then
    row = {}
    endings[t.state] = row
  end
  row[#row + 1] = t.id
  if now < H[t.state] then H[t.state] = now end
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

-- How many of those that have ended so did before a stamp.
function F.rankOfEnd(key, stamp)
  F.flushEnded()
  local low, high = 0, redis.call('LLEN', key)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local at_, t = middle, false
    -- Holes say nothing; whoever stands behind them does.
    while at_ < high and not t do
      local id = redis.call('LINDEX', key, at_)
      t = id ~= '' and F.taskOf(id)
      if not t then at_ = at_ + 1 end
    end
    if t and (t.endStamp or 0) < stamp then low = at_ + 1 else high = middle end
  end
  return low
end

-- Its rank in its list; nil when it is not there.
function F.findEnded(t)
  local key = (prefix .. 'ended:' .. t.state)
  local rank = F.rankOfEnd(key, t.endStamp or 0)
  while redis.call('LINDEX', key, rank) == '' do rank = rank + 1 end
  if redis.call('LINDEX', key, rank) == t.id then return rank end
end

function F.leaveEnded(t)
  if redis.call('ZREM', (prefix .. 'kept:' .. t.state), t.id) == 1 then return end
  local key, rank = (prefix .. 'ended:' .. t.state), F.findEnded(t)
  if not rank then return end
  if rank == 0 then
    redis.call('LPOP', key)
    return F.dropHoles(t.state)
  end
  redis.call('LSET', key, rank, '')
  redis.call('HINCRBY', (prefix .. 'holes'), t.state, 1)
end

-- No list begins with a hole.
function F.dropHoles(state)
  local key, dropped = (prefix .. 'ended:' .. state), 0
  while redis.call('LINDEX', key, 0) == '' do
    redis.call('LPOP', key)
    dropped = dropped + 1
  end
  if dropped == 0 then return end
  if redis.call('HINCRBY', (prefix .. 'holes'), state, -dropped) == 0 then redis.call('HDEL', (prefix .. 'holes'), state) end
end

-- Nobody reads it any more: it stands again where it ended.
function F.backAmongEnded(t)
  local key = (prefix .. 'ended:' .. t.state)
  if redis.call('ZREM', (prefix .. 'kept:' .. t.state), t.id) == 0 then return end
  local next_ = redis.call('LINDEX', key, F.rankOfEnd(key, t.endStamp))
  if not next_ then
    redis.call('RPUSH', key, t.id)
  elseif redis.call('LINDEX', key, 0) == next_ then
    redis.call('LPUSH', key, t.id)
  else
    redis.call('LINSERT', key, 'BEFORE', next_, t.id)
  end
  if t.at < H[t.state] then H[t.state] = t.at end
end

function F.endTask(t, u, state, ending)
  local lane = u.lane
  F.leave(t, u)
  F.setState(t, u, state)
  t.at = now
  F.enterEnded(t)
  if ending.cause then F.rareOf(t).ca = ending.cause end
  if state == 'failed' then F.countFollower(t, lane, 1) end
  if ending.error then F.setError(t, ending.error) end
  t.result = ending.result
  t.canceling = false
  local x = t.x
  if x then
    x.ex, x.wu, x.wk = nil, nil, nil
    F.setDeadline(t)
    if x.k then F.releaseKey(t, u) end
  end
  u.live = u.live - 1
  lane[state] = lane[state] + 1
  if t.w then published[#published + 1] = t end
  local reads = x and (x.d or x.s) and true or false
  if reads or t.dependents then
    t.inCascade, t.left = true, not reads
    F.put('cascade', t.id, t.endStamp)
    standing[#standing + 1] = t.id
  end
  F.reindex(u)
end

-- Whether it is there; one whose time is over by the clock of the namespace is dropped.
function F.Graphs_isAlive(hash)
  local till = tonumber(redis.call('HGET', (prefix .. 'graphmeta:' .. hash), 'till'))
  if till and till > 0 and till <= now then redis.call('DEL', (prefix .. 'graph:' .. hash)) end
  return redis.call('EXISTS', (prefix .. 'graph:' .. hash)) == 1
end

-- A task or a schedule needs the snapshot: it has no end.
function F.Graphs_hold(hash, id)
  redis.call('SADD', (prefix .. 'graph-refs:' .. hash), id)
  redis.call('PERSIST', (prefix .. 'graph:' .. hash))
  redis.call('PERSIST', (prefix .. 'graphmeta:' .. hash))
  redis.call('HSET', (prefix .. 'graphmeta:' .. hash), 'till', '0')
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

-- Where it waits for an id that is missing: the pair of the id and of who would have to store it, ''
-- for anybody.
function F.Deps_missingOf(t, id)
  return (#id .. ':' .. id .. (t.x.g and t.x.g[4] and '' or F.fixed(t).user))
end

-- The task that one of its dependencies is; false when none is stored, or only another user's that it
-- may not depend on.
function F.Deps_upstreamOf(t, id)
  local upstream = F.taskOf(id)
  if not upstream or F.Suspend_waitsFor(t, id) then return upstream end
  return F.Deps_mayDependOn(t, F.fixed(upstream).user) and upstream
end

-- It hears of the end of a task; whoever calls this adds the id to those that block it.
function F.Deps_listen(t, id)
  F.zset((prefix .. 'deps:waiting:' .. id), t.id, F.fixed(t).stamp)
  t.isBlocked = true
end

-- It hears of whoever stores the id for it. Those that wait for what another part of their batch is
-- going to store are not told to be waiting in vain.
function F.Deps_listenMissing(t, id)
  F.zset((prefix .. 'deps:missing:' .. (F.Deps_missingOf(t, id))), t.id, F.fixed(t).stamp)
  t.isBlocked = true
end

function F.Deps_awaitMissing(t, id)
  F.Deps_listenMissing(t, id)
  -- One score for all, so that those of one id stand together.
  F.put('missing', F.Deps_missingOf(t, id), 1)
  F.Cascade_waitFor(t)
end

function F.Deps_blockByMissing(t, id)
  redis.call('SADD', (prefix .. 'deps:blocked:' .. t.id), id)
  F.Deps_awaitMissing(t, id)
end

-- Lifts the limit of a wait when all that a task waits for can end by itself again.
function F.Deps_rewait(t)
  if not (t.x and t.x.wu) then return end
  for _, id in ipairs(redis.call('SMEMBERS', (prefix .. 'deps:blocked:' .. t.id))) do
    local upstream = F.Deps_upstreamOf(t, id)
    if not upstream or F.isEnd(upstream.state) then return end
  end
  t.x.wu = nil
  F.setDeadline(t)
end

-- Takes it out of all that it still waits for; it reads only those that have ended.
function F.Suspend_unlink(t)
  local key, read = (prefix .. 'deps:blocked:' .. t.id), {}
  for _, id in ipairs(t.x.s or NONE) do
    if redis.call('SREM', key, id) == 1 then
      F.zset((prefix .. 'deps:waiting:' .. id), t.id, false)
    else
      read[#read + 1] = id
    end
  end
  t.x.s = #read > 0 and read or nil
  F.change(t)
end

-- Wakes it before all have ended.
function F.Suspend_wake(t, u)
  F.Suspend_unlink(t)
  t.x.wk = nil
  F.change(t)
  F.setDeadline(t)
  F.unblock(t, u)
end

-- One of those that it waits for has ended.
function F.Suspend_tell(upstream, t, u)
  if upstream.state ~= 'finished' and t.x.sp == 'failure' then
    redis.call('SREM', (prefix .. 'deps:blocked:' .. t.id), upstream.id)
    F.addReader(upstream, 1)
    return F.Suspend_wake(t, u)
  end
  F.Cascade_satisfy(upstream, t, u)
end

-- A mean after one more value, in seconds.
function F.Timed_learn(of, held)
  of.mean = of.mean and of.mean + (held - of.mean) / 8 or held
  of.learned = true
end

-- A lease is over: its turn is charged by how long it was held.
function F.Timed_settle(t, u)
  local lane = u.lane
  local held = math.max(0, now - t.leasedAt) / 1000
  F.Timed_learn(u, held)
  F.Timed_learn(lane, held)
  local charged = t.y and t.y.ch
  if not charged then return end
  F.rareOf(t).ch = nil
  if t.chargedEpoch ~= lane.epoch or u.ep ~= lane.epoch then return end
  local before = u.s - F.Tag_turn(charged)
  local s = F.Tag_raise(before + F.Tag_turn(held), lane.v * F.Tag_scale(u.w) - F.Tag_turn(charged))
  if u.ready then F.indexUser(u, false) end
  u.s = s
  if u.ready then F.indexUser(u, true) end
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

function F.isBlocked(t)
  if t.x and t.x.su then return true end
  if not (t.x and (t.x.d or t.x.s)) then return false end
  return redis.call('EXISTS', (prefix .. 'deps:blocked:' .. t.id)) == 1
end

-- Ended tasks with readers stand out of retention's way.
function F.addReader(t, change_)
  t.readers = t.readers + change_
  F.change(t)
  if t.readers == 0 and F.isEnd(t.state) then F.backAmongEnded(t) end
end

function F.Cascade_policyFor(upstream, dependent)
  if upstream.state == 'failed' then return dependent.x.g[1] end
  if upstream.state == 'canceled' then return dependent.x.g[2] end
  return 'run'
end

-- The upstream no longer blocks the dependent, which now reads it.
function F.Cascade_satisfy(upstream, t, u)
  F.addReader(upstream, 1)
  local key = (prefix .. 'deps:blocked:' .. t.id)
  if redis.call('SREM', key, upstream.id) == 0 or redis.call('EXISTS', key) == 1 then return end
  t.x.wu, t.x.wk = nil, nil
  F.setDeadline(t)
  -- `at` is free in line: below zero it tells its first lease how long after that end it was queued.
  if t.state == 'deferred' and t.token == '' and not t.x.su then t.at = upstream.at - now - 1 end
  F.unblock(t, u)
end

-- Nothing blocks the task any more: a join has ended with that, others go on.
function F.unblock(t, u)
  if t.state ~= 'deferred' or t.x.su then return end
  if t.x.j then return F.endTask(t, u, 'finished', { result = 'null' }) end
  F.released(t)
  F.leave(t, u)
  F.enterQueue(t, u)
end

-- The time to start begins now, for a task that was stored so.
function F.released(t)
  if not (t.x and t.x.xr) then return end
  t.x.ex = now + t.x.xr
  F.setDeadline(t)
end

-- Somebody waits for this task, or for its redrive: its end and its removal must look.
function F.markDependents(t)
  if t.dependents then return end
  t.dependents = true
  F.saveEar(t)
end

-- It can wait no longer than this for one that cannot end by itself.
function F.Cascade_waitFor(t)
  if not t.x.wu then
    t.x.wu = now + 2592000000
    F.change(t)
  end
  F.setDeadline(t)
end

function F.Cascade_hold(upstream, t)
  F.zset((prefix .. 'deps:held:' .. upstream.id), t.id, F.fixed(t).stamp)
  F.markDependents(upstream)
  F.Cascade_waitFor(t)
end

-- Why a task ends that an upstream ends, as JSON.
function F.Cascade_causeOf(id, state)
  return cjson.encode({ type = 'upstream', id = id, state = state })
end

function F.Cascade_tell(upstream, t)
  if F.isEnd(t.state) then return end
  local u = F.ownerOf(t)
  if F.Suspend_waitsFor(t, upstream.id) then return F.Suspend_tell(upstream, t, u) end
  local policy = F.Cascade_policyFor(upstream, t)
  if policy == 'run' then
    F.Cascade_satisfy(upstream, t, u)
  elseif policy == 'wait' then
    F.Cascade_hold(upstream, t)
  else
    F.endTask(t, u, policy == 'cancel' and 'canceled' or 'failed',
      { cause = F.Cascade_causeOf(upstream.id, upstream.state) })
  end
end

function F.Cascade_satisfiedMissing(t, id)
  for _, other in ipairs(t.x.m or {}) do
    if other == id then return true end
  end
  return false
end

function F.Cascade_leaveMissing(t, id)
  local pair = F.Deps_missingOf(t, id)
  local key = (prefix .. 'deps:missing:' .. pair)
  F.zset(key, t.id, false)
  F.flushKey(key)
  if redis.call('EXISTS', key) == 0 then F.move('missing', pair, false) end
end

-- It waits for none of its dependencies any more.
function F.Cascade_leaveWaits(t)
  local key = (prefix .. 'deps:blocked:' .. t.id)
  if redis.call('EXISTS', key) == 0 then return end
  for _, id in ipairs(t.x.d or NONE) do
    if redis.call('SISMEMBER', key, id) == 1 then
      local upstream = F.Deps_upstreamOf(t, id)
      if upstream then
        F.zset((prefix .. 'deps:waiting:' .. id), t.id, false)
        F.zset((prefix .. 'deps:held:' .. id), t.id, false)
      end
      -- Who waits for one that is being undone may stand in either place.
      if not upstream or (upstream.x and upstream.x.su) then F.Cascade_leaveMissing(t, id) end
    end
  end
end

-- First part of a cascade: the ended task stops waiting for its own, and reading them; one that
-- failed may be redriven, and a join holds what it joined, so these read on until they are removed.
function F.Cascade_leaveUpstreams(t)
  local key = (prefix .. 'deps:blocked:' .. t.id)
  t.left = true
  F.change(t)
  local x = t.x
  -- A join that has finished waits for nobody, and reads on.
  if x.j and t.state == 'finished' then return 0 end
  local count, reads = #(x.d or NONE) + #(x.s or NONE), t.state == 'failed' or x.j
  if x.s then F.Suspend_unlink(t) end
  F.Cascade_leaveWaits(t)
  if not reads then F.Cascade_leaveReaders(t) end
  if t.state == 'failed' then return count end
  local unread = reads and redis.call('SMEMBERS', key) or NONE
  if #unread > 0 then
    -- A join that was canceled never read these.
    x.m = x.m or {}
    F.change(t)
    for _, id in ipairs(unread) do table.insert(x.m, id) end
  end
  redis.call('DEL', key)
  return count
end

-- It reads none of its upstreams any more.
function F.Cascade_leaveReaders(t)
  local key = (prefix .. 'deps:blocked:' .. t.id)
  local waits = redis.call('EXISTS', key) == 1
  for _, id in ipairs(t.x.d or NONE) do
    local upstream = F.taskOf(id)
    if upstream and not (waits and redis.call('SISMEMBER', key, id) == 1)
      and not F.Cascade_satisfiedMissing(t, id) then
      F.addReader(upstream, -1)
    end
  end
  for _, id in ipairs(t.x.s or NONE) do
    local upstream = F.taskOf(id)
    if upstream then F.addReader(upstream, -1) end
  end
end

-- Tells up to `most` of those that wait for the task; says how many, and whether some are left.
function F.Cascade_tellWaiting(t, most)
  local key = (prefix .. 'deps:waiting:' .. t.id)
  F.flushKey(key)
  local ids = redis.call('ZRANGE', key, 0, most)
  local count = math.min(#ids, most)
  for i = 1, count do
    F.zset(key, ids[i], false)
    local dependent = F.taskOf(ids[i])
    if dependent then F.Cascade_tell(t, dependent) end
  end
  return count, #ids > most
end

-- Takes what has ended since into the line: those that ended first are told first.
function F.Cascade_standIn()
  local line = F.Cascade_line or { at = 1 }
  F.Cascade_line = line
  for i = 1, #standing do
    line[#line + 1] = standing[i]
    standing[i] = nil
  end
  return line
end

-- The id that is told next, by the order of their ends; nil when all are. While none is left over from earlier
-- steps, those of this one need not stand in the index.
function F.Cascade_next()
  if not C.isOlder then
    local line = #standing > 0 and F.Cascade_standIn() or F.Cascade_line or NONE
    while line[line.at or 1] do
      local id = line[line.at]
      if I.cascade and I.cascade[id] then return id end
      line.at = line.at + 1
    end
    return nil
  end
  if I.cascade then F.flushIndex('cascade') end
  if H.cascade == INF then return nil end
  return redis.call('ZRANGE', (CODES['cascade'] and prefix .. 'state:' .. 'cascade' or prefix .. 'cascade'), 0, 0)[1]
end

-- All that wait for it have been told.
function F.Cascade_leave(id)
  if C.isOlder then return F.move('cascade', id, false) end
  I.cascade[id] = nil
  if next(I.cascade) == nil then
    I.cascade = nil
    H.cascade = INF
  end
end

-- Runs the steps of ended tasks, oldest first; true when some are left beyond the budget.
function F.cascade(budget)
  local left = budget
  while true do
    local id = F.Cascade_next()
    if not id then return false end
    if left <= 0 then return true end
    local t = F.taskOf(id)
    if t then
      if not t.left then left = left - F.Cascade_leaveUpstreams(t) end
      local told, more = F.Cascade_tellWaiting(t, math.max(left, 0))
      left = left - told
      if more then return true end
      t.inCascade = false
      F.change(t)
    end
    F.Cascade_leave(id)
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

function F.Window_is(spec)
  return spec.wait or spec.per
end

-- How long from now until a debounced start.
function F.Window_debounced(spec, from)
  if not spec.most then return spec.wait end
  return math.max(0, math.min(spec.wait, from + spec.most - now))
end

-- What the first call under a key comes to.
function F.Window_open(spec)
  if spec.wait then return { due = now + F.Window_debounced(spec, now), from = now } end
  return { due = now, from = now, till = now + spec.per }
end

function F.Window_standing(key)
  local t = not key.g and F.taskOf(key.o)
  if not t or t.token ~= '' or F.isEnd(t.state) then return 'begun' end
  return t.state == 'scheduled' and 'scheduled' or 'waiting'
end

-- What a call comes to while the key holds: 'return', 'replace' and the new due time if there is
-- one, or 'new' and the window that it opens.
function F.Window_step(key, spec)
  local standing = F.Window_standing(key)
  local from, till = key.n or now, key.u or key.n or now
  if spec.wait then
    if standing == 'begun' then return 'new', F.Window_open(spec) end
    return 'replace', standing == 'scheduled' and now + F.Window_debounced(spec, from) or nil
  end
  if not spec.trailing then return 'return' end
  if now >= from then return 'new', { due = till, from = till, till = till + spec.per } end
  if standing ~= 'begun' then return 'replace' end
  return 'new', { due = from, from = from, till = till }
end

-- The window that a new owner of the key opens.
function F.Window_opened(key, spec)
  if key.o and F.Key_holds(key) then
    local kind, window = F.Window_step(key, spec)
    if kind == 'new' then return window end
  end
  return F.Window_open(spec)
end

-- Another call has moved the start of a task that waits for it.
function F.Window_move(t, due)
  local u = F.ownerOf(t)
  if t.x and t.x.ex then
    t.x.ex = t.x.ex + due - t.at
    F.setDeadline(t)
  end
  if due > now then
    F.leave(t, u)
    F.enterScheduled(t, u, due)
  else
    F.becomeDue(t, u)
  end
end

-- The key as it is remembered, also when it no longer holds.
function F.Key_rememberedKey(item)
  local spec = item.x and item.x.i
  if not spec then return end
  local key = F.keyState(item.queue, item.user, spec.key)
  if not key.o then return end
  local byTime = key.u and now < key.u
  local known = byTime and key.g or not key.g and F.taskOf(key.o)
  local over = key.e and now > key.e + 60000
  if known and (byTime or not over) then
    F.Key_gone[key.o] = key.g
    return key
  end
  key.o = nil
  key.dirty = true
end

function F.Key_holds(key)
  if key.u then return now < key.u end
  -- Not by the owner's state: a redrive does not take the key back.
  return not key.e
end

function F.Key_hasAbsorbed(key, id)
  for _, other in ipairs(key.a) do
    if other == id then return true end
  end
  return false
end

function F.Key_takeKey(item, t)
  local spec = item.x.i
  local key = F.keyState(item.queue, item.user, spec.key)
  local window = F.Window_is(spec) and F.Window_opened(key, spec)
  if window then
    -- A resend of a call that an earlier owner has answered is no new call.
    key.u, key.n, item.due = window.till, window.from, window.due
  else
    key.u, key.n, key.a = spec.ttl and now + spec.ttl or nil, nil, {}
  end
  key.o, key.f, key.p, key.e, key.g = t.id, nil, redis.sha1hex(item.payload), nil, nil
  key.dirty = true
end

-- The id of a removed owner may have been given to another task since.
function F.Key_existing(id, conflict, replaced)
  local t = F.taskOf(id)
  return { kind = 'existing', id = id, state = t and t.state or F.Key_gone[id], conflict = conflict,
    replaced = replaced }
end

-- What a key that holds answers to another task; nil: the task becomes its follower, or its next
-- owner when it gathers calls.
function F.Key_answerByKey(key, item)
  local policy = item.x.i.policy
  if policy == 'reject' then
    return { kind = 'refused', refusal = { type = 'key-taken', key = key.key, id = key.o } }
  end
  local conflict = redis.sha1hex(item.payload) ~= key.p
  local state = key.g or F.taskOf(key.o).state
  if policy == 'return' then return F.Key_existing(key.o, conflict, false) end
  if F.Window_is(item.x.i) then
    local kind = F.Window_step(key, item.x.i)
    return kind ~= 'new' and F.Key_existing(key.o, conflict, kind == 'replace') or nil
  end
  if state ~= 'started' and not F.isEnd(state) then return F.Key_existing(key.o, conflict, true) end
  if policy == 'replace-queued' or state ~= 'started' then
    return F.Key_existing(key.o, conflict, false)
  end
  if key.f then return F.Key_existing(key.f, conflict, true) end
end

-- Puts another input into a task that has not started.
function F.Key_replaceInput(t, item)
  t.x = t.x or {}
  t.x.fp = F.firstDigest(t)
  F.change(t)
  local head = string.sub(F.fixed(t).f, 1, t.optionsAt - 1)
  t.f = head .. string.sub(item.f, item.optionsAt, item.body - 1)
    .. (item.long and '' or item.payload)
  t.created = nil
  F.fixed(t)
  t.long = item.long
  t.kind = t.kind - t.kind % 2
  F.setKind(t, 1, item.long and true or false)
  t.textChanged = true
  if item.long then redis.call('HSET', (prefix .. 'payloads'), t.id, item.long) end
end

-- Remembers the id of a call that the key answered, and swaps the input where the answer says so.
function F.Key_absorb(key, item, reply)
  if reply.kind ~= 'existing' then return end
  if not F.Key_hasAbsorbed(key, item.id) then table.insert(key.a, item.id) end
  if #key.a > 32 then table.remove(key.a, 1) end
  key.dirty = true
  if not reply.replaced then return end
  local t = F.taskOf(reply.id)
  local _, due
  if F.Window_is(item.x.i) then _, due = F.Window_step(key, item.x.i) end
  F.Key_replaceInput(t, item)
  if due then
    F.Window_move(t, due)
    reply.state = t.state
  end
end

-- Whether an edge of a stored task leads to one that has not ended, or is about to be stored.
function F.Link_leadsTo(t, id, self)
  local item = self.batch and self.batch.tasks[id]
  if id == self.id then return F.Deps_mayDependOn(t, self.user) end
  if item and not F.taskOf(id) then return F.Deps_mayDependOn(t, item.user) end
  local upstream = F.Deps_upstreamOf(t, id)
  return upstream and not F.isEnd(upstream.state)
end

-- Whom a task waits for, or will once its batch is stored.
function F.Link_upstreamsOf(id, self)
  if id == self.id then return self.deps end
  local t = F.taskOf(id)
  if not t then
    local item = self.batch and self.batch.tasks[id]
    return item and item.spec and F.Store_resolve(id, item.spec.d, self.batch.answered) or NONE
  end
  if F.isEnd(t.state) then return NONE end
  local ids, found = redis.call('SMEMBERS', (prefix .. 'deps:blocked:' .. id)), {}
  table.sort(ids, F.before)
  for _, other in ipairs(ids) do
    if F.Link_leadsTo(t, other, self) then found[#found + 1] = other end
  end
  return found
end

-- Who waits for a task; false when these are too many to follow, or of a batch.
function F.Link_dependentsOf(id, self)
  if self.batch then return false end
  local keys, found = { (prefix .. 'deps:waiting:' .. id), (prefix .. 'deps:held:' .. id) }, {}
  if not F.taskOf(id) then
    keys = { (prefix .. 'deps:missing:' .. ((#id .. ':' .. id .. ''))), (prefix .. 'deps:missing:' .. ((#id .. ':' .. id .. (self.user or '')))) }
  end
  local size = 0
  for _, key in ipairs(keys) do
    F.flushKey(key)
    local ids = redis.call('ZRANGE', key, 0, 250)
    size = size + #ids
    if size > 250 then return false end
    for _, other in ipairs(ids) do
      local t = F.taskOf(other)
      if t and not F.isEnd(t.state) then found[#found + 1] = other end
    end
  end
  -- Its own edges are not there yet.
  if self.deps and F.contains(self.deps, id) then found[#found + 1] = self.id end
  return found
end

function F.Link_walk(edgesOf, id)
  return { edgesOf = edgesOf, open = { id }, from = {}, at = 0, edges = 0, over = false }
end

-- Follows the edges of the next task of a walk; the path of a cycle, or 'none' at its end.
function F.Link_step(walk, self)
  walk.at = walk.at + 1
  local id = walk.open[walk.at]
  if not id then return 'none' end
  local ids = walk.edgesOf(id, self)
  walk.edges = walk.edges + (ids and #ids or 0)
  F.Link_spent = F.Link_spent + (ids and #ids or 0)
  if ids and F.contains(ids, self.id) then return F.Link_pathBack(walk, id, self.id) end
  walk.over = not ids or walk.edges > 500
  if walk.over then return end
  for _, other in ipairs(ids) do
    if not walk.from[other] then
      walk.from[other] = id
      walk.open[#walk.open + 1] = other
    end
  end
end

-- From `id` back to the task that was begun with, in the order of waiting.
function F.Link_pathBack(walk, id, self)
  local back, path = { self }, {}
  while id do
    back[#back + 1] = id
    if id == self then break end
    id = walk.from[id]
  end
  if walk.edgesOf ~= F.Link_upstreamsOf then return back end
  for i = #back, 1, -1 do path[#path + 1] = back[i] end
  return path
end

-- Why it must not get its edges, if one script can tell; else that it cannot. Of several in one script
-- only the first ones are looked at, while these have not cost much.
function F.Link_closes(self)
  F.Link_spent = F.Link_spent or 0
  if F.Link_spent > 500 then
    return { type = 'dependency-limit', limit = 500 }
  end
  local walks = { F.Link_walk(F.Link_upstreamsOf, self.id), F.Link_walk(F.Link_dependentsOf, self.id) }
  while not (walks[1].over and walks[2].over) do
    for i = 1, 2 do
      local found = not walks[i].over and F.Link_step(walks[i], self)
      if found == 'none' then return end
      if found then return { type = 'cycle', path = found } end
    end
  end
  return { type = 'dependency-limit', limit = 500 }
end

-- Why the dependencies of an item rule it out, if they do; `batch` holds the items by id.
function F.Link_check(item, batch)
  local g = item.x and item.x.g
  for _, id in ipairs(item.x and item.x.d or {}) do
    local other = batch and batch[id]
    local upstream = not other and F.taskOf(id)
    if upstream and not g[4] then F.fixed(upstream) end
    other = other or upstream
    if not other then
      if g[3] == 'refuse' then return { type = 'unknown-dependency', dependency = id } end
    elseif other.user ~= item.user and not g[4] then
      return { type = 'cross-user', dependency = id }
    end
  end
end

-- A task that others wait for already may not wait for one of them, however far away. Of a batch that
-- is stored in parts that is asked when all of it is there.
function F.Link_cycleOf(item, batch)
  local deps = item.spec and item.spec.d
  if not deps then return end
  if F.contains(deps, item.id) then return { type = 'cycle', path = { item.id, item.id } } end
  if H.missing == INF or F.Store_submission or not F.Link_isNew(item, batch) then return end
  -- An item of this call may have begun to wait for it.
  local anybody, own = (prefix .. 'deps:missing:' .. ((#item.id .. ':' .. item.id .. ''))), (prefix .. 'deps:missing:' .. ((#item.id .. ':' .. item.id .. item.user)))
  F.flushKey(anybody)
  F.flushKey(own)
  if redis.call('EXISTS', anybody, own) == 0 then return end
  return F.Link_closesIn(item, batch)
end

-- It is going to be stored, and no key answers for it.
function F.Link_isNew(item, batch)
  return not F.taskOf(item.id) and not (batch and batch.answered[item.id])
end

function F.Link_closesIn(item, batch)
  local deps = item.spec.d
  if batch then deps = F.Store_resolve(item.id, deps, batch.answered) end
  return F.Link_closes({ id = item.id, user = item.user, deps = deps, batch = batch })
end

-- Registers a new task with its dependencies. One that has ended otherwise than well may end it
-- at once: then the state, and how it ends.
function F.Link_link(t)
  local state, ending
  local blocks = {}
  for _, id in ipairs(t.x.d) do
    local upstream = F.Deps_upstreamOf(t, id)
    if not upstream then
      if F.Store_users and F.Store_users[id] then
        blocks[#blocks + 1] = id
        F.Deps_listenMissing(t, id)
      elseif t.x.g[3] == 'satisfied' then
        t.x.m = t.x.m or {}
        table.insert(t.x.m, id)
      else
        F.Deps_blockByMissing(t, id)
      end
    elseif not F.isEnd(upstream.state) then
      blocks[#blocks + 1] = id
      F.Deps_listen(t, id)
      F.markDependents(upstream)
    else
      local policy = F.Cascade_policyFor(upstream, t)
      if policy == 'run' then
        F.addReader(upstream, 1)
      else
        blocks[#blocks + 1] = id
        t.isBlocked = true
        if policy == 'wait' then
          F.Cascade_hold(upstream, t)
        elseif not state then
          state = policy == 'cancel' and 'canceled' or 'failed'
          ending = { cause = F.Cascade_causeOf(id, upstream.state) }
        end
      end
    end
  end
  if #blocks > 0 then redis.call('SADD', (prefix .. 'deps:blocked:' .. t.id), unpack(blocks)) end
  return state, ending
end

-- The tasks of the call, as records in the making; ARGV is as lib/store-many.lua says.
function F.Store_readItems(from)
  local n, groups = ARGV[from] + 0, ARGV[from + 2] + 0
  local first, items, ids, i = from + 2 + 3 * groups, {}, {}, 0
  for at_ = from + 3, first, 3 do
    for _ = 1, ARGV[at_] + 0 do
      i = i + 1
      local blob = ARGV[first + n + i]
      ids[i] = ARGV[first + i]
      items[i] = { id = ids[i], user = ARGV[at_ + 1], queue = ARGV[at_ + 2], blob = blob,
        f = string.format('%013.0f%012x', now, F.stamp()) .. blob }
    end
  end
  for at_ = first + 2 * n + 1, #ARGV, 2 do
    local place = ARGV[at_] + 0
    local item = items[place]
    local kind, more = string.byte(item.blob, 2) - 48, ARGV[at_ + 1]
    if kind % 2 == 1 and not item.long then
      item.long = more
    else
      item.owned, item.owner = packedOwner(more)
      if not item.owned then item.spec = cjson.decode(more) end
    end
  end
  local known = false
  for i = 1, n, 500 do
    local stored = redis.call('HMGET', (prefix .. 'tasks'), unpack(ids, i, math.min(n, i + 499)))
    for j = 1, #stored do known = known or stored[j] end
  end
  F.Store_anyKnown = known
  return items
end

function F.Store_existingTask(item)
  if not F.Store_anyKnown and not F.Store_made[item.id] then return false end
  return F.taskOf(item.id)
end

-- Fills in what only some checks look at.
function F.Store_complete(item)
  if item.created then return item end
  local user = item.user
  F.fixed(item)
  item.user = user
  item.payload = item.long or string.sub(item.f, item.body)
  local spec = item.spec
  if spec then
    item.x = { d = spec.d, g = spec.g, i = spec.i, j = spec.j, o = spec.o, h = spec.h }
  elseif item.owner then
    item.x = { o = item.owner }
  end
  return item
end

function F.Store_agrees(t, item)
  F.fixed(t)
  F.Store_complete(item)
  if t.user ~= item.user or t.name ~= item.name then return false end
  if t.x and t.x.fp then return redis.sha1hex(item.payload) == t.x.fp end
  return F.payloadOf(t) == item.payload
end

function F.Store_refused(refusal)
  return { kind = 'refused', refusal = refusal }
end

-- Whether the lease is in force that the call is made for: '<token> NUL <id>'.
function F.Store_isFenced(fence)
  local stop = string.find(fence, '\0', 1, true)
  local t = F.taskOf(string.sub(fence, stop + 1))
  F.Store_fenced = t and t.state == 'started' and t.token == string.sub(fence, 1, stop - 1)
  return F.Store_fenced
end

function F.Store_loseLease(items)
  local replies = {}
  for i = 1, #items do replies[i] = cjson.encode(F.Store_refused({ type = 'lease-lost' })) end
  return F.unchanged(replies)
end

-- A batch that is sent again after its client had died takes what is stored of it already.
function F.Store_takeOver(t)
  local mine = F.Store_submission
  if not mine or not t.x or not t.x.su or t.x.su == mine then return end
  t.x.su, F.Store_wrote = mine, true
  F.change(t)
  F.Store_kept[#F.Store_kept + 1] = t.id
  return { kind = 'created', id = t.id }
end

-- The answer when nothing new is to be stored: the id, or its key, was there before.
function F.Store_answerKnown(item)
  local same = F.Store_existingTask(item)
  if same then
    if not F.Store_agrees(same, item) then return F.Store_refused({ type = 'task-conflict', id = item.id }) end
    return F.Store_takeOver(same) or F.Key_existing(item.id, false, false)
  end
  if not item.spec or not item.spec.i then return end
  local key = F.Key_rememberedKey(F.Store_complete(item))
  if not key then return end
  if F.Key_hasAbsorbed(key, item.id) then return F.Key_existing(key.f or key.o, false, false) end
  if not F.Key_holds(key) then return end
  local reply = F.Key_answerByKey(key, item)
  if reply then
    F.Key_absorb(key, item, reply)
    F.Store_wrote = true
  end
  return reply
end

-- Whether the key lets the item in (true, 'follows'), answers for another or refuses it (false).
function F.Store_byKey(item, batch)
  if not item.spec or not item.spec.i then return true end
  F.Store_complete(item)
  local spec = item.x.i
  local name = (prefix .. 'key:' .. item.queue .. ':' .. (#item.user .. ':' .. item.user .. spec.key))
  local holder = batch and batch.keys[name]
  if holder then
    batch.answered[item.id] = holder
    if spec.policy ~= 'reject' then return false end
    return false, { type = 'key-taken', key = spec.key, id = holder }
  end
  local key = F.Key_rememberedKey(item)
  if key then
    if F.Key_hasAbsorbed(key, item.id) then return false end
    if F.Key_holds(key) then
      local reply = F.Key_answerByKey(key, item)
      if reply and reply.refusal then return false, reply.refusal end
      if not reply and F.Window_is(spec) then return true end
      if batch then batch[reply and 'answered' or 'keys'][reply and item.id or name] = key.o end
      if reply then return false end
      return 'follows'
    end
  end
  if batch then batch.keys[name] = item.id end
  return true
end

function F.Store_byLimit(item, batch)
  local u = F.userOf(F.laneOf(item.queue), item.user)
  if F.Store_fenced or not u.set.maxQueued then return end
  if u.plain then F.countTasks(u) end
  local scope = (#item.queue .. ':' .. item.queue .. item.user)
  local earlier = batch and batch.waiting[scope] or 0
  local size = u.live - u.running + earlier
  if size >= u.set.maxQueued then
    return { type = 'queue-full', user = item.user, limit = u.set.maxQueued, size = size }
  end
  if batch then batch.waiting[scope] = earlier + 1 end
end

-- Why an item cannot be stored; looks at what earlier items of its batch will have changed.
function F.Store_refuse(item, batch)
  local same = F.Store_existingTask(item)
  if same then return not F.Store_agrees(same, item) and { type = 'task-conflict', id = item.id } or nil end
  local twin = batch and batch.tasks[item.id]
  if twin and twin ~= item and not twin.elsewhere then
    F.Store_complete(twin)
    F.Store_complete(item)
    local equal = twin.user == item.user and twin.name == item.name
      and twin.payload == item.payload
    return not equal and { type = 'task-conflict', id = item.id } or nil
  end
  local new, refusal = true, nil
  if item.spec and item.spec.i then new, refusal = F.Store_byKey(item, batch) end
  if not new then return refusal end
  -- A follower stands for calls that were accepted already.
  refusal = new ~= 'follows' and F.Store_byLimit(item, batch) or nil
  if refusal or not item.spec then return refusal end
  if item.spec.h and not F.Graphs_isAlive(item.spec.h) then
    return { type = 'graph-missing', hash = item.spec.h }
  end
  if not item.spec.d then return end
  F.Store_complete(item)
  return F.Link_check(item, batch and batch.tasks)
end

-- A task without other facts than its run goes straight to the end of its user's line.
function F.Store_storePlain(item)
  local id, blob = item.id, item.blob
  local lane = F.laneOf(item.queue)
  local u = F.userOf(lane, item.user)
  storeText(id, item.f, item.long, item.owned)
  F.Store_wrote, F.Store_made[id] = true, true
  tasks[id] = nil
  local level = string.byte(blob) - 48
  u.live = u.live + 1
  u.queued = u.queued + 1
  u.cnt[level] = u.cnt[level] + 1
  lane.enqueued = lane.enqueued + 1
  lane.counts.queued = lane.counts.queued + 1
  redis.call('RPUSH', F.lineKey(u, level), id)
  F.reindex(u)
end

-- Puts those of one list into the other, and drops it.
function F.Store_merge(few, many)
  local rows = redis.call('ZRANGE', few, 0, -1, 'WITHSCORES')
  for i = 1, #rows, 2 do F.zset(many, rows[i], rows[i + 1]) end
  F.flushKey(many)
  redis.call('DEL', few)
end

-- Makes one list of those that waited for the id, whoever would store it or for this user's; false
-- when nobody did.
function F.Store_takeWaiters(t)
  local anybody, own = (prefix .. 'deps:missing:' .. ((#t.id .. ':' .. t.id .. ''))), (prefix .. 'deps:missing:' .. ((#t.id .. ':' .. t.id .. t.user)))
  F.flushKey(anybody)
  F.flushKey(own)
  local anys, owns = redis.call('ZCARD', anybody), redis.call('ZCARD', own)
  if anys + owns == 0 then return false end
  if anys > 0 and owns > 0 then
    F.Store_merge(anys < owns and anybody or own, anys < owns and own or anybody)
  end
  redis.call('RENAME', anys > owns and anybody or own, (prefix .. 'deps:waiting:' .. t.id))
  return true
end

-- Those that waited for an id that nobody had stored wait for a task now. Others than those whose
-- edges may lead to its user are not looked at.
function F.Store_adoptWaiters(t)
  if H.missing == INF and not (F.Store_named and F.Store_named[t.id]) then return end
  if not F.Store_takeWaiters(t) then return end
  F.flushIndex('missing')
  for _, from in ipairs({ '', t.user }) do
    local pair = (#t.id .. ':' .. t.id .. from)
    if redis.call('ZSCORE', (CODES['missing'] and prefix .. 'state:' .. 'missing' or prefix .. 'missing'), pair) then
      F.move('missing', pair, false)
      t.isAwaited = true
    end
  end
  F.markDependents(t)
  for _, id in ipairs(redis.call('ZRANGE', (prefix .. 'deps:waiting:' .. t.id), 0, 99)) do
    local waiter = F.taskOf(id)
    if waiter then F.Deps_rewait(waiter) end
  end
end

-- Makes the record; it stands nowhere yet.
function F.Store_create(item)
  F.Store_complete(item)
  local u = F.userOf(F.laneOf(item.queue), item.user)
  local t = F.newTask(item.id, item.f)
  t.user, t.queue, t.state = item.user, item.queue, 'deferred'
  F.fixed(t)
  local x = item.x or {}
  t.x = { d = x.d, g = x.g, k = x.i and x.i.key, su = F.Store_submission or nil, j = x.j, o = x.o,
    h = x.h }
  if x.h then F.Graphs_hold(x.h, t.id) end
  if F.Store_submission then F.Store_kept[#F.Store_kept + 1] = t.id end
  tasks[t.id], F.Store_made[t.id], F.Store_wrote = t, true, true
  t.textChanged, t.long = true, item.long
  if item.long then redis.call('HSET', (prefix .. 'payloads'), t.id, item.long) end
  local key = F.Key_rememberedKey(item)
  if key and F.Key_holds(key) and not F.Window_is(x.i) then
    t.x.d = t.x.d or {}
    t.x.g = t.x.g or { 'wait', 'cancel', 'refuse', false }
    t.x.g[1], t.x.g[2] = 'run', 'run'
    if not F.contains(t.x.d, key.o) then table.insert(t.x.d, key.o) end
    key.f, key.dirty = t.id, true
  elseif x.i then
    F.Key_takeKey(item, t)
  end
  if t.x.d and #t.x.d == 0 then t.x.d = nil end
  u.live = u.live + 1
  u.lane.enqueued = u.lane.enqueued + 1
  F.Store_adoptWaiters(t)
  return t
end

-- Links the dependencies and puts the task where it belongs.
function F.Store_settleIn(t, item)
  local u, spec = F.ownerOf(t), item.spec or {}
  local due = item.due or spec.at or now + math.max(0, spec.delay or 0)
  local state, ending
  if t.x.d then state, ending = F.Link_link(t) end
  if spec.expires then
    if spec.xr then t.x.xr = spec.expires end
    if not (spec.xr and t.isBlocked) then
      t.x.ex = math.max(now, due) + spec.expires
      F.setDeadline(t)
    end
  end
  if next(t.x) == nil then t.x = nil end
  local waits = t.isBlocked or (t.x and t.x.su)
  if due > now then
    F.enterScheduled(t, u, due)
  elseif waits or (t.x and t.x.j) then
    F.enterDeferred(t, u)
    if not waits then state, ending = 'finished', { result = 'null' } end
  else
    F.enterQueue(t, u, true)
  end
  if state then F.endTask(t, u, state, ending) end
end

function F.Store_isPlain(item)
  return not item.spec and H.missing == INF
end

-- Who depends on an item of the same call that its key absorbed depends on the task that answered;
-- on nothing, if that is itself, or has finished and is gone (''; see F.Store_note).
function F.Store_resolve(self, deps, answered)
  if not deps or next(answered) == nil then return deps end
  local found, known = {}, {}
  for _, id in ipairs(deps) do
    local other = answered[id] or id
    if not known[other] and other ~= self and other ~= '' then found[#found + 1] = other end
    known[other] = true
  end
  return found
end

function F.Store_note(answered, item, reply)
  if reply.kind ~= 'existing' then return end
  if reply.state == 'finished' and not F.taskOf(reply.id) then
    answered[item.id] = ''
  elseif reply.id ~= item.id then
    answered[item.id] = reply.id
  end
end

function F.Store_stopAt(replies, from, to, refusal)
  for i = from, to do replies[i] = cjson.encode(F.Store_refused(refusal)) end
  return replies
end

function F.Store_storeEach(items)
  local replies, answered = {}, {}
  for i = 1, #items do
    local item = items[i]
    if item.spec then item.spec.d = F.Store_resolve(item.id, item.spec.d, answered) end
    local reply = F.Store_answerKnown(item)
    if reply then
      F.Store_note(answered, item, reply)
    else
      local refusal = F.Store_refuse(item) or (item.spec and F.Link_cycleOf(item))
      if refusal then
        reply = F.Store_refused(refusal)
        -- One script cannot tell: nothing behind it is looked at, which may depend on it.
        if refusal.type == 'dependency-limit' then return F.Store_stopAt(replies, i, #items, refusal) end
      elseif F.Store_isPlain(item) then
        F.Store_storePlain(item)
      else
        F.Store_settleIn(F.Store_create(item), item)
      end
    end
    replies[i] = reply and cjson.encode(reply) or 'c'
  end
  return replies
end

-- The first refusal of a batch, and the item that it hits.
function F.Store_refusalOf(items, batch)
  for i = 1, #items do
    local refusal = F.Store_refuse(items[i], batch)
    if refusal then return refusal, i end
  end
  for i = 1, #items do
    local refusal = F.Link_cycleOf(items[i], batch)
    if refusal then return refusal, i end
  end
  -- Items may have come to wait for each other since keys answer for some of them.
  if F.Store_submission or next(batch.answered) == nil then return end
  for i = 1, #items do
    local item = items[i]
    local refusal = item.spec and item.spec.d and F.Link_isNew(item, batch)
      and F.Link_closesIn(item, batch)
    if refusal then return refusal, i end
  end
end

function F.Store_newBatch()
  return { tasks = {}, keys = {}, waiting = {}, answered = {} }
end

function F.Store_refuseAll(items, refusal, at_)
  local replies = {}
  for i = 1, #items do
    replies[i] = cjson.encode(F.Store_refused(i == at_ and refusal or { type = 'batch-refused' }))
  end
  return replies
end

function F.Store_storeAll(items)
  local batch = F.Store_newBatch()
  local plain = true
  for i = 1, #items do
    batch.tasks[items[i].id] = items[i]
    if not F.Store_isPlain(items[i]) then plain = false end
  end
  local refusal, at_ = F.Store_refusalOf(items, batch)
  if refusal then return F.Store_refuseAll(items, refusal, at_) end
  if plain then return F.Store_storeEach(items) end
  return F.Store_storeBatch(items)
end

-- What is told of a new task: 'w' when others waited for it, so that a part cannot tell whether it closes
-- a cycle.
function F.Store_wordOf(t)
  return F.Store_submission and t.isAwaited and 'w' or 'c'
end

-- Every record is made before any is linked, since edges may point forward.
function F.Store_storeBatch(items)
  local replies, new, answered = {}, {}, {}
  for i = 1, #items do
    local reply = F.Store_answerKnown(items[i])
    if reply then
      F.Store_note(answered, items[i], reply)
    else
      new[#new + 1] = { F.Store_create(items[i]), items[i] }
    end
    replies[i] = reply or F.Store_wordOf(new[#new][1])
  end
  for i = 1, #new do
    local t = new[i][1]
    t.x.d = F.Store_resolve(t.id, t.x.d, answered)
    if t.x.d and #t.x.d == 0 then t.x.d = nil end
    F.Store_settleIn(t, new[i][2])
  end
  for i = 1, #replies do
    local reply = replies[i]
    if type(reply) == 'table' then
      -- An item that was answered by another of its batch is told where that one stands now.
      local t = reply.kind == 'existing' and F.taskOf(reply.id)
      if t then reply.state = t.state end
      replies[i] = cjson.encode(reply)
    end
  end
  return replies
end

-- Stores tasks one by one: all or none, or each on its own.
function F.Store_run()
  local atomic, fence = string.sub(ARGV[1], 1, 1) == '1', string.sub(ARGV[1], 2)
  local items = F.Store_readItems(2)
  if fence ~= '' and not F.Store_isFenced(fence) then return F.Store_loseLease(items) end
  local replies = atomic and F.Store_storeAll(items) or F.Store_storeEach(items)
  if not F.Store_wrote then return F.unchanged(replies) end
  F.Step_saveTasks()
  F.cascade(100)
  F.writeStep()
  F.closeStep()
  return replies
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

local stored = F.Store_many()
if not stored then return F.Store_run() end
F.writeStep()
F.closeStep()
return { 'created', stored }
