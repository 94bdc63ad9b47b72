-- Ends the waits of many tasks at once, of which nothing else is to be looked at, and puts them back in line.

-- What a task waits for by what its facts have behind their numbers, and what these are without; false when there is more
-- to look at. Of many the same.
function Wait.formOf(forms, tail)
  local form = forms[tail]
  if form ~= nil then return form end
  local more = cmsgpack.unpack(tail)
  local x = more.optional
  form = false
  if x and x.awaitKind and x.awaitKind ~= 'ask' and more.latestLease and not (x.suspendedFor or x.startUntil or x.startWithin
    or x.waitUntil or x.asideFor or x.isJoin or x.batchId) then
    form = { kind = x.awaitKind, name = x.awaitName, targets = x.awaitTargets, entry = x.awaitEntry, wakeDue = x.wakeDue,
      isDue = x.leastDeadline, tail = false }
    x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry, x.wakeDue, x.leastDeadline = nil, nil, nil, nil, nil, nil
    more.optional = next(x) and x or nil
    form.tail = cmsgpack.pack(more)
  end
  forms[tail] = form
  return form
end

-- What is stored of these tasks, false for each that has to be looked at.
function Wait.rowsOf(ids)
  local rows, forms, asked, at_ = {}, {}, {}, {}
  for i, id in ipairs(ids) do
    rows[i] = false
    if tasks[id] == nil then asked[#asked + 1], at_[#at_ + 1] = id, i end
  end
  local texts, facts = F.textsOf(asked)
  for k, i in ipairs(at_) do rows[i] = Wait.rowFrom(asked[k], texts[k], facts[k], forms) end
  return rows
end

-- The same of one.
function Wait.rowOf(id)
  local text = tasks[id] == nil and redis.call('HGET', K.tasks(), id)
  return text and Wait.rowFrom(id, text, redis.call('HGET', K.facts(), id), {})
end

function Wait.rowFrom(id, text, packed, forms)
  if not packed or #packed <= SIZE.facts then return false end
  local place, flags, seq = struct.unpack('<BBd', packed)
  if place ~= PLACE.deferred or flags % (2 * FLAG.facts.canceling) >= FLAG.facts.canceling
    or seq == 0 then return false end
  local form = Wait.formOf(forms, string.sub(packed, SIZE.facts + 1))
  if not form then return false end
  local last = END.text.userBytes + string.sub(text, AT.text.userBytes, END.text.userBytes)
  local stop = string.find(text, '\0', last + 1, true)
  return { id = id, stamp = string.sub(text, AT.text.stamp, END.text.stamp), seq = seq, form = form,
    level = string.byte(text, AT.text.level) - BYTE.zero, user = string.sub(text, AT.text.rest, last),
    queueName = string.sub(text, last + 1, stop - 1),
    facts = string.char(PLACE.line) .. string.sub(packed, AT.facts.flags, SIZE.facts) .. form.tail, by = false, payload = false }
end

-- Whether there is more to any user of a queue than its line and its tag.
function Wait.areOther(queue) return queue.config.perUser or queue.timed or whole and C.refresh > 0 end

-- Who these tasks of a queue are of, in the order in which they are met, each with its tasks; `owner` where there is more
-- to a user than its line and its tag. Asked before anything is changed.
function Wait.usersOf(queue, rows, n)
  local users, known, keys = {}, {}, {}
  for i = 1, n do
    local name = rows[i].user
    local of = known[name]
    if not of then
      of = { name = name, isOther = false, owner = false, key = false, head = false }
      known[name], users[#users + 1] = of, of
      keys[#keys + 1] = K.user(queue.prefix, name)
      if C.configs > 0 then keys[#keys + 1] = K.userConfig(name) end
    end
    of[#of + 1] = rows[i]
    of.isOther = of.isOther or rows[i].level and rows[i].level ~= USUAL.level
  end
  local isAny = Wait.areOther(queue)
  local isSome = isAny or redis.call('EXISTS', unpack(keys)) > 0
  for _, of in ipairs(users) do
    if isAny or of.isOther or queue.users[of.name] or (isSome and Store.isOther(queue, of.name)) then
      of.owner = F.userOf(queue, of.name)
    end
  end
  return users
end

-- The sets that those of a form leave, as they are written.
function Wait.setsOf(form)
  local sets = { F.membersOf(K.waits(form.kind)) }
  for _, target in ipairs(form.targets or NONE) do sets[#sets + 1] = F.membersOf(K.waiters(target, form.name)) end
  form.due = form.isDue and F.indexOf('deadlines', nil, true)
  return sets
end

-- Its journal tells how its wait has ended.
function Wait.note(one)
  redis.call('HSET', K.run(one.id), one.form.entry, string.format('%d ', now) .. one.by .. ' ' .. one.payload)
end

-- They stand no more where those stand that wait.
function Wait.leaveRows(rows)
  local deferred, setsOf = F.indexOf('deferred', nil, true), {}
  for _, one in ipairs(rows) do
    local form, id = one.form, one.id
    setsOf[form] = setsOf[form] or Wait.setsOf(form)
    local sets = setsOf[form]
    deferred[id] = false
    if form.due then form.due[one.stamp .. id] = false end
    for i = 1, #sets do sets[i][id] = false end
    if form.kind == 'event' then F.zset(K.eventWaiters(K.pair(one.user, form.name)), id, false) end
  end
end

function Wait.leaveRow(one)
  local form, id = one.form, one.id
  if I.deferred then F.move('deferred', id, false) else redis.call('ZREM', K.index('deferred'), id) end
  if form.isDue then F.move('deadlines', one.stamp .. id, false) end
  F.drop(K.waits(form.kind), id)
  for _, target in ipairs(form.targets or NONE) do F.drop(K.waiters(target, form.name), id) end
  if form.kind == 'event' then F.drop(K.eventWaiters(K.pair(one.user, form.name)), id) end
end

local function bySeq(a, b) return a.seq < b.seq end

-- Tasks of a user go back to their places; `head`: of the first that stands there.
function Wait.backInLine(key, rows, head)
  if not rows[2] and rows[1].seq < (head or INF) then return redis.call('LPUSH', key, rows[1].id) end
  local ids, places = {}, {}
  if rows[2] then table.sort(rows, bySeq) end
  for i = 1, #rows do ids[i], places[i] = rows[i].id, rows[i].seq end
  F.rejoinLine(key, ids, places, head)
end

-- The tasks of a user with a record.
function Wait.backInLines(of)
  local u, lines = of.owner, {}
  for _, one in ipairs(of) do
    lines[one.level] = lines[one.level] or {}
    table.insert(lines[one.level], one)
  end
  for level, rows in pairs(lines) do
    local key = F.lineKey(u, level)
    Wait.backInLine(key, rows, F.headsOf({ key })[1])
    u.cnt[level] = u.cnt[level] + #rows
  end
  if u.queued == 0 then F.began(u) end
  u.queued = u.queued + #of
  F.reindex(u)
end

-- Tasks of one queue, of which `by` and `payload` say what has ended their waits.
function Wait.endOf(queue, rows)
  local users, facts, keys, mayEnter, n = Wait.usersOf(queue, rows, #rows), {}, {}, Store.mayEnter(queue), #rows
  for i, of in ipairs(users) do keys[i] = K.line(queue.prefix, '', of.name) end
  for i, head in ipairs(F.headsOf(keys)) do
    local of = users[i]
    of.key, of.head = keys[i], head
    if not (of.owner or head or mayEnter) then of.owner = F.userOf(queue, of.name) end
  end
  for i, one in ipairs(rows) do
    facts[2 * i - 1], facts[2 * i] = one.id, one.facts
    Wait.note(one)
  end
  redis.call('HSET', K.facts(), unpack(facts))
  F.changeLaterOf(queue, users, -1)
  for _, of in ipairs(users) do
    if of.owner then
      Wait.backInLines(of)
    else
      Wait.backInLine(of.key, of, of.head)
      if not of.head then Store.join(queue, of.name) end
      queue.runnable, queue.gain = queue.runnable + #of, queue.gain + #of
    end
  end
  Wait.leaveRows(rows)
  queue.counts.deferred, queue.counts.queued = queue.counts.deferred - n, queue.counts.queued + n
  F.touchQueue(queue)
end

-- Whether there is more to a task, or to its user, than its line and its tag.
function Wait.isOther(queue, one)
  return one.level ~= USUAL.level or queue.users[one.user] or Wait.areOther(queue) or Store.isOther(queue, one.user)
end

-- The same of one; `isOther`: as `Wait.isOther` has said.
function Wait.endOne(one, isOther)
  local queue, name, id = F.queueOf(one.queueName), one.user, one.id
  local u, key, rank, next_ = isOther and F.userOf(queue, name), nil, nil, nil
  if not u then
    key = K.line(queue.prefix, '', name)
    rank, next_ = F.rankInLine(key, one.seq)
    if rank == 0 and not next_ and not Store.mayEnter(queue) then u = F.userOf(queue, name) end
  end
  Wait.note(one)
  redis.call('HSET', K.facts(), id, one.facts)
  F.changeLater(queue, name, -1)
  if u then
    Wait.backInLines({ one, owner = u })
  else
    F.insert(key, id, rank, next_)
    if rank == 0 and not next_ then Store.join(queue, name) end
    queue.runnable, queue.gain = queue.runnable + 1, queue.gain + 1
  end
  Wait.leaveRow(one)
  queue.counts.deferred, queue.counts.queued = queue.counts.deferred - 1, queue.counts.queued + 1
  F.touchQueue(queue)
end

-- Ends these waits, in their order.
function Wait.endMany(rows)
  if rows[1] and not rows[2] then return Wait.endOne(rows[1], Wait.isOther(F.queueOf(rows[1].queueName), rows[1])) end
  local from = 1
  while rows[from] do
    local some, queueName = {}, rows[from].queueName
    while rows[from] and rows[from].queueName == queueName do
      some[#some + 1] = rows[from]
      from = from + 1
    end
    Wait.endOf(F.queueOf(queueName), some)
  end
end
