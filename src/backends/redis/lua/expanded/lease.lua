-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/lease-step.lua
-- Returns  as in lib/lease-step.lua
-- Cost     O(leases × log users)

-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.

local F = { saveClock = 0, newLane = 0, readLane = 0, laneOf = 0, touchLane = 0, saveLane = 0, Tag_scale = 0, Tag_start = 0, Tag_keptUntil = 0, isKindUsed = 0, saveLiving = 0, begun = 0, mayRest = 0, scheduleLookAt = 0, schedulesDue = 0, nextDue = 0, Step_restIfIdle = 0, Step_finishLane = 0, writeStep = 0, closeStep = 0, retainDue = 0, tickSteps = 0, Choose_stepOf = 0, Choose_best = 0, Choose_laneOpen = 0, readWorker = 0, seen = 0, Lease_dueOfShares = 0, Lease_terms = 0, Lease_shares = 0, Lease_append = 0, leaseStep = 0, Deal_fronts = 0, Deal_look = 0, Deal_turns = 0, Deal_pop = 0, Deal_firstOdd = 0, Deal_saveTags = 0, Deal_dropFrom = 0, Deal_startAll = 0, Deal_some = 0, Deal_nextShare = 0, Deal_fill = 0 }

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

-- Where a tag stands in virtual time.
function F.Tag_start(tag, w) return tag == 0 and 0 or tag / F.Tag_scale(w) end

-- Until when, in virtual time, the tag of a user with nothing to do is worth keeping.
function F.Tag_keptUntil(tag, w) return F.Tag_start(tag, w) - 100 / w * 0.000030517578125 end

function F.isKindUsed(classes, kind)
  return classes['p' .. kind] or classes['o' .. kind] or classes['a' .. kind]
end

-- Says that a worker lives and, in the same write, what it was given and what it has settled.
function F.saveLiving(worker, last)
  local key, done = (prefix .. 'worker:' .. worker.id), worker.succeeded
  if done > 0 then
    redis.call('HSET', key, 't', now, 'r', last or worker.last or '', 's', (worker.s or 0) + done)
  else
    redis.call('HSET', key, 't', now, 'r', last or worker.last or '')
  end
end

-- A worker has got leases of the step's own, which end then.
function F.begun(worker, till)
  if till < H.started then H.started = till end
  local isNew = not (C.freed or C.begun)
  C.begun = true
  if not isNew then return end
  redis.call('ZADD', (prefix .. 'leases'), 'LT', string.format('%d', till), worker)
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

-- 1 when some schedule is due, else 0.
function F.schedulesDue()
  return H['schedules:due'] <= now and 1 or 0
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

-- Whether an ended task may go: by age, or (asked of Redis only when counts are kept) by number.
function F.retainDue(spec)
  local least = math.min(H.finished, H.failed, H.canceled)
  if least > now - 60000 then return false end
  local finished, failed, canceled = string.match(spec, '^(%d+):,(%d+):,(%d+):$')
  if not finished then return true end
  return H.finished <= now - finished or H.failed <= now - failed or H.canceled <= now - canceled
end

function F.tickSteps(retention, isAsked)
  local due = H.started <= now and now >= C.pause
  if due or H['scheduled-users'] <= now or H.throttled <= now or H.deadlines <= now
    or H.cascade < INF or H.submissions <= now or H['xcom-ends'] <= now or C.dropping > 0 or C.refresh > 0
    or H['listed-workers'] < now - 15000 or isAsked or F.retainDue(retention) then
    return F.Tick_run(retention)
  end
  return C.idle > 0 and C.idle <= now and F.Tick_dropIdles()
end

function F.Choose_stepOf(class)
  local value = tonumber(string.sub(class, 3))
  if string.byte(class, 2) == 119 then return 100 / value end
  return 2 ^ (value + 1)
end

-- The class with the next turn, and the virtual time after the jump to the least start. `fronts`: classes,
-- with where their first users stand (`start`, false when there is none) and how long a turn is (`step`).
function F.Choose_best(fronts, n, v)
  local least = INF
  for i = 1, n do
    local start = fronts[i].start
    if start and start < least then least = start end
  end
  if least == INF then return end
  if least > v then v = least end
  local best, bestFinish
  for i = 1, n do
    local front = fronts[i]
    local start, step = front.start, front.step
    if start and start <= v + step * 0.000030517578125 then
      local finish = start + step
      if not best or finish < bestFinish
        or (finish == bestFinish and (start < best.start
          or (start == best.start and F.Choose_classBefore(front.class, best.class)))) then
        best, bestFinish = front, finish
      end
    end
  end
  return best, v
end

-- Whether the queue's own limits let anything start now.
function F.Choose_laneOpen(lane)
  local config = lane.config
  if config.paused or lane.runnable == 0 then return false end
  if config.maxRunning and lane.counts.started >= config.maxRunning then return false end
  local rate = config.rate
  return not rate or math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit)) <= now
end

-- nil when the worker is not registered, or its lists were dropped while it was silent.
function F.readWorker(id)
  local got = redis.call('HMGET', (prefix .. 'worker:' .. id), 'n', 'l', 'r', 'i', 't', 'x', 's')
  if not got[5] or got[6] then return end
  local worker = { id = id, names = got[1], last = got[3], line = got[4], seen = tonumber(got[5]),
    s = got[7], succeeded = 0 }
  if got[2] then
    local lists = cmsgpack.unpack(got[2])
    worker.reach = { assigned = lists.a, steal = lists.s }
    worker.listed = lists.a or (lists.s and lists.s ~= 'any')
  end
  return worker
end

-- Where workers stand by the moment that they were heard, a second is as good as its first moment.
function F.seen(worker)
  if math.floor(now / 1000) ~= math.floor(worker.seen / 1000) then
    redis.call('ZADD', (prefix .. 'workers'), now, worker.id)
  end
  if worker.listed then F.move('listed-workers', worker.id, now) end
end

function F.Lease_dueOfShares(shares)
  local due = F.nextDue()
  for i = 1, #shares do
    local lane = shares[i].lane
    if lane.config.rate then due = math.min(due, math.ceil(F.rateOpensAt(lane))) end
  end
  return due
end

-- What the queues say of their tasks goes with leases of them; a lease that ends at another time than
-- the others does so by its queue's own length.
function F.Lease_terms(shares)
  local terms
  for i = 1, #shares do
    local config = shares[i].lane.config
    if config.leaseMs or config.retries or config.timeoutMs then
      terms = terms or {}
      terms[shares[i].lane.queue] = { leaseMs = config.leaseMs, retries = config.retries,
        timeoutMs = config.timeoutMs }
    end
  end
  return terms and cjson.encode(terms) or ''
end

-- The queues of the request, with the worker's stride and what its lists let it reach.
function F.Lease_shares(from, worker)
  local shares = {}
  for i = 1, ARGV[from] + 0 do
    local at_ = from + 3 * i - 2
    shares[i] = { lane = F.laneOf(ARGV[at_]), step = 1 / ARGV[at_ + 1], pass = ARGV[at_ + 2] + 0,
      reach = worker.reach, isDone = false }
  end
  return shares
end

-- Appends ids, texts and rows of what was leased.
function F.Lease_append(reply, from, batch)
  local n, ids, texts = batch.n, batch.ids, batch.texts
  for i = 1, n do reply[from + i], reply[from + n + i] = ids[i], texts[i] end
  local rows = batch.rows
  if not rows then return end
  for i = 1, #rows do reply[from + 2 * n + i] = rows[i] end
end

-- Appends the answer to the reply.
function F.leaseStep(from, worker, reply)
  local id, limit, leaseMs = ARGV[from], ARGV[from + 1] + 0, ARGV[from + 2] + 0
  local wait, retention = ARGV[from + 3] == '1', ARGV[from + 5]
  if worker.line then
    if worker.line == '' then redis.call('DEL', (prefix .. 'wake:' .. worker.id)) end
    F.Line_leaveLines(worker.id, worker.line, false)
  end
  local heldAlarm = C.alarms ~= ',' and F.Due_dropAlarm(worker.id)
  local shares = F.Lease_shares(from + 6, worker)
  local request = { id = id, worker = worker.id, names = worker.names, limit = limit,
    leaseMs = leaseMs, token = string.format('%.0f-', micros) .. id, known = false, isLong = false }
  local batch, word, ticked
  if worker.last == id then
    word, ticked = 'repeated', false
    batch = { n = 0, ids = {}, texts = {}, rows = false, strangers = 0, stopped = false, alone = false }
    F.Lease_again(worker, batch)
    F.saveLiving(worker)
  else
    word, ticked = 'leased', F.tickSteps(retention)
    batch = F.Deal_fill(shares, request)
    -- A task whose name nobody knows may have ended: its dependents hear of it in this step.
    if batch.strangers > 0 then ticked = F.cascade(100) or ticked end
    if worker.reach then F.Deal_saveListClocks(shares) end
    F.saveLiving(worker, id)
  end
  F.writeStep()
  local due, waitMs = F.Lease_dueOfShares(shares), 0
  if batch.n == 0 and word == 'leased' and wait and not batch.stopped and not ticked then
    local spread = ARGV[from + 4] + 0
    waitMs = F.Lease_standInLine(worker, shares, due, spread)
    if batch.strangers > 0 then F.Lease_wakeForFreed(worker, shares) end
    if batch.strange and F.Line_wakeKnowing(batch.strange, worker.id) then
      -- Whoever knows the task looks after its due time; this worker would only set it aside again.
      F.Due_dropAlarm(worker.id)
      waitMs = F.Due_floor(spread)
    end
  else
    waitMs = due - now
    if waitMs < 0 then waitMs = 0 elseif waitMs > 5000 then waitMs = 5000 end
    if C.waiting > 0 then F.Lease_passOn(worker, shares, heldAlarm) end
  end
  local n = #reply
  reply[n + 1], reply[n + 2] = word, ((batch.stopped or ticked) and 1 or 0) + 2 * F.schedulesDue()
  reply[n + 3], reply[n + 4], reply[n + 5] = due < INF and due or -1, waitMs, now
  reply[n + 6], reply[n + 7] = now + leaseMs, batch.alone and 1 or 0
  reply[n + 8] = batch.n > 0 and F.Lease_terms(shares) or ''
  reply[n + 9], reply[n + 10] = micros, batch.n
  F.Lease_append(reply, n + 10, batch)
  F.closeStep()
  return reply
end

-- The classes of a queue, each with its users in the order of their tags, some at a time: got, from `at`
-- on. Who has had a turn stands behind those that were there, in `again`, since tags never fall.
function F.Deal_fronts(lane, most)
  local fronts, n = {}, 0
  for class, users in pairs(lane.classes) do
    local isShared, value = string.byte(class, 2) == 115, string.sub(class, 3) + 0
    local page = most
    if next(lane.classes, next(lane.classes)) and not isShared then
      page = math.min(most, math.ceil(most * users * value / lane.w) + 1)
    end
    n = n + 1
    fronts[n] = { class = class, key = (lane.p .. 'ready:' .. class), isPlain = string.byte(class) == 112,
      w = value, step = F.Choose_stepOf(class), scale = isShared or F.Tag_scale(value), page = page,
      from = 0, at = 1, size = 0, got = NONE, tag = false, again = {}, first = 1, last = 0,
      start = false, isAgain = false, n = users }
  end
  return fronts, n
end

-- Where the first of a class stands in virtual time, as `start`; nil when nobody is left.
function F.Deal_look(front, tags)
  if front.at > front.size and front.from then
    local from, page = front.from, front.page
    local got = redis.call('ZRANGE', front.key, from == 0 and '0' or string.format('%d', from),
      string.format('%d', from + page - 1), 'WITHSCORES')
    local size = #got
    front.got, front.size, front.at = got, size, 1
    front.from = size == 2 * page and from + page
    front.tag = size > 0 and got[2] + 0
    if front.tag == INF then front.at = size + 1 end
  end
  local tag, again = front.at <= front.size and front.tag, front.again[front.first]
  if again and not (tag and tag <= tags[again]) then
    tag, front.isAgain = tags[again], true
  else
    front.isAgain = false
  end
  local start = tag and (front.scale == true and tag or tag / front.scale)
  front.start = start
  return start
end

-- Whose the next turns are, at most so many, as if each cost 1; nothing is written. By number of who got
-- any: names, tags after their turns, tasks had and left, turns, class. `order`: whose each turn is. `isOther`:
-- the next one is of a user with a record. `before`: turns that were dealt out for more, and were not taken.
function F.Deal_turns(lane, most, before)
  local fronts, n = F.Deal_fronts(lane, most)
  local v, w, lines = lane.v, lane.w, (lane.p .. 'line' .. '' .. ':' .. '')
  local names, tags, had, left, served, fronted, order = {}, {}, {}, {}, {}, {}, {}
  local count, who, isOther = 0, 0, false
  while count < most and w > 0 do
    local front, start, from = fronts[1], nil, v
    if n == 1 then
      start = F.Deal_look(front, tags)
      if start and start > v then from = start end
    else
      for i = 1, n do F.Deal_look(fronts[i], tags) end
      front, from = F.Choose_best(fronts, n, v)
      start = front and front.start
    end
    if not start then break end
    if not front.isPlain then
      isOther = true
      break
    end
    local i, have
    if front.isAgain then
      i = front.again[front.first]
      front.first = front.first + 1
      have = left[i]
      served[i] = served[i] + 1
    else
      local name, at_ = front.got[front.at], front.at + 2
      who = who + 1
      i = who
      have = before and before.had[i] or redis.call('LLEN', lines .. name)
      had[i] = have
      names[i], tags[i], fronted[i], served[i] = name, front.tag, front, 1
      front.at = at_
      if at_ <= front.size then
        front.tag = front.got[at_ + 1] + 0
        -- Behind all users may stand what keeps the set from being a listpack.
        if front.tag == INF then front.at = front.size + 1 end
      end
    end
    if have > 0 then
      count = count + 1
      order[count], tags[i], left[i] = i, tags[i] + 67108864, have - 1
      v = from + 100 / w
      if have > 1 then
        local last = front.last + 1
        front.last, front.again[last] = last, i
      else
        w = w - front.w
      end
    else
      -- It stands where it has nothing (somebody else's hand).
      served[i], left[i], w = 0, 0, w - front.w
    end
  end
  return { v = v, w = w, count = count, who = who, names = names, tags = tags, had = had, left = left,
    served = served, fronts = fronts, fronted = fronted, order = order, isOther = isOther }
end

-- Takes the tasks of these turns out of their lines.
function F.Deal_pop(lane, turns)
  local ids, lines, some = {}, (lane.p .. 'line' .. '' .. ':' .. ''), nil
  local order, served, names = turns.order, turns.served, turns.names
  for at_ = 1, turns.count do
    local i = order[at_]
    local n = served[i]
    if n == 1 then
      ids[at_] = redis.call('LPOP', lines .. names[i])
    else
      some = some or {}
      local popped = some[i]
      if not popped then
        popped = redis.call('LPOP', lines .. names[i], string.format('%d', n))
        popped.n, some[i] = 0, popped
      end
      popped.n = popped.n + 1
      ids[at_] = popped[popped.n]
    end
  end
  return ids
end

-- The first task that cannot just be started: its record is gone, it has facts, another cost than 1, or a
-- name that the worker does not know; nil when there is none.
function F.Deal_firstOdd(texts, n, request)
  local known = request.known
  for i = 1, n do
    local text = texts[i]
    if not text then return i end
    local kind = string.byte(text, 27)
    if kind >= 52 then return i end
    if kind % 2 == 1 then request.isLong = true end
    local from = 31 + string.sub(text, 28, 30)
    if not known or string.sub(text, from, from + #known - 1) ~= known then
      local a = string.find(text, '\0', from, true)
      local b = string.find(text, '\0', a + 1, true)
      local c = string.find(text, '\0', b + 1, true)
      if string.sub(text, b + 1, c - 1) ~= '1' then return i end
      local name = string.sub(text, a + 1, b - 1)
      if request.names and not string.find(request.names, ',' .. name .. ',', 1, true) then return i end
      known = string.sub(text, from, c)
      request.known = known
    end
  end
end

-- Writes the tags of those that had turns. Who has nothing left leaves its class, and its tag is kept
-- while it is ahead.
function F.Deal_saveTags(lane, turns)
  local tags, left, names, fronted = turns.tags, turns.left, turns.names, turns.fronted
  local drained, kept = 0, {}
  for i = 1, turns.who do
    local front = fronted[i]
    if left[i] > 0 then
      local moves = front.moves
      if not moves then
        moves = {}
        front.moves, front.m = moves, 0
      end
      local m = front.m
      moves[m + 1], moves[m + 2], front.m = string.format('%d', tags[i]), names[i], m + 2
    else
      local gone = front.gone or {}
      front.gone = gone
      gone[#gone + 1] = names[i]
      drained = drained + 1
      if F.Tag_keptUntil(tags[i], front.w) > turns.v then
        local k = #kept
        kept[k + 1], kept[k + 2] = string.format('%d', tags[i]), names[i]
      else
        lane.stale = true
      end
    end
  end
  lane.v, lane.w = turns.v, turns.w
  for _, front in ipairs(turns.fronts) do
    if front.moves then redis.call('ZADD', front.key, unpack(front.moves)) end
    if front.gone then F.Deal_dropFrom(lane, front, #front.gone) end
  end
  if drained == 0 then return end
  lane.ready = lane.ready - drained
  if #kept == 0 then return end
  redis.call('ZADD', (lane.p .. 'kept-tags'), unpack(kept))
  lane.tags = lane.tags + #kept / 2
end

function F.Deal_dropFrom(lane, front, n)
  local classes, users = lane.classes, front.n - n
  classes[front.class] = users > 0 and users or nil
  if users > 0 then return redis.call('ZREM', front.key, unpack(front.gone)) end
  redis.call('DEL', front.key)
  local kind = string.sub(front.class, 2)
  if not F.isKindUsed(classes, kind) then lane.lasts[kind] = nil end
end

-- Leases the tasks of these turns.
function F.Deal_startAll(lane, turns, ids, texts, request, batch)
  local n, till = turns.count, now + (lane.config.leaseMs or request.leaseMs)
  F.Deal_saveTags(lane, turns)
  lane.runnable = lane.runnable - n
  lane.counts.queued, lane.counts.started = lane.counts.queued - n, lane.counts.started + n
  F.touchLane(lane)
  local value = struct.pack('<ddIBxxxxxxxxxxxx', now, till, lane.epoch, 0) .. lane.queue .. '\0' .. request.token
  local hot, rows, at_ = (prefix .. 'hot:' .. request.worker), {}, batch.n
  for i = 1, n do
    rows[2 * i - 1], rows[2 * i] = ids[i], value
    batch.ids[at_ + i], batch.texts[at_ + i] = ids[i], texts[i]
  end
  batch.n = at_ + n
  redis.call('HSET', hot, unpack(rows))
  F.begun(request.worker, till)
  if request.isLong then F.Deal_addLong(batch, at_) end
end

-- Starts what comes next of a queue, at most so many; false when there is nothing.
function F.Deal_some(share, most, request, batch)
  local lane = share.lane
  if rich then F.Step_rest() end
  local turns = F.Deal_turns(lane, most)
  local odd = turns.isOther
  if turns.count > 0 then
    local ids = F.Deal_pop(lane, turns)
    local texts = redis.call('HMGET', (prefix .. 'tasks'), unpack(ids))
    request.isLong = false
    local at_ = F.Deal_firstOdd(texts, turns.count, request)
    if at_ then
      F.Deal_unpop(lane, turns, ids, at_)
      turns, odd = F.Deal_turns(lane, at_ - 1, turns), true
      batch.pass = 1
    end
    if not odd then batch.pass = 2 * batch.pass end
    if turns.count > 0 then F.Deal_startAll(lane, turns, ids, texts, request, batch) end
  elseif turns.who > 0 then
    F.touchLane(lane)
    F.Deal_saveTags(lane, turns)
  end
  if odd then
    if batch.n >= request.limit then return true end
    return F.Deal_one(share, request, batch)
  end
  return turns.count > 0
end

-- The share whose turn it is, and for how many turns: until the pass of another is less.
function F.Deal_nextShare(shares, most)
  local best, at_
  for i = 1, #shares do
    local share = shares[i]
    if not share.isDone and (not best or share.pass < best.pass) and F.Choose_laneOpen(share.lane) then
      best, at_ = share, i
    end
  end
  if not best or #shares == 1 then return best, most end
  local pass, turns = best.pass, 0
  repeat
    pass, turns = pass + best.step, turns + 1
    for i = 1, #shares do
      local other = shares[i]
      if i ~= at_ and not other.isDone and (other.pass < pass or (other.pass == pass and i < at_)) then
        return best, turns
      end
    end
  until turns == most
  return best, most
end

function F.Deal_fill(shares, request)
  local batch = { n = 0, ids = {}, texts = {}, rows = false, strangers = 0, stopped = false, alone = false,
    pass = INF }
  while batch.n < request.limit and not batch.stopped do
    local share, most = F.Deal_nextShare(shares, math.min(request.limit - batch.n, batch.pass, 500))
    if not share then break end
    local config, before = share.lane.config, batch.n
    if config.maxRunning then most = math.min(most, config.maxRunning - share.lane.counts.started) end
    local found
    if share.reach or config.rate then
      found = F.Deal_one(share, request, batch)
    else
      found = F.Deal_some(share, most, request, batch)
    end
    if not found then share.isDone = true end
    for _ = before + 1, batch.n do share.pass = share.pass + share.step end
  end
  return batch
end

end
library()

local often = function()

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

-- Wakes a worker that waits in the task's queue and knows its name; false when there is none.
function F.Line_wakeKnowing(t, but)
  if C.waiting <= 0 then return false end
  for _, id in ipairs(redis.call('ZREVRANGE', (prefix .. 'workers'), 0, -1)) do
    if id ~= but then
      local got = redis.call('HMGET', (prefix .. 'worker:' .. id), 'n', 'i')
      if got[1] and got[2] and got[2] ~= '' and string.find(got[1], ',' .. t.name .. ',', 1, true) then
        local lines = cmsgpack.unpack(got[2])
        for i = 1, #lines, 2 do
          if lines[i] == t.queue then return F.Line_wakeWorker(id) end
        end
      end
    end
  end
  return false
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

function F.rateOpensAt(lane)
  local rate = lane.config.rate
  if not rate or lane.runnable == 0 then return INF end
  local allowed = math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit))
  return allowed > now and allowed or INF
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

function F.Due_floor(spread)
  return math.floor(5000 * (0.8 + 0.4 * spread))
end

-- How long a worker that stands in line may sleep: the first holder until the next due time, the
-- second a little longer, all others the floor, spread by `spread` in [0, 1).
function F.Due_sleepOf(worker, due, spread)
  local floor = F.Due_floor(spread)
  local one, two = F.Due_holders()
  if one == '' or now - C.alarm > 1000 then
    local wait = math.max(0, math.min(floor, due - now))
    C.alarms = worker .. ',' .. (two == worker and '' or two)
    C.alarm = now + wait
    return wait
  end
  if two == '' or two == worker or now - C.alarm > 1000 then
    C.alarms = one .. ',' .. worker
    return math.max(0, math.min(floor, due - now + 500))
  end
  return floor
end

-- Something falls due before the first holder wakes: it is woken, and sets the alarm anew.
function F.Due_alarmEarlier()
  local one, two = F.Due_holders()
  if F.Line_wakeWorker(one) then
    C.alarms = ',' .. two
    C.alarm = INF
  end
end

-- The first holder has work now: another idle worker is woken to take the alarm.
function F.Due_handAlarm(lane)
  if C.waiting <= 0 or F.nextDue() == INF then return end
  local _, two = F.Due_holders()
  if two == '' or not F.Line_wakeWorker(two) then F.Line_wakeLine(lane, '*', 1) end
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

function F.Lease_linesOf(shares, reach)
  local lines = {}
  for _, share in ipairs(shares) do
    local function stand(line)
      lines[#lines + 1] = share.lane.queue
      lines[#lines + 1] = line
      redis.call('ZADD', (share.lane.p .. 'idle-workers:' .. line), now, share.worker)
    end
    if not reach or reach.steal == 'any' then stand('*') end
    if reach and reach.assigned then stand(reach.assigned) end
    if reach and reach.steal and reach.steal ~= 'any' then stand(reach.steal) end
  end
  return cmsgpack.pack(lines)
end

function F.Lease_standInLine(worker, shares, due, spread)
  for _, share in ipairs(shares) do share.worker = worker.id end
  redis.call('HSET', (prefix .. 'worker:' .. worker.id), 'i', F.Lease_linesOf(shares, worker.reach))
  C.waiting = C.waiting + 1
  return F.Due_sleepOf(worker.id, due, spread)
end

-- Work was left behind, or the alarm has lost its holder: somebody else is woken.
function F.Lease_passOn(worker, shares, heldAlarm)
  if C.waiting <= 0 then return end
  local lists = {}
  if worker.reach then
    lists[1] = worker.reach.assigned
    if worker.reach.steal ~= 'any' then lists[#lists + 1] = worker.reach.steal end
  end
  for _, share in ipairs(shares) do F.Line_wakeFor(share.lane, 1, lists) end
  if heldAlarm then F.Due_handAlarm(shares[1].lane) end
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
-- What lease, settle, extend and tick share: maintenance on top of the base.
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

-- Keeps attempts that did not end well, and any once there is such a one.
-- @rare

-- Takes ended tasks away whose time is over, oldest first, with everything kept about them.
-- @rare

-- Drops the lists of restricted workers when the last worker of a list is gone.
-- @rare

-- Sealed submissions: batches that are stored in several scripts. Until the seal each of their
-- tasks is blocked by the submission (x.su); the seal releases them in bounded steps. What nobody
-- seals in time is undone, last task first.
-- @rare

-- Waiters of an undone task that one step looks at.

-- Maintenance that is part of every lease, settle with lease, extend and tick: each part bounded.
-- @rare

-- Named values of users, as src/domain/xcom.ts has them: a hash each with v value, w the task that
-- pushed it or '', p when, t how long it is kept in ms. A place is <bytes>:<user> and the pair of
-- namespace and key; an index knows when to look whether a value is over.
-- @rare

-- Takes named values away whose time is over.
-- @rare

-- Forgets users whose kept tag the virtual time has passed.

-- Looks whether maintenance has anything to do, without asking Redis: H never says later than it is.

-- Chooses whose turn it is in a queue: by WF2Q+ among the heads of all classes, or by the lists of
-- a restricted worker. Restates domain/fair-share.ts and the chapter "Restricted workers".

-- Reads and takes the first task of a level of a user.
-- @rare

-- Reads what a worker has announced, and says that it lives.

-- Takes one task: of a user with a record, by a worker with lists, or one that is not as most are.

-- Tells a leased task how its dependencies ended, with their results as far as they fit. In front of
-- them stands how long after the last one's end it was queued, in ms; -1 when that says nothing.
-- @rare

-- One lease, for `lease` and `settle`. ARGV from `from`: request id, slots, lease ms, wait, spread
-- in [0, 1), retention, number of queues, then queue, weight and pass of each.
-- Answers {'leased' or 'repeated', more (+ 2 when some schedule is due), next due or -1, wait ms, now, lease end, alone,
-- what queues say of their tasks as JSON or '', moment of the token, how many}, then all ids, all texts, and a row for
-- each that has more to tell: its place, long payload, moment of the token, failures, losses, releases, upstreams,
-- lease end, lease moment; or {'unregistered'}.

-- Deals out turns to users without a record, many at once: first whose they are, then their tasks. A turn
-- of somebody else, and a task that is not as most are, are taken one by one (lib/lease.lua).

-- A number that no other has, greater than all before: places in line, and the order of arrival.
function F.stamp()
  C.stamp = C.stamp + 1
  return C.stamp
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

-- The least tag from `from` on that has the seat of `tag`.
function F.Tag_seated(tag, from) return tag + math.ceil((from - tag) / 1024) * 1024 end

function F.Tag_raise(tag, least) return tag < least and F.Tag_seated(tag, least) or tag end

-- What a turn of this cost adds to a tag.
function F.Tag_turn(cost) return math.max(1, math.floor(cost * 67108864 / 1024 + 0.5)) * 1024 end

-- The tag that a user enters a class with, and what the class remembers of it. `kept`: the tag that
-- it has, 0 for none; `last`: what the class remembers of the one before.
function F.Tag_enter(kept, v, w, last)
  local floor, fresh = math.ceil(v * F.Tag_scale(w)), last + 1
  local next_ = fresh
  if next_ <= floor or next_ > floor + 1048576 then fresh = F.Tag_seated(next_, floor) end
  return kept > fresh and F.Tag_seated(next_, kept) or fresh, fresh
end

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

-- A member that is too long for a listpack, and stands behind all users; no name is written so.
function F.spread(key)
  redis.call('ZADD', key, '+inf', string.rep('\255', 65))
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

-- An attempt of a worker that it has settled: 's' succeeded, 'f' failed.
function F.countAttempt(worker, field, n)
  local came = outcomes[worker] or {}
  outcomes[worker] = came
  came[field] = (came[field] or 0) + (n or 1)
end

-- One attempt more that nobody has settled; one of an earlier start is no matter of this one.
function F.countLost(t)
  local startedAt = redis.call('HGET', (prefix .. 'worker:' .. t.worker), 'b')
  if startedAt and t.leasedAt >= tonumber(startedAt) then F.countAttempt(t.worker, 'g') end
end

function F.saveOutcomes()
  for worker, came in pairs(outcomes) do
    local key = (prefix .. 'worker:' .. worker)
    if redis.call('HEXISTS', key, 't') == 1 then
      for field, more in pairs(came) do redis.call('HINCRBY', key, field, more) end
    end
  end
end

-- The level whose head is next; 0 when nothing waits. A level with work gets its tag at first
-- sight.
function F.nextLevel(u)
  local best, bestTag, cnt, shares = 0, 0, u.cnt, F.sharesOf(u)
  for level = 5, 1, -1 do
    if cnt[level] > 0 then
      local tag = shares.tag[level]
      if tag == 0 then
        local last, weights = shares.last[level], u.lane.config.priorityWeights or WEIGHTS
        tag = (last > shares.v and last or shares.v) + 1 / weights[level]
        shares.tag[level] = tag
        F.touch(u)
      end
      if best == 0 or tag < bestTag then best, bestTag = level, tag end
    end
  end
  if cnt[6] == 0 then return best end
  local burst = u.lane.config.criticalBurst
  if burst and shares.crit >= burst and best > 0 then return best end
  return 6
end

function F.served(u, level)
  local shares = F.sharesOf(u)
  if level == 6 then
    shares.crit = shares.crit + 1
    return
  end
  shares.crit = 0
  shares.v = shares.tag[level]
  shares.last[level] = shares.v
  shares.tag[level] = 0
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

function F.idOf(member)
  return string.sub(member, 13)
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

function F.tokenNumber(token)
  return tonumber(string.match(token, '^%d+') or 0)
end

-- A lease of the worker ends then.
function F.leasedUntil(worker, till)
  local least = leasedUntil[worker]
  if not least or till < least then leasedUntil[worker] = till end
  if till < H.started then H.started = till end
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

-- Tasks that the worker was given by its latest request and still has, by arrival.
function F.latestLeases(worker, request)
  local found, rows = {}, redis.call('HGETALL', (prefix .. 'hot:' .. worker))
  for i = 1, #rows, 2 do
    if string.sub(rows[i + 1], -#request - 1) == '-' .. request then
      local t = F.taskOf(rows[i], worker, rows[i + 1])
      if t and t.state == 'started' then found[#found + 1] = F.fixed(t) end
    end
  end
  table.sort(found, function(a, b) return a.stamp < b.stamp end)
  return found
end

-- Leases of the worker that have ended, and the moment before which none of the others ends. Of very many
-- only some are looked at: then that moment is now.
function F.overdue(worker, most)
  local key, ids, least, cursor = (prefix .. 'hot:' .. worker), {}, INF, '0'
  F.dropLeases()
  repeat
    local rows
    cursor, rows = unpack(redis.call('HSCAN', key, cursor, 'COUNT', 10 * most))
    for i = 1, #rows, 2 do
      local _, till = struct.unpack('<ddIBxxxxxxxxxxxx', rows[i + 1])
      if till <= now then ids[#ids + 1] = rows[i] else least = math.min(least, till) end
    end
  until cursor == '0' or #ids > 2 * most
  local found = {}
  for i = 1, #ids do
    local t = i <= most or #ids <= 2 * most
    if not t then return found, now end
    t = F.taskOf(ids[i], worker)
    if not t then
      redis.call('HDEL', key, ids[i])
    elseif t.state == 'started' and t.worker == worker then
      -- This step may have extended it.
      if t.leaseUntil > now then least = math.min(least, t.leaseUntil) else found[#found + 1] = t end
    end
  end
  return found, cursor == '0' and least or now
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

-- From `started` back to the line, or away until the delay is over.
function F.comeBack(t, u, delay, anew)
  t.seq = anew and 0 or F.placeOf(t)
  t.at = 0
  F.leave(t, u)
  if delay > 0 then
    F.enterScheduled(t, u, now + delay)
  else
    F.enterQueue(t, u)
  end
  F.reindex(u)
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

-- The first of a state that has ended and that nobody reads.
function F.firstEnded(state)
  F.flushEnded()
  local key = (prefix .. 'ended:' .. state)
  while true do
    local id = redis.call('LINDEX', key, 0)
    if not id then return end
    local t = F.taskOf(id)
    if t and t.state == state and t.readers == 0 then return t end
    redis.call('LPOP', key)
    F.dropHoles(state)
    if t and t.state == state then redis.call('ZADD', (prefix .. 'kept:' .. state), t.endStamp, id) end
  end
end

function F.countEnded(state)
  F.flushEnded()
  return redis.call('LLEN', (prefix .. 'ended:' .. state)) - (redis.call('HGET', (prefix .. 'holes'), state) or 0)
    + redis.call('ZCARD', (prefix .. 'kept:' .. state))
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

-- Its end is moved on, unless a task needs it. What is known of it is remembered for longer.
function F.Graphs_touch(hash)
  if redis.call('EXISTS', (prefix .. 'graph-refs:' .. hash)) == 1 then return end
  redis.call('HSET', (prefix .. 'graphmeta:' .. hash), 'till', now + 86400000)
  redis.call('PEXPIRE', (prefix .. 'graph:' .. hash), 86400000)
  redis.call('PEXPIRE', (prefix .. 'graphmeta:' .. hash), 8 * 86400000)
end

-- The record of a task goes, and with it what was kept for it alone.
function F.Graphs_drop(t)
  local hash = t.x and t.x.h
  if hash then F.Graphs_letGo(hash, t.id) end
end

-- A task or a schedule needs the snapshot no more.
function F.Graphs_letGo(hash, id)
  redis.call('SREM', (prefix .. 'graph-refs:' .. hash), id)
  F.Graphs_touch(hash)
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

-- What the turn costs before it is known how long it takes, in seconds.
function F.Timed_charge(t, u)
  local cost = u.mean or u.lane.mean or 1
  F.rareOf(t).ch = cost
  return cost
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

-- What this step knows of users and tasks is written and forgotten: others deal out by what is stored.
function F.Step_rest()
  if C.dueChanged then F.Step_saveDueUsers() end
  for _, lane in ipairs(touched) do
    for _, u in ipairs(lane.dirty or NONE) do F.Step_forget(u) end
    lane.dirty = nil
  end
  for _, lane in pairs(lanes) do lane.users, lane.runs = {}, nil end
  F.dropLeases()
  F.Step_saveTasks()
  tasks = {}
  F.flushSets()
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

function F.recordAttempt(t, outcome, decision, cause, err)
  local key = (prefix .. 'attempts:' .. t.id)
  if t.hasAttempts then
    local newest = redis.call('LINDEX', key, -1)
    if newest then
      local last = cjson.decode(newest)
      if last.error and #last.error > 1024 then
        local cut = 1024
        while string.byte(last.error, cut + 1) >= 128 and string.byte(last.error, cut + 1) < 192 do
          cut = cut - 1
        end
        last.error = string.sub(last.error, 1, cut)
        redis.call('LSET', key, -1, cjson.encode(last))
      end
    end
  end
  t.hasAttempts = true
  F.change(t)
  redis.call('RPUSH', key, cjson.encode({ attempt = t.failures + 1, worker = t.worker,
    leasedAt = t.leasedAt, endedAt = now, outcome = outcome, decision = decision,
    cause = cause, error = err }))
  redis.call('LTRIM', key, -20, -1)
end

-- Nothing of it is kept.
function F.Retain_forget(t)
  local id = t.id
  redis.call('HDEL', (prefix .. 'tasks'), id)
  if F.isLong(t) then redis.call('HDEL', (prefix .. 'payloads'), id) end
  if t.hasFacts then redis.call('HDEL', (prefix .. 'facts'), id) end
  redis.call('HDEL', (prefix .. 'ends'), id)
  redis.call('HDEL', (prefix .. 'errors'), id)
  if t.hasEar then
    t.dependents, t.w = false, nil
    F.saveEar(t)
  end
  redis.call('UNLINK', (prefix .. 'attempts:' .. id), (prefix .. 'deps:blocked:' .. id), (prefix .. 'run:' .. id), (prefix .. 'channel:' .. id))
  t.isGone = true
  tasks[id] = false
end

-- Removes an ended task. Those that still wait for its redrive are canceled first, in bounded
-- steps; false while some are left.
function F.Retain_takeAway(t)
  local u = F.ownerOf(t)
  if t.dependents then
    local key = (prefix .. 'deps:held:' .. t.id)
    F.flushKey(key)
    local ids = redis.call('ZRANGE', key, 0, 50)
    for i = 1, math.min(#ids, 50) do
      F.zset(key, ids[i], false)
      local dependent = F.taskOf(ids[i])
      if dependent and not F.isEnd(dependent.state) then
        F.endTask(dependent, F.ownerOf(dependent), 'canceled',
          { cause = F.Cascade_causeOf(t.id, 'removed') })
      end
    end
    if #ids > 50 then return false end
  end
  -- One that failed could have been redriven, and a join holds what it joined: they read until now.
  if t.x and (t.state == 'failed' or t.x.j) then F.Cascade_leaveReaders(t) end
  local key = t.x and t.x.k and F.keyState(u.lane.queue, u.name, t.x.k)
  if key and key.o == t.id then
    -- The key goes too, unless it holds for a time.
    if key.u and now < key.u then key.g = t.state else key.o = nil end
    key.dirty = true
  end
  F.leave(t, u)
  F.Graphs_drop(t)
  F.Retain_forget(t)
  F.cascade(50)
  return true
end

function F.Retain_retainState(state, keepMs, keepCount, left)
  local surely = now - 60000
  local over = now - math.max(keepMs, 60000)
  if H[state] > over and not (keepCount and H[state] <= surely) then return false, left end
  while true do
    local t = F.firstEnded(state)
    H[state] = t and t.at or INF
    if not t then return false, left end
    if t.at > over and not (keepCount and t.at <= surely and F.countEnded(state) > keepCount) then
      return false, left
    end
    if t.inCascade or left <= 0 then return true, left end
    left = left - 1
    if not F.Retain_takeAway(t) then return true, left end
  end
end

-- `spec`: how long finished, failed and canceled tasks are kept in ms, and how many.
function F.Retain_retain(spec)
  local least = math.min(H.finished, H.failed, H.canceled)
  if least > now - 60000 then return false end
  local ages, counts = {}, {}
  for age, count in string.gmatch(spec, '(%d+):(%d*)') do
    ages[#ages + 1] = tonumber(age)
    counts[#ages] = tonumber(count) or false
  end
  local left, more, any = 50, false, false
  more, left = F.Retain_retainState('finished', ages[1], counts[1], left)
  any = more
  more, left = F.Retain_retainState('failed', ages[2], counts[2], left)
  any = any or more
  more, left = F.Retain_retainState('canceled', ages[3], counts[3], left)
  return any or more
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

function F.Lists_silence(from, till)
  local key = (CODES['listed-workers'] and prefix .. 'state:' .. 'listed-workers' or prefix .. 'listed-workers')
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, from, till, 'LIMIT', 0, 50)) do
    F.Lists_leaveLists(id)
    if redis.call('EXISTS', (prefix .. 'worker:' .. id)) == 1 then redis.call('HSET', (prefix .. 'worker:' .. id), 'x', '1') end
    F.move('listed-workers', id, false)
  end
end

-- Whoever was silent too long leaves its lists: maintenance alone finds that out.
function F.Lists_dropSilent()
  local past = '(' .. string.format('%.0f', now - 15000)
  local future = '(' .. string.format('%.0f', now + 15000)
  F.flushIndex('listed-workers')
  F.Lists_silence('-inf', past)
  -- One seen far in the future was last seen before the clock went back.
  F.Lists_silence(future, '+inf')
  C.dropping = F.Lists_dropLists(50) and 1 or 0
  return C.dropping == 1
end

-- Takes up to `most` names off lists that nobody has any more; true when some are left.
function F.Lists_dropLists(most)
  local left = most
  for _, pair in ipairs(redis.call('SMEMBERS', (prefix .. 'dropping'))) do
    if left > 0 then left = left - F.Lists_dropNames(pair, left) end
  end
  return redis.call('EXISTS', (prefix .. 'dropping')) == 1
end

-- One task of a sealed submission waits for it no more.
function F.Submission_release(t)
  t.x.su = nil
  F.change(t)
  if not F.isBlocked(t) then F.unblock(t, F.ownerOf(t)) end
end

-- Who waits for a task that is undone waits for a missing one again; false when some are left.
function F.Submission_letGo(t)
  local key = (prefix .. 'deps:waiting:' .. t.id)
  F.flushKey(key)
  local ids = redis.call('ZRANGE', key, 0, 250)
  for i = 1, math.min(#ids, 250) do
    F.zset(key, ids[i], false)
    local waiter = F.taskOf(ids[i])
    if waiter and not F.isEnd(waiter.state) then F.Deps_awaitMissing(waiter, t.id) end
  end
  F.flushKey(key)
  return #ids <= 250
end

-- As if the task had never been stored; false when that takes another step.
function F.Submission_undo(t)
  if t.dependents and not F.Submission_letGo(t) then return false end
  local u = F.ownerOf(t)
  local lane = u.lane
  F.leave(t, u)
  if F.isEnd(t.state) then
    lane[t.state] = lane[t.state] - 1
  else
    u.live = u.live - 1
  end
  lane.enqueued = lane.enqueued - 1
  if t.inCascade then F.move('cascade', t.id, false) end
  if t.x.dl then F.move('deadlines', F.member(t), false) end
  F.Cascade_leaveWaits(t)
  F.Cascade_leaveReaders(t)
  local key = t.x.k and F.keyState(lane.queue, u.name, t.x.k)
  if key and key.f == t.id then
    key.f, key.dirty = nil, true
  elseif key and key.o == t.id then
    key.o, key.dirty = nil, true
  end
  F.Graphs_drop(t)
  F.Step_saveTasks()
  F.Retain_forget(t)
  tasks[t.id] = false
  F.reindex(u)
  return true
end

-- Undoes some of them, the last first; says how many are done with.
function F.Submission_undoAll(ids, submission)
  for i = #ids, 1, -1 do
    local t = F.taskOf(ids[i])
    if t and t.x and t.x.su == submission and not F.Submission_undo(t) then return #ids - i end
  end
  return #ids
end

-- Up to `most` tasks of a submission are released (front first) or undone (back first); true when
-- some are left.
function F.Submission_step(id, most)
  local key, list = (prefix .. 'submit:' .. id), (prefix .. 'submitted:' .. id)
  local sealed = redis.call('HGET', key, 'sealed')
  if sealed then
    for _, one in ipairs(redis.call('LRANGE', list, 0, most - 1)) do
      local t = F.taskOf(one)
      if t and t.x and t.x.su == id then F.Submission_release(t) end
    end
    redis.call('LTRIM', list, most, -1)
  else
    local done = F.Submission_undoAll(redis.call('LRANGE', list, -most, -1), id)
    redis.call('LTRIM', list, 0, -done - 1)
  end
  if redis.call('EXISTS', list) == 1 then return true end
  F.move('submissions', id, false)
  if sealed then
    redis.call('HSET', key, 'done', '1')
    redis.call('PEXPIRE', key, 60000)
  else
    redis.call('DEL', key)
  end
  return false
end

-- Goes on with submissions that are sealed, and undoes those whose time is over.
function F.Submission_tick(most)
  F.flushIndex('submissions')
  local id = redis.call('ZRANGEBYSCORE', (CODES['submissions'] and prefix .. 'state:' .. 'submissions' or prefix .. 'submissions'), '-inf', now, 'LIMIT', 0, 1)[1]
  if id then F.Submission_step(id, most) end
  F.flushIndex('submissions')
  return H.submissions <= now
end

function F.Tick_headIs(name, due)
  if moved[name] then F.flushIndex(name) end
  return H[name] <= due
end

-- Up to `most` members of an index that are due, least first.
function F.Tick_dueOf(name, due, most)
  F.flushIndex(name)
  return redis.call('ZRANGEBYSCORE', (CODES[name] and prefix .. 'state:' .. name or prefix .. name), '-inf', due, 'LIMIT', 0, most)
end

-- Takes back a lease that has ended.
function F.Tick_lose(t, u)
  u.lane.lost = u.lane.lost + 1
  F.countLost(t)
  t.losses = t.losses + 1
  local last = t.losses >= 3
  F.recordAttempt(t, 'lost', t.canceling and 'cancel' or last and 'dead-letter' or 'release')
  if t.canceling then
    F.endTask(t, u, 'canceled', { cause = t.y.cn })
  elseif last then
    F.endTask(t, u, 'failed', { cause = cjson.encode({ type = 'lost', leases = t.losses }) })
  else
    F.comeBack(t, u, t.losses == 1 and 0 or 5000 + F.tokenNumber(t.token) % 1000)
  end
end

-- Leases that have ended, by (end, id), of all workers that may have such.
function F.Tick_ended()
  local all, left = {}, {}
  F.saveLeases()
  for _, worker in ipairs(redis.call('ZRANGEBYSCORE', (prefix .. 'leases'), '-inf', now)) do
    local found, least = F.overdue(worker, 50)
    left[worker] = { count = #found, least = least }
    for _, t in ipairs(found) do all[#all + 1] = t end
  end
  table.sort(all, function(a, b)
    return a.leaseUntil < b.leaseUntil
      or (a.leaseUntil == b.leaseUntil and F.fixed(a).stamp < F.fixed(b).stamp)
  end)
  return all, left
end

function F.Tick_sweep()
  if now < C.pause or H.started > now then return false end
  local ended, left = F.Tick_ended()
  for i = 1, math.min(#ended, 50) do
    local t = ended[i]
    local of = left[t.worker]
    of.count = of.count - 1
    F.Tick_lose(t, F.ownerOf(t))
  end
  for worker, of in pairs(left) do
    if of.count == 0 then
      if of.least < INF then
        redis.call('ZADD', (prefix .. 'leases'), of.least, worker)
      else
        redis.call('ZREM', (prefix .. 'leases'), worker)
      end
    end
  end
  local head = redis.call('ZRANGE', (prefix .. 'leases'), 0, 0, 'WITHSCORES')
  H.started = head[2] and tonumber(head[2]) or INF
  return H.started <= now
end

function F.Tick_splitPair(pair)
  local length, at = string.match(pair, '^(%d+):()')
  return string.sub(pair, at, at + length - 1), string.sub(pair, at + length)
end

-- Moves due tasks on, a few of each user in turn, so that a user with a million delays nobody.
function F.Tick_promote()
  local left = 100
  while left > 0 do
    if not F.Tick_headIs('scheduled-users', now) then return false end
    local pair = redis.call('ZRANGE', (CODES['scheduled-users'] and prefix .. 'state:' .. 'scheduled-users' or prefix .. 'scheduled-users'), 0, 0)[1]
    local queue, name = F.Tick_splitPair(pair)
    local u = F.userOf(F.laneOf(queue), name)
    local key = (u.lane.p .. 'scheduled:' .. name)
    F.flushKey(key)
    local most = math.min(left, 20)
    local ids = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, most)
    for _, member in ipairs(ids) do
      local t = F.taskOf(F.idOf(member))
      if t and t.state == 'scheduled' then F.becomeDue(t, u) else F.zset(key, member, false) end
    end
    F.flushKey(key)
    u.dueFloor = now
    u.dueChanged = nil
    F.Step_saveDue(u)
    F.touch(u)
    left = left - math.max(#ids, 1)
  end
  return F.Tick_headIs('scheduled-users', now)
end

function F.Tick_unthrottle()
  if not F.Tick_headIs('throttled', now) then return false end
  local pairs_ = F.Tick_dueOf('throttled', now, 50)
  for _, pair in ipairs(pairs_) do
    local queue, name = F.Tick_splitPair(pair)
    local u = F.userOf(F.laneOf(queue), name)
    u.throttled = true
    F.reindex(u)
  end
  return #pairs_ == 50
end

-- The least id among those that a task waits for and that cannot end by themselves.
function F.Tick_waitsFor(t)
  local vain = {}
  for _, id in ipairs(redis.call('SMEMBERS', (prefix .. 'deps:blocked:' .. t.id))) do
    local upstream = F.Deps_upstreamOf(t, id)
    if not upstream or F.isEnd(upstream.state) then vain[#vain + 1] = id end
  end
  table.sort(vain, F.before)
  return vain[1] or ''
end

-- Ends tasks that were not started in time, or have waited too long for one that failed.
function F.Tick_expire()
  if not F.Tick_headIs('deadlines', now) then return false end
  local ids = F.Tick_dueOf('deadlines', now, 50)
  for _, member in ipairs(ids) do
    local t = F.taskOf(F.idOf(member))
    if not t or F.isEnd(t.state) then
      F.move('deadlines', member, false)
    elseif t.x.ex and t.x.ex <= now then
      F.endTask(t, F.ownerOf(t), 'failed', { cause = '{"type":"expired"}' })
    elseif t.x.wk and t.x.wk <= now then
      F.Suspend_wake(t, F.ownerOf(t))
    else
      F.Deps_rewait(t)
      if t.x.wu then
        F.endTask(t, F.ownerOf(t), 'canceled',
          { cause = cjson.encode({ type = 'waited', id = F.Tick_waitsFor(t) }) })
      end
    end
  end
  return #ids == 50
end

-- Users hear of new defaults of their queue, some at a time.
function F.Tick_refresh(most)
  local left = most
  local from = redis.call('HGETALL', (prefix .. 'refreshing'))
  for i = 1, #from, 2 do
    if left <= 0 then return true end
    local lane = F.laneOf(from[i])
    F.flushKey((lane.p .. 'users'))
    local names = redis.call('ZRANGEBYLEX', (lane.p .. 'users'), from[i + 1], '+', 'LIMIT', 0, left)
    for _, name in ipairs(names) do F.reindex(F.userOf(lane, name)) end
    if #names < left then
      redis.call('HDEL', (prefix .. 'refreshing'), from[i])
    else
      redis.call('HSET', (prefix .. 'refreshing'), from[i], '(' .. names[#names])
    end
    left = left - #names
  end
  C.refresh = redis.call('EXISTS', (prefix .. 'refreshing'))
  return C.refresh == 1
end

-- Every part of maintenance once; true when any stopped at its bound.
function F.Tick_run(retention)
  local swept = F.Tick_sweep()
  local promoted = F.Tick_promote()
  local unthrottled = F.Tick_unthrottle()
  local expired = F.Tick_expire()
  local cascaded = F.cascade(100)
  local retained = F.Retain_retain(retention)
  local over = F.XCom_sweep()
  local dropped = F.Tick_dropIdles()
  if C.dropping > 0 or H['listed-workers'] < now - 15000 then
    dropped = F.Lists_dropSilent() or dropped
  end
  if C.refresh > 0 then dropped = F.Tick_refresh(50) or dropped end
  if H.submissions <= now then dropped = F.Submission_tick(50) or dropped end
  return swept or promoted or unthrottled or expired or cascaded or retained or over
    or dropped
end

function F.XCom_placeOf(user, namespace, key)
  local rest = (#namespace .. ':' .. namespace .. key)
  return (#user .. ':' .. user .. rest)
end

function F.XCom_drop(user, namespace, key)
  local place, space = F.XCom_placeOf(user, namespace, key), (#user .. ':' .. user .. namespace)
  if redis.call('DEL', (prefix .. 'xcom:' .. place)) == 0 then return end
  F.move('xcom-ends', place, false)
  redis.call('ZREM', (prefix .. 'xcom-keys:' .. space), key)
  if redis.call('EXISTS', (prefix .. 'xcom-keys:' .. space)) == 0 then
    redis.call('ZREM', (prefix .. 'xcom-namespaces:' .. user), namespace)
  end
end

-- When a value goes; false while a task keeps it.
function F.XCom_endOf(writer, pushedAt, keepMs)
  local t = writer ~= '' and F.taskOf(writer)
  if not t then return pushedAt + keepMs end
  if not F.isEnd(t.state) or t.readers > 0 then return false end
  return math.max(pushedAt, t.at) + keepMs
end

-- User, namespace and key of a place.
function F.XCom_parts(place)
  local user, rest = F.Tick_splitPair(place)
  local namespace, key = F.Tick_splitPair(rest)
  return user, namespace, key
end

-- Takes values away that are over; those that a task keeps are looked at again later.
function F.XCom_sweep()
  if not F.Tick_headIs('xcom-ends', now) then return false end
  local places = F.Tick_dueOf('xcom-ends', now, 50)
  for _, place in ipairs(places) do
    local got = redis.call('HMGET', (prefix .. 'xcom:' .. place), 'w', 'p', 't')
    local till = got[1] and F.XCom_endOf(got[1], tonumber(got[2]), tonumber(got[3]))
    if not got[1] then
      F.move('xcom-ends', place, false)
    elseif not till then
      F.move('xcom-ends', place, now + 60000)
    elseif till > now then
      F.move('xcom-ends', place, till)
    else
      F.XCom_drop(F.XCom_parts(place))
    end
  end
  return #places == 50
end

-- Drops users of one queue whose kept tag the virtual time has passed; says how many.
function F.Tick_dropIdle(lane, most)
  local epoch, dropped = lane.old, 0
  local rated = C.configs > 0 or lane.perUser.rate
  while true do
    local key = (lane.p .. 'idle:' .. epoch)
    F.flushKey(key)
    local limit = epoch < lane.epoch and '+inf' or lane.v
    local names = redis.call('ZRANGEBYSCORE', key, '-inf', limit, 'LIMIT', 0, most - dropped)
    for _, name in ipairs(names) do
      F.zset(key, name, false)
      local u = lane.users[name]
      if rated then u = F.userOf(lane, name) end
      if u then
        u.idle = false
        F.touch(u)
      else
        redis.call('DEL', (lane.p .. 'user:' .. name))
        F.zset((lane.p .. 'users'), name, false)
      end
    end
    dropped = dropped + math.max(#names, 1)
    if epoch >= lane.epoch then break end
    if dropped >= most then return most end
    epoch = epoch + 1
    lane.old = epoch
  end
  lane.idleMoved = true
  return dropped
end

-- Drops kept tags of users without a record that the virtual time has passed, and names of whom nothing
-- is known any more; says how many it looked at, and whether any may be left.
function F.Tick_dropNames(lane, most)
  local tags, users = (lane.p .. 'kept-tags'), (lane.p .. 'users')
  F.flushKey(tags)
  local passed = math.floor((lane.v + 0.000030517578125) * F.Tag_scale(100))
  local names = redis.call('ZRANGEBYSCORE', tags, '-inf', string.format('%.0f', passed), 'LIMIT', 0, most)
  local gone = 0
  for _, name in ipairs(names) do
    local tag = tonumber(redis.call('ZSCORE', tags, name))
    if F.Tag_keptUntil(tag, 100) <= lane.v then
      redis.call('ZREM', tags, name)
      gone = gone + 1
      if lane.users[name] then lane.users[name].isKept = false end
    end
  end
  lane.tags = lane.tags - gone
  -- Who has a task running is known by nothing but that: all of these are looked through a minute apart.
  if lane.counts.started > 0 then
    if now < (tonumber(redis.call('HGET', (prefix .. 'sweeping'), lane.queue .. ':at')) or 0) then return #names end
    redis.call('HSET', (prefix .. 'sweeping'), lane.queue .. ':at', now + 60000)
    most = 20 * most
  end
  F.flushKey(users)
  local from = redis.call('HGET', (prefix .. 'sweeping'), lane.queue) or '-'
  local some = redis.call('ZRANGEBYLEX', users, from, '+', 'LIMIT', 0, most)
  local runs
  for _, name in ipairs(some) do
    local u = lane.users[name]
    local known = u and (not u.plain or u.ready or u.isKept)
    if not known and redis.call('LLEN', (lane.p .. 'line' .. '' .. ':' .. name)) == 0
      and redis.call('EXISTS', (lane.p .. 'user:' .. name)) == 0
      and not redis.call('ZSCORE', tags, name) and redis.call('HEXISTS', (lane.p .. 'later'), name) == 0 then
      if not runs then
        F.dropLeases()
        runs = lane.counts.started > 0 and F.runningOf(lane) or NONE
      end
      if not runs[name] then redis.call('ZREM', users, name) end
    end
  end
  if #some == most then
    redis.call('HSET', (prefix .. 'sweeping'), lane.queue, '(' .. some[#some])
    return most
  end
  redis.call('HDEL', (prefix .. 'sweeping'), lane.queue)
  if lane.counts.started == 0 then redis.call('HDEL', (prefix .. 'sweeping'), lane.queue .. ':at') end
  return #names
end

function F.Tick_dropIdles()
  if C.idle == 0 then return false end
  local left = 50
  for _, queue in ipairs(redis.call('SMEMBERS', (prefix .. 'idle-lanes'))) do
    local lane = F.laneOf(queue)
    left = left - F.Tick_dropIdle(lane, left)
    if left > 0 then left = left - F.Tick_dropNames(lane, left) end
    F.touchLane(lane)
    if left <= 0 then
      C.idle = now
      return true
    end
    redis.call('SREM', (prefix .. 'idle-lanes'), queue)
  end
  C.idle = 0
  return false
end

-- Where the head of a class stands in virtual time: shared ones are ordered by that.
function F.Choose_startOf(class, score)
  if string.byte(class, 2) == 119 then return F.Tag_start(score, tonumber(string.sub(class, 3))) end
  return score
end

-- In a settled order, which has nothing to do with names: those of one step can tie.
function F.Choose_classBefore(a, b)
  local x, y = string.byte(a), string.byte(b)
  if x == y then x, y = string.byte(a, 2), string.byte(b, 2) end
  return x > y
end

-- The first member of a set that changes in this step, and its score.
function F.first(key)
  F.flushKey(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return head[1], tonumber(head[2])
end

-- The user with the next turn, and the virtual time after the jump to the least start.
function F.Choose_chooseUser(lane, orphansOnly)
  local fronts, n = {}, 0
  for class in pairs(lane.classes) do
    if not (orphansOnly and string.byte(class) == 97) then
      local name, tag = F.first((lane.p .. 'ready:' .. class))
      if tag == INF then name = nil end
      n = n + 1
      fronts[n] = { class = class, name = name, step = F.Choose_stepOf(class),
        start = name and F.Choose_startOf(class, tag) }
    end
  end
  local best, v = F.Choose_best(fronts, n, lane.v)
  if best then return best.name, v end
end

-- Whether the next turn of one ends first, or of two that end at once has begun first.
function F.Choose_finishesFirst(a, b)
  local finishA, finishB = F.finishOf(a), F.finishOf(b)
  return finishA < finishB or (finishA == finishB and F.startOf(a) < F.startOf(b))
end

-- The first user of an index that is ordered by F.
function F.Choose_firstOf(lane, key)
  local name, finish = F.first(key)
  if not name then return end
  local best = F.userOf(lane, name)
  local score = string.format('%.17g', finish)
  local tied = redis.call('ZRANGEBYSCORE', key, score, score)
  for i = 2, #tied do
    local u = F.userOf(lane, tied[i])
    if F.Choose_finishesFirst(u, best) then best = u end
  end
  return best
end

function F.Choose_chooseAssigned(lane, reach)
  local u, list
  if reach.assigned then
    u = F.Choose_firstOf(lane, (lane.p .. 'list-ready:' .. reach.assigned))
    list = u and F.listOf(lane, reach.assigned)
  end
  if reach.steal == 'any' then
    local name, v = F.Choose_chooseUser(lane, true)
    local orphan = name and F.userOf(lane, name)
    if orphan and (not u or F.Choose_finishesFirst(orphan, u)) then return orphan, v, nil, false end
  elseif reach.steal then
    local orphan = F.Choose_firstOf(lane, (lane.p .. 'orphans:' .. reach.steal))
    if orphan and (not u or F.Choose_finishesFirst(orphan, u)) then
      u, list = orphan, F.listOf(lane, reach.steal)
    end
  end
  if u then return u, nil, list, false end
end

function F.Choose_chooseStolen(lane, reach)
  if reach.steal == 'any' then
    local name, v = F.Choose_chooseUser(lane, false)
    if name then return F.userOf(lane, name), v, nil, true end
    return
  end
  if not reach.steal then return end
  local u = F.Choose_firstOf(lane, (lane.p .. 'list-ready:' .. reach.steal))
  if u then return u, nil, F.listOf(lane, reach.steal), true end
end

-- Whose turn it is: the user, V after a jump or nil, the list that it was chosen by, and whether
-- the turn is stolen.
function F.Choose_choose(lane, reach)
  if not reach then
    local name, v = F.Choose_chooseUser(lane, false)
    if not name then return end
    return F.userOf(lane, name), v
  end
  return F.Choose_chooseRestricted(lane, reach)
end

function F.Choose_chooseRestricted(lane, reach)
  local u, v, list, stolen = F.Choose_chooseAssigned(lane, reach)
  if u then return u, v, list, stolen end
  return F.Choose_chooseStolen(lane, reach)
end

function F.headOf(u, level)
  return redis.call('LINDEX', F.lineKey(u, level), 0)
end

function F.takeHead(u, level, t)
  if t then t.isTaken = true end
  redis.call('LPOP', F.lineKey(u, level))
end

function F.Deal_nameKnown(name)
  local known = redis.call('ZSCORE', (prefix .. 'names'), name)
  if known and now - known < 3600000 then return true end
  local since = now - 3600000
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', (prefix .. 'workers'), since, '+inf')) do
    local got = redis.call('HMGET', (prefix .. 'worker:' .. id), 'n', 't')
    if got[2] and now - got[2] < 3600000
      and string.find(got[1], ',' .. name .. ',', 1, true) then
      return true
    end
  end
  return false
end

-- A task whose run has ended has nothing to be started for.
function F.Deal_isOrphan(t)
  local run = F.taskOf(t.x.o)
  return not run or F.isEnd(run.state)
end

-- A task that this worker has no handler for waits for one that has.
function F.Deal_setAside(t, u)
  local y = F.rareOf(t)
  y.ss, y.sn = y.ss or now, y.sn or 0
  if now - y.ss >= 3600000 and not F.Deal_nameKnown(t.name) then
    return F.endTask(t, u, 'failed', { cause = '{"type":"unknown-task"}' })
  end
  local pause = math.min(60000, 1000 * 2 ^ math.min(y.sn, 30))
  y.sn = y.sn + 1
  t.seq = F.placeOf(t)
  F.leave(t, u)
  F.enterScheduled(t, u, now + pause)
  F.reindex(u)
end

-- Charges the turn: the user's tag, virtual time, both rates, the clock of the list.
function F.Deal_charge(t, u, v, list)
  local lane = u.lane
  local cost = t.cost
  if lane.timed then
    cost = F.Timed_charge(t, u)
  elseif t.y and t.y.ch then
    F.rareOf(t).ch = nil
  end
  if v then lane.v = v end
  u.s = u.s + F.Tag_turn(cost)
  if list then
    u.s = F.Tag_raise(u.s, list.clock * F.Tag_scale(u.w))
    list.clock = F.startOf(u)
    list.dirty = true
  end
  lane.v = lane.v + cost * 100 / lane.w
  local rate = u.set.rate
  if rate then u.tat = (u.tat > now and u.tat or now) + rate.perMs / rate.limit end
  rate = lane.config.rate
  if rate then lane.tat = (lane.tat > now and lane.tat or now) + rate.perMs / rate.limit end
end

function F.Deal_start(t, u, level, request)
  local lane = u.lane
  F.served(u, level)
  F.dropQueued(t, u)
  lane.counts.queued = lane.counts.queued - 1
  if t.isSettled then F.rareOf(t).st, t.isSettled = t.token, false end
  local n = t.token ~= '' and F.tokenNumber(t.token) + 1 or 0
  t.token = n <= micros and request.token or string.format('%.0f-', n) .. request.id
  t.worker, t.leasedAt, t.chargedEpoch = request.worker, now, lane.epoch
  t.isCounted = not u.plain
  if t.x and t.x.ex then
    t.x.ex, t.x.xr = nil, nil
    F.setDeadline(t)
  end
  F.setState(t, u, 'started')
  t.leaseUntil = now + (lane.config.leaseMs or request.leaseMs)
  F.leasedUntil(request.worker, t.leaseUntil)
  u.running = u.running + 1
  local stays = u.ready
  F.reindex(u)
  if u.ready and stays then F.indexUser(u, true) end
end

-- The level's set holds less than was counted (somebody else's hand): the count is mended.
function F.Deal_mendLevel(u, level)
  local lost = u.cnt[level]
  u.cnt[level], u.queued = 0, u.queued - lost
  u.lane.counts.queued = u.lane.counts.queued - lost
  F.emptied(u, level)
  F.reindex(u)
end

-- Starts the chosen task, unless its name is strange here or it must run with nothing beside it.
function F.Deal_take(u, v, list, request, batch)
  local level = F.nextLevel(u)
  if level == 0 then return F.reindex(u) end
  local id = F.headOf(u, level)
  if not id then return F.Deal_mendLevel(u, level) end
  local t = F.taskOf(id, nil, 'none')
  if not t then
    -- The record is gone (an operator's hand, an eviction): the place is cleaned, no turn is used.
    u.cnt[level], u.queued = u.cnt[level] - 1, u.queued - 1
    u.lane.counts.queued = u.lane.counts.queued - 1
    F.takeHead(u, level)
    return F.reindex(u)
  end
  F.fixed(t)
  if t.x and t.x.o and F.Deal_isOrphan(t) then
    F.takeHead(u, level, t)
    F.endTask(t, u, 'canceled', { cause = cjson.encode({ type = 'run-ended', run = t.x.o }) })
    batch.strangers = batch.strangers + 1
    batch.stopped = batch.strangers >= 16
    return
  end
  if request.names and not string.find(request.names, ',' .. t.name .. ',', 1, true) then
    F.takeHead(u, level, t)
    F.Deal_setAside(t, u)
    batch.strange = t
    batch.strangers = batch.strangers + 1
    batch.stopped = batch.strangers >= 16
    return
  end
  local alone = t.losses >= 3 - 1
  if alone and batch.n > 0 then
    batch.stopped = true
    return
  end
  F.takeHead(u, level, t)
  F.Deal_charge(t, u, v, list)
  F.Deal_start(t, u, level, request)
  F.Lease_add(batch, t)
  batch.alone, batch.stopped = alone, alone
  return true
end

-- One turn by all rules, if anybody has one.
function F.Deal_one(share, request, batch)
  local u, v, list, stolen = F.Choose_choose(share.lane, share.reach)
  if not u then return false end
  local taken = F.Deal_take(u, v, list, request, batch)
  if taken and stolen then share.lane.stolen = share.lane.stolen + 1 end
  return true
end

function F.Deal_saveListClocks(shares)
  for _, share in ipairs(shares) do
    for id, list in pairs(share.lane.lists or {}) do
      if list.dirty then
        redis.call('HSET', (share.lane.p .. 'list:' .. id), 'c', string.format('%.17g', list.clock),
          'e', share.lane.epoch)
      end
    end
  end
end

function F.upstreamsOf(t)
  local room, facts = 65536, { t.at < 0 and -1 - t.at or -1 }
  for i, id in ipairs(t.x.d) do
    -- One that was missing was not waited for, whoever has stored it since.
    local upstream = not F.Cascade_satisfiedMissing(t, id) and F.Deps_upstreamOf(t, id)
    local fact = { id = id, name = '', state = 'missing', cut = false }
    if upstream then fact.name = F.fixed(upstream).name end
    if upstream and F.isEnd(upstream.state) then
      fact.state = upstream.state
      local size = upstream.result and #upstream.result or 0
      fact.error = redis.call('HGET', (prefix .. 'errors'), id) or nil
      if size <= room then
        fact.result = upstream.result
        room = room - size
      else
        fact.cut = true
      end
    end
    facts[i + 1] = fact
  end
  return cjson.encode(facts)
end

function F.Lease_addRow(batch, place, long, t)
  local rows = batch.rows or {}
  batch.rows = rows
  local n = #rows
  rows[n + 1], rows[n + 2] = place, long or ''
  rows[n + 3] = t and F.tokenNumber(t.token) or ''
  rows[n + 4], rows[n + 5], rows[n + 6] = t and t.failures or 0, t and t.losses or 0, t and t.releases or 0
  rows[n + 7] = t and t.x and t.x.d and F.upstreamsOf(t) or ''
  rows[n + 8], rows[n + 9] = t and t.leaseUntil or '', t and t.leasedAt or ''
end

function F.Lease_add(batch, t)
  local n = batch.n + 1
  batch.n, batch.ids[n], batch.texts[n] = n, t.id, t.f
  F.Lease_addRow(batch, n, F.isLong(t) and F.payloadOf(t), t)
end

-- A resent request: what it was given the first time, as far as it still holds.
function F.Lease_again(worker, batch)
  for _, t in ipairs(F.latestLeases(worker.id, worker.last)) do
    F.fixed(t)
    F.Lease_add(batch, t)
    if t.losses >= 3 - 1 then batch.alone = true end
  end
end

-- What ended in this lease may have set work free, when nobody stood in line yet but others.
function F.Lease_wakeForFreed(worker, shares)
  for _, share in ipairs(shares) do
    if share.lane.runnable > 0 then return F.Lease_passOn(worker, shares, false) end
  end
end

-- The tasks from the last to `from` stand again where they stood.
function F.Deal_unpop(lane, turns, ids, from)
  for at_ = turns.count, from, -1 do
    redis.call('LPUSH', (lane.p .. 'line' .. '' .. ':' .. (turns.names[turns.order[at_]])), ids[at_])
  end
end

-- Payloads that stand apart from their records go with the lease.
function F.Deal_addLong(batch, from)
  for i = from + 1, batch.n do
    if string.byte(batch.texts[i], 27) % 2 == 1 then
      F.Lease_addRow(batch, i, redis.call('HGET', (prefix .. 'payloads'), batch.ids[i]))
    end
  end
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

local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
redis.call('DEL', (prefix .. 'oom'))
F.seen(worker)
return F.leaseStep(2, worker, {})
