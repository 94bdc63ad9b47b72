-- Where turns that are dealt out many at once (lib/steps/dispatch-general.lua) come to tasks that the worker does not know:
-- these are parked, and a turn is for the next of its line. That is what would come of one turn after another: who
-- has parked is the next again.

-- The name of a task that nothing is known of but its text; nil of any other, and where that cannot be read.
function Park.nameOf(text)
  if not text or (string.byte(text, AT.text.kind) or BYTE.facts) >= BYTE.facts then return end
  local from = tonumber(string.sub(text, AT.text.userBytes, END.text.userBytes))
  local a = from and string.find(text, '\0', AT.text.rest + from, true)
  local b = a and string.find(text, '\0', a + 1, true)
  return b and string.sub(text, a + 1, b - 1)
end

-- Its name, if the worker does not know it.
function Park.unknownName(one, request)
  local name = request.names and Park.nameOf(one.text)
  return name and not string.find(request.names, ',' .. name .. ',', 1, true) and name or nil
end

-- Whether the first task that cannot be started is one that the worker does not know, of a user without a record.
function Park.isUnknown(turns, taken, request)
  local at_, us = taken.stop, turns.us
  local i = turns.order and turns.order[at_] or at_
  return taken.ids[at_] and not (us and us[i]) and Park.unknownName({ text = taken.texts[at_] }, request)
end

-- What was taken out of the lines, line by line, to be looked at in this order.
function Park.queuesOf(taken)
  local queues = {}
  for at_, id in ipairs(taken.ids) do
    local key = taken.keys[at_]
    local waiting = queues[key] or { first = 1, parked = 0, used = 0 }
    queues[key] = waiting
    waiting[#waiting + 1] = { id = id, text = taken.texts[at_], t = taken.found and taken.found[at_] }
  end
  return queues
end

-- The next of a line; nil when it is empty.
function Park.nextOf(waiting, key)
  if not waiting[waiting.first] then
    local ids = redis.call('LPOP', key, LIMIT.skippedFor)
    local texts = ids and #ids > 0 and redis.call('HMGET', K.tasks(), unpack(ids))
    for i = 1, texts and #ids or 0 do waiting[#waiting + 1] = { id = ids[i], text = texts[i] } end
  end
  return waiting[waiting.first]
end

-- Parks those at the head of a line that the worker does not know; answers the next, nil when there is none.
function Park.skip(waiting, key, user, request, batch, found)
  while not batch.stopped do
    local one = Park.nextOf(waiting, key)
    local name = one and Park.unknownName(one, request)
    if not name then return one end
    local stamp = string.sub(one.text, AT.text.stamp, END.text.stamp)
    found[#found + 1] = { user = user, level = 3, name = name, id = one.id, place = tonumber(stamp, 16), stamp = stamp }
    waiting.first, waiting.parked = waiting.first + 1, waiting.parked + 1
    batch.unknownNames = batch.unknownNames + 1
    batch.stopped = batch.unknownNames >= LIMIT.unknownNamesPerLease
  end
end

-- Goes through the turns anew: ids, texts, and what has facts, of each that a task was found for, and what is to be
-- parked. `stop`: the turn that none was found for, or that is not as it was dealt out; nil when there is no such.
-- `isSpecial`: its task is taken by all rules. `drained`: whose turn it is has nothing left in line.
function Park.reread(turns, taken, queues, request, batch)
  local out, order, us = { ids = {}, texts = {}, found = {}, parked = {} }, turns.order, turns.us
  for at_ = 1, #taken.ids do
    local i, key = order and order[at_] or at_, taken.keys[at_]
    local waiting, isRecordless, one = queues[key], not (us and us[i]), nil
    if isRecordless then
      one = Park.skip(waiting, key, turns.names[i], request, batch, out.parked)
    else
      one = waiting[waiting.first]
    end
    if not one then
      local front = turns.fronted and turns.fronted[i] or turns.fronts[1]
      out.stop, out.drained = at_, turns.had[i] - waiting.parked == waiting.used and turns.names[i]
      out.class = front.class
      return out
    end
    local _, special = pcall(Dispatch.firstSpecial, { one.text }, 1, request, { one.t })
    if special then
      out.stop, out.isSpecial = at_, true
      return out
    end
    waiting.first, waiting.used = waiting.first + 1, waiting.used + 1
    out.ids[at_], out.texts[at_], out.found[at_] = one.id, one.text, one.t
    if isRecordless then
      -- As it was known when it had its latest turn; the fewer may be its last.
      waiting.who, waiting.had = i, turns.had[i] - waiting.parked
      if waiting.parked > 0 and waiting.had == waiting.used then
        out.stop = at_ + 1
        return out
      end
    end
  end
  out.isSpecial = #out.ids < turns.count
  out.stop = out.isSpecial and #out.ids + 1 or nil
  return out
end

-- A user without a record has parked all that it had in line: it leaves its class, with the tag that it has.
function Park.drain(queue, user, class)
  local u = F.userOf(queue, user)
  u.startTag, u.tagEpoch = tonumber(redis.call('ZSCORE', K.ready(queue.prefix, class), user)), queue.epoch
  u.ready, u.class, u.headroom = true, class, 0
  F.reindex(u)
end

-- What was taken out of lines for these turns, by turn: keys, ids, texts, and what has facts. Parks what the worker
-- does not know; answers the same without that, and which turns are not to be started (`Park.reread`).
function Park.skipAll(queue, turns, taken, request, batch)
  local queues = Park.queuesOf(taken)
  local out = Park.reread(turns, taken, queues, request, batch)
  out.keys, out.plans, out.queues = taken.keys, taken.plans, queues
  for _, waiting in pairs(queues) do
    if waiting.who then turns.had[waiting.who] = waiting.had end
  end
  if #out.parked > 0 then
    Park.file(queue, out.parked)
    queue.runnable = queue.runnable - #out.parked
    F.touchQueue(queue)
  end
  return out
end

-- What was taken for more turns than so many stands again where it stood.
function Park.putBack(taken, turns)
  for key, waiting in pairs(taken.queues or NONE) do
    local rest = {}
    for at_ = #waiting, waiting.first, -1 do rest[#rest + 1] = waiting[at_].id end
    if #rest > 0 then redis.call('LPUSH', key, unpack(rest)) end
  end
  for at_ = #taken.ids, turns + 1, -1 do redis.call('LPUSH', taken.keys[at_], taken.ids[at_]) end
end
