-- Tells which tasks wait for a task, or for an id that is not stored.

local function dependentOf(t, id, part)
  F.fixed(t)
  local row = { id = t.id, name = t.name, user = t.user, state = t.state }
  if Suspend.waitsFor(t, id) then
    row.waits = 'suspended'
  else
    row.waits = part == 'redrive' and 'redrive' or 'end'
    row.onFailure, row.onCancel = t.optional.policies[1], t.optional.policies[2]
  end
  return row
end

-- The parts of the listing: those that wait for the end of a task and for its redrive; of an id that is
-- not stored, '@' and by whose task of that id they would wait.
local function partsOf(id)
  if F.taskOf(id) then return { { 'waiting', K.waiting(id) }, { 'redrive', K.awaitingRedrive(id) } } end
  local start, parts = K.pair(id, ''), {}
  local pairs_ = redis.call('ZRANGEBYLEX', K.index('missing'), '[' .. start, '(' .. start .. '\255')
  for i, pair in ipairs(pairs_) do
    parts[i] = { '@' .. string.sub(pair, #start + 1), K.missing(pair) }
  end
  return parts
end

-- Whether a part comes before another: the id may have been stored, or removed, since the last page.
local function isPassed(part, place)
  if not place or part == place[1] or part == 'redrive' then return false end
  return place[1] == 'redrive' or F.before(part, place[1])
end

-- One page of them behind `place` = { part, created, id } or nil, with how many there are in all.
function F.dependents(id, place, limit)
  local parts, page, last = partsOf(id), { items = {}, count = 0, awaitingRedrive = 0 }, nil
  for _, part in ipairs(parts) do
    local size = redis.call('ZCARD', part[2])
    page.count = page.count + size
    if part[1] == 'redrive' then page.awaitingRedrive = size end
  end
  for _, part in ipairs(parts) do
    local name, key, rows = part[1], part[2], NONE
    if not isPassed(name, place) then
      local rank = 0
      if place and place[1] == name then rank = F.rankBehind(key, place[2], place[3]) end
      rows = redis.call('ZRANGE', key, rank, rank + limit, 'WITHSCORES')
    end
    for i = 1, #rows, 2 do
      if last and (#page.items == limit or F.isSpent()) then
        page.cursor = cjson.encode(last)
        return page
      end
      last = { name, tonumber(rows[i + 1]), rows[i] }
      F.spend(1.5, 0)
      local t = F.taskOf(rows[i])
      -- One that was canceled meanwhile may not have left the line yet.
      if t and not F.isEnd(t.state) then
        page.items[#page.items + 1] = dependentOf(t, id, name)
      end
    end
    -- The rows were as many as asked for, and some of them had ended: more may stand behind them.
    if #rows / 2 > limit then
      page.cursor = cjson.encode(last)
      return page
    end
  end
  return page
end
