-- Tells edges of the graph of waiting tasks, from one task on in one direction, breadth first.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  side    'upstreams': whom tasks wait for; 'dependents': who waits for them
-- ARGV[2]  id      the task
-- Returns  for each task that was come to its id, how many edges it has, and where they lead; -1 and
--          nothing for one that too many wait for
-- Cost     O(500 edges)

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

-- Whether a task that others wait for closes a cycle: the twin of domain/cycle-search.ts, as far as one
-- script goes. `self` is the task that is to get edges: its id, user and deps, and the batch that it is
-- of, as of `F.Store_newBatch`.
-- @rare

local rich = true

local library = function()

end
library()

local often

local rare = function()

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

-- Takes leases out that are over; whoever reads those of workers, or writes new ones, calls it before.
function F.dropLeases()
  for worker, ids in pairs(leasesOver) do
    for i = 1, #ids, 500 do redis.call('HDEL', (prefix .. 'hot:' .. worker), unpack(ids, i, math.min(#ids, i + 499))) end
  end
  leasesOver = {}
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

local side, id = ARGV[1], ARGV[2]
local edgesOf = side == 'upstreams' and F.Link_upstreamsOf or F.Link_dependentsOf
local open, known, reply, edges, at = { id }, { [id] = true }, {}, 0, 1
while open[at] and edges < 500 do
  local ids = edgesOf(open[at], {})
  reply[#reply + 1] = open[at]
  reply[#reply + 1] = ids and #ids or -1
  for _, other in ipairs(ids or NONE) do
    reply[#reply + 1] = other
    if not known[other] then
      known[other] = true
      open[#open + 1] = other
    end
  end
  edges, at = edges + 1 + (ids and #ids or 0), at + 1
end
return reply
