-- Tasks that a worker came to whose name it does not know: they stand aside, by their names, until one that
-- knows them comes. They stay queued and keep their places, and their records do not change: where a task stands
-- says that it is parked. In `deadlines` they have the moment at which somebody looks whether anyone alive knows
-- their names.
-- @rare

-- Workers of one line that a step looks at when it looks for one that knows a name.
local ASKED = 100

-- By name, then by user and level, so that neither a crowd nor a level hides others.
function Park.keyOf(t, u)
  return K.strangers(u.lane.p, K.pair(t.name, t.level .. u.name))
end

-- Where it stands among all parked tasks of its user: by level, then by place, which is a stamp of 48 bits.
function Park.scoreOf(level, place)
  return string.format('%.0f', level * 281474976710656 + place)
end

-- How many of a user's parked tasks of a level stand before a place; without one: how many there are.
function Park.count(u, level, place)
  if u.parked == 0 then return 0 end
  return redis.call('ZCOUNT', K.parked(u.lane.p, u.name), Park.scoreOf(level, 0),
    '(' .. Park.scoreOf(place and level or level + 1, place or 0))
end

-- Those of a user's level that stand behind a place: ids and places, at most so many. `from`: key and level.
function Park.after(from, place, most)
  local base = Park.scoreOf(from.level, 0)
  local rows = redis.call('ZRANGEBYSCORE', from.key, place and '(' .. Park.scoreOf(from.level, place) or base,
    '(' .. Park.scoreOf(from.level + 1, 0), 'WITHSCORES', 'LIMIT', 0, most)
  for i = 2, #rows, 2 do rows[i] = string.format('%.0f', rows[i] - base) end
  return rows
end

-- Puts it where workers that know its name look. Who comes into a rotation is written at the end of the step.
function Park.file(t, u)
  local lane, place = u.lane, F.placeOf(t)
  lane.joining = lane.joining or {}
  local joining = lane.joining[t.name] or {}
  lane.joining[t.name] = joining
  joining[#joining + 1], joining[#joining + 2] = F.stamp(), t.level .. u.name
  F.zset(Park.keyOf(t, u), t.id, place)
  F.zset(K.parked(lane.p, u.name), t.id, Park.scoreOf(t.level, place))
  local till, own = now + LIMIT.unknownTaskMs, t.x and t.x.dl
  F.move('deadlines', F.member(t), own and own < till and own or till)
end

-- Writes who has come into the rotations of names; whoever looks at those calls it before.
function Park.flush(lane)
  for name, rows in pairs(lane.joining or NONE) do
    redis.call('HSET', K.strangeNames(lane.p), name, '')
    for i = 1, #rows, 500 do
      redis.call('ZADD', K.strangeUsers(lane.p, name), 'NX', unpack(rows, i, math.min(#rows, i + 499)))
    end
  end
  lane.joining = nil
end

-- Whether it is parked.
function Park.has(t, u)
  if u.parked == 0 then return false end
  local key = K.parked(u.lane.p, u.name)
  F.flushKey(key)
  return redis.call('ZSCORE', key, t.id) and true or false
end

-- Whether workers find it there.
function Park.isFiled(t, u)
  if not Park.has(t, u) then return false end
  F.fixed(t)
  local p = u.lane.p
  return redis.call('ZSCORE', Park.keyOf(t, u), t.id)
    and redis.call('ZSCORE', K.strangeUsers(p, t.name), t.level .. u.name)
    and redis.call('HEXISTS', K.strangeNames(p), t.name) == 1
    and redis.call('ZSCORE', K.index('deadlines'), F.member(t)) and true or false
end

-- It was at the head of its line; whoever calls this has taken it out.
function Park.park(t, u)
  F.dropQueued(t, u)
  u.parked, u.lane.parked = u.parked + 1, u.lane.parked + 1
  Park.file(t, u)
  F.reindex(u)
end

-- A name under which nobody stands any more.
function Park.close(lane, name)
  local users = K.strangeUsers(lane.p, name)
  F.flushKey(users)
  if redis.call('EXISTS', users) == 0 then redis.call('HDEL', K.strangeNames(lane.p), name) end
end

-- Out of all places where it is parked; its group stays.
function Park.takeOut(t, u)
  F.zset(Park.keyOf(t, u), t.id, false)
  F.zset(K.parked(u.lane.p, u.name), t.id, false)
  F.move('deadlines', F.member(t), t.x and t.x.dl or false)
  u.parked, u.lane.parked = math.max(0, u.parked - 1), math.max(0, u.lane.parked - 1)
end

function Park.leave(t, u)
  local lane, key = u.lane, Park.keyOf(t, u)
  Park.flush(lane)
  Park.takeOut(t, u)
  F.flushKey(key)
  if redis.call('EXISTS', key) == 0 then
    F.zset(K.strangeUsers(lane.p, t.name), t.level .. u.name, false)
    Park.close(lane, t.name)
  end
  F.touch(u)
end

-- Those of a worker's names that something is parked under.
function Park.namesOf(lane, names)
  local all, known = {}, {}
  for name in string.gmatch(names or '', '[^,]+') do all[#all + 1] = name end
  for from = 1, #all, 500 do
    local till = math.min(#all, from + 499)
    local got = redis.call('HMGET', K.strangeNames(lane.p), unpack(all, from, till))
    for i = from, till do
      if got[i - from + 1] then known[#known + 1] = all[i] end
    end
  end
  return known
end

-- Users and levels that a restricted worker may reach, as members of the rotation of a name.
function Park.reached(lane, reach)
  local members = {}
  for _, list in ipairs({ reach.assigned or false, reach.steal or false }) do
    for _, user in ipairs(list and redis.call('SMEMBERS', K.listNames(lane.p, list)) or NONE) do
      for level = 1, 6 do members[level .. user] = true end
    end
  end
  return members
end

-- Whose turn it is to have parked tasks brought back: the first `most` by when it was theirs last.
function Park.rotation(lane, worker, most)
  local reach, found = worker.reach, {}
  local members = reach and reach.steal ~= 'any' and Park.reached(lane, reach)
  for _, name in ipairs(Park.namesOf(lane, worker.names)) do
    local key = K.strangeUsers(lane.p, name)
    F.flushKey(key)
    if members then
      for member in pairs(members) do
        local stamp = redis.call('ZSCORE', key, member)
        if stamp then found[#found + 1] = { name = name, member = member, stamp = tonumber(stamp) } end
      end
    else
      local rows = redis.call('ZRANGE', key, 0, most - 1, 'WITHSCORES')
      for i = 1, #rows, 2 do
        found[#found + 1] = { name = name, member = rows[i], stamp = tonumber(rows[i + 1]) }
      end
    end
  end
  table.sort(found, function(a, b) return a.stamp < b.stamp end)
  return found
end

-- Reads the records of tasks that are parked, many at once.
function Park.load(ids)
  for i = 1, #ids, 500 do
    local till = math.min(#ids, i + 499)
    local got = redis.call('HMGET', K.tasks(), unpack(ids, i, till))
    for j = i, till do
      local id, f = ids[j], got[j - i + 1]
      if tasks[id] == nil then
        local t = f and F.newTask(id, f)
        if t and t.kind >= 4 then F.readFacts(t, redis.call('HGET', K.facts(), id)) end
        if t and C.ears > 0 then F.readEar(t) end
        tasks[id] = t
      end
    end
  end
end

-- Looks up which are to be brought back in one round: as much as there is room for, group by group.
function Park.pick(lane, turns, room)
  local ids, n = {}, 0
  for i, turn in ipairs(turns) do
    if room <= 0 then return n, i, ids end
    local u = F.userOf(lane, string.sub(turn.member, 2))
    local key = K.strangers(lane.p, K.pair(turn.name, turn.member))
    F.flushKey(key)
    local most = math.min(room, math.max(1, math.ceil(u.set.weight / 100)))
    turn.u, turn.ids = u, redis.call('ZRANGE', key, 0, most)
    turn.more = #turn.ids > most
    if turn.more then turn.ids[most + 1] = nil end
    for _, id in ipairs(turn.ids) do
      n = n + 1
      ids[n] = id
    end
    room = room - #turn.ids
  end
  return n, #turns + 1, ids
end

-- Puts tasks of one level, by place, before those that stand in line; whoever belongs behind some joins it.
function Park.toLine(u, level, found)
  local key = F.lineKey(u, level)
  local head = redis.call('LINDEX', key, 0)
  head = head and F.taskOf(head, nil, 'none')
  local before, n, limit = {}, 0, head and F.placeOf(head) or INF
  for i = #found, 1, -1 do
    local t = found[i]
    if F.placeOf(t) < limit then
      n = n + 1
      before[n] = t.id
    else
      F.joinLine(t, u, true)
    end
  end
  if n > 0 then redis.call('LPUSH', key, unpack(before)) end
end

-- Brings those of one group back to their places.
function Park.visit(lane, turn)
  local u, level, found = turn.u, tonumber(string.sub(turn.member, 1, 1)), {}
  for _, id in ipairs(turn.ids) do
    local t = F.taskOf(id, nil, 'none')
    if t then
      F.fixed(t)
      Park.takeOut(t, u)
      found[#found + 1] = t
    else
      F.zset(K.strangers(lane.p, K.pair(turn.name, turn.member)), id, false)
      F.zset(K.parked(lane.p, u.name), id, false)
    end
  end
  Park.toLine(u, level, found)
  if u.queued == 0 then F.began(u) end
  u.cnt[level], u.queued = u.cnt[level] + #found, u.queued + #found
  F.reindex(u)
  F.zset(K.strangeUsers(lane.p, turn.name), turn.member, turn.more and F.stamp())
end

-- Brings back what the worker can run, one user after another, as much as it has slots. Answers whether
-- more of that is left.
function Park.bringBack(lane, worker, room)
  if not Choose.laneOpen(lane, lane.parked) then return false end
  Park.flush(lane)
  -- The worker is here: nobody has to be woken for what it brings back.
  local gain, names = lane.gain, {}
  local turns, left = Park.rotation(lane, worker, room + 1), false
  while room > 0 and #turns > 0 do
    local n, stop, ids = Park.pick(lane, turns, room)
    Park.load(ids)
    local again = {}
    for i = 1, stop - 1 do
      Park.visit(lane, turns[i])
      names[turns[i].name] = true
      if turns[i].more then again[#again + 1] = turns[i] end
    end
    left = stop <= #turns
    room, turns = room - n, again
  end
  for name in pairs(names) do Park.close(lane, name) end
  lane.gain = gain
  return left or #turns > 0
end

-- Brings back for all queues of a lease; true when it ends with slots left and more to bring.
function Park.bringAll(shares, worker, room)
  local left = false
  for i = 1, #shares do left = Park.bringBack(shares[i].lane, worker, room) or left end
  return left
end

-- Wakes one that stands in this line and knows one of these names; nil: any that is parked here.
function Park.wakeIn(lane, line, names)
  for _, id in ipairs(redis.call('ZRANGE', K.idleWorkers(lane.p, line), 0, ASKED - 1)) do
    local own = redis.call('HGET', K.worker(id), 'n') or ''
    local knows = not names and #Park.namesOf(lane, own) > 0
    for _, name in ipairs(names or NONE) do
      knows = knows or string.find(own, ',' .. name .. ',', 1, true)
    end
    if knows and Line.wakeWorker(id) then return true end
  end
  return false
end

-- What is parked here can run, but not by whoever has just leased: somebody is woken that knows it.
-- `strange`: tasks that this step has parked.
function Park.wake(lane, strange)
  if not Choose.laneOpen(lane, lane.parked) then return end
  if Park.wakeIn(lane, '*') then return end
  local asked = {}
  for _, t in ipairs(strange or NONE) do
    local u = t.queue == lane.queue and F.ownerOf(t)
    for _, list in ipairs(u and u.lists or NONE) do
      local key = K.pair(list, t.name)
      if not asked[key] and Park.wakeIn(lane, list, { t.name }) then return end
      asked[key] = true
    end
  end
end

function Park.wakeAll(shares, strange)
  if C.waiting <= 0 then return end
  for i = 1, #shares do Park.wake(shares[i].lane, strange) end
end

-- When a live worker was heard last that knows the name; nil: not within the last hour.
function Park.knownAt(name)
  local since = now - LIMIT.unknownTaskMs
  local latest = tonumber(redis.call('ZSCORE', K.names(), name) or 0)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', K.workers(), since, '+inf')) do
    local got = redis.call('HMGET', K.worker(id), 'n', 't')
    -- Whoever asks is written to be alive at the end of its step.
    local heard = id == ARGV[1] and now or tonumber(got[2] or 0)
    if heard > latest and string.find(got[1], ',' .. name .. ',', 1, true) then latest = heard end
  end
  return latest > since and latest or nil
end

-- A task whose run has ended has nothing to be started for.
function Park.isOrphan(t)
  local run = F.taskOf(t.x.o)
  return not run or F.isEnd(run.state)
end

-- It is parked, and has fallen due otherwise than by its own time to start.
function Park.isOver(t)
  return t.state == 'queued' and not (t.x and t.x.ex and t.x.ex <= now) and Park.has(t, F.ownerOf(t))
end

-- It has been parked for an hour: it fails, unless some worker may yet come for it.
function Park.lookAgain(t, u)
  F.fixed(t)
  if t.x and t.x.o and Park.isOrphan(t) then
    return F.endTask(t, u, 'canceled', { cause = cjson.encode({ type = 'run-ended', run = t.x.o }) })
  end
  local knownAt = Park.knownAt(t.name)
  if not knownAt then return F.endTask(t, u, 'failed', { cause = '{"type":"unknown-task"}' }) end
  local till, own = knownAt + LIMIT.unknownTaskMs, t.x and t.x.dl
  F.move('deadlines', F.member(t), own and own < till and own or till)
end
