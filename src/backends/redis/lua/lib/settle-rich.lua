-- Settles many tasks at once of which more is known than their leases: with facts, of users with a record, with
-- dependents, and those that are tried again at once.
-- @rare

-- Records of the settlements from `i` on that have this decision, as far as they are in force and not odder. A task
-- that the call settles twice ends the row.
function Settle.alike(call, i, last, token, word)
  local ids, tail, n, asked, seen = call.ids, '\0' .. token, 0, {}, {}
  for at_ = i, last do
    local packed, row, ear, id = call.hot[at_], call.others[at_], call.ears and call.ears[at_], ARGV[call.ids + at_]
    if not packed or tasks[id] ~= nil or call.done[id] or seen[id] or string.sub(packed, -#tail) ~= tail then break end
    if word == 'finish' then
      if row or (ear and (ear ~= 'd' or string.byte(packed, 21) % 2 == 1)) then break end
    elseif not row or ARGV[row + 1] ~= word then
      break
    end
    n, seen[id] = n + 1, true
  end
  local found = {}
  if n == 0 then return found end
  local texts = redis.call('HMGET', K.tasks(), unpack(ARGV, ids + i, ids + i + n - 1))
  -- Their places alone do not matter to those that end.
  local most = word == 'finish' and 56 or 256
  for at_ = 1, n do
    local kind = texts[at_] and string.byte(texts[at_], 27) or 0
    if kind >= 52 and kind < most then asked[#asked + 1] = ARGV[ids + i + at_ - 1] end
  end
  local facts, next_ = asked[1] and redis.call('HMGET', K.facts(), unpack(asked)), 0
  for at_ = 1, n do
    local id, packed, text = ARGV[ids + i + at_ - 1], call.hot[i + at_ - 1], texts[at_]
    local t = text and F.newTask(id, text)
    if t and id == asked[next_ + 1] then
      next_ = next_ + 1
      if facts[next_] then F.readFacts(t, facts[next_]) else t = nil end
    end
    if not t or t.canceling then break end
    F.readLease(t, ARGV[1], packed)
    F.owned(t)
    if F.laneOf(t.queue).timed then break end
    found[at_] = t
  end
  return found
end

-- Fewer tasks of a user are running, of one that is ready with all that it has in line: nothing else changes. Says
-- whether it was that.
function Settle.countRunning(lane, name, n)
  if lane.users[name] or C.refresh > 0 then return false end
  local key = K.user(lane.p, name)
  local packed = redis.call('HGET', key, 'u')
  if not packed then return false end
  local _, _, flags, _, room, a, b, c, d, e, f, live, running = struct.unpack(USER, packed)
  if flags % 2 == 0 or flags >= THROTTLED or room ~= a + b + c + d + e + f then return false end
  redis.call('HSET', key, 'u',
    string.sub(packed, 1, 45) .. struct.pack('<II', live - n, running - n) .. string.sub(packed, 54))
  return true
end

function Settle.countDown(lane, name, n)
  if Settle.countRunning(lane, name, n) then return end
  local u = F.userOf(lane, name)
  u.running, u.live = u.running - n, u.live - n
  F.reindex(u)
end

-- Those with dependencies, a key or a deadline end one by one.
function Settle.finishEach(worker, call, found, i)
  local ends, ids, behind = {}, {}, nil
  F.flushEnded()
  for n, t in ipairs(found) do
    local x, at_, lane = t.x, i + n - 1, F.laneOf(t.queue)
    if x and (x.d or x.s or x.k or x.dl or x.j) then break end
    local stamp = F.stamp()
    behind = behind or t.token .. '\0' .. ARGV[1] .. '\0'
    ids[n], ends[2 * n - 1] = t.id, t.id
    ends[2 * n] = struct.pack(END, FINISHED, now, t.leasedAt, stamp) .. behind .. ARGV[call.ids + at_ + call.n]
    lane.counts.started, lane.counts.finished = lane.counts.started - 1, lane.counts.finished + 1
    lane.finished = lane.finished + 1
    F.touchLane(lane)
    if t.hasAttempts then F.pushAttempt(t, 'succeeded', 'finish') end
    if call.ears and call.ears[at_] then Cascade.stand(t.id, stamp) end
    if t.isCounted then Settle.countDown(lane, t.user, 1) end
  end
  local n = #ids
  if n == 0 then return 0 end
  redis.call('HSET', K.ends(), unpack(ends))
  redis.call('RPUSH', K.ended('finished'), unpack(ids))
  Settle.free(ids)
  if now < H.finished then H.finished = now end
  if worker then worker.succeeded = worker.succeeded + n else F.countAttempt(ARGV[1], 's', n) end
  return n
end

-- Whether a task of a lease with this token ends as most do, though its user may have a record that counts it.
function Settle.isAmongMany(packed, token)
  if Settle.isMost(packed, token) then return true end
  return string.byte(packed, 21) == 2 and string.sub(packed, -#token - 1) == '\0' .. token
    and not F.laneOf(string.sub(packed, 34, -#token - 2)).timed
end

-- Whether there is more to its end, also than that others depend on it. What this step has read, as a task of a user
-- who is given a record, is not as its lease says any more.
function Settle.isOdd(ids, i, ears)
  local id, ear = ARGV[ids + i], ears and ears[i]
  return tasks[id] or (ear and ear ~= 'd' and Settle.isReadBy(ears, i))
end

-- Tasks of one lease finish: who counts them, and who depends on them.
function Settle.finishAlso(packed, ids, first, last, ears)
  for i = first, ears and last or 0 do
    if ears[i] == 'd' then
      C.isRich = true
      Cascade.stand(ARGV[ids + i], C.stamp + i - first + 1)
    end
  end
  if string.byte(packed, 21) ~= 2 then return end
  C.isRich = true
  local lane, names, counts = F.laneOf(string.match(packed, '^[^%z]*', 34)), {}, {}
  local texts = redis.call('HMGET', K.tasks(), unpack(ARGV, ids + first, ids + last))
  for i = 1, #texts do
    local text = texts[i]
    local name = text and string.sub(text, 31, 30 + string.sub(text, 28, 30))
    if name and not counts[name] then names[#names + 1] = name end
    if name then counts[name] = (counts[name] or 0) + 1 end
  end
  for _, name in ipairs(names) do Settle.countDown(lane, name, counts[name]) end
end

function Settle.free(ids)
  redis.call('HDEL', K.hot(ARGV[1]), unpack(ids))
  C.freed = C.freed or INF
end

-- The first in line of the user of each, by user; only as far as they go back to lines of users without a record.
function Settle.headsOf(call, found, i)
  local heads, n = {}, 0
  for at_, t in ipairs(found) do
    local lane = F.laneOf(t.queue)
    local key = K.line(lane.p, '', t.user)
    if t.isCounted or t.level ~= 3 or ARGV[call.ids + call.n + i + at_ - 1] ~= '0' or lane.users[t.user] then break end
    if heads[key] == nil then
      if Store.isOther(lane, t.user) then break end
      local id = redis.call('LINDEX', key, 0)
      if not id and not Store.isRoomy(lane) then break end
      heads[key] = id and F.placeInLine(id) or INF
    end
    n = at_
  end
  return heads, n
end

-- Back to where it stood, mostly at the head of its line.
function Settle.backInLine(t, heads)
  local lane = F.laneOf(t.queue)
  local key = K.line(lane.p, '', t.user)
  if heads[key] == INF then Store.join(lane, t.user) end
  if t.seq < heads[key] then
    redis.call('LPUSH', key, t.id)
    heads[key] = t.seq
  else
    F.joinLine(t, { lane = lane, name = t.user }, true)
  end
  lane.counts.started, lane.counts.queued = lane.counts.started - 1, lane.counts.queued + 1
  lane.runnable, lane.gain, lane.retried = lane.runnable + 1, lane.gain + 1, lane.retried + 1
  F.touchLane(lane)
end

function Settle.retryEach(call, reply, found, i)
  local heads, n = Settle.headsOf(call, found, i)
  if n == 0 then return 0 end
  local ids, facts, texts, errors = {}, {}, {}, {}
  for at_ = 1, n do
    local t, row = found[at_], call.others[i + at_ - 1]
    F.pushAttempt(t, 'failed', 'retry', ARGV[row + 2], ARGV[row + 3])
    t.seq, t.at, t.state, t.isSettled, t.hasAttempts = F.placeOf(t), 0, 'queued', true, true
    t.failures = t.failures + 1
    F.setKind(t, t.kind % 4 + 4)
    local k = 2 * at_
    ids[at_], facts[k - 1], errors[k - 1] = t.id, t.id, t.id
    facts[k], errors[k] = F.packFacts(t), ARGV[row + 3]
    if t.textChanged then texts[#texts + 1], texts[#texts + 2] = t.id, t.f end
    reply[#reply + 1], reply[#reply + 2] = i + at_ - 1, 'ok queued'
  end
  redis.call('HSET', K.facts(), unpack(facts))
  redis.call('HSET', K.errors(), unpack(errors))
  if texts[1] then redis.call('HSET', K.tasks(), unpack(texts)) end
  for at_ = 1, n do Settle.backInLine(found[at_], heads) end
  Settle.free(ids)
  F.countAttempt(ARGV[1], 'f', n)
  return n
end

-- How many of the call from `i` to `last` were settled at once; 0 when the first is to be looked at alone.
function Settle.some(worker, call, reply, i, last, token)
  local row, n = call.others[i], 0
  local word = row and ARGV[row + 1] or 'finish'
  if word == 'finish' then
    n = Settle.finishEach(worker, call, Settle.alike(call, i, last, token, word), i)
  elseif word == 'retry' then
    n = Settle.retryEach(call, reply, Settle.alike(call, i, last, token, word), i)
  end
  for at_ = i, i + n - 1 do call.done[ARGV[call.ids + at_]] = true end
  return n
end
