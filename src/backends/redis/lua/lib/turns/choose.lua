-- Chooses whose turn it is in a queue: by WF2Q+ among the heads of all classes, or by the lists of
-- a restricted worker. `best` is `chooseHead` of
-- src/domain/fairness/, which test/redis/rules.test.ts holds it to.

function Choose.stepOf(class)
  local value = tonumber(string.sub(class, 3))
  if string.byte(class, 2) == 119 then return Tag.exactStep(value) end
  return Tag.sharedStep(value)
end

-- Where the head of a class stands in virtual time: shared ones are ordered by that.
function Choose.startOf(class, score)
  if string.byte(class, 2) == 119 then return Tag.startOf(score, tonumber(string.sub(class, 3))) end
  return score
end

-- In a settled order, which has nothing to do with names: those of one step can tie.
function Choose.classBefore(a, b)
  local x, y = string.byte(a), string.byte(b)
  if x == y then x, y = string.byte(a, 2), string.byte(b, 2) end
  return x > y
end

-- The class with the next turn, and the virtual time after the jump to the least start. `fronts`: classes,
-- with where their first users stand (`start`, false when there is none) and how long a turn is (`step`).
function Choose.best(fronts, n, v)
  local least = INF
  for i = 1, n do
    local start = fronts[i].start
    if start and start < least then least = start end
  end
  if least == INF then return end
  if least > v then v = least end
  local best, bestFinish
  for i = 1, n do
    local front = fronts[i]
    local start, step = front.start, front.step
    if start and start <= v + step * GRAINS.slack then
      local finish = start + step
      if not best or finish < bestFinish
        or (finish == bestFinish and (start < best.start
          or (start == best.start and Choose.classBefore(front.class, best.class)))) then
        best, bestFinish = front, finish
      end
    end
  end
  return best, v
end

-- The first member of a set that changes in this step, and its score.
function F.first(key)
  F.flushKey(key)
  local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return head[1], tonumber(head[2])
end

-- The user with the next turn, and the virtual time after the jump to the least start.
function Choose.chooseUser(queue, unassignedOnly)
  local fronts, n = {}, 0
  for class in pairs(queue.classes) do
    if not (unassignedOnly and string.byte(class) == 97) then
      local name, tag = F.first(K.ready(queue.prefix, class))
      if tag == INF then name = nil end
      n = n + 1
      fronts[n] = { class = class, name = name, step = Choose.stepOf(class),
        start = name and Choose.startOf(class, tag) }
    end
  end
  local best, v = Choose.best(fronts, n, queue.virtual)
  if best then return best.name, v end
end

-- Whether the next turn of one ends first, or of two that end at once has begun first.
function Choose.finishesFirst(a, b)
  local finishA, finishB = F.finishOf(a), F.finishOf(b)
  return finishA < finishB or (finishA == finishB and F.startOf(a) < F.startOf(b))
end

-- The first user of an index that is ordered by F.
function Choose.firstOf(queue, key)
  local name, finish = F.first(key)
  if not name then return end
  local best = F.userOf(queue, name)
  local score = string.format('%.17g', finish)
  local tied = redis.call('ZRANGEBYSCORE', key, score, score)
  for i = 2, #tied do
    local u = F.userOf(queue, tied[i])
    if Choose.finishesFirst(u, best) then best = u end
  end
  return best
end

function Choose.chooseAssigned(queue, scope)
  local u, list
  if scope.assigned then
    u = Choose.firstOf(queue, K.listReady(queue.prefix, scope.assigned))
    list = u and F.listOf(queue, scope.assigned)
  end
  if scope.steal == 'any' then
    local name, v = Choose.chooseUser(queue, true)
    local unassigned = name and F.userOf(queue, name)
    if unassigned and (not u or Choose.finishesFirst(unassigned, u)) then return unassigned, v, nil, false end
  elseif scope.steal then
    local unassigned = Choose.firstOf(queue, K.unassigned(queue.prefix, scope.steal))
    if unassigned and (not u or Choose.finishesFirst(unassigned, u)) then
      u, list = unassigned, F.listOf(queue, scope.steal)
    end
  end
  if u then return u, nil, list, false end
end

function Choose.chooseStolen(queue, scope)
  if scope.steal == 'any' then
    local name, v = Choose.chooseUser(queue, false)
    if name then return F.userOf(queue, name), v, nil, true end
    return
  end
  if not scope.steal then return end
  local u = Choose.firstOf(queue, K.listReady(queue.prefix, scope.steal))
  if u then return u, nil, F.listOf(queue, scope.steal), true end
end

-- Whose turn it is: the user, V after a jump or nil, the list that it was chosen by, and whether
-- the turn is stolen.
function Choose.choose(queue, scope)
  if not scope then
    local name, v = Choose.chooseUser(queue, false)
    if not name then return end
    return F.userOf(queue, name), v
  end
  return Choose.chooseRestricted(queue, scope)
end

function Choose.chooseRestricted(queue, scope)
  local u, v, list, stolen = Choose.chooseAssigned(queue, scope)
  if u then return u, v, list, stolen end
  return Choose.chooseStolen(queue, scope)
end

-- Whether the queue's own limits let anything start now, of `runnable` tasks.
function Choose.queueOpen(queue, runnable)
  local config = queue.config
  if config.paused or (runnable or queue.runnable) == 0 then return false end
  if config.maxRunning and queue.counts.started >= config.maxRunning then return false end
  local rate = config.rate
  return not rate or Rate.allowedAt(rate, queue.tat) <= now
end
