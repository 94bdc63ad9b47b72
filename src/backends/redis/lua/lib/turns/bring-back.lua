-- Brings parked tasks (lib/turns/park.lua) back to their places in line, when a worker comes that knows their names.

-- Users and levels that a restricted worker may reach, as members of the rotation of a name.
function Park.reached(queue, scope)
  local members = {}
  for _, list in ipairs({ scope.assigned or false, scope.steal or false }) do
    for _, user in ipairs(list and redis.call('SMEMBERS', K.listNames(queue.prefix, list)) or NONE) do
      for level = 1, 6 do members[level .. user] = true end
    end
  end
  return members
end

-- Whose turn it is to have parked tasks brought back: the first `most` by when it was theirs last.
function Park.rotation(queue, worker, most)
  local scope, found = worker.scope, {}
  local members = scope and scope.steal ~= 'any' and Park.reached(queue, scope)
  local function add(name, who, stamp)
    local level = tonumber(string.sub(who, 1, 1))
    -- It was written from outside.
    if not level or level < 1 or level > 6 then return redis.call('ZREM', K.parkedUsers(queue.prefix, name), who) end
    found[#found + 1] = { name = name, who = who, stamp = tonumber(stamp), user = string.sub(who, 2), level = level }
  end
  for _, name in ipairs(Park.namesOf(queue, worker.names)) do
    local key = K.parkedUsers(queue.prefix, name)
    if members then
      for who in pairs(members) do
        local stamp = redis.call('ZSCORE', key, who)
        if stamp then add(name, who, stamp) end
      end
    else
      local rows = redis.call('ZRANGE', key, 0, most - 1, 'WITHSCORES')
      for i = 1, #rows, 2 do add(name, rows[i], rows[i + 1]) end
    end
  end
  table.sort(found, function(a, b) return a.stamp < b.stamp end)
  return found
end

-- The members of a group, of which one more than is taken is looked at.
function Park.look(queue, turn, most)
  local from, till = Park.range(turn.user, turn.level)
  turn.members = redis.call('ZRANGEBYLEX', K.parkedOfName(queue.prefix, turn.name), from, till, 'LIMIT', 0, most + 1)
  turn.looked = most + 1
end

-- Of users with parked tasks those that have no record, each with what it has: true, tasks in line; a number, a tag
-- that is kept; false, none.
function Park.recordlessOf(queue, users)
  local recordless, out, asked = {}, {}, {}
  if #users == 0 or C.refresh > 0 or not Store.mayEnter(queue) then return recordless end
  local tags = queue.classes[USUAL.class] and redis.call('ZMSCORE', K.ready(queue.prefix, USUAL.class), unpack(users)) or NONE
  for i, user in ipairs(users) do
    if tags[i] then
      recordless[user] = true
    else
      out[#out + 1], asked[#asked + 1] = user, K.user(queue.prefix, user)
      if C.configs > 0 then asked[#asked + 1] = K.userConfig(user) end
    end
  end
  if #out == 0 then return recordless end
  local kept = queue.tags > 0 and redis.call('ZMSCORE', K.keptTags(queue.prefix), unpack(out)) or NONE
  local isAll = redis.call('EXISTS', unpack(asked)) == 0
  for i, user in ipairs(out) do
    if isAll or not Store.isOther(queue, user) then recordless[user] = kept[i] and kept[i] + 0 or false end
  end
  return recordless
end

-- What a group may have brought back at once. `isQuick`: its user has no record, and no tasks in line but of its level:
-- nothing but its line and its tag change.
function Park.open(queue, turn, recordless, slotsLeft)
  turn.take, turn.most = 0, 1
  turn.tag = recordless[turn.user]
  turn.isQuick = turn.tag ~= nil and turn.level == 3 and not queue.users[turn.user]
  if not turn.isQuick then turn.most = math.max(1, math.ceil(F.userOf(queue, turn.user).set.weight / USUAL.weight)) end
  Park.look(queue, turn, math.min(slotsLeft, 2 * turn.most))
end

-- Picks what is to be brought back: as much as there is room for, group by group, in rounds. Answers the groups that
-- have something to be brought back, and whether any has more.
function Park.pick(queue, turns, slotsLeft)
  local users, picked = {}, {}
  for i = 1, math.min(#turns, slotsLeft) do users[i] = turns[i].user end
  local recordless = Park.recordlessOf(queue, users)
  for i = 1, #users do Park.open(queue, turns[i], recordless, slotsLeft) end
  while #turns > 0 do
    local again = {}
    for _, turn in ipairs(turns) do
      if slotsLeft == 0 then return picked, true end
      if not turn.take then Park.open(queue, turn, NONE, slotsLeft) end
      if not turn.isPicked then picked[#picked + 1], turn.isPicked = turn, true end
      local had = turn.take
      turn.take = had + math.min(slotsLeft, turn.most)
      if turn.take >= turn.looked then Park.look(queue, turn, 2 * turn.take) end
      turn.take = math.min(turn.take, #turn.members)
      turn.more = #turn.members > turn.take
      slotsLeft, turn.stamp = slotsLeft - turn.take + had, F.stamp()
      if turn.more then again[#again + 1] = turn end
    end
    turns = again
  end
  return picked, false
end

-- The texts of those that are brought back, and of the heads of lines that some of them come before.
function Park.texts(queue, picked)
  local ids, texts, heads = {}, {}, {}
  for _, turn in ipairs(picked) do
    for i = 1, turn.take do ids[#ids + 1] = Park.idOf(turn.members[i], turn.user) end
    if turn.isQuick and turn.tag == true and not heads[turn.user] then
      local head = redis.call('LINDEX', K.line(queue.prefix, '', turn.user), 0)
      heads[turn.user], ids[#ids + 1] = head, head or nil
    end
  end
  for i = 1, #ids, LIMIT.commandValues do
    local till = math.min(#ids, i + (LIMIT.commandValues - 1))
    local got = redis.call('HMGET', K.tasks(), unpack(ids, i, till))
    for j = i, till do texts[ids[j]] = got[j - i + 1] end
  end
  return texts, heads
end

-- Puts tasks of a user before all that it has in line; false where more is to be looked at than their texts. Who had
-- none is in line again, with the tag that is added to `entered`.
function Park.before(queue, turns, texts, head, entered)
  local user, stamps, ids, tag = turns[1].user, {}, {}, turns[1].tag
  local first = head and texts[head]
  if tag ~= true then
    -- A record of this step may have taken the last class that was free.
    if not Store.mayEnter(queue) then return false end
  elseif not first or string.byte(first, AT.text.kind) >= BYTE.facts then
    return false
  end
  for _, turn in ipairs(turns) do
    for i = 1, turn.take do
      local id = Park.idOf(turn.members[i], user)
      local text = texts[id]
      if not turn.isQuick or not text or string.byte(text, AT.text.kind) >= BYTE.facts
        or (first and string.sub(text, AT.text.stamp, END.text.stamp) > string.sub(first, AT.text.stamp, END.text.stamp)) then
        return false
      end
      ids[#ids + 1], stamps[id] = id, string.sub(text, AT.text.stamp, END.text.stamp)
    end
  end
  -- All that was parked was removed from outside.
  if #ids == 0 then return false end
  if #turns > 1 then table.sort(ids, function(a, b) return stamps[a] < stamps[b] end) end
  local row = {}
  for i, id in ipairs(ids) do row[#ids + 1 - i] = id end
  redis.call('LPUSH', K.line(queue.prefix, '', user), unpack(row))
  queue.parked, queue.runnable = queue.parked - #ids, queue.runnable + #ids
  if tag ~= true then Park.enter(queue, user, tag, entered) end
  return true
end

-- `kept`: the tag that the user has, if any.
function Park.enter(queue, user, kept, entered)
  local tag = Store.enter(queue, kept)
  F.gather(entered, K.ready(queue.prefix, USUAL.class), string.format('%d', tag), user)
  if not kept then return end
  queue.tags, entered.gone = queue.tags - 1, entered.gone or {}
  entered.gone[#entered.gone + 1] = user
end

-- Puts tasks of one level, by place, before those that stand in line; a task that belongs behind some joins the line.
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
function Park.visit(queue, turn, texts)
  local u, level, found = F.userOf(queue, turn.user), turn.level, {}
  for i = 1, turn.take do
    local id = Park.idOf(turn.members[i], turn.user)
    local t = texts[id] and F.taskOf(id, nil, 'none')
    if t then
      F.fixed(t)
      t.isTaken = false
      found[#found + 1] = t
    else
      queue.counts.queued = queue.counts.queued - 1
    end
  end
  u.parked, queue.parked = u.parked - turn.take, queue.parked - turn.take
  Park.toLine(u, level, found)
  if u.queued == 0 then F.began(u) end
  u.cnt[level], u.queued = u.cnt[level] + #found, u.queued + #found
  F.reindex(u)
end

-- Brings back what has been picked.
function Park.visitAll(queue, picked)
  local texts, heads = Park.texts(queue, picked)
  local order, byUser, entered = {}, {}, {}
  for _, turn in ipairs(picked) do
    local turns = byUser[turn.user]
    if not turns then
      turns = {}
      byUser[turn.user], order[#order + 1] = turns, turns
    end
    turns[#turns + 1] = turn
  end
  for _, turns in ipairs(order) do
    local user = turns[1].user
    local isQuick = turns[1].isQuick and Park.before(queue, turns, texts, heads[user], entered)
    for _, turn in ipairs(turns) do
      turn.isQuick, turn.texts = isQuick, texts
      if not isQuick then Park.visit(queue, turn, texts) end
    end
  end
  if entered.gone then redis.call('ZREM', K.keptTags(queue.prefix), unpack(entered.gone)) end
  local row = entered[K.ready(queue.prefix, USUAL.class)]
  if row then redis.call('ZADD', K.ready(queue.prefix, USUAL.class), unpack(row)) end
end

-- What has been picked stands nowhere else than in line, for this lease.
function Park.takeOut(queue, picked)
  local sets = {}
  for _, turn in ipairs(picked) do
    for i = 1, turn.take do
      F.gather(sets, K.parked(queue.prefix), turn.members[i])
      F.gather(sets, K.parkedOfName(queue.prefix, turn.name), turn.members[i])
    end
  end
  for key, row in pairs(sets) do redis.call('ZREM', key, unpack(row)) end
end

-- Takes a task that was brought back out of its line, if its user is ready and it was not served; else says false.
function Park.again(queue, turn, id)
  local t = F.taskOf(id)
  local u = t and t.state == 'queued' and F.userOf(queue, turn.user)
  if not (u and u.ready) then
    F.move('deadlines', Park.dueOf(turn, id), t and t.optional and t.optional.leastDeadline or false)
    return false
  end
  F.fixed(t)
  F.leaveLine(t, u)
  F.dropQueued(t, u)
  u.parked = u.parked + 1
  F.reindex(u)
  return true
end

-- Its member in `deadlines`.
function Park.dueOf(turn, id)
  return string.sub(turn.texts[id] or '', AT.text.stamp, END.text.stamp) .. id
end

-- Who was not served though its user is ready, is parked as before, out of the way of those that do not know it.
function Park.sort(queue, turn, leased, sets, drained)
  local left = 0
  for i = 1, turn.take do
    local id = Park.idOf(turn.members[i], turn.user)
    if leased[id] then
      F.move('deadlines', Park.dueOf(turn, id), false)
    elseif turn.isQuick or Park.again(queue, turn, id) then
      left = left + 1
      F.gather(sets, K.parked(queue.prefix), '0', turn.members[i])
      F.gather(sets, K.parkedOfName(queue.prefix, turn.name), '0', turn.members[i])
    end
  end
  queue.parked = queue.parked + left
  if not turn.isQuick or left == 0 then return left > 0 end
  local key = K.line(queue.prefix, '', turn.user)
  redis.call('LPOP', key, left)
  queue.runnable = queue.runnable - left
  if turn.tag ~= true and redis.call('EXISTS', key) == 0 then drained[#drained + 1] = turn.user end
  return true
end

-- Ends what was brought back for a lease; who has more goes behind the others.
function Park.finish(queue, batch)
  local leased, sets, more, gone, drained = {}, {}, {}, {}, {}
  Step.rest()
  for i = 1, batch.n do leased[batch.ids[i]] = true end
  for _, turn in ipairs(queue.picked) do
    local isLeft = Park.sort(queue, turn, leased, sets, drained)
    if isLeft or turn.more then F.gather(more, turn.name, turn.stamp, turn.who) else F.gather(gone, turn.name, turn.who) end
  end
  for key, row in pairs(sets) do redis.call('ZADD', key, unpack(row)) end
  for name, row in pairs(more) do
    redis.call('HSET', K.parkedNames(queue.prefix), name, '')
    redis.call('ZADD', K.parkedUsers(queue.prefix, name), unpack(row))
  end
  for name, row in pairs(gone) do Park.close(queue, name, row) end
  for _, user in ipairs(drained) do Park.drain(queue, user, USUAL.class) end
  queue.picked = nil
  Step.rest()
end

-- Brings back what the worker can run, one user after another, as much as it has slots. Answers whether
-- more of that is left.
function Park.bringBack(queue, worker, slotsLeft)
  if not Choose.queueOpen(queue, queue.parked) then return false end
  Step.rest()
  local turns = Park.rotation(queue, worker, slotsLeft + 1)
  if #turns == 0 then return false end
  F.touchQueue(queue)
  -- The worker is here: no other has to be woken for what it brings back.
  local gain, picked, left = queue.gain, Park.pick(queue, turns, slotsLeft)
  queue.picked = picked
  Park.visitAll(queue, picked)
  Park.takeOut(queue, picked)
  queue.gain = gain
  return left
end

-- Brings back for all queues of a lease; true when it ends with slots left and more to bring.
function Park.bringAll(shares, worker, slotsLeft)
  local left = false
  for i = 1, #shares do
    left = Park.bringBack(shares[i].queue, worker, slotsLeft) or left
  end
  return left
end

function Park.finishAll(shares, batch)
  for i = 1, #shares do
    if shares[i].queue.picked then Park.finish(shares[i].queue, batch) end
  end
end
