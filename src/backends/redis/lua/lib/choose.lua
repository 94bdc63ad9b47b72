-- Chooses whose turn it is in a queue: by WF2Q+ among the heads of all classes, or by the lists of
-- a restricted worker. Restates domain/fair-share.ts and the chapter "Restricted workers".

local EPSILON = 0.000000001

function Choose.stepOf(class)
  local value = tonumber(string.sub(class, 3))
  if string.byte(class, 2) == 119 then return 100 / value end
  return 2 ^ (value + 1)
end

-- The user with the next turn, its tag and the virtual time after the jump to the least tag.
function Choose.chooseUser(lane, orphansOnly, turns)
  local only = next(lane.classes)
  if not only then return end
  if not orphansOnly and not next(lane.classes, only) then
    local name, tag = F.first(F.readyKey(lane, only), turns)
    return name, tag, name and (tag > lane.v and tag or lane.v)
  end
  local heads, n, least = {}, 0, INF
  for class in pairs(lane.classes) do
    if not (orphansOnly and string.byte(class) == 97) then
      local name, tag = F.first(F.readyKey(lane, class), turns)
      if name then
        n = n + 1
        heads[n] = { name, tag, class }
        if tag < least then least = tag end
      end
    end
  end
  if n == 0 then return end
  local v = least > lane.v and least or lane.v
  if n == 1 then return heads[1][1], heads[1][2], v end
  local best, bestFinish
  for i = 1, n do
    local head = heads[i]
    local tag = head[2]
    if tag <= v + EPSILON then
      local finish = tag + Choose.stepOf(head[3])
      if not best or finish < bestFinish
        or (finish == bestFinish and (tag < best[2]
          or (tag == best[2] and F.before(head[1], best[1])))) then
        best, bestFinish = head, finish
      end
    end
  end
  return best[1], best[2], v
end

-- @rare
function Choose.finishesFirst(a, finishA, b, finishB)
  return finishA < finishB or (finishA == finishB and F.before(a, b))
end

-- @rare
function Choose.chooseAssigned(lane, reach, turns)
  local name, finish, list
  if reach.assigned then
    name, finish = F.first(K.listReady(lane.p, reach.assigned), turns)
    list = name and F.listOf(lane, reach.assigned)
  end
  if reach.steal == 'any' then
    local orphan, tag, v = Choose.chooseUser(lane, true, turns)
    if orphan then
      local u = F.userOf(lane, orphan)
      if not name or Choose.finishesFirst(orphan, tag + 100 / u.w, name, finish) then
        return F.userOf(lane, orphan), v, nil, false
      end
    end
  elseif reach.steal then
    local orphan, finishOrphan = F.first(K.orphans(lane.p, reach.steal), turns)
    if orphan and (not name or Choose.finishesFirst(orphan, finishOrphan, name, finish)) then
      name, list = orphan, F.listOf(lane, reach.steal)
    end
  end
  if name then return F.userOf(lane, name), nil, list, false end
end

-- @rare
function Choose.chooseStolen(lane, reach, turns)
  if reach.steal == 'any' then
    local name, _, v = Choose.chooseUser(lane, false, turns)
    if name then return F.userOf(lane, name), v, nil, true end
    return
  end
  if not reach.steal then return end
  local name = F.first(K.listReady(lane.p, reach.steal), turns)
  if name then return F.userOf(lane, name), nil, F.listOf(lane, reach.steal), true end
end

-- Whose turn it is: the user, V after a jump or nil, the list that it was chosen by, and whether
-- the turn is stolen.
function Choose.choose(lane, reach, turns)
  if not reach then
    local name, _, v = Choose.chooseUser(lane, false, turns)
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
