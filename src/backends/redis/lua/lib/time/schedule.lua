-- Loads schedules, and moves them on.

function Schedule.fields(id)
  return redis.call('HMGET', K.schedule(id), FIELD.schedule.spec, FIELD.schedule.revision, FIELD.schedule.paused,
    FIELD.schedule.overlap, FIELD.schedule.limit, FIELD.schedule.graph, FIELD.schedule.slot, FIELD.schedule.due,
    FIELD.schedule.created, FIELD.schedule.changed, FIELD.schedule.fired,
    FIELD.schedule.missed, FIELD.schedule.overlapped, FIELD.schedule.settled, FIELD.schedule.lastSlot,
      FIELD.schedule.lastId, FIELD.schedule.user, FIELD.schedule.event, FIELD.schedule.active)
end

-- The numbers of a schedule that decide; nil when it is not stored.
function Schedule.read(id)
  local got = Schedule.fields(id)
  if not got[2] then return end
  local active = {}
  for one in string.gmatch(got[19] or '', '[^%z]+') do active[#active + 1] = one end
  return { id = id, revision = tonumber(got[2]), overlap = got[4], limit = tonumber(got[5]),
    graph = got[6], slot = got[7], fired = tonumber(got[11]), missed = tonumber(got[12]),
    overlapped = tonumber(got[13]), settled = tonumber(got[14]), user = got[17], event = got[18],
    paused = got[3] == '1', active = active }
end

-- Appends one schedule to a reply: id and 18 fields.
function Schedule.add(reply, id)
  local got, n = Schedule.fields(id), #reply
  if not got[2] then return end
  reply[n + 1] = id
  for i = 1, 18 do reply[n + 1 + i] = got[i] or '' end
end

-- It stands at the slot now; nowhere when that is '' or the limit is reached.
function Schedule.moveOn(id, slot, due, isOver)
  if isOver or slot == '' then
    redis.call('HDEL', K.schedule(id), FIELD.schedule.slot, FIELD.schedule.due)
    return F.move('schedules:due', id, false)
  end
  redis.call('HSET', K.schedule(id), FIELD.schedule.slot, slot, FIELD.schedule.due, due)
  F.move('schedules:due', id, tonumber(due))
end

-- Where it stands among those that fire at the same events; nil when it fires at none.
function Schedule.listKey(s)
  if s and s.event and not s.paused then return K.eventSchedules(s.user, s.event) end
end

-- Those that fire at events of this user and name: id and revision, by turns. An id without a schedule is none.
function Schedule.firingAt(user, event)
  local found = {}
  for _, id in ipairs(redis.call('SMEMBERS', K.eventSchedules(user, event))) do
    local revision = redis.call('HGET', K.schedule(id), FIELD.schedule.revision)
    if revision then found[#found + 1], found[#found + 2] = id, revision end
  end
  return found
end

-- The name in a pair of name and key.
function Schedule.nameIn(event)
  local size, rest = string.match(event, '^(%d+):(.*)$')
  return string.sub(rest, 1, tonumber(size))
end

-- An event has made it start a task.
function Schedule.noteStart(id, task)
  redis.call('HINCRBY', K.schedule(id), FIELD.schedule.fired, 1)
  redis.call('HSET', K.schedule(id), FIELD.schedule.lastSlot, string.format('%.0f', now), FIELD.schedule.lastId, task)
end
