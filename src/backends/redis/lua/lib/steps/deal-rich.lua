-- Turns of users with a record, and tasks of which more is known than their text: dealt out many at once as
-- others are (lib/deal.lua). What is odder than that is taken one by one (lib/lease.lua).
-- @rare

-- What settings come to as they are stored in `c`, for all who have the same; false for those on lists.
function Deal.settingsOf(lane, packed)
  local known = lane.known or {}
  lane.known = known
  local found = known[packed]
  if found ~= nil then return found end
  local c = packed == '' and NONE or cmsgpack.unpack(packed)
  found = not c.onLists and { lane = lane, own = c.userPart or NONE, kept = c.keepsRecord,
    set = F.settingsOf(lane, c.userPart or NONE) }
  if found then found.isRecorded = F.isRecorded(found) end
  known[packed] = found
  return found
end

-- A user with a record of which nothing but numbers changes with a turn, as it is stored; nil when there is more to it.
function Deal.readFew(lane, name)
  if lane.users[name] then return end
  local key = K.user(lane.prefix, name)
  local got = redis.call('HMGET', key, FIELD.user.numbers, FIELD.user.shares, FIELD.user.settings)
  local found = got[1] and Deal.settingsOf(lane, got[3] or '')
  if not found then return end
  local s, ep, flags, w, room, a, b, c, d, e, f, live, running, tat = struct.unpack(FORMAT.user, got[1])
  local isCounted = flags == FLAG.user.ready
  if not isCounted and (flags ~= FLAG.user.ready + FLAG.user.uncounted or found.isRecorded) then return end
  local queued = a + b + c + d + e + f
  return { lane = lane, name = name, key = key, startTag = s, tagEpoch = ep, countedWeight = w, room = room,
    queued = queued, live = live,
    running = running, tat = tat, raw = got[2], set = found.set, isCounted = isCounted, ready = true,
    isRecorded = found.isRecorded, cnt = (queued > c or got[2]) and { a, b, c, d, e, f }, isFew = true }
end

-- How many turns the first of a class may have, who has a record: one more than so many at most. Nil: its turn is
-- taken by all rules. `again`: the user, as it was read for the same turn before.
function Deal.roomOf(lane, front, most, again)
  if lane.timed or front.scale == true or string.byte(front.class) ~= 111 then return end
  local name = front.got[front.at]
  local u = again and again.name == name and again or Deal.readFew(lane, name) or F.userOf(lane, name)
  local set = u.set
  if not u.ready or u.lists or u.tagEpoch ~= lane.epoch or u.countedWeight ~= front.countedWeight
    or set.weight ~= u.countedWeight or set.paused then return end
  local room = math.min(u.queued, set.maxRunning - u.running, most + 1)
  if set.rate then room = Deal.startsOf(u, room) end
  if room > 0 then return room, u end
end

-- How many of so many starts its rate allows now, one behind the other; and what is spent of it then.
function Deal.startsOf(u, most)
  local rate = u.set.rate
  -- Far from what it allows: nobody asks for the other number then.
  if Rate.afterStarts(rate, u.tat, now, most + 1 - rate.burst) < now - 1 then return most end
  return Deal.spend(u, most)
end

function Deal.spend(u, most)
  local rate, tat = u.set.rate, u.tat
  for n = 1, most do
    if Rate.allowedAt(rate, tat) > now then return n - 1, tat end
    tat = Rate.afterStart(rate, tat, now)
  end
  return most, tat
end

-- Counts and shares of a user, to go on with while nothing is decided.
function Deal.planOf(u)
  if not u.cnt or (u.cnt[3] == u.queued and not (u.shares or u.raw)) then return { turns = 0 } end
  local shares = F.sharesOf(u.isFew and { raw = u.raw } or u)
  if u.isFew then return { turns = 0, lane = u.lane, dirty = true, cnt = { unpack(u.cnt) }, shares = shares } end
  return { turns = 0, lane = u.lane, dirty = true, cnt = { unpack(u.cnt) }, shares = { virtual = shares.virtual,
    crit = shares.crit, last = { unpack(shares.last) }, tag = { unpack(shares.tag) } } }
end

function Deal.nextLevel(plan)
  plan.turns = plan.turns + 1
  local cnt = plan.cnt
  if not cnt then return 3 end
  local level = F.nextLevel(plan)
  if level == 0 then return level end
  F.served(plan, level)
  cnt[level] = cnt[level] - 1
  if cnt[level] == 0 then F.emptied(plan, level) end
  return level
end

-- The line of each turn; of users with a record also what they are after these turns, by the number of the user.
function Deal.linesOf(lane, turns)
  local keys, plans, us, order = {}, {}, turns.us, turns.order
  for at_ = 1, turns.count do
    local i, level = order and order[at_] or at_, 3
    if us and us[i] then
      plans[i] = plans[i] or Deal.planOf(us[i])
      level = Deal.nextLevel(plans[i])
    end
    keys[at_] = K.line(lane.prefix, K.levelPart(level), turns.names[i])
  end
  return keys, plans
end

function Deal.popEach(keys, n)
  local ids = {}
  for at_ = 1, n do
    local id = redis.call('LPOP', keys[at_])
    if not id then return ids, at_ end
    ids[at_] = id
  end
  return ids
end

-- Whether a task that comes with facts is started like one without: nothing but its lease is to be written.
function Deal.isStartable(t)
  local x, y = t.rare, t.changing
  return not (x and (x.startUntil or x.startWithin or x.ownerRun and Park.isOrphan(t))) and not (y and y.chargedAhead)
    and t.losses < LIMIT.maxLost - 1 and (t.token == '' or F.tokenNumber(t.token) < micros)
end

-- The tasks that have facts and can be started, by place; nil when there are none.
function Deal.withFacts(ids, texts)
  local places, asked = {}, {}
  for i = 1, #texts do
    local kind = texts[i] and string.byte(texts[i], AT.text.kind) or 0
    if kind >= BYTE.facts and kind < BYTE.place then
      local n = #asked + 1
      places[n], asked[n] = i, ids[i]
    end
  end
  if #asked == 0 then return end
  local found, facts, known = {}, redis.call('HMGET', K.facts(), unpack(asked)), {}
  for n = 1, #asked do
    local i, t = places[n], facts[n] and Deal.readTried(facts[n], known)
    if facts[n] and not t then
      t = F.newTask(ids[i], texts[i])
      F.readFacts(t, facts[n])
    end
    found[i] = t and Deal.isStartable(t) and t
  end
  return found
end

-- Of a task in line what its lease tells, when nothing else is known of it but how it was tried before; `known`: what
-- that came to, which is the same of many.
function Deal.readTried(packed, known)
  local place, flags, seq, failures, losses, releases, at_, readers, from = struct.unpack(FORMAT.facts, packed)
  local tail = place == 0 and string.sub(packed, from)
  local tried = tail and known[tail]
  if tail and tried == nil then
    local more = tail == '' and NONE or cmsgpack.unpack(tail)
    tried = not more.rare and { changing = more.changing, token = more.latestLease
      and string.match(more.latestLease, '^[^%z]*') or '' }
    known[tail] = tried
  end
  return tried and { changing = tried.changing, token = tried.token, failures = failures, losses = losses, releases = releases }
end

-- Writes the record of a user after its turns, where it is as it was read but for numbers; says whether it was that.
function Deal.saveFew(u, plan, tag, isReady)
  local n, set, tat, cnt, queued = plan.turns, u.set, u.tat, plan.cnt, u.queued - plan.turns
  if not u.isFew or not (u.isRecorded or cnt and queued > cnt[3]) then return false end
  if set.rate then
    n, tat = Deal.spend(u, plan.turns)
    if F.rateTill({ set = set, tat = tat }) then return false end
  end
  local live, running, flags = u.live, u.running, (isReady and FLAG.user.ready or 0) + (u.isCounted and 0
    or FLAG.user.uncounted)
  if u.isCounted then running = running + n end
  local room = math.max(0, math.min(queued, set.maxRunning - running))
  if room > u.room then return false end
  u.lane.runnable = u.lane.runnable + room - u.room
  local packed
  if cnt then
    packed = struct.pack(FORMAT.user, tag, u.tagEpoch, flags, u.countedWeight, room, cnt[1], cnt[2], cnt[3], cnt[4],
      cnt[5], cnt[6], live,
      running, tat)
    redis.call('HSET', u.key, FIELD.user.numbers, packed, FIELD.user.shares, F.packShares(plan.shares))
  else
    packed = struct.pack(FORMAT.user, tag, u.tagEpoch, flags, u.countedWeight, room, 0, 0, queued, 0, 0, 0, live, running, tat)
    redis.call('HSET', u.key, FIELD.user.numbers, packed)
  end
  return true
end

-- The first that is taken by all rules, and those with facts that need not be.
function Deal.examine(batch, taken, request)
  local ids, texts = taken.ids, taken.texts
  local found = Deal.withFacts(ids, texts)
  local stop = Deal.firstOdd(texts, #ids, request, found) or taken.stop
  if not (request.isLong or found) then return stop, found end
  return Deal.firstHeavy(batch, ids, texts, stop and stop - 1 or #ids, found) or stop, found
end

-- Users with a record after their turns; says how many turns these were.
function Deal.saveUsers(lane, turns, plans)
  local left = 0
  for i = 1, turns.who do
    local u, plan = turns.us[i], plans[i]
    if plan and Deal.saveFew(u, plan, turns.tags[i], turns.left[i] > 0) then
      left = left + plan.turns
    elseif plan then
      if u.isFew then u = F.userOf(lane, u.name) end
      local n, rate = plan.turns, u.set.rate
      if plan.cnt then u.cnt, u.shares = plan.cnt, plan.shares else u.cnt[3] = u.cnt[3] - n end
      u.queued, u.running, u.startTag, left = u.queued - n, u.running + n, turns.tags[i], left + n
      if rate then
        local _, tat = Deal.spend(u, n)
        u.tat = tat
      end
      if turns.left[i] == 0 then u.ready, u.class = false, false end
      F.reindex(u)
    end
  end
  return left
end

-- Leases the tasks of these turns; `found`: those with facts.
function Deal.startEach(lane, turns, plans, ids, texts, found, request, batch)
  local n, till, us, order = turns.count, now + (lane.config.leaseMs or request.leaseMs), turns.us, turns.order
  local values, rows, behind = {}, {}, lane.queue .. '\0' .. request.token
  for i = 1, n do
    local t, u = found and found[i], us and us[order and order[i] or i]
    local flags = (t and FLAG.lease.facts or 0) + (u and u.isCounted and FLAG.lease.counted or 0)
    values[flags] = values[flags] or struct.pack(FORMAT.lease, now, till, lane.epoch, flags, C.steps) .. behind
    rows[2 * i - 1], rows[2 * i] = ids[i], values[flags]
    local at_ = batch.n + i
    batch.ids[at_], batch.texts[at_], tasks[ids[i]] = ids[i], texts[i], nil
    local long = string.byte(texts[i], AT.text.kind) % (2 * FLAG.kind.long) == 1 and redis.call('HGET', K.payloads(), ids[i])
    if t then t.token, t.leaseUntil, t.leasedAt = request.token, till, now end
    if t or long then Lease.addRow(batch, at_, long, t) end
  end
  redis.call('HSET', K.hot(request.worker), unpack(rows))
  batch.n = batch.n + n
  F.begun(request.worker, till)
  Deal.saveTags(lane, turns)
  local counted = us and Deal.saveUsers(lane, turns, plans) or 0
  lane.runnable = lane.runnable - n + counted
  lane.counts.queued, lane.counts.started = lane.counts.queued - n, lane.counts.started + n
  F.touchLane(lane)
  if us or found then C.isRich = true end
end

-- Takes the tasks of these turns out of their lines. `at`: the first that cannot be started as they are.
function Deal.takeEach(lane, turns, request, batch)
  local taken = { ids = {} }
  taken.keys, taken.plans = Deal.linesOf(lane, turns)
  taken.ids, taken.stop = Deal.popEach(taken.keys, turns.count)
  taken.texts = #taken.ids > 0 and redis.call('HMGET', K.tasks(), unpack(taken.ids)) or NONE
  local fine, stop, found = pcall(Deal.examine, batch, taken, request)
  -- What cannot be read breaks off whoever reads it once all stand again where they stood.
  if fine then taken.stop, taken.found = stop or taken.stop, found else taken.stop = 1 end
  taken.isOdd = taken.stop
  return taken
end

-- Starts what comes next of a queue, at most so many; false when there is nothing.
function Deal.someRich(share, most, request, batch)
  local lane, before, strangers = share.lane, batch.n, batch.strangers
  Step.rest()
  local turns = Deal.turns(lane, most)
  local odd = turns.isOther
  if turns.count > 0 then
    local taken = Deal.takeEach(lane, turns, request, batch)
    if taken.stop and Park.isStrange(turns, taken, request) then taken = Park.skipAll(lane, turns, taken, request, batch) end
    local dealt, plans = turns, taken.plans
    if taken.stop then
      dealt, odd = Deal.turns(lane, taken.stop - 1, turns), taken.isOdd
      plans = select(2, Deal.linesOf(lane, dealt))
    end
    Park.putBack(taken, dealt.count)
    if dealt.count > 0 then
      Deal.startEach(lane, dealt, plans, taken.ids, taken.texts, taken.found, request, batch)
    end
    if taken.drained then Park.drain(lane, taken.drained, taken.class) end
  end
  batch.pass = odd and 1 or 2 * batch.pass
  if odd and batch.n < request.limit and not batch.stopped then return Deal.one(share, request, batch) end
  return odd or batch.n > before or batch.strangers > strangers
end
