-- Deals out turns: whose the next ones are, and what comes of them. Nothing is written.

-- A class of a queue, as turns are dealt out of it, some users at a time, in the order of their tags: got, from `at` on, the
-- first with `tag`; false when no user is left. Who has had a turn stands behind those that were there, in `again`, since tags
-- never fall. `least`: how many tasks its next must have in line (one without a record and with a weight of its own gets a record
-- with its last, for its tag to be kept in). `start`: where the next of all these stands in virtual time; `back`: its number, if it has had a turn.
function Dispatch.newFront(queue, class)
  local isShared, value = string.byte(class, 2) == 115, string.sub(class, 3) + 0
  return { class = class, key = K.ready(queue.prefix, class), isRecordless = string.byte(class) == 112, countedWeight = value,
    least = string.byte(class) == 112 and value ~= USUAL.weight and 2 or 1, step = Choose.stepOf(class), isShared = isShared,
    scale = isShared and 1 or Tag.scaleOf(value), page = 0, from = 0, at = 1,
    size = 0, got = NONE, tag = false, start = false, back = false, again = false, first = 1, last = 0, n = 0, moves = {}, m = 0,
    gone = false }
end

-- The classes of a queue before the first turn, and how many there are. They are kept with it while they are the same.
function Dispatch.fronts(queue, most)
  local fronts, n = queue.fronts, 0
  for class, users in pairs(queue.classes) do
    n = n + 1
    local front = fronts[n]
    if not front or front.class ~= class then
      front = Dispatch.newFront(queue, class)
      fronts[n] = front
    end
    front.n, front.from, front.m, front.gone, front.page = users, 0, 0, false, most
    if not (whole or front.isRecordless) then
      -- Its first turn is the last that is dealt out.
      front.page = 1
    elseif users < queue.ready and not front.isShared then
      front.page = math.min(most, math.ceil(most * users * front.countedWeight / queue.weightSum) + 1)
    end
    front.tag, front.at = Dispatch.nextPage(front)
    front.start, front.back, front.again, front.first, front.last = front.tag and front.tag / front.scale, false, false, 1, 0
  end
  return fronts, n
end

-- The next users of a class are read: tag and place of the first. Behind all users may stand what keeps the set from being a
-- listpack.
function Dispatch.nextPage(front)
  local from, page = front.from, front.page
  local got = redis.call('ZRANGE', front.key, from == 0 and '0' or string.format('%d', from),
    page == 1 and from == 0 and '0' or string.format('%d', from + page - 1), 'WITHSCORES')
  local size = #got
  local tag = size > 0 and got[2] + 0
  front.got, front.size, front.from = got, size, size == 2 * page and from + page
  return tag ~= INF and tag, 1
end

-- What turns come to, and a table for them, which is kept with the queue.
function Dispatch.newTurns() return { names = {}, tags = {}, left = {} } end

-- Whose the next turns are, at most so many, as if each cost 1; nothing is written. By number of who got
-- any: names, tags after their turns, tasks left; beside that turns, where one user got more than one, class,
-- where there are several, and (in a step that reads all) tasks had. `order`: whose each turn is,
-- unless each has one. `isOther`: the next one is of a user with a record. Fewer also where V has passed so many tags that this is enough for a step. `before`: turns that were dealt out
-- for more, and were not taken.
function Dispatch.turns(queue, most, before)
  local fronts, n = Dispatch.fronts(queue, most)
  local v, w, lines, had, fronted = queue.virtual, queue.weightSum, queue.usualLine, whole and {}, n > 1 and {}
  -- Those of before are looked at beside these.
  local turns = before and Dispatch.newTurns() or queue.turns
  local names, tags, left, order, served, us = turns.names, turns.tags, turns.left, nil, nil, nil
  local count, who, isOther, fluid, front = 0, 0, false, nil, n > 0 and fronts[1] or NONE
  if queue.tags > 0 or queue.leaving > 0 then fluid = Fluid.open(queue) end
  -- Of the class that had the latest turn, as the fields of these names.
  local tag, at_, back, again, first, last = front.tag, 1, nil, false, 1, 0
  local got, size, scale, weight, isRecordless, least = front.got, front.size, front.scale, front.countedWeight,
    front.isRecordless, front.least
  while count < most and w > 0 and not (fluid and fluid.passed > LIMIT.leaversPassed) do
    if not tag and front.from then
      tag, at_ = Dispatch.nextPage(front)
      got, size = front.got, front.size
    end
    local start, from = tag, v
    back = again and again[first]
    if back and not (tag and tag <= tags[back]) then start = tags[back] else back = nil end
    if n > 1 then
      front.start = start and start / scale
      local best, jumped = Choose.best(fronts, n, v)
      if not best then break end
      from = jumped
      if best ~= front then
        front.tag, front.at, front.back, front.again, front.first, front.last = tag, at_, back, again, first, last
        front, tag, at_, back, again, first, last = best, best.tag, best.at, best.back, best.again, best.first, best.last
        got, size, scale, weight, isRecordless, least = best.got, best.size, best.scale, best.countedWeight, best.isRecordless,
          best.least
      end
    else
      if not start then break end
      start = start / scale
      if start > v then from = start end
    end
    local i, have, u = back, 0, nil
    if i then
      have = left[i]
    elseif isRecordless then
      have = before and before.had[who + 1] or redis.call('LLEN', lines .. got[at_])
    elseif whole then
      have, u = Dispatch.headroomOf(queue, front, got[at_], most, before and before.us and before.us[who + 1], who + 1)
    end
    if have < least then
      -- Its turn is taken by all rules; or it stands where it has nothing, written by others.
      isOther = true
      break
    end
    count = count + 1
    if i then
      first, served = first + 1, served or {}
      served[i] = (served[i] or 1) + 1
    else
      i = who + 1
      who, names[i], tags[i] = i, got[at_], tag
      if had then had[i] = have end
      if u then
        us = us or {}
        us[i] = u
      end
      if fronted then fronted[i] = front end
      at_ = at_ + 2
      tag = at_ <= size and got[at_ + 1] + 0
      if tag == INF then tag = false end
    end
    if order then
      order[count] = i
    elseif i ~= count then
      order = {}
      for before_ = 1, count - 1 do order[before_] = before_ end
      order[count] = i
    end
    local after = tags[i] + GRAINS.turn
    tags[i], left[i] = after, have - 1
    if fluid then v = Fluid.after(fluid, from, 1, w) else v = Turn.afterTurn(from, 1, w) end
    if have == 1 then
      w = w - weight
      after = after / scale
      if after > v and count < most then
        fluid = fluid or Fluid.new()
        Fluid.add(fluid, after, weight)
      end
    elseif count < most then
      last, again = last + 1, again or {}
      again[last] = i
    end
  end
  turns.virtual, turns.weightSum, turns.count, turns.who, turns.had, turns.served, turns.fronts, turns.classes = v, w, count, who,
    had, served, fronts, n
  turns.fronted, turns.order, turns.isOther, turns.us, turns.fluid = fronted, order, isOther, us, fluid
  return turns
end
