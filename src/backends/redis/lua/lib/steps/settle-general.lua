-- Settles many tasks at once of which more is known than their leases: with facts, of users with a record, with
-- dependents, and those that are tried again at once.

-- Records of the settlements from `i` on that finish, as far as they are in force and not odder. A task that the call
-- settles twice ends the row.
function Settle.alike(call, i, last, token)
  local ids, tail, n, asked, seen = call.ids, '\0' .. token, 0, {}, {}
  for at_ = i, last do
    local packed, row, ear, id = call.hot[at_], call.others[at_], call.ears and call.ears[at_], ARGV[call.ids + at_]
    if not packed or tasks[id] ~= nil or call.done[id] or seen[id] or string.sub(packed, -#tail) ~= tail then break end
    if row or (ear and (ear ~= 'd' or string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.facts) == 1)) then break end
    n, seen[id] = n + 1, true
  end
  local found = {}
  if n == 0 then return found end
  local texts = redis.call('HMGET', K.tasks(), unpack(ARGV, ids + i, ids + i + n - 1))
  for at_ = 1, n do
    local kind = texts[at_] and string.byte(texts[at_], AT.text.kind) or 0
    -- Their places alone do not matter to those that end.
    if kind >= BYTE.facts and kind < BYTE.place then asked[#asked + 1] = ARGV[ids
      + i + at_ - 1] end
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
    if F.queueOf(t.queueName).timed then break end
    found[at_] = t
  end
  return found
end

-- Fewer tasks of a user are running, of one that is ready with all that it has in line: nothing else changes. Says
-- whether it was that.
function Settle.countRunning(queue, name, n)
  if queue.users[name] or C.refresh > 0 then return false end
  local key = K.user(queue.prefix, name)
  local packed = redis.call('HGET', key, FIELD.user.numbers)
  if not packed then return false end
  local tag, epoch, flags, weight, headroom, a, b, c, d, e, f, live, running, tat = struct.unpack(FORMAT.user, packed)
  if flags % (2 * FLAG.user.ready) == 0 or flags >= FLAG.user.throttled or headroom ~= a + b + c + d + e + f then return false end
  redis.call('HSET', key, FIELD.user.numbers,
    struct.pack(FORMAT.user, tag, epoch, flags, weight, headroom, a, b, c, d, e, f, live - n, running - n, tat))
  return true
end

function Settle.countDown(queue, name, n)
  if Settle.countRunning(queue, name, n) then return end
  local u = F.userOf(queue, name)
  u.running, u.live = u.running - n, u.live - n
  F.reindex(u)
end

-- Those with dependencies, a key or a deadline end one by one.
function Settle.finishEach(worker, call, found, i)
  local ends, ids, behind, before = {}, {}, nil, C.stamp
  F.flushEnded()
  for n, t in ipairs(found) do
    local x, at_, queue = t.optional, i + n - 1, F.queueOf(t.queueName)
    if x and (x.waitsOn or x.suspendedFor or x.keyName or x.leastDeadline or x.isJoin or x.pausedSince or x.hasAside) then break end
    local stamp = F.stamp()
    behind = behind or t.token .. '\0' .. ARGV[1] .. '\0'
    ids[n], ends[2 * n - 1] = t.id, t.id
    local isAwaited = call.ears and call.ears[at_]
    ends[2 * n] = struct.pack(FORMAT.ending, isAwaited and (FINISHED + FLAG.ending.awaited) or FINISHED, now, t.leasedAt, stamp)
      .. behind .. ARGV[call.ids + at_ + call.n]
    Settle.count(queue, 1)
    F.touchQueue(queue)
    if t.hasAttempts then F.pushAttempt(t, 'succeeded', 'finish') end
    if t.isCounted then Settle.countDown(queue, t.user, 1) end
  end
  if #ids == 0 then return 0 end
  if call.ears then Cascade.stand(ids, call.ears, i - 1, before) end
  Settle.saveEnds(worker, ends, call.ids + i, call.ids + i + #ids - 1)
  return #ids
end

-- Whether a task of a lease with this token ends as most do, though its user may have a record that counts it.
function Settle.isAmongMany(packed, token)
  if Settle.isMost(packed, token) then return true end
  return string.byte(packed, AT.lease.flags) == FLAG.lease.counted and string.sub(packed, -#token - 1) == '\0' .. token
    and not F.queueOf(string.sub(packed, AT.lease.rest, -#token - 2)).timed
end

-- Whether there is more to its end, as that others depend on it. What this step has read, as a task of a user who is
-- given a record, is not as its lease says any more.
function Settle.isSpecial(ids, i, ears)
  return tasks[ARGV[ids + i]] or ears and Settle.isReadBy(ears, i)
end

-- Those of a call from `i` on that have one lease and finish as most do, from one on that others depend on: its end
-- tells them. Says how many.
function Settle.finishAwaited(worker, call, i, last, token)
  local packed, ears, hot, others, ids, n = call.hot[i], call.ears, call.hot, call.others, {}, 0
  if not (ears and ears[i] == 'd' and packed) or not Settle.isAmongMany(packed, token) then return 0 end
  local queue, stamp, rows = F.queueOf(string.sub(packed, AT.lease.rest, -#token - 2)), C.stamp, {}
  local behind, from, results = token .. '\0' .. ARGV[1] .. '\0', call.ids, call.ids + call.n
  local leasedAt = struct.pack('<d', now) .. string.sub(packed, 1, END.lease.leasedAt)
  local usual, awaited = string.char(FINISHED) .. leasedAt, string.char((FINISHED + FLAG.ending.awaited)) .. leasedAt
  local done = others ~= NONE and call.done
  for at_ = i, last do
    local id, ear = ARGV[from + at_], ears[at_]
    if hot[at_] ~= packed or others[at_] or tasks[id] or (done and done[id]) or (ear and ear ~= 'd') then break end
    n = n + 1
    ids[n], rows[2 * n - 1] = id, id
    rows[2 * n] = (ear and awaited or usual) .. struct.pack('<d', stamp + n) .. behind .. ARGV[results + at_]
    if done then done[id] = true end
  end
  if n == 0 then return 0 end
  C.stamp = stamp + n
  F.flushEnded()
  Cascade.stand(ids, ears, i - 1, stamp)
  Settle.finishAlso(packed, from, i, i + n - 1)
  Settle.count(queue, n)
  F.touchQueue(queue)
  Settle.saveEnds(worker, rows, from + i, from + i + n - 1)
  return n
end

-- Whose tasks a lease is of, as it is stored, for users that count them: what the texts of the tasks say, and no lease says again.
local OWNERS = { size = 0 }

-- The users of a lease, by id.
function Settle.ownersOf(value)
  local lease = prefix .. value
  local owners = OWNERS[lease]
  if owners then return owners end
  if OWNERS.size >= LIMIT.keptStates then OWNERS = { size = 0 } end
  owners = {}
  OWNERS[lease], OWNERS.size = owners, OWNERS.size + 1
  return owners
end

-- Tasks of one lease finish: who counts them.
function Settle.finishAlso(packed, ids, first, last)
  if string.byte(packed, AT.lease.flags) ~= FLAG.lease.counted then return end
  local queue, names, counts = F.queueOf(string.match(packed, '^[^%z]*', AT.lease.rest)), {}, {}
  local owners = OWNERS[prefix .. packed]
  for i = ids + first, ids + last do
    if owners and not owners[ARGV[i]] then owners = nil end
  end
  local texts = not owners and redis.call('HMGET', K.tasks(), unpack(ARGV, ids + first, ids + last))
  for i = first, last do
    local name
    if owners then name = owners[ARGV[ids + i]] else name = texts[i - first + 1] and F.userIn(texts[i - first + 1]) end
    local n = name and counts[name]
    if n then
      counts[name] = n + 1
    elseif name then
      names[#names + 1], counts[name] = name, 1
    end
  end
  for _, name in ipairs(names) do Settle.countDown(queue, name, counts[name]) end
end

-- The leases of these are over; `n`: of so many of them.
function Settle.free(ids, n)
  redis.call('HDEL', K.hot(ARGV[1]), unpack(ids, 1, n or #ids))
  C.freed = C.freed or INF
end

-- How many of the call from `i` to `last` were settled at once; 0 when the first is to be looked at alone.
function Settle.some(worker, call, reply, i, last, token)
  local row, n = call.others[i], 0
  local word = row and ARGV[row + 1] or 'finish'
  if word == 'finish' then
    n = Settle.finishAwaited(worker, call, i, last, token)
    if n == 0 then n = Settle.finishEach(worker, call, Settle.alike(call, i, last, token), i) end
  elseif word == 'retry' then
    n = Settle.retryEach(call, reply, Settle.retried(call, i, last, token), i)
  elseif word == 'suspend' then
    n = Suspend.some(call, reply, i, last, token)
  end
  for at_ = i, call.others ~= NONE and i + n - 1 or 0 do call.done[ARGV[call.ids + at_]] = true end
  return n
end
