-- The lines of a user, one for each level that has work: ids in the order of their places. A task's place
-- is the stamp of the moment that it was first put in line, which it keeps until it is put back anew.

function F.lineKey(u, level)
  return K.line(u.queue.prefix, K.levelPart(level), u.name)
end

-- The place that the text of a task tells, and what else is stored of it.
function F.placeIn(text, packed)
  local seq = packed and struct.unpack('<d', packed, AT.facts.seq) or 0
  return seq > 0 and seq or tonumber(string.sub(text, AT.text.stamp, END.text.stamp), 16)
end

-- The place of a task in a line, without asking who may have leased it; nil when its record is gone.
function F.placeInLine(id)
  local t = tasks[id]
  if t then return F.placeOf(t) end
  local text = redis.call('HGET', K.tasks(), id)
  if not text then return nil end
  return F.placeIn(text, string.byte(text, AT.text.kind) >= BYTE.facts and redis.call('HGET', K.facts(), id))
end

-- Of those that came back to a line before, from `low` on, how many more stand before a place, as far as a look at some of
-- them tells; who stands there, if that is one of these or the next; whether none does.
function F.rankNear(key, place, low, most)
  local ids = redis.call('LRANGE', key, string.format('%d', low), string.format('%d', low + most - 1))
  local facts = ids[1] and redis.call('HMGET', K.facts(), unpack(ids))
  for i = 1, #ids do
    local id, packed = ids[i], facts[i]
    local seq = packed and tasks[id] == nil and struct.unpack('<d', packed, AT.facts.seq) or 0
    local other = seq > 0 and seq or F.placeInLine(id)
    if not (other and other < place) then return low + i - 1, id end
    if seq == 0 then return low + i end
  end
  if #ids < most then return low + #ids, nil, true end
  if most == LIMIT.placesRead then return low + most end
  return F.rankNear(key, place, low + most, LIMIT.placesRead)
end

-- How many of a line stand before a place, and who stands there; the first `low` do. What comes back stood in line
-- before most others: it is looked for from there on, in steps that double.
function F.rankInLine(key, place, low)
  local next_, isLast
  low, next_, isLast = F.rankNear(key, place, low or 0, LIMIT.placesRead / 2)
  if next_ or isLast then return low, next_ end
  local middle, high, step = low, nil, 1
  while not high or low < high do
    local id = redis.call('LINDEX', key, string.format('%d', middle))
    local other = id and F.placeInLine(id)
    if other and other < place then low = middle + 1 else high, next_ = middle, id end
    if high then
      middle = math.floor((low + high) / 2)
    else
      middle, step = middle + step, 2 * step
    end
  end
  return low, next_
end

-- Into a line, where so many stand before it, and in front of `next_`, if any stands there.
function F.insert(key, id, rank, next_)
  if rank == 0 then
    redis.call('LPUSH', key, id)
  elseif next_ then
    redis.call('LINSERT', key, 'BEFORE', next_, id)
  else
    redis.call('RPUSH', key, id)
  end
end

-- To the end of its line; where it stood before, when it has been in line already.
function F.joinLine(t, u, again)
  t.isTaken = false
  local key = F.lineKey(u, t.level)
  if not again then return redis.call('RPUSH', key, t.id) end
  F.insert(key, t.id, F.rankInLine(key, F.placeOf(t)))
end

-- Places of the first in these lines: false where nothing stands, infinite for one whose record is gone.
function F.headsOf(keys)
  local heads, asked, at_ = {}, {}, {}
  for i, key in ipairs(keys) do
    local id = redis.call('LINDEX', key, '0')
    heads[i] = id and INF
    if id and tasks[id] then
      heads[i] = F.placeOf(tasks[id])
    elseif id then
      asked[#asked + 1], at_[#at_ + 1] = id, i
    end
  end
  local texts, facts = F.textsOf(asked)
  for k = 1, #asked do heads[at_[k]] = texts[k] and F.placeIn(texts[k], facts[k]) or INF end
  return heads
end

-- Texts of tasks, and what else is stored of those that have more.
function F.textsOf(ids)
  if #ids == 0 then return NONE, NONE end
  if #ids == 1 then
    local text = redis.call('HGET', K.tasks(), ids[1])
    return { text }, { text and string.byte(text, AT.text.kind) >= BYTE.facts and redis.call('HGET', K.facts(), ids[1]) }
  end
  local texts, facts, asked, at_ = redis.call('HMGET', K.tasks(), unpack(ids)), {}, {}, {}
  for i, id in ipairs(ids) do
    if texts[i] and string.byte(texts[i], AT.text.kind) >= BYTE.facts then
      asked[#asked + 1], at_[#at_ + 1] = id, i
    end
  end
  local got = asked[1] and redis.call('HMGET', K.facts(), unpack(asked)) or NONE
  for k, i in ipairs(at_) do facts[i] = got[k] end
  return texts, facts
end

-- Tasks come back to their line: ids and places in the order of these. `head`: the place of the first in line.
function F.rejoinLine(key, ids, places, head)
  local before, n = {}, 0
  while places[n + 1] and places[n + 1] < (head or INF) do n = n + 1 end
  for i = n, 1, -1 do before[n + 1 - i] = ids[i] end
  if n > 0 then redis.call('LPUSH', key, unpack(before)) end
  -- The one that was the first stands before all others of them.
  local low = n + 1
  for i = n + 1, #ids do
    local rank, next_ = F.rankInLine(key, places[i], low)
    F.insert(key, ids[i], rank, next_)
    low = rank + 1
  end
end

function F.leaveLine(t, u)
  if t.isTaken then return end
  redis.call('LREM', F.lineKey(u, t.level), 1, t.id)
end
