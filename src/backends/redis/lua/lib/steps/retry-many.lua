-- Tries many tasks of one queue again at once, of users without a record.

-- Settlements from `i` on that try a task of the queue of the first again at once, as far as these are in force; what is
-- stored of each.
function Settle.retried(call, i, last, token)
  local from, hot, others, done = call.ids, call.hot, call.others, call.done
  local delays, before, behind, seen, ids, n = from + call.n, nil, nil, {}, {}, 0
  for at_ = i, last do
    local packed, row, id = hot[at_], others[at_], ARGV[from + at_]
    if packed ~= before then
      behind = behind or packed and string.sub(packed, AT.lease.rest)
      if not packed or string.byte(packed, AT.lease.flags) % FLAG.lease.bare > FLAG.lease.facts
        or string.sub(packed, AT.lease.rest) ~= behind then break end
      before = packed
    end
    if not row or ARGV[row + 1] ~= 'retry' or ARGV[delays + at_] ~= '0' or tasks[id] ~= nil or done[id] or seen[id] then break end
    n = n + 1
    ids[n], seen[id] = id, true
  end
  if n == 0 or string.sub(behind, -#token - 1) ~= '\0' .. token then return { n = 0 } end
  local queue = F.queueOf(string.sub(behind, 1, -#token - 2))
  if queue.timed then return { n = 0 } end
  local texts, asked, fresh, m, f = redis.call('HMGET', K.tasks(), unpack(ids)), {}, {}, 0, 0
  for k = 1, n do
    local text, level, kind = texts[k], nil, nil
    if text then level, kind = string.byte(text, AT.text.level, AT.text.kind) end
    if level ~= (BYTE.zero + USUAL.level) then
      n = k - 1
      break
    end
    if kind >= BYTE.facts then
      m = m + 1
      asked[m] = ids[k]
    end
    if kind < BYTE.facts or kind >= BYTE.place then
      f = f + 1
      fresh[f] = k
    end
  end
  return { n = n, queue = queue, ids = ids, texts = texts, asked = asked, fresh = fresh, tried = {},
    latest = token .. '\0' .. ARGV[1], facts = m > 0 and redis.call('HMGET', K.facts(), unpack(asked)) }
end

-- What facts come to, but for the place in line, once another attempt has failed: of many the same. `rest`: what they
-- are behind that place. Nil where a cancel was asked for.
function Settle.triedAgain(some, flags, rest)
  if flags % (2 * FLAG.facts.canceling) >= FLAG.facts.canceling then return end
  local known = some.tried[flags] or {}
  some.tried[flags] = known
  local failures, losses, releases, readers, more = 0, 0, 0, 0, {}
  if rest ~= '' then
    local _, _, _, f, l, r, _, by, from = struct.unpack(FORMAT.facts, string.rep('\0', END.facts.seq) .. rest)
    failures, losses, releases, readers = f, l, r, by
    from = from - END.facts.seq
    if #rest >= from then more = cmsgpack.unpack(string.sub(rest, from)) end
  end
  more.latestLease = some.latest
  local hasLong = flags >= FLAG.facts.long
  flags = flags % FLAG.facts.long
  flags = flags - flags % (2 * FLAG.facts.settled) + flags % (2 * FLAG.facts.left) + FLAG.facts.attempts + FLAG.facts.settled
  local found = { failures = failures, hasLong = hasLong, head = string.char(PLACE.line, flags),
    longHead = string.char(PLACE.line, flags + FLAG.facts.long),
    rest = string.sub(struct.pack(FORMAT.facts, 0, 0, 0, failures + 1, losses, releases, 0, readers), AT.facts.failures)
      .. cmsgpack.pack(more) }
  known[rest] = found
  return found
end

-- What is known of each beside its text, and what that comes to; nothing of those that have failed never. Ends where one
-- is special.
function Settle.readRetried(call, i, some)
  local ids, texts, asked, known, next_, first = some.ids, some.texts, some.asked, some.facts, 1, i - 1
  local rows, facts, places, names, tried, others = {}, {}, {}, {}, some.tried, call.others
  for k = 1, some.n do
    local id, text, flags, rest, place, kept = ids[k], texts[k], 0, '', 0, nil
    if id == asked[next_] then
      local packed = known[next_]
      next_ = next_ + 1
      if not packed then break end
      flags, place = struct.unpack('<Bd', packed, AT.facts.flags)
      rest, kept = string.sub(packed, AT.facts.failures), string.sub(packed, AT.facts.seq, END.facts.seq)
    end
    local row = tried[flags] and tried[flags][rest] or Settle.triedAgain(some, flags, rest)
    if not row then break end
    if place == 0 then
      place = tonumber(string.sub(text, AT.text.stamp, END.text.stamp), 16)
      kept = struct.pack('<d', place)
    end
    local isLong = #ARGV[others[first + k] + 3] > LIMIT.oldErrorBytes
    rows[k], places[k], names[k] = row, place, F.userIn(text)
    facts[2 * k - 1], facts[2 * k] = id, (isLong and row.longHead or row.head) .. kept .. row.rest
  end
  some.rows, some.packed, some.places, some.names = rows, facts, places, names
end

-- The places of the first in line of these users, infinite for who has none, and their lines, by user; how many of them
-- have no record, and may join.
function Settle.headsOf(some)
  local queue, heads, lines, asked, who, keys, n = some.queue, {}, {}, {}, {}, {}, 0
  local begins, records, m = K.line(queue.prefix, '', ''), K.user(queue.prefix, ''), 0
  for k = 1, #some.names do
    local name = some.names[k]
    if not heads[name] then
      local key = begins .. name
      local id = redis.call('LINDEX', key, '0')
      n = n + 1
      heads[name], lines[name], keys[n] = INF, key, records .. name
      if id then
        m = m + 1
        asked[m], who[m] = id, name
      end
    end
  end
  if n == 0 then return heads, lines, 0 end
  if C.configs > 0 then
    for name in pairs(heads) do keys[#keys + 1] = K.userConfig(name) end
  end
  local texts = m > 0 and redis.call('HMGET', K.tasks(), unpack(asked))
  for k = 1, m do
    local text, id = texts[k], asked[k]
    local isAsItCame = text and tasks[id] == nil and string.byte(text, AT.text.kind) < BYTE.facts
    heads[who[k]] = isAsItCame and tonumber(string.sub(text, AT.text.stamp, END.text.stamp), 16) or F.placeInLine(id)
  end
  local isOther, mayEnter = redis.call('EXISTS', unpack(keys)) > 0, Store.mayEnter(queue)
  if mayEnter and not isOther and next(queue.users) == nil then return heads, lines, #some.names end
  for k = 1, #some.names do
    local name = some.names[k]
    if queue.users[name] or (isOther and Store.isOther(queue, name)) or (heads[name] == INF and not mayEnter) then
      return heads, lines, k - 1
    end
  end
  return heads, lines, #some.names
end

-- Keeps the attempts of the first of these, from `i` on in the call, with their errors; answers these, and by cause
-- as JSON how many failed so: the text of the first, the last id.
function Settle.keepFailed(call, i, some, n)
  local errors, groups, before, how, cause, err, failures, text, same = {}, {}, nil, nil, nil, nil, nil, nil, nil
  for k = 1, n do
    local row, from, packed, id = some.rows[k], call.others[i + k - 1], call.hot[i + k - 1], some.ids[k]
    if packed ~= before then
      before, how, text = packed, F.attemptText(ARGV[1], struct.unpack('<d', packed), 'failed', 'retry'), nil
    end
    if ARGV[from + 2] ~= cause then
      cause, text = ARGV[from + 2], nil
      same = groups[cause] or { n = 0, text = some.texts[k] }
      groups[cause] = same
    end
    if not text or ARGV[from + 3] ~= err or row.failures ~= failures then
      err, failures = ARGV[from + 3], row.failures
      text = F.attemptOf(failures, how .. ',"cause":' .. F.quoted(cause) .. ',"error":' .. cjson.encode(err))
    end
    F.keepAttempt(id, row.hasLong, text)
    errors[2 * k - 1], errors[2 * k], same.n, same.id = id, err, same.n + 1, id
  end
  return errors, groups
end

-- Tasks that failed with the same cause are counted.
function Settle.countGroups(groups)
  for cause, same in pairs(groups) do
    local group = Failures.groupOf(F.newTask(same.id, same.text), cjson.decode(cause))
    if group then Failures.count(group, same.id, same.n) end
  end
end

-- Says how many of these are tried again.
function Settle.retryEach(call, reply, some, i)
  if some.n == 0 then return 0 end
  Settle.readRetried(call, i, some)
  local heads, lines, n = Settle.headsOf(some)
  if n == 0 then return 0 end
  local errors, groups = Settle.keepFailed(call, i, some, n)
  local texts, queue, at_, t = {}, some.queue, #reply, 0
  for _, k in ipairs(some.fresh) do
    if k > n then break end
    texts[t + 1], texts[t + 2] = some.ids[k], F.withFacts(some.texts[k])
    t = t + 2
  end
  redis.call('HSET', K.facts(), unpack(some.packed, 1, 2 * n))
  if n >= LIMIT.spreadFrom then
    errors[2 * n + 1], errors[2 * n + 2] = SPREAD, ''
    redis.call('HSET', K.errors(), unpack(errors))
    redis.call('HDEL', K.errors(), SPREAD)
  else
    redis.call('HSET', K.errors(), unpack(errors))
  end
  if t > 0 then redis.call('HSET', K.tasks(), unpack(texts)) end
  Settle.countGroups(groups)
  local ids, names, places = some.ids, some.names, some.places
  for k = 1, n do
    local name, place = names[k], places[k]
    local head = heads[name]
    -- Mostly it stood at the head of its line.
    if head and place < head then
      if head == INF then Store.join(queue, name) end
      redis.call('LPUSH', lines[name], ids[k])
      heads[name] = place
    else
      local back = F.newTask(ids[k], some.texts[k])
      back.seq, back.level = place, 3
      F.joinLine(back, { queue = queue, name = name }, true)
    end
    reply[at_ + 1], reply[at_ + 2] = i + k - 1, 'ok queued'
    at_ = at_ + 2
  end
  queue.counts.started, queue.counts.queued = queue.counts.started - n, queue.counts.queued + n
  queue.runnable, queue.gain, queue.retried = queue.runnable + n, queue.gain + n, queue.retried + n
  F.touchQueue(queue)
  Settle.free(some.ids, n)
  F.countAttempt(ARGV[1], FIELD.worker.failed, n)
  return n
end
