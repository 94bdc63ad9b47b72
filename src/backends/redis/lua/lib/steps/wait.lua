-- What suspended tasks wait for that is no task.
-- @rare

-- It begins to wait for what `wait` says; answers a signal that was kept for it, and is kept no more.
function Wait.begin(t, wait)
  local x = t.optional
  x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry = wait.kind, wait.name, wait.targets, wait.entry
  F.change(t)
  for _, id in ipairs(x.awaitTargets or NONE) do
    local kept = Wait.takeKept(id, x.awaitName)
    if kept then return kept end
  end
  Wait.enter(t)
end

-- It stands where those are found that wait.
function Wait.enter(t)
  local x = t.optional
  F.zset(K.waits(x.awaitKind), t.id, now)
  for _, id in ipairs(x.awaitTargets or NONE) do F.zset(K.waiters(id, x.awaitName), t.id, F.fixed(t).stamp) end
end

-- What it waits for has come, or is not wanted any more.
function Wait.leave(t)
  local x = t.optional
  if not x.awaitKind then return end
  F.zset(K.waits(x.awaitKind), t.id, false)
  for _, id in ipairs(x.awaitTargets or NONE) do F.zset(K.waiters(id, x.awaitName), t.id, false) end
  x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry = nil, nil, nil, nil
  F.change(t)
end

-- What ended the wait is written to its journal, and the task goes on.
function Wait.answer(t, u, by, payload)
  redis.call('HSET', K.run(t.id), t.optional.awaitEntry, string.format('%.0f', now) .. ' ' .. by .. ' ' .. payload)
  Suspend.wake(t, u)
end

-- How many signals are kept for a task and their bytes, and how many with ids were sent.
function Wait.countsOf(key)
  local counts = redis.call('HGET', key, FIELD.channel.signalCounts) or '0 0 0'
  local kept, bytes, sent = string.match(counts, '^(%d+) (%d+) (%d+)$')
  return { kept = tonumber(kept), bytes = tonumber(bytes), sent = tonumber(sent) }
end

function Wait.saveCounts(key, counts)
  redis.call('HSET', key, FIELD.channel.signalCounts, counts.kept .. ' ' .. counts.bytes .. ' ' .. counts.sent)
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
  if first == after then return nil end
  local field = FIELD.channel.signal .. first .. ':' .. name
  local payload = redis.call('HGET', key, field) or ''
  redis.call('HDEL', key, field)
  if first + 1 == after then
    redis.call('HDEL', key, FIELD.channel.signalLine .. name)
  else
    redis.call('HSET', key, FIELD.channel.signalLine .. name, (first + 1) .. ' ' .. after)
  end
  local counts = Wait.countsOf(key)
  counts.kept, counts.bytes = counts.kept - 1, counts.bytes - #payload
  Wait.saveCounts(key, counts)
  return payload
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
