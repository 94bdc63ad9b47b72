-- What suspended tasks wait for that is no task.

-- A question of a task by its mark: when it was asked and is over as texts, itself as JSON and read.
function Wait.ask(id, mark)
  local text = redis.call('HGET', K.channel(id), FIELD.channel.ask .. mark)
  local asked, over, json = string.match(text or '', '^(%d+) (%d*) (.*)$')
  local fine, spec = pcall(cjson.decode, json or '')
  local isAsk = fine and type(spec) == 'table' and type(spec.names) == 'table' and type(spec.choices) == 'table'
  if isAsk then return { asked = asked, over = over, json = json, spec = spec } end
end

-- Whose events it waits for, and which.
function Wait.eventPlace(t)
  local user, event = F.fixed(t).user, t.optional.awaitName
  return K.pair(user, event)
end

-- The number of the newest event of a place, also when that is not kept any more.
function Wait.newestEvent(place)
  local key = K.eventWaiters(place)
  F.flushKey(key)
  return tonumber(redis.call('HGET', K.events(place), FIELD.events.newest) or nil)
    or tonumber(redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2] or 0)
end

-- The first event behind a number that is kept: its payload, and when it was published.
function Wait.eventAfter(place, number, newest)
  local n = math.max(number + 1, newest - LIMIT.events + 1)
  local text = n <= newest and redis.call('HGET', K.events(place), FIELD.events.event .. string.format('%.0f', n))
  local at_, payload = string.match(text or '', '^(%d+) (.*)$')
  return payload, tonumber(at_)
end

-- The newest event, if it was published up to so long ago.
function Wait.recentEvent(place, within)
  local number = redis.call('HGET', K.events(place), FIELD.events.newest)
  local text = number and redis.call('HGET', K.events(place), FIELD.events.event .. number)
  local published, payload = string.match(text or '', '^(%d+) (.*)$')
  if payload and now - published <= within then return payload end
end

-- How many waits this step may still end, and whether it is about to.
local wakesLeft, isWaking = LIMIT.cascadeStep, false

-- Who waits for an event of a place, by its id; nil when it does not.
function Wait.waiterOf(place, id)
  local t = F.taskOf(id)
  if t and t.optional and t.optional.awaitKind == 'event' and Wait.eventPlace(t) == place then return t end
end

-- The first of those that an event has not woken yet is due at once: maintenance goes on with it.
function Wait.passOn(place, newest)
  local key = K.eventWaiters(place)
  F.flushKey(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. newest, 'LIMIT', 0, LIMIT.cascadeStep)) do
    local t = Wait.waiterOf(place, id)
    if t then
      if t.optional.wakeDue and t.optional.wakeDue <= now then return end
      t.optional.wakeDue = now
      F.change(t)
      return F.setDeadline(t)
    end
    F.zset(key, id, false)
  end
end

-- What ends a wait that an event comes to: the event, or the time of the wait when that was over before it was published.
function Wait.endedBy(over, payload, at_)
  if over and at_ > over then return 'time', '' end
  return 'event', payload
end

function Wait.takeFrom(t, u, payload, at_)
  Wait.answer(t, u, Wait.endedBy(t.optional.wakeDue, payload, at_))
  F.reindex(u)
end

-- Ends a wait whose time is over by the clock of this step, though no maintenance has come to it; says whether.
function Wait.endIfOver(t)
  local over = t.optional.wakeDue
  if not over or over > now then return false end
  local u = F.ownerOf(t)
  Wait.answer(t, u, 'time', '')
  F.reindex(u)
  return true
end

-- Who waits longest for a signal of a name to a task, as a row (`Wait.rowsOf`) where that is all there is to know. The
-- waits before it whose time is over are ended; of how many that is true is said too, and whether there may be more of them.
function Wait.signalWaiter(id, name)
  local key, ended = K.waiters(id, name), 0
  local ids = redis.call('ZRANGE', key, '0', '0')
  local row = ids[1] and Wait.rowOf(ids[1])
  if row and row.form.kind == 'signal' and not (row.form.wakeDue and row.form.wakeDue <= now) then return row, ended end
  if ids[1] then ids = redis.call('ZRANGE', key, 0, LIMIT.cascadeStep - 1) end
  for _, one in ipairs(ids) do
    local t = F.taskOf(one)
    if t and t.optional and t.optional.awaitKind == 'signal' then
      if not Wait.endIfOver(t) then return t, ended end
      ended = ended + 1
    end
  end
  return nil, ended, ended > 0 and #ids == LIMIT.cascadeStep
end

-- A signal ends the wait of whom `Wait.signalWaiter` has found; `isUsual`: as `Wait.isOther` has said.
function Wait.takeSignal(waiter, payload, isUsual)
  if waiter.form then
    waiter.by, waiter.payload = 'signal', payload
    return Wait.endOne(waiter, not isUsual and Wait.isOther(F.queueOf(waiter.queueName), waiter))
  end
  local u = F.ownerOf(waiter)
  Wait.answer(waiter, u, 'signal', payload)
  F.reindex(u)
end

-- Wakes those that began to wait before the newest events, and leaves the rest to maintenance.
function Wait.deliver(place)
  local key, newest = K.eventWaiters(place), Wait.newestEvent(place)
  local rows = wakesLeft > 0 and redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. newest, 'WITHSCORES', 'LIMIT', 0, wakesLeft)
    or NONE
  isWaking = true
  local ids, woken, events = {}, {}, {}
  for i = 1, #rows, 2 do ids[#ids + 1] = rows[i] end
  local found = ids[1] and Wait.rowsOf(ids)
  for i = 1, #rows, 2 do
    local number, row = rows[i + 1], found[(i + 1) / 2]
    if not events[number] then events[number] = { Wait.eventAfter(place, tonumber(number), newest) } end
    local payload, at_ = unpack(events[number])
    local isRow = row and tasks[row.id] == nil and row.form.kind == 'event' and K.pair(row.user, row.form.name) == place
    local t = not isRow and Wait.waiterOf(place, rows[i])
    if payload and isRow then
      row.by, row.payload = Wait.endedBy(row.form.wakeDue, payload, at_)
      woken[#woken + 1], wakesLeft = row, wakesLeft - 1
    elseif payload and t then
      Wait.endMany(woken)
      woken = {}
      Wait.takeFrom(t, F.ownerOf(t), payload, at_)
      wakesLeft = wakesLeft - 1
    elseif not (isRow or t) then
      F.zset(key, rows[i], false)
    end
  end
  Wait.endMany(woken)
  isWaking = false
  Wait.passOn(place, newest)
end

-- Its time is over, or an event is on its way to it that came before: says whether.
function Wait.takeEvent(t, u)
  local place = Wait.eventPlace(t)
  local newest = Wait.newestEvent(place)
  local number = tonumber(redis.call('ZSCORE', K.eventWaiters(place), t.id) or nil)
  local payload, at_
  if number then payload, at_ = Wait.eventAfter(place, number, newest) end
  if not payload then return false end
  isWaking = true
  Wait.takeFrom(t, u, payload, at_)
  isWaking = false
  Wait.deliver(place)
  return true
end

-- Where it stands until what it waits for has come: sets, its name there, and its score.
function Wait.places(t)
  local x, keys = t.optional, {}
  for i, id in ipairs(x.awaitTargets or NONE) do keys[i] = K.waiters(id, x.awaitName) end
  if x.awaitKind == 'event' then
    local place = Wait.eventPlace(t)
    return { K.eventWaiters(place) }, t.id, Wait.newestEvent(place)
  end
  local ask = x.awaitKind == 'ask' and Wait.ask(t.id, x.awaitName)
  if not ask then return keys, t.id, F.fixed(t).stamp end
  for _, user in ipairs({ '', F.fixed(t).user }) do
    keys[#keys + 1] = K.asks(user, '')
    for _, name in ipairs(ask.spec.names) do keys[#keys + 1] = K.asks(user, name) end
  end
  return keys, string.format('%016.0f ', ask.asked) .. x.awaitName .. '.' .. t.id, 0
end

-- It begins to wait for what `wait` says; answers a signal that was kept for it, and is kept no more.
function Wait.begin(t, wait)
  local x = t.optional
  x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry = wait.kind, wait.name, wait.targets, wait.entry
  F.change(t)
  if wait.ask then
    redis.call('HSET', K.channel(t.id), FIELD.channel.ask .. x.awaitName, string.format('%.0f', now) .. ' '
      .. (x.wakeDue and string.format('%.0f', x.wakeDue) or '') .. ' ' .. wait.ask)
  end
  local kept = Wait.takeAny(x)
  if kept then return kept end
  local recent = wait.within and Wait.recentEvent(Wait.eventPlace(t), wait.within)
  if recent then return recent end
  Wait.enter(t)
end

-- It stands where those are found that wait.
function Wait.enter(t)
  F.zset(K.waits(t.optional.awaitKind), t.id, now)
  local keys, member, score = Wait.places(t)
  for _, key in ipairs(keys) do F.zset(key, member, score) end
end

-- A question is open no more; the first that closes it says how.
function Wait.close(t, how)
  redis.call('HSETNX', K.channel(t.id), FIELD.channel.askClosing .. t.optional.awaitName, string.format('%.0f ', now) .. how)
end

-- What it waits for has come, or is not wanted any more.
function Wait.leave(t)
  local x = t.optional
  if not x.awaitKind then return end
  F.zset(K.waits(x.awaitKind), t.id, false)
  local keys, member = Wait.places(t)
  for _, key in ipairs(keys) do F.zset(key, member, false) end
  local place = x.awaitKind == 'event' and not isWaking and Wait.eventPlace(t)
  if place then Wait.passOn(place, Wait.newestEvent(place)) end
  if x.awaitKind == 'ask' then Wait.close(t, t.state == 'canceled' and 'canceled' or 'ended') end
  x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry = nil, nil, nil, nil
  F.change(t)
end

-- What ended the wait is written to its journal, and the task goes on.
function Wait.answer(t, u, by, payload)
  redis.call('HSET', K.run(t.id), t.optional.awaitEntry, string.format('%.0f ', now) .. by .. ' ' .. payload)
  if t.optional.awaitKind == 'ask' then Wait.close(t, by .. ' ' .. payload) end
  Suspend.wake(t, u)
end

-- Appends a question to the answer of a listing: task, mark, name and user of the task, when it was asked and is over, itself
-- as JSON, how it was closed. Says whether there is one.
function Wait.row(reply, id, mark)
  local t = F.taskOf(id)
  local ask = t and Wait.ask(id, mark)
  if not ask then return end
  local closing = redis.call('HGET', K.channel(id), FIELD.channel.askClosing .. mark) or ''
  -- Its time is over, though no maintenance has come to it.
  if closing == '' and ask.over ~= '' and ask.over + 0 <= now then closing = ask.over .. ' time ' end
  F.spend(2, #ask.json + #closing)
  F.fixed(t)
  for _, one in ipairs({ id, mark, t.name, t.user, ask.asked, ask.over, ask.json, closing }) do reply[#reply + 1] = one end
  return true
end

-- How many signals are kept for a task and their bytes, and how many with ids were sent.
function Wait.countsOf(key)
  local counts = redis.call('HGET', key, FIELD.channel.signalCounts) or '0 0 0'
  local kept, bytes, sent = string.match(counts, '^(%d+) (%d+) (%d+)$')
  return { kept = tonumber(kept), bytes = tonumber(bytes), sent = tonumber(sent) }
end

-- Says whether they are the first.
function Wait.saveCounts(key, counts)
  return 1 == redis.call('HSET', key, FIELD.channel.signalCounts, counts.kept .. ' ' .. counts.bytes .. ' ' .. counts.sent)
end

-- Where in the line of a name the oldest stands, and the next one would.
function Wait.lineOf(key, name)
  local first, after = string.match(redis.call('HGET', key, FIELD.channel.signalLine .. name) or '1 1', '^(%d+) (%d+)$')
  return tonumber(first), tonumber(after)
end

-- The oldest signal of a name that is kept for a task.
function Wait.takeKept(id, name)
  local key = K.channel(id)
  local first, after = Wait.lineOf(key, name)
  local payload
  while first < after and not payload do
    local field = FIELD.channel.signal .. first .. ':' .. name
    payload = redis.call('HGET', key, field)
    redis.call('HDEL', key, field)
    first = first + 1
    if first == after then
      redis.call('HDEL', key, FIELD.channel.signalLine .. name)
    else
      redis.call('HSET', key, FIELD.channel.signalLine .. name, first .. ' ' .. after)
    end
  end
  if not payload then return nil end
  local counts = Wait.countsOf(key)
  -- What counted them may have been lost.
  counts.kept, counts.bytes = math.max(counts.kept - 1, 0), math.max(counts.bytes - #payload, 0)
  Wait.saveCounts(key, counts)
  return payload
end

-- Of the tasks whose signals it takes, the first that has one.
function Wait.takeAny(x)
  for _, id in ipairs(x.awaitTargets or NONE) do
    local kept = Wait.takeKept(id, x.awaitName)
    if kept then return kept end
  end
end

-- Keeps a signal; answers the bound that is in the way.
function Wait.keep(key, counts, name, payload)
  if counts.kept >= LIMIT.signals then return 'signals' end
  if counts.bytes + #payload > LIMIT.signalBytes then return 'signalBytes' end
  local first, after = Wait.lineOf(key, name)
  redis.call('HSET', key, FIELD.channel.signal .. after .. ':' .. name, payload,
    FIELD.channel.signalLine .. name, first .. ' ' .. (after + 1))
  counts.kept, counts.bytes = counts.kept + 1, counts.bytes + #payload
end

-- It is not to be sent again: the newest ids are known.
function Wait.remember(key, counts, signalId)
  if signalId == '' then return end
  counts.sent = counts.sent + 1
  local place = FIELD.channel.signalPlace .. counts.sent % LIMIT.signalIds
  local oldest = redis.call('HGET', key, place)
  if oldest then redis.call('HDEL', key, FIELD.channel.signalId .. oldest) end
  redis.call('HSET', key, place, signalId, FIELD.channel.signalId .. signalId, counts.sent)
end
