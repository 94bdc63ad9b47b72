-- Tells who waits for a task, or for an id that nobody has stored.
-- @include lib/rank.lua

-- A run that is suspended waits whatever its own edges say.
local function isSuspendedFor(t, id)
  for _, other in ipairs(t.x and t.x.s or NONE) do
    if other == id then return true end
  end
  return false
end

local function dependentOf(t, id, part)
  F.fixed(t)
  local told = { id = t.id, name = t.name, user = t.user, state = t.state }
  if isSuspendedFor(t, id) then
    told.waits = 'suspended'
  else
    told.waits = part == 'held' and 'redrive' or 'end'
    told.onFailure, told.onCancel = t.x.g[1], t.x.g[2]
  end
  return told
end

-- One page of them behind `place` = { part, created, id } or nil, with how many there are in all.
function F.dependents(id, place, limit)
  local keys = { waiting = K.waiting(id), held = K.held(id) }
  local waiting, held = redis.call('ZCARD', keys.waiting), redis.call('ZCARD', keys.held)
  local page, last = { items = {}, count = waiting + held, held = held }, nil
  for _, part in ipairs({ 'waiting', 'held' }) do
    local rank = 0
    if place and place[1] == part then
      rank = F.rankBehind(keys[part], place[2], place[3])
    elseif place and place[1] == 'held' then
      rank = waiting
    end
    local rows = redis.call('ZRANGE', keys[part], rank, rank + limit, 'WITHSCORES')
    for i = 1, #rows, 2 do
      if last and #page.items == limit then
        page.cursor = cjson.encode(last)
        return page
      end
      last = { part, tonumber(rows[i + 1]), rows[i] }
      local t = F.taskOf(rows[i])
      -- One that was canceled meanwhile may not have left the line yet.
      if t and not F.isEnd(t.state) then
        page.items[#page.items + 1] = dependentOf(t, id, part)
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
