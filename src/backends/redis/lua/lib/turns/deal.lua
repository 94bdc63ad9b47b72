-- Deals out turns: whose the next ones are, and what comes of them. Nothing is written.

-- The classes of a queue, each with its users in the order of their tags, some at a time: got, from `at`
-- on. Who has had a turn stands behind those that were there, in `again`, since tags never fall.
function Dispatch.fronts(queue, most)
  local fronts, n = {}, 0
  for class, users in pairs(queue.classes) do
    local isShared, value = string.byte(class, 2) == 115, string.sub(class, 3) + 0
    local page = most
    if next(queue.classes, next(queue.classes)) and not isShared then
      page = math.min(most, math.ceil(most * users * value / queue.weightSum) + 1)
    end
    n = n + 1
    local step = Choose.stepOf(class)
    fronts[n] = { class = class, key = K.ready(queue.prefix, class), isRecordless = string.byte(class) == 112,
      countedWeight = value, step = step, scale = isShared or Tag.scaleOf(value), page = page,
      from = 0, at = 1, size = 0, got = NONE, tag = false, again = NONE, first = 1, last = 0, n = users, m = 0 }
  end
  return fronts, n
end

-- Where the first of a class stands in virtual time, as `start`; nil when no user is left.
function Dispatch.look(front, tags)
  if front.at > front.size and front.from then
    local from, page = front.from, front.page
    local got = redis.call('ZRANGE', front.key, from == 0 and '0' or string.format('%d', from),
      page == 1 and from == 0 and '0' or string.format('%d', from + page - 1), 'WITHSCORES')
    local size = #got
    front.got, front.size, front.at = got, size, 1
    front.from = size == 2 * page and from + page
    front.tag = size > 0 and got[2] + 0
    if front.tag == INF then front.at = size + 1 end
  end
  local tag, again = front.at <= front.size and front.tag, front.again[front.first]
  if again and not (tag and tag <= tags[again]) then
    tag, front.isAgain = tags[again], true
  else
    front.isAgain = false
  end
  local start = tag and (front.scale == true and tag or tag / front.scale)
  front.start = start
  return start
end

-- Turns of a queue where all who are ready have no record and the weight 100: as `Dispatch.turns` deals them out, which
-- has the rule for several classes.
function Dispatch.turnsOfOne(queue, most, before)
  local key, lines, scale = K.ready(queue.prefix, USUAL.class), K.line(queue.prefix, '', ''), Tag.scaleOf(USUAL.weight)
  local got = redis.call('ZRANGE', key, '0', most == 1 and '0' or string.format('%d', most - 1), 'WITHSCORES')
  local v, w, at_, size, tag = queue.virtual, queue.weightSum, 1, #got, nil
  if size > 0 then tag = got[2] + 0 end
  local names, tags, left, had, count, who, isOther = {}, {}, {}, whole and {}, 0, 0, false
  local again, first, last, served, order, fluid = nil, 1, 0, nil, nil, nil
  if queue.tags > 0 or queue.leaving > 0 then fluid = Fluid.open(queue) end
  while count < most and w > 0 do
    -- Behind all users may stand what keeps the set from being a listpack.
    if tag == INF then tag = nil end
    local i, have, start = again and again[first], nil, nil
    if i and not (tag and tag <= tags[i]) then
      have, first, served = left[i], first + 1, served or {}
      served[i] = (served[i] or 1) + 1
    elseif tag then
      i = who + 1
      have = before and before.had[i] or redis.call('LLEN', lines .. got[at_])
      -- It stands where it has nothing: it was written by others.
      if have == 0 then
        isOther = true
        break
      end
      who, names[i], tags[i], at_ = i, got[at_], tag, at_ + 2
      if had then had[i] = have end
      if at_ < size then tag = got[at_ + 1] + 0 else tag = nil end
    else
      break
    end
    start = tags[i] / scale
    if start < v then start = v end
    count = count + 1
    if order then
      order[count] = i
    elseif i ~= count then
      order = {}
      for before_ = 1, count - 1 do order[before_] = before_ end
      order[count] = i
    end
    tags[i], left[i] = tags[i] + GRAINS.turn, have - 1
    if fluid then v = Fluid.after(fluid, start, 1, w) else v = Turn.afterTurn(start, 1, w) end
    if have == 1 then
      w = w - USUAL.weight
      local left_ = tags[i] / scale
      if left_ > v and count < most then
        if not fluid then fluid = Fluid.new() end
        Fluid.add(fluid, left_, USUAL.weight)
      end
    elseif count < most then
      last = last + 1
      if last == 1 then again = {} end
      again[last] = i
    end
  end
  local front = { class = USUAL.class, key = key, countedWeight = USUAL.weight, n = queue.classes[USUAL.class] }
  return { virtual = v, weightSum = w, count = count, who = who, names = names, tags = tags, had = had, left = left,
    served = served, fronts = { front }, order = order, isOther = isOther, fluid = fluid }
end

-- Whose the next turns are, at most so many, as if each cost 1; nothing is written. By number of who got
-- any: names, tags after their turns, tasks left; beside that turns, where one user got more than one, class,
-- where there are several, and (in a step that reads all) tasks had. `order`: whose each turn is,
-- unless each has one. `isOther`: the next one is of a user with a record. `before`: turns that were dealt out
-- for more, and were not taken.
function Dispatch.turns(queue, most, before)
  local classes = queue.classes
  if classes[USUAL.class] and next(classes, next(classes)) == nil then return Dispatch.turnsOfOne(queue, most, before) end
  local fronts, n = Dispatch.fronts(queue, most)
  local v, w, lines = queue.virtual, queue.weightSum, K.line(queue.prefix, '', '')
  local names, tags, left = {}, {}, {}
  local had, fronted, served, order, us = whole and {}, n > 1 and {}, nil, nil, nil
  local count, who, isOther, fluid = 0, 0, false, nil
  if queue.tags > 0 or queue.leaving > 0 then fluid = Fluid.open(queue) end
  for i = 2, n do Dispatch.look(fronts[i], tags) end
  local front = fronts[1]
  while count < most and w > 0 do
    -- The others are as they were.
    local start, from = Dispatch.look(front, tags), v
    if n == 1 then
      if start and start > v then from = start end
    else
      front, from = Choose.best(fronts, n, v)
      start = front and front.start
    end
    if not start then break end
    local isAgain, isRecordless, i, have, u = front.isAgain, front.isRecordless, who + 1, nil, nil
    if isAgain then
      i = front.again[front.first]
      have = left[i]
    elseif isRecordless then
      have = before and before.had[i] or redis.call('LLEN', lines .. front.got[front.at])
    elseif whole then
      have, u = Dispatch.headroomOf(queue, front, most, before and before.us and before.us[i])
    end
    if not have then
      isOther = true
      break
    end
    if isRecordless and (have == 0 or (have == 1 and front.countedWeight ~= USUAL.weight)) then
      -- It stands where it has nothing (written by others), or its tag is in turns of a weight of its own: it
      -- gets a record to be kept in.
      isOther = true
      break
    end
    if isAgain then
      front.first = front.first + 1
      served = served or {}
      served[i] = (served[i] or 1) + 1
    else
      local at_ = front.at + 2
      who, names[i], tags[i] = i, front.got[front.at], front.tag
      if had then had[i] = have end
      if u then
        us = us or {}
        us[i] = u
      end
      if fronted then fronted[i] = front end
      front.at = at_
      if at_ <= front.size then
        front.tag = front.got[at_ + 1] + 0
        -- Behind all users may stand what keeps the set from being a listpack.
        if front.tag == INF then front.at = front.size + 1 end
      end
    end
    count = count + 1
    if order then
      order[count] = i
    elseif i ~= count then
      order = {}
      for at_ = 1, count - 1 do order[at_] = at_ end
      order[count] = i
    end
    tags[i], left[i] = tags[i] + GRAINS.turn, have - 1
    if fluid then v = Fluid.after(fluid, from, 1, w) else v = Turn.afterTurn(from, 1, w) end
    if have == 1 then
      w = w - front.countedWeight
      local left_ = tags[i] / front.scale
      if left_ > v and count < most then
        if not fluid then fluid = Fluid.new() end
        Fluid.add(fluid, left_, front.countedWeight)
      end
    elseif count < most then
      local last, again = front.last + 1, front.again
      if last == 1 then
        again = {}
        front.again = again
      end
      front.last, again[last] = last, i
    end
  end
  return { virtual = v, weightSum = w, count = count, who = who, names = names, tags = tags, had = had, left = left,
    served = served, fronts = fronts, fronted = fronted, order = order, isOther = isOther, us = us, fluid = fluid }
end
