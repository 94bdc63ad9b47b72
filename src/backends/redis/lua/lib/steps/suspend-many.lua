-- Suspends many tasks of one queue at once, each until its time, a signal or an event has come.

-- What a decision says; false for one that is carried out alone.
function Suspend.formOf(what, how, after)
  local wait = cjson.decode(what)
  if wait.kind ~= 'time' and wait.kind ~= 'signal' and wait.kind ~= 'event' then return false end
  local wakeOn, attended, left = string.match(how, '^(%a+)( ?%a*)(.*)$')
  return { wait = wait, wakeWord = wakeOn == 'failure' and wakeOn or nil, decides = attended == ' decides',
    attended = attended == ' attended' and left, wakeDue = after ~= '' and now + after or nil, tails = {}, met = {},
    mayBeMet = wait.within or wait.targets, sets = false, waits = false }
end

-- Settlements from `i` on that suspend tasks of one lease, as far as these are in force.
function Suspend.alike(call, i, last, token)
  local ids, found, seen, forms, lease = call.ids, {}, {}, {}, call.hot[i]
  local from = lease and #lease - #token
  if not lease or string.sub(lease, from) ~= '\0' .. token then return found end
  local queue, leasedAt, rest = F.queueOf(string.sub(lease, AT.lease.rest, from - 1)), struct.unpack('<d', lease),
    string.sub(lease, AT.lease.rest)
  if queue.timed then return found end
  found.queue, found.leasedAt, found.settled = queue, leasedAt, token .. '\0' .. ARGV[1]
  local before, what, how, after, form = lease, nil, nil, nil, nil
  for at_ = i, last do
    local packed, row, id = call.hot[at_], call.others[at_], ARGV[ids + at_]
    if not row or ARGV[row + 1] ~= 'suspend' or tasks[id] ~= nil or call.done[id] or seen[id] then break end
    if packed ~= before then
      if not packed or string.sub(packed, AT.lease.rest) ~= rest or struct.unpack('<d', packed) ~= leasedAt then break end
      before = packed
    end
    local a, b, c = ARGV[ids + call.n + at_], ARGV[row + 2], ARGV[row + 3]
    if a ~= what or b ~= how or c ~= after then
      what, how, after = a, b, c
      local name = how .. '\0' .. after .. '\0' .. what
      if forms[name] == nil then forms[name] = Suspend.formOf(what, how, after) end
      form = forms[name]
    end
    if not form then break end
    found[at_ - i + 1] = { id = id, form = form, user = false, stamp = false, score = false, facts = false, text = false }
    seen[id] = true
  end
  return found
end

-- What its facts have behind their numbers; of many the same. False when it has to be looked at.
function Suspend.tailOf(found, form, before)
  local tail = form.tails[before]
  if tail ~= nil then return tail end
  local more, wait = before == '' and {} or cmsgpack.unpack(before), form.wait
  local x = more.optional or {}
  if x.suspendedFor or x.leastDeadline or x.awaitKind then
    tail = false
  else
    local token = string.match(found.settled, '^[^%z]*')
    x.decidesAfter = form.decides and token or nil
    x.attendedLease = form.attended and string.format('%.0f ', found.leasedAt) .. token .. form.attended or nil
    x.awaitKind, x.awaitName, x.awaitTargets, x.awaitEntry = wait.kind, wait.name, wait.targets, wait.entry
    x.wakeWord, x.wakeDue, x.leastDeadline = form.wakeWord, form.wakeDue, form.wakeDue
    more.optional, more.latestLease = x, found.settled
    tail = cmsgpack.pack(more)
  end
  form.tails[before] = tail
  return tail
end

-- Whether what it waits for has come before: of many who wait for the same signals it is asked once.
function Suspend.isMet(form, user)
  local wait, known = form.wait, form.met
  local name = wait.within and user or ''
  if known[name] ~= nil then return known[name] end
  local met = wait.within and Wait.recentEvent(K.pair(user, wait.name), wait.within) and true or false
  for _, id in ipairs(wait.targets or NONE) do
    local first, after = Wait.lineOf(K.channel(id), wait.name)
    met = met or first < after
  end
  known[name] = met
  return met
end

-- How the facts begin, and go on behind the place, of a task that was suspended once and of which nothing else is known.
local SUSPENDED, BLANKS = string.char(PLACE.deferred, FLAG.facts.settled), string.rep('\0', (SIZE.facts - END.facts.seq))

-- What is stored of each, as it is and as it will be. Ends where one is special.
function Suspend.read(found)
  local ids = {}
  for i = 1, #found do ids[i] = found[i].id end
  local texts, facts = F.textsOf(ids)
  for i = 1, #found do
    local one, text, packed = found[i], texts[i], facts[i]
    if not text then return i - 1 end
    local form, kind, stamp = one.form, string.byte(text, AT.text.kind), string.sub(text, AT.text.stamp, END.text.stamp)
    local user = string.sub(text, AT.text.rest, END.text.userBytes + string.sub(text, AT.text.userBytes, END.text.userBytes))
    if form.mayBeMet and Suspend.isMet(form, user) then return i - 1 end
    local arrival = tonumber(stamp, 16)
    one.user, one.stamp, one.score = user, stamp, string.format('%d', arrival)
    if kind < BYTE.facts then
      one.facts = SUSPENDED .. struct.pack('<d', arrival) .. BLANKS .. (form.tails[''] or Suspend.tailOf(found, form, ''))
    else
      one.facts = packed and Suspend.factsOf(found, form, packed, arrival)
      if not one.facts then return i - 1 end
    end
    local wanted = BYTE.facts + (kind - BYTE.zero) % FLAG.kind.facts
    if kind ~= wanted then
      one.text = string.sub(text, 1, AT.text.level) .. string.char(wanted) .. string.sub(text, AT.text.userBytes)
    end
  end
  return #found
end

-- The facts of a task of which more is known; false when it has to be looked at.
function Suspend.factsOf(found, form, packed, arrival)
  local _, flags, seq, failures, _, releases, _, readers, from = struct.unpack(FORMAT.facts, packed)
  local tail = Suspend.tailOf(found, form, string.sub(packed, from))
  if not tail or flags % (2 * FLAG.facts.canceling) >= FLAG.facts.canceling then return false end
  return struct.pack(FORMAT.facts, PLACE.deferred, flags - flags % (2 * FLAG.facts.settled) + flags % FLAG.facts.canceling
    + FLAG.facts.settled, seq > 0 and seq or arrival, failures, 0, releases, 0, readers) .. tail
end

-- The sets that those of a form stand in, as they are written.
function Suspend.setsOf(form)
  local wait, sets = form.wait, {}
  for i, target in ipairs(wait.targets or NONE) do sets[i] = F.membersOf(K.waiters(target, wait.name)) end
  if form.wakeDue then form.due, form.dueText = F.indexOf('deadlines', form.wakeDue), string.format('%d', form.wakeDue) end
  form.waits, form.sets = F.membersOf(K.waits(wait.kind)), sets
  return sets
end

-- They stand where they are found.
function Suspend.enter(found, n)
  local deferred, moment, newest = F.indexOf('deferred'), string.format('%d', now), {}
  for at_ = 1, n do
    local one = found[at_]
    local form, id = one.form, one.id
    local sets, wait = form.sets or Suspend.setsOf(form), form.wait
    deferred[id], form.waits[id] = one.score, moment
    if form.due then form.due[one.stamp .. id] = form.dueText end
    for i = 1, #sets do sets[i][id] = one.score end
    if wait.kind == 'event' then
      local place = K.pair(one.user, wait.name)
      newest[place] = newest[place] or Wait.newestEvent(place)
      F.zset(K.eventWaiters(place), id, newest[place])
    end
  end
end

-- Says how many settlements from `i` on were carried out; 0 when the first is to be looked at alone.
function Suspend.some(call, reply, i, last, token)
  local found = Suspend.alike(call, i, last, token)
  local n, queue = Suspend.read(found), found.queue
  if n == 0 then return 0 end
  local users, ids, facts, texts = Wait.usersOf(queue, found, n), {}, {}, {}
  for at_ = 1, n do
    local one, k = found[at_], 2 * at_
    ids[at_], facts[k - 1], facts[k] = one.id, one.id, one.facts
    if one.text then texts[#texts + 1], texts[#texts + 2] = one.id, one.text end
    reply[#reply + 1], reply[#reply + 2] = i + at_ - 1, 'ok deferred'
  end
  Suspend.enter(found, n)
  redis.call('HSET', K.facts(), unpack(facts))
  if texts[1] then redis.call('HSET', K.tasks(), unpack(texts)) end
  Settle.free(ids)
  F.changeLaterOf(queue, users, 1)
  for _, of in ipairs(users) do
    local u = of.owner
    if u then
      u.running, u.entered = u.running - #of, true
      F.reindex(u)
    end
  end
  queue.counts.started, queue.counts.deferred = queue.counts.started - n, queue.counts.deferred + n
  F.touchQueue(queue)
  return n
end
