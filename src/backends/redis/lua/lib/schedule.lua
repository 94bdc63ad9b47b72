-- Loads schedules, and moves them on. The record is a hash: j spec, r revision, p paused, o overlap,
-- m limit, h graph, s and d the slot that comes next and when it is due, c created, u updated,
-- f fired, x missed, v overlapped, t the latest slot that was decided, ls and li the latest that
-- made a task and that task, a its tasks that may not have ended, parted by NUL.

function Schedule.fields(id)
  return redis.call('HMGET', K.schedule(id), 'j', 'r', 'p', 'o', 'm', 'h', 's', 'd', 'c', 'u', 'f',
    'x', 'v', 't', 'ls', 'li', 'a')
end

-- The numbers of a schedule that decide; nil when it is not stored.
function Schedule.read(id)
  local got = Schedule.fields(id)
  if not got[2] then return end
  local active = {}
  for one in string.gmatch(got[17] or '', '[^%z]+') do active[#active + 1] = one end
  return { id = id, revision = tonumber(got[2]), overlap = got[4], limit = tonumber(got[5]),
    graph = got[6], slot = got[7], fired = tonumber(got[11]), missed = tonumber(got[12]),
    overlapped = tonumber(got[13]), settled = tonumber(got[14]), active = active }
end

-- Appends one schedule to a reply: id and 16 fields.
function Schedule.add(reply, id)
  local got, n = Schedule.fields(id), #reply
  if not got[2] then return end
  reply[n + 1] = id
  for i = 1, 16 do reply[n + 1 + i] = got[i] or '' end
end

-- It stands at the slot now; nowhere when that is '' or the limit is reached.
function Schedule.moveOn(id, slot, due, isOver)
  if isOver or slot == '' then
    redis.call('HDEL', K.schedule(id), 's', 'd')
    return F.move('schedules:due', id, false)
  end
  redis.call('HSET', K.schedule(id), 's', slot, 'd', due)
  F.move('schedules:due', id, tonumber(due))
end
