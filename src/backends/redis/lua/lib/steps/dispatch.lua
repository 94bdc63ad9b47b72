-- Starts tasks of users without a record, many at once: first whose the turns are (lib/turns/deal.lua), then their tasks. A turn
-- of others, and a special task, are taken one by one (lib/records/lease.lua).

-- Takes the tasks of these turns out of their lines.
function Dispatch.pop(queue, turns)
  local ids, lines, names, order, served = {}, K.line(queue.prefix, '', ''), turns.names, turns.order, turns.served
  if not order then
    for i = 1, turns.count do ids[i] = redis.call('LPOP', lines .. names[i]) end
    return ids
  end
  local some = {}
  for at_ = 1, turns.count do
    local i = order[at_]
    local n = served and served[i]
    if not n then
      ids[at_] = redis.call('LPOP', lines .. names[i])
    else
      local popped = some[i]
      if not popped then
        popped = redis.call('LPOP', lines .. names[i], string.format('%d', n))
        popped.n, some[i] = 0, popped
      end
      popped.n = popped.n + 1
      ids[at_] = popped[popped.n]
    end
  end
  return ids
end

-- The tasks stand again where they stood.
function Dispatch.unpop(queue, names, order, ids)
  for at_ = #ids, 1, -1 do
    local i = order and order[at_] or at_
    redis.call('LPUSH', K.line(queue.prefix, '', names[i]), ids[at_])
  end
end

-- Three digits as bytes, when they are added up, less where in a text stands what comes behind their number of bytes.
local DIGITS = 5297

-- The first task that cannot just be started: its record is gone or cannot be read, it has facts (and is not among
-- `found`), another cost than 1, or a name that the worker does not know; nil when there is none.
function Dispatch.firstSpecial(texts, n, request, found)
  local known = request.known
  for i = 1, n do
    local text = texts[i]
    if not text then return i end
    local kind, hundreds, tens, ones = string.byte(text, AT.text.kind, END.text.userBytes)
    if not ones then return i end
    if kind >= BYTE.facts and kind < BYTE.place and not (found and found[i]) then return i end
    if kind > BYTE.zero then
      request.hasMore = true
      if kind % (2 * FLAG.kind.long) == 1 then request.isLong = true end
    end
    local from = 100 * hundreds + 10 * tens + ones - DIGITS
    if not known or string.sub(text, from, from + #known - 1) ~= known then
      local a = string.find(text, '\0', from, true)
      local b = a and string.find(text, '\0', a + 1, true)
      local c = b and string.find(text, '\0', b + 1, true)
      if not c or string.sub(text, b + 1, c - 1) ~= '1' then return i end
      local name = string.sub(text, a + 1, b - 1)
      if request.names and not string.find(request.names, ',' .. name .. ',', 1, true) then return i end
      known = string.sub(text, from, c)
      request.known = known
    end
  end
end

-- Writes the tags of those that had turns. Who has nothing left leaves its class, and its tag is kept
-- while it is ahead.
function Dispatch.saveTags(queue, turns)
  local tags, left, names, fronted, us, fronts = turns.tags, turns.left, turns.names, turns.fronted, turns.us, turns.fronts
  local drained, kept, passed, front = 0, nil, nil, turns.classes > 0 and fronts[1] or NONE
  local moves, m = front.moves, 0
  queue.virtual, queue.weightSum = turns.virtual, turns.weightSum
  if turns.fluid then Fluid.save(queue, turns.fluid) end
  if turns.who == 1 and left[1] > 0 then
    if fronted then front = fronted[1] end
    return redis.call('ZADD', front.key, string.format('%d', tags[1]), names[1])
  end
  for i = 1, turns.who do
    if fronted and fronted[i] ~= front then
      front.m, front = m, fronted[i]
      moves, m = front.moves, front.m
    end
    if left[i] > 0 then
      moves[m + 1], moves[m + 2], m = string.format('%d', tags[i]), names[i], m + 2
    else
      front.gone, drained = front.gone or {}, drained + 1
      front.gone[#front.gone + 1] = names[i]
      local start = Tag.startOf(tags[i], front.countedWeight)
      if us and us[i] then
        -- Its record keeps the tag.
        if start > turns.virtual then Fluid.file(queue, names[i], front.countedWeight, start) end
      elseif start > turns.virtual then
        kept = kept or {}
        local k = #kept
        kept[k + 1], kept[k + 2] = string.format('%d', tags[i]), names[i]
      else
        passed = passed or {}
        passed[#passed + 1] = names[i]
      end
    end
  end
  if m > 0 then front.m = m end
  for i = 1, turns.classes do
    front = fronts[i]
    moves, m = front.moves, front.m
    if m == 2 then
      redis.call('ZADD', front.key, moves[1], moves[2])
    elseif m > 2 then
      redis.call('ZADD', front.key, unpack(moves, 1, m))
    end
    if front.gone then Dispatch.dropFrom(queue, front, #front.gone) end
  end
  if drained == 0 then return end
  queue.ready = queue.ready - drained
  if passed then Step.dropNames(queue, passed) end
  if not kept then return end
  redis.call('ZADD', K.keptTags(queue.prefix), unpack(kept))
  queue.tags = queue.tags + #kept / 2
end

function Dispatch.dropFrom(queue, front, n)
  local classes, users = queue.classes, front.n - n
  queue.rest = false
  classes[front.class] = users > 0 and users or nil
  if users > 0 then return redis.call('ZREM', front.key, unpack(front.gone)) end
  redis.call('DEL', front.key)
  local kind = string.sub(front.class, 2)
  if not F.isKindUsed(classes, kind) then queue.lasts[kind] = nil end
end

-- Leases of these tasks begin, which end then, with these flags.
function Dispatch.startAll(queue, n, ids, hot, token, till, flags)
  local counts = queue.counts
  local value = struct.pack(FORMAT.lease, now, till, queue.epoch, flags, C.steps) .. queue.name .. '\0' .. token
  if n == 1 then
    redis.call('HSET', hot, ids[1], value)
  else
    local rows = ROWS
    for i = 1, n do rows[2 * i - 1], rows[2 * i] = ids[i], value end
    redis.call('HSET', hot, unpack(rows, 1, 2 * n))
  end
  F.begun(ARGV[1], till)
  queue.runnable, counts.queued, counts.started = queue.runnable - n, counts.queued - n, counts.started + n
end

-- The first task for which this answer has no room, beside the others; nil when there is none. `found`: those
-- that have facts.
function Dispatch.firstHeavy(batch, ids, texts, n, found)
  for i = 1, n do
    if not Dispatch.fits(batch, ids[i], texts[i], found and found[i]) then return i end
  end
end

-- Whether there is room for what a lease of the task carries; what is told of upstreams costs more to write than to
-- carry.
function Dispatch.fits(batch, id, text, t)
  local bytes = string.byte(text, AT.text.kind) % (2 * FLAG.kind.long) == 1 and redis.call('HSTRLEN', K.payloads(), id) or 0
  if t and t.optional and t.optional.waitsOn then
    t.upstreamFacts = F.upstreamsOf(t)
    bytes = bytes + 4 * #t.upstreamFacts
  end
  if bytes > 0 and batch.bytes > 0 and batch.bytes + bytes > LIMIT.scriptBytes then
    batch.stopped = true
    return false
  end
  batch.bytes = batch.bytes + bytes
  return true
end

-- The share whose turn it is, and for how many turns: until the pass of another is less.
function Dispatch.nextShare(shares, most)
  local best, at_, others
  for i = 1, #shares do
    local share = shares[i]
    local isOpen = not share.isDone
    if isOpen then isOpen = Choose.queueOpen(share.queue) end
    share.isOpen = isOpen
    if isOpen then
      if best then others = true end
      if not best or share.pass < best.pass then best, at_ = share, i end
    end
  end
  if not others then return best, most end
  local pass, turns = best.pass, 0
  repeat
    pass, turns = pass + best.step, turns + 1
    for i = 1, #shares do
      local other = shares[i]
      if i ~= at_ and other.isOpen and (other.pass < pass or (other.pass == pass and i < at_)) then
        return best, turns
      end
    end
  until turns == most
  return best, most
end

function Dispatch.fill(shares, request, worker)
  local batch = { n = 0, ids = {}, texts = {}, rows = false, unknownNames = 0, stopped = false, alone = false,
    pass = INF, vain = 0, bytes = 0 }
  local left = Park.bringAll(shares, worker, request.limit)
  while batch.n < request.limit and not batch.stopped do
    local share, most = Dispatch.nextShare(shares, math.min(request.limit - batch.n, batch.pass, LIMIT.dealtAtOnce))
    if not share then break end
    local config, before = share.queue.config, batch.n
    if config.maxRunning then most = math.min(most, config.maxRunning - share.queue.counts.started) end
    local found
    if share.scope or config.rate then
      found = Dispatch.one(share, request, batch)
    else
      found = Dispatch.some(share, most, request, batch)
    end
    if not found then share.isDone = true end
    for _ = before + 1, batch.n do share.pass = share.pass + share.step end
  end
  Park.finishAll(shares, batch)
  if left and batch.n < request.limit then batch.stopped = true end
  return batch
end
