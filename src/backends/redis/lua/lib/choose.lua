-- Chooses whose turn it is in a queue: by WF2Q+ among the heads of all classes, or by the lists of
-- a restricted worker. Restates domain/fair-share.ts and the chapter "Restricted workers".

function Choose.stepOf(class)
  local value = tonumber(string.sub(class, 3))
  if string.byte(class, 2) == 119 then return 100 / value end
  return 2 ^ (value + 1)
end

-- Where the head of a class stands in virtual time: shared ones are ordered by that.
function Choose.startOf(class, score)
  if string.byte(class, 2) == 119 then return Tag.start(score, tonumber(string.sub(class, 3))) end
  return score
end

-- In a settled order, which has nothing to do with names: those of one step can tie.
-- @rare
function Choose.classBefore(a, b)
  local x, y = string.byte(a), string.byte(b)
  if x == y then x, y = string.byte(a, 2), string.byte(b, 2) end
  return x > y
end

-- The user with the next turn, and the virtual time after the jump to the least start.
function Choose.chooseUser(lane, orphansOnly, turns)
  local only = next(lane.classes)
  if not only then return end
  if not orphansOnly and not next(lane.classes, only) then
    local name, tag = F.first(F.readyKey(lane, only), turns)
    return name, name and math.max(lane.v, Choose.startOf(only, tag))
  end
  local heads, n, least = {}, 0, INF
  for class in pairs(lane.classes) do
    if not (orphansOnly and string.byte(class) == 97) then
      local name, tag = F.first(F.readyKey(lane, class), turns)
      if name then
        local start = Choose.startOf(class, tag)
        n = n + 1
        heads[n] = { name, start, class }
        if start < least then least = start end
      end
    end
  end
  if n == 0 then return end
  local v = least > lane.v and least or lane.v
  if n == 1 then return heads[1][1], v end
  local best, bestFinish
  for i = 1, n do
    local head = heads[i]
    local start, step = head[2], Choose.stepOf(head[3])
    if start <= v + step * SLACK then
      local finish = start + step
      if not best or finish < bestFinish
        or (finish == bestFinish and (start < best[2]
          or (start == best[2] and Choose.classBefore(head[3], best[3])))) then
        best, bestFinish = head, finish
      end
    end
  end
  return best[1], v
end

-- Whether the next turn of one ends first, or of two that end at once has begun first.
-- @rare
function Choose.finishesFirst(a, b)
  local finishA, finishB = F.finishOf(a), F.finishOf(b)
  return finishA < finishB or (finishA == finishB and F.startOf(a) < F.startOf(b))
end

-- The first user of an index that is ordered by F.
-- @rare
function Choose.firstOf(lane, key, turns)
  local name, finish = F.first(key, turns)
  if not name then return end
  local best = F.userOf(lane, name)
  if not F.isTied(key, finish) then return best end
  F.flushKey(key)
  local score = string.format('%.17g', finish)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key, score, score)) do
    local u = F.userOf(lane, other)
    if Choose.finishesFirst(u, best) then best = u end
  end
  return best
end

-- @rare
function Choose.chooseAssigned(lane, reach, turns)
  local u, list
  if reach.assigned then
    u = Choose.firstOf(lane, K.listReady(lane.p, reach.assigned), turns)
    list = u and F.listOf(lane, reach.assigned)
  end
  if reach.steal == 'any' then
    local name, v = Choose.chooseUser(lane, true, turns)
    local orphan = name and F.userOf(lane, name)
    if orphan and (not u or Choose.finishesFirst(orphan, u)) then return orphan, v, nil, false end
  elseif reach.steal then
    local orphan = Choose.firstOf(lane, K.orphans(lane.p, reach.steal), turns)
    if orphan and (not u or Choose.finishesFirst(orphan, u)) then
      u, list = orphan, F.listOf(lane, reach.steal)
    end
  end
  if u then return u, nil, list, false end
end

-- @rare
function Choose.chooseStolen(lane, reach, turns)
  if reach.steal == 'any' then
    local name, v = Choose.chooseUser(lane, false, turns)
    if name then return F.userOf(lane, name), v, nil, true end
    return
  end
  if not reach.steal then return end
  local u = Choose.firstOf(lane, K.listReady(lane.p, reach.steal), turns)
  if u then return u, nil, F.listOf(lane, reach.steal), true end
end

-- Whose turn it is: the user, V after a jump or nil, the list that it was chosen by, and whether
-- the turn is stolen.
function Choose.choose(lane, reach, turns)
  if not reach then
    local name, v = Choose.chooseUser(lane, false, turns)
    if not name then return end
    return F.userOf(lane, name), v
  end
  return Choose.chooseRestricted(lane, reach, turns)
end

-- @rare
function Choose.chooseRestricted(lane, reach, turns)
  local u, v, list, stolen = Choose.chooseAssigned(lane, reach, turns)
  if u then return u, v, list, stolen end
  return Choose.chooseStolen(lane, reach, turns)
end

-- Whether the queue's own limits let anything start now.
function Choose.laneOpen(lane)
  local config = lane.config
  if config.paused or lane.runnable == 0 then return false end
  if config.maxRunning and lane.counts.started >= config.maxRunning then return false end
  local rate = config.rate
  return not rate or math.floor(lane.tat - (rate.burst - 1) * (rate.perMs / rate.limit)) <= now
end
