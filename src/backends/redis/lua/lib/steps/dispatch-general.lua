-- Turns of users with a record, and tasks of which more is known than their text: dealt out many at once as
-- others are (lib/steps/dispatch.lua). What is odder than that is taken one by one (lib/records/lease.lua).

-- What settings come to as they are stored in `c`, for all who have the same; false for those on lists.
function Dispatch.settingsOf(queue, packed)
  local known = queue.known or {}
  queue.known = known
  local found = known[packed]
  if found ~= nil then return found end
  local c = packed == '' and NONE or cmsgpack.unpack(packed)
  found = not c.onLists and { queue = queue, own = c.userPart or NONE, kept = c.keepsRecord,
    set = F.settingsOf(queue, c.userPart or NONE) }
  if found then found.isRecorded = F.isRecorded(found) end
  known[packed] = found
  return found
end

-- Users as `Dispatch.readFew` fills them in, by their numbers among those who have turns: used again from step to step.
local USERS = {}

-- The user with this number, of which nothing but numbers changes with a turn, as its record is stored; nil when there is more to it.
function Dispatch.readFew(queue, name, i)
  if queue.users[name] then return end
  local key, packed, raw, c = K.user(queue.prefix, name), nil, false, ''
  local got = redis.call('HGETALL', key)
  for at_ = 1, #got, 2 do
    local field = got[at_]
    if field == FIELD.user.numbers then packed = got[at_ + 1]
    elseif field == FIELD.user.shares then raw = got[at_ + 1]
    elseif field == FIELD.user.settings then c = got[at_ + 1] end
  end
  local found = packed and Dispatch.settingsOf(queue, c)
  if not found then return end
  local u = USERS[i]
  if not u then
    u = { isFew = true, cnt = { 0, 0, 0, 0, 0, 0 }, plan = { turns = 0, cnt = false, shares = F.newShares() } }
    USERS[i] = u
  end
  local cnt, flags = u.cnt, nil
  u.startTag, u.tagEpoch, flags, u.countedWeight, u.headroom, cnt[1], cnt[2], cnt[3], cnt[4], cnt[5], cnt[6], u.live, u.running, u.tat
    = struct.unpack(FORMAT.user, packed)
  u.isCounted = flags == FLAG.user.ready
  if not u.isCounted and (flags ~= FLAG.user.ready + FLAG.user.uncounted or found.isRecorded) then return end
  u.queue, u.name, u.key, u.raw, u.set, u.isRecorded = queue, name, key, raw, found.set, found.isRecorded
  u.queued = cnt[1] + cnt[2] + cnt[3] + cnt[4] + cnt[5] + cnt[6]
  return u
end

-- How many turns the first of a class may have, who has a record: one more than so many at most. 0: its turn is
-- taken by all rules. `again`: the user, as it was read for the same turn before.
function Dispatch.headroomOf(queue, front, name, most, again, i)
  if queue.timed or front.isShared or string.byte(front.class) ~= 111 then return 0 end
  local u = again and again.name == name and again or Dispatch.readFew(queue, name, i) or F.userOf(queue, name)
  local set, weight = u.set, u.countedWeight
  if not (u.isFew or u.ready) or u.lists or u.tagEpoch ~= queue.epoch or weight ~= front.countedWeight
    or set.weight ~= weight or set.paused then return 0 end
  local headroom = math.min(u.queued, set.maxRunning - u.running, most + 1)
  if set.rate then headroom = Dispatch.startsOf(u, headroom) end
  return headroom, u
end

-- How many of so many starts its rate allows now, one behind the other; and what is spent of it then.
function Dispatch.startsOf(u, most)
  local rate = u.set.rate
  -- Far from what it allows: the other number is not asked for then.
  if Rate.afterStarts(rate, u.tat, now, most + 1 - rate.burst) < now - 1 then return most end
  return Dispatch.spend(u, most)
end

function Dispatch.spend(u, most)
  local rate, tat = u.set.rate, u.tat
  for n = 1, most do
    if Rate.allowedAt(rate, tat) > now then return n - 1, tat end
    tat = Rate.afterStart(rate, tat, now)
  end
  return most, tat
end

-- Counts and shares of a user, to go on with while nothing is decided.
function Dispatch.planOf(u)
  if u.cnt[3] == u.queued and not (u.shares or u.raw) then
    if not u.isFew then return { turns = 0 } end
    u.plan.turns, u.plan.cnt = 0, false
    return u.plan
  end
  if not u.isFew then
    local shares = F.sharesOf(u)
    return { turns = 0, queue = u.queue, cnt = { unpack(u.cnt) }, shares = { crit = shares.crit, waited = { unpack(shares.waited) } } }
  end
  local plan, cnt = u.plan, u.plan.counts or {}
  for level = 1, 6 do cnt[level] = u.cnt[level] end
  plan.turns, plan.queue, plan.cnt, plan.counts = 0, u.queue, cnt, cnt
  F.readShares(u.raw, plan.shares)
  return plan
end

function Dispatch.nextLevel(plan)
  local level = F.nextLevel(plan)
  if level == 0 then return level end
  F.served(plan, level)
  plan.cnt[level] = plan.cnt[level] - 1
  return level
end

-- The line of each turn; of users with a record also what they are after these turns, by the number of the user.
function Dispatch.linesOf(queue, turns)
  local keys, plans, us, order, names, lines = {}, {}, turns.us, turns.order, turns.names, queue.usualLine
  for at_ = 1, turns.count do
    local i = order and order[at_] or at_
    local u, plan = us and us[i], plans[i]
    if u and not plan then
      plan = Dispatch.planOf(u)
      plans[i] = plan
    end
    if plan then plan.turns = plan.turns + 1 end
    if plan and plan.cnt then
      keys[at_] = K.line(queue.prefix, K.levelPart(Dispatch.nextLevel(plan)), names[i])
    else
      keys[at_] = lines .. names[i]
    end
  end
  return keys, plans
end

function Dispatch.popEach(keys, n)
  local ids = {}
  for at_ = 1, n do
    local id = redis.call('LPOP', keys[at_])
    if not id then return ids, at_ end
    ids[at_] = id
  end
  return ids
end

-- Whether a task that comes with facts is started like one without: nothing but its lease is to be written.
function Dispatch.isStartable(t)
  local x, y = t.optional, t.changing
  return not (x and (x.startUntil or x.startWithin or x.ownerRun and Park.isAbandoned(t) or Pause.runOf(t))) and not (y and y.chargedAhead)
    and t.losses < LIMIT.maxLost - 1 and (t.token == '' or F.tokenNumber(t.token) < micros)
end

-- The tasks that have facts and can be started, by place; nil when there are none.
function Dispatch.withFacts(ids, texts)
  local places, asked, n = {}, {}, 0
  for i = 1, #texts do
    local kind = texts[i] and string.byte(texts[i], AT.text.kind) or 0
    if kind >= BYTE.facts and kind < BYTE.place then
      n = n + 1
      places[n], asked[n] = i, ids[i]
    end
  end
  if n == 0 then return end
  local found, facts, known = {}, redis.call('HMGET', K.facts(), unpack(asked)), {}
  for k = 1, n do
    local i, packed = places[k], facts[k]
    local t = packed and Dispatch.readTried(packed, known)
    if t == nil then
      t = F.newTask(ids[i], texts[i])
      F.readFacts(t, packed)
      t = Dispatch.isStartable(t) and t
      found.hasUpstreams = found.hasUpstreams or t and t.optional and t.optional.waitsOn
    end
    found[i] = t
  end
  return found
end

-- Of a task in line that can be started what its lease tells, when nothing else is known of it but how it was tried
-- before: of many the same, one for all. `known`: by what stands behind its place.
function Dispatch.readTried(packed, known)
  if string.byte(packed) ~= PLACE.line then return end
  local rest = string.sub(packed, AT.facts.failures)
  local tried = known[rest]
  if tried ~= nil then return tried or nil end
  local _, _, _, failures, losses, releases, _, _, from = struct.unpack(FORMAT.facts, packed)
  local more = #packed >= from and cmsgpack.unpack(string.sub(packed, from)) or NONE
  tried = not more.optional and { changing = more.changing, failures = failures, losses = losses, releases = releases,
    token = more.latestLease and string.match(more.latestLease, '^[^%z]*') or '' }
  if tried and not Dispatch.isStartable(tried) then tried = false end
  known[rest] = tried
  return tried or nil
end

-- Writes the record of a user after its turns, where it is as it was read but for numbers; says whether it was that.
function Dispatch.saveFew(u, plan, tag, isReady)
  local n, set, tat, cnt, queued = plan.turns, u.set, u.tat, plan.cnt, u.queued - plan.turns
  if not u.isFew or not (u.isRecorded or cnt and queued > cnt[3]) then return false end
  if set.rate then
    n, tat = Dispatch.spend(u, plan.turns)
    if Rate.allowedAt(set.rate, Rate.boundedTat(set.rate, tat, now)) > now then return false end
  end
  local live, running, flags = u.live, u.running, (isReady and FLAG.user.ready or 0) + (u.isCounted and 0
    or FLAG.user.uncounted)
  if u.isCounted then running = running + n end
  local headroom = math.max(0, math.min(queued, set.maxRunning - running))
  if headroom > u.headroom then return false end
  u.queue.runnable = u.queue.runnable + headroom - u.headroom
  local packed
  if cnt then
    packed = struct.pack(FORMAT.user, tag, u.tagEpoch, flags, u.countedWeight, headroom, cnt[1], cnt[2], cnt[3], cnt[4],
      cnt[5], cnt[6], live,
      running, tat)
    redis.call('HSET', u.key, FIELD.user.numbers, packed, FIELD.user.shares, F.packShares(plan.shares))
  else
    packed = struct.pack(FORMAT.user, tag, u.tagEpoch, flags, u.countedWeight, headroom, 0, 0, queued, 0, 0, 0, live, running, tat)
    redis.call('HSET', u.key, FIELD.user.numbers, packed)
  end
  return true
end

-- The first that is taken by all rules, and those with facts that need not be.
function Dispatch.examine(batch, taken, request)
  local ids, texts = taken.ids, taken.texts
  local found = Dispatch.withFacts(ids, texts)
  local stop = Dispatch.firstSpecial(texts, #ids, request, found) or taken.stop
  if not (request.isLong or found and found.hasUpstreams) then return stop, found end
  return Dispatch.firstHeavy(batch, ids, texts, stop and stop - 1 or #ids, found) or stop, found
end

-- Users with a record after their turns; says how many turns these were.
function Dispatch.saveUsers(queue, turns, plans)
  local left = 0
  for i = 1, turns.who do
    local u, plan = turns.us[i], plans[i]
    if plan and Dispatch.saveFew(u, plan, turns.tags[i], turns.left[i] > 0) then
      left = left + plan.turns
    elseif plan then
      if u.isFew then u = F.userOf(queue, u.name) end
      local n, rate = plan.turns, u.set.rate
      if plan.cnt then u.cnt, u.shares = plan.cnt, plan.shares else u.cnt[3] = u.cnt[3] - n end
      u.queued, u.running, u.startTag, left = u.queued - n, u.running + n, turns.tags[i], left + n
      if rate then
        local _, tat = Dispatch.spend(u, n)
        u.tat = tat
      end
      if turns.left[i] == 0 then u.ready, u.class = false, false end
      F.reindex(u)
    end
  end
  return left
end

-- Payloads that stand apart from their records go with the lease.
function Dispatch.addLong(batch, from)
  for i = from + 1, batch.n do
    if string.byte(batch.texts[i], AT.text.kind) % (2 * FLAG.kind.long) == 1 then
      Lease.addRow(batch, i, redis.call('HGET', K.payloads(), batch.ids[i]))
    end
  end
end

-- Leases the tasks of these turns; `found`: those with facts.
function Dispatch.startEach(queue, turns, plans, ids, texts, found, request, batch)
  local n, till, us, order = turns.count, now + (queue.config.leaseMs or request.leaseMs), turns.us, turns.order
  if not (us or found or next(tasks)) then
    local before = batch.n
    for i = 1, n do batch.ids[before + i], batch.texts[before + i] = ids[i], texts[i] end
    batch.n = before + n
    Dispatch.startAll(queue, n, ids, K.hot(request.worker), request.token, till, 0)
    if request.isLong then Dispatch.addLong(batch, before) end
    F.touchQueue(queue)
    return Dispatch.saveTags(queue, turns)
  end
  local values, rows, behind, at_ = {}, {}, queue.name .. '\0' .. request.token, batch.n
  local isRead, isLong, owners = next(tasks) and true, request.isLong, nil
  for i = 1, n do
    local id, text, t, u = ids[i], texts[i], found and found[i], us and us[order and order[i] or i]
    local flags = (t and FLAG.lease.facts or 0) + (u and u.isCounted and FLAG.lease.counted or 0)
    local value = values[flags]
    if not value then
      value = struct.pack(FORMAT.lease, now, till, queue.epoch, flags, C.steps) .. behind
      values[flags] = value
    end
    if flags == FLAG.lease.counted then
      owners = owners or Settle.ownersOf(value)
      owners[id] = u.name
    end
    rows[2 * i - 1], rows[2 * i], at_ = id, value, at_ + 1
    batch.ids[at_], batch.texts[at_] = id, text
    if isRead then tasks[id] = nil end
    local long = isLong and string.byte(text, AT.text.kind) % (2 * FLAG.kind.long) == 1 and redis.call('HGET', K.payloads(), id)
    if t then t.token, t.leaseUntil, t.leasedAt = request.token, till, now end
    if t or long then Lease.addRow(batch, at_, long, t) end
  end
  redis.call('HSET', K.hot(request.worker), unpack(rows))
  batch.n = batch.n + n
  F.begun(request.worker, till)
  Dispatch.saveTags(queue, turns)
  local counted = us and Dispatch.saveUsers(queue, turns, plans) or 0
  queue.runnable = queue.runnable - n + counted
  queue.counts.queued, queue.counts.started = queue.counts.queued - n, queue.counts.started + n
  F.touchQueue(queue)
end

-- Takes the tasks of these turns out of their lines; `stop`: the first that cannot be started as they are.
function Dispatch.takeEach(queue, turns, request, batch)
  local taken = { ids = turns.us and {} or Dispatch.pop(queue, turns) }
  if not turns.us then
    taken.texts = redis.call('HMGET', K.tasks(), unpack(taken.ids))
    if not Dispatch.firstSpecial(taken.texts, turns.count, request) and not request.isLong then return taken end
  end
  if turns.us then
    taken.keys, taken.plans = Dispatch.linesOf(queue, turns)
    taken.ids, taken.stop = Dispatch.popEach(taken.keys, turns.count)
    taken.texts = #taken.ids > 0 and redis.call('HMGET', K.tasks(), unpack(taken.ids)) or NONE
  end
  local fine, stop, found = pcall(Dispatch.examine, batch, taken, request)
  -- What cannot be read breaks off the step that reads it next, once all tasks stand again where they stood.
  if fine then taken.stop, taken.found = stop or taken.stop, found else taken.stop = 1 end
  taken.isSpecial = taken.stop
  if taken.stop and not taken.keys then taken.keys = Dispatch.linesOf(queue, turns) end
  return taken
end

-- Starts what comes next of a queue, at most so many; false when there is nothing.
function Dispatch.some(share, most, request, batch)
  local queue, before, unknownNames = share.queue, batch.n, batch.unknownNames
  Step.rest()
  local turns = Dispatch.turns(queue, most)
  local special = turns.isOther
  if turns.count > 0 then
    local taken = Dispatch.takeEach(queue, turns, request, batch)
    if taken.stop and Park.isUnknown(turns, taken, request) then taken = Park.skipAll(queue, turns, taken, request, batch) end
    local dispatched, plans = turns, taken.plans
    if taken.stop then
      dispatched, special = Dispatch.turns(queue, taken.stop - 1, turns), taken.isSpecial
      plans = select(2, Dispatch.linesOf(queue, dispatched))
    end
    Park.putBack(taken, dispatched.count)
    if dispatched.count > 0 then
      Dispatch.startEach(queue, dispatched, plans, taken.ids, taken.texts, taken.found, request, batch)
    end
    if taken.drained then Park.drain(queue, taken.drained, taken.class) end
  end
  batch.pass = special and 1 or 2 * batch.pass
  if batch.n > before and turns.fluid and turns.fluid.passed > LIMIT.leaversPassed then batch.stopped = true end
  if special and batch.n < request.limit and not batch.stopped then return Dispatch.one(share, request, batch) end
  return special or batch.n > before or batch.unknownNames > unknownNames
end
